/* The client's side in C: requests are frozen, responses are checked against them. */
#include "answers.h"

static int same(agenthost_str left, const char *right) {
    return left.len == strlen(right) && memcmp(left.data, right, left.len) == 0;
}

static agenthost_request *get_request(const agenthost_request_options *options) {
    agenthost_get_run get;
    agenthost_request *request = NULL;
    AGENTHOST_INIT(&get);
    get.run_id = agenthost_text("run-1");
    REQUIRE(agenthost_request_get_run(&get, options, &request, NULL) == AGENTHOST_OK);
    return request;
}

static void requests_are_frozen_and_named(void) {
    agenthost_request_options options;
    agenthost_request *request, *other;
    agenthost_str bytes;
    AGENTHOST_INIT(&options);
    options.request_id = agenthost_text("req-9");
    options.idempotency_key = agenthost_text("key-9");
    request = get_request(&options);
    CHECK(same(agenthost_request_id(request), "req-9"));
    CHECK(same(agenthost_request_idempotency_key(request), "key-9"));
    bytes = agenthost_request_bytes(request);
    CHECK(bytes.data == agenthost_request_bytes(request).data);
    agenthost_request_free(request);
    request = get_request(NULL);
    other = get_request(NULL);
    CHECK_EQUAL(agenthost_request_id(request).len, 36);
    CHECK(memcmp(agenthost_request_id(request).data, agenthost_request_id(other).data, 36) != 0);
    CHECK_EQUAL(agenthost_request_idempotency_key(request).len, 0);
    agenthost_request_free(request);
    agenthost_request_free(other);
}

static void refusals_say_why(void) {
    agenthost_cancel_run cancel;
    agenthost_request *request = NULL;
    agenthost_buffer *why = NULL;
    AGENTHOST_INIT(&cancel);
    cancel.run_id = agenthost_text("run-1");
    CHECK_EQUAL(agenthost_request_cancel_run(&cancel, NULL, &request, &why), AGENTHOST_INVALID_ARGUMENT);
    CHECK(request == NULL);
    CHECK(agenthost_buffer_len(why) > strlen("expectedRevision"));
    agenthost_buffer_free(why);
}

/* A call and its answer over both sides. */
static agenthost_response *round_trip(agenthost_host *host, const agenthost_request *request) {
    agenthost_buffer *buffer = NULL;
    agenthost_response *response = NULL;
    agenthost_str message;
    REQUIRE(agenthost_dispatch_json(host, agenthost_request_bytes(request), &buffer) == AGENTHOST_OK);
    message.data = agenthost_buffer_data(buffer);
    message.len = agenthost_buffer_len(buffer);
    REQUIRE(agenthost_response_parse(request, message, &response, NULL) == AGENTHOST_OK);
    /* The response owns what it says. */
    agenthost_buffer_free(buffer);
    return response;
}

static void serve_full(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    answer full;
    (void)self;
    (void)request;
    answer_init(&full);
    switch (call->operation) {
        case AGENTHOST_GET_RUN: agenthost_reply_run(reply, &full.run); break;
        case AGENTHOST_LIST_EVENTS:
            agenthost_reply_event(reply, &full.event);
            full.event.sequence = 4;
            agenthost_reply_event(reply, &full.event);
            agenthost_reply_page(reply, 4, 1);
            break;
        case AGENTHOST_CANCEL_RUN: agenthost_reply_error(reply, &full.error); break;
        default: agenthost_reply_submission(reply, &full.submission); break;
    }
}

static void responses_are_taken_apart(void) {
    stub service = {0};
    agenthost_host *host = stub_host(&service, serve_full, NULL);
    agenthost_request *request = get_request(NULL);
    agenthost_response *response = round_trip(host, request);
    const agenthost_run *run = agenthost_response_run(response);
    agenthost_list_events list;
    agenthost_cancel_run cancel;
    CHECK_EQUAL(agenthost_response_operation(response), AGENTHOST_GET_RUN);
    CHECK(same(agenthost_response_protocol_version(response), "2026-07-01"));
    CHECK_EQUAL(agenthost_response_request_id(response).len, 36);
    REQUIRE(run != NULL && run->context != NULL && run->approval != NULL);
    CHECK(agenthost_response_error(response) == NULL && agenthost_response_submission(response) == NULL);
    CHECK_EQUAL(agenthost_response_is_page(response), 0);
    CHECK_EQUAL(run->struct_size, sizeof *run);
    CHECK(same(run->context->locale, "en-US"));
    CHECK(same(run->approval->tool_name, "write_file"));
    CHECK_EQUAL(run->metadata.count, 2);
    agenthost_response_free(response);
    agenthost_request_free(request);

    AGENTHOST_INIT(&list);
    list.run_id = agenthost_text("run-1");
    REQUIRE(agenthost_request_list_events(&list, NULL, &request, NULL) == AGENTHOST_OK);
    response = round_trip(host, request);
    CHECK_EQUAL(agenthost_response_is_page(response), 1);
    CHECK_EQUAL(agenthost_response_event_count(response), 2);
    CHECK_EQUAL(agenthost_response_event(response, 1)->sequence, 4);
    CHECK(agenthost_response_event(response, 2) == NULL);
    CHECK(agenthost_response_event(response, SIZE_MAX) == NULL);
    CHECK_EQUAL(agenthost_response_next_sequence(response), 4);
    CHECK_EQUAL(agenthost_response_has_more(response), 1);
    CHECK(agenthost_response_run(response) == NULL);
    agenthost_response_free(response);
    agenthost_request_free(request);

    AGENTHOST_INIT(&cancel);
    cancel.run_id = agenthost_text("run-1");
    cancel.expected_revision = 7;
    REQUIRE(agenthost_request_cancel_run(&cancel, NULL, &request, NULL) == AGENTHOST_OK);
    CHECK_EQUAL(agenthost_request_idempotency_key(request).len, 36);
    response = round_trip(host, request);
    REQUIRE(agenthost_response_error(response) != NULL);
    CHECK_EQUAL(agenthost_response_error(response)->code, AGENTHOST_CODE_CONFLICT);
    CHECK(same(agenthost_response_error(response)->message, "another revision"));
    CHECK_EQUAL(agenthost_response_event_count(response), 0);
    agenthost_response_free(response);
    agenthost_request_free(request);
    agenthost_host_release(host);
}

static void an_answer_to_another_request_is_refused(void) {
    stub service = {0};
    agenthost_host *host = stub_host(&service, serve_full, NULL);
    agenthost_request *request = get_request(NULL), *other = get_request(NULL);
    agenthost_buffer *buffer = NULL, *why = NULL;
    agenthost_response *response = (agenthost_response *)&host;
    agenthost_str message;
    REQUIRE(agenthost_dispatch_json(host, agenthost_request_bytes(request), &buffer) == AGENTHOST_OK);
    message.data = agenthost_buffer_data(buffer);
    message.len = agenthost_buffer_len(buffer);
    CHECK_EQUAL(agenthost_response_parse(other, message, &response, &why), AGENTHOST_BAD_RESPONSE);
    CHECK(response == NULL);
    CHECK(agenthost_buffer_len(why) > 0);
    agenthost_buffer_free(why);
    agenthost_buffer_free(buffer);
    agenthost_request_free(request);
    agenthost_request_free(other);
    agenthost_host_release(host);
}

static void versions_are_negotiated(void) {
    agenthost_str offered[3];
    offered[0] = agenthost_text("2020-01-01");
    offered[1] = agenthost_text("\xff");
    offered[2] = agenthost_text("2026-07-01");
    CHECK(same(agenthost_negotiate_version(offered, 3), "2026-07-01"));
    CHECK(agenthost_negotiate_version(offered, 2).data == NULL);
    CHECK(agenthost_negotiate_version(offered, 0).data == NULL);
}

static void sensitive_names_are_known(void) {
    static const char *const sensitive[] = {"token", "API-Key", "Set-Cookie", "x_refresh_tokens", "user.password"};
    static const char *const harmless[] = {"", "tokens", "max_tokens", "tokenizer", "region"};
    size_t i;
    for (i = 0; i < 5; i++) {
        CHECK_EQUAL(agenthost_is_sensitive_name(NULL, agenthost_text(sensitive[i])), 1);
        CHECK_EQUAL(agenthost_is_sensitive_name(NULL, agenthost_text(harmless[i])), 0);
    }
    CHECK_EQUAL(agenthost_is_sensitive_name(NULL, agenthost_text("\xff token")), 1);
}

static void the_library_is_the_headers(void) {
    CHECK_EQUAL(agenthost_abi_version(), AGENTHOST_ABI_VERSION);
    CHECK(strcmp(agenthost_version(), AGENTHOST_VERSION) == 0);
}

const test client_tests[] = {
    {"client: requests are frozen and named", requests_are_frozen_and_named},
    {"client: refusals say why", refusals_say_why},
    {"client: responses are taken apart", responses_are_taken_apart},
    {"client: an answer to another request is refused", an_answer_to_another_request_is_refused},
    {"client: versions are negotiated", versions_are_negotiated},
    {"client: sensitive names are known", sensitive_names_are_known},
    {"client: the library is the header's", the_library_is_the_headers},
    {NULL, NULL},
};
