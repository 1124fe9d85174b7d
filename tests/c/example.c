/* Checks what the example prints: reads it from standard input, parses each response as a client, and compares what it says
 * with the arguments, one a response, in order. Prints `c-example: N passed, M failed`. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agenthost.h"
#include "names.h"

/* What a response says, in a word or two. */
static void describe(const agenthost_response *response, char *out, size_t room) {
    const agenthost_error *error = agenthost_response_error(response);
    const agenthost_submission *submission = agenthost_response_submission(response);
    const agenthost_run *run = agenthost_response_run(response);
    if (error != NULL) {
        snprintf(out, room, "%s", name_of_number(code_names, error->code));
    } else if (submission != NULL) {
        snprintf(out, room, "%s@%" PRIu64, name_of_number(run_status_names, submission->status), submission->revision);
    } else if (run != NULL) {
        snprintf(out, room, "view:%s@%" PRIu64, name_of_number(run_status_names, run->status), run->revision);
    } else {
        snprintf(out, room, "events:%d:%" PRIu64 ":%s", (int)agenthost_response_event_count(response),
                 agenthost_response_next_sequence(response), agenthost_response_has_more(response) ? "more" : "last");
    }
}

int main(int argc, char **argv) {
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    int seen = 0, passed = 0, failed = 0;
    while ((length = getline(&line, &room, stdin)) >= 0) {
        agenthost_response *response = NULL;
        agenthost_buffer *why = NULL;
        agenthost_str message;
        char found[256];
        const char *expected;
        if (length < 2 || strncmp(line, "< ", 2) != 0) continue;
        message.data = line + 2;
        message.len = (size_t)length - 2;
        if (agenthost_response_parse_any(message, &response, &why) == AGENTHOST_OK) {
            describe(response, found, sizeof found);
        } else {
            snprintf(found, sizeof found, "no response: %.*s", (int)agenthost_buffer_len(why), agenthost_buffer_data(why));
        }
        seen++;
        expected = seen < argc ? argv[seen] : "nothing";
        if (strcmp(found, expected) == 0) {
            passed++;
        } else {
            failed++;
            printf("c-example: FAILED response %d: expected %s, found %s\n", seen, expected, found);
        }
        agenthost_buffer_free(why);
        agenthost_response_free(response);
    }
    free(line);
    if (seen != argc - 1) {
        failed++;
        printf("c-example: FAILED expected %d responses, found %d\n", argc - 1, seen);
    }
    printf("c-example: %d passed, %d failed\n", passed, failed);
    return failed > 0;
}
