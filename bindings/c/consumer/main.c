/* The smallest program that links the library: builds a request and prints it. */
#include <agenthost.h>
#include <stdio.h>

int main(void) {
    agenthost_get_run body;
    agenthost_request *request = NULL;
    agenthost_str bytes;
    AGENTHOST_INIT(&body);
    body.run_id = agenthost_text("run-1");
    if (agenthost_request_get_run(&body, NULL, &request, NULL) != AGENTHOST_OK) return 1;
    bytes = agenthost_request_bytes(request);
    printf("%s %.*s\n", agenthost_version(), (int)bytes.len, bytes.data);
    agenthost_request_free(request);
    return agenthost_abi_version() != AGENTHOST_ABI_VERSION;
}
