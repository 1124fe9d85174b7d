/* What is broken about an answer goes out as `internal`, whatever member it is in; what is not broken goes out. */
#include <stdlib.h>

#include "answers.h"

static agenthost_str bytes(const char *data, size_t length) {
    agenthost_str out;
    out.data = data;
    out.len = length;
    return out;
}

static const agenthost_str no_utf8[] = {{"\xff", 1}, {"\xc0\x80", 2}, {"\xed\xa0\x80", 3}, {"ok \xe2\x82", 5}, {"\xf4\x90\x80\x80", 4}};
enum { NO_UTF8 = sizeof no_utf8 / sizeof *no_utf8 };

static void good_answers_are_taken(void) {
    answer good;
    int kind;
    answer_init(&good);
    for (kind = 0; kind < ANSWER_KINDS; kind++) expect_taken(&good, (answer_kind)kind, "a good answer");
}

static void invalid_utf8_in_every_string(void) {
    size_t i, j;
    for (i = 0; i < member_count; i++) {
        for (j = 0; j < NO_UTF8; j++) {
            answer bad;
            answer_init(&bad);
            if (members[i].type == PAIRS) {
                agenthost_pair pair;
                pair.key = no_utf8[j];
                pair.value = agenthost_text("value");
                member_pairs(&bad, &members[i])->items = &pair;
                member_pairs(&bad, &members[i])->count = 1;
                expect_bad(&bad, members[i].kind, members[i].name);
                pair.key = agenthost_text("key");
                pair.value = no_utf8[j];
            } else {
                *member_text(&bad, &members[i]) = no_utf8[j];
            }
            expect_bad(&bad, members[i].kind, members[i].name);
        }
    }
}

static void invalid_json_in_every_json_string(void) {
    static const char *const broken[] = {"{", "nul", "1e999", "\"\\ud800\"", "[1] 2", "{\"a\":}", "[1,]", " ", "01", "-", "\"a\nb\"", "'a'"};
    char deep[256];
    size_t i, j;
    for (i = 0; i < member_count; i++) {
        answer bad;
        if (members[i].type != FREE_JSON) continue;
        for (j = 0; j < sizeof broken / sizeof *broken; j++) {
            answer_init(&bad);
            *member_text(&bad, &members[i]) = agenthost_text(broken[j]);
            expect_bad(&bad, members[i].kind, broken[j]);
        }
        /* 100 levels are allowed, 101 are not. */
        for (j = 100; j <= 101; j++) {
            memset(deep, '[', j);
            memset(deep + j, ']', j);
            answer_init(&bad);
            *member_text(&bad, &members[i]) = bytes(deep, 2 * j);
            if (j == 100) expect_taken(&bad, members[i].kind, members[i].name);
            else expect_bad(&bad, members[i].kind, members[i].name);
        }
    }
}

static void nul_in_every_string(void) {
    size_t i;
    for (i = 0; i < member_count; i++) {
        answer odd;
        agenthost_pair pair;
        answer_init(&odd);
        switch (members[i].type) {
            case PAIRS:
                pair.key = bytes("k\0ey", 4);
                pair.value = bytes("va\0lue", 6);
                member_pairs(&odd, &members[i])->items = &pair;
                member_pairs(&odd, &members[i])->count = 1;
                expect_taken(&odd, members[i].kind, members[i].name);
                break;
            case FREE_JSON:
                *member_text(&odd, &members[i]) = bytes("\"a\0b\"", 5);
                expect_bad(&odd, members[i].kind, members[i].name);
                *member_text(&odd, &members[i]) = bytes("{}\0", 3);
                expect_bad(&odd, members[i].kind, members[i].name);
                *member_text(&odd, &members[i]) = agenthost_text("\"a\\u0000b\"");
                expect_taken(&odd, members[i].kind, members[i].name);
                break;
            case IDENTITY:
                *member_text(&odd, &members[i]) = bytes("run-1\0x", 7);
                expect_bad(&odd, members[i].kind, members[i].name);
                break;
            default:
                *member_text(&odd, &members[i]) = bytes("a\0b", 3);
                expect_taken(&odd, members[i].kind, members[i].name);
                break;
        }
    }
}

static void empty_strings_where_something_has_to_be(void) {
    size_t i;
    for (i = 0; i < member_count; i++) {
        answer odd;
        int may_be_empty = members[i].type == TEXT || members[i].type == FREE_JSON || strcmp(members[i].name, "context.run_id") == 0;
        if (members[i].type == PAIRS) continue;
        answer_init(&odd);
        /* Length 0 ignores the pointer. */
        *member_text(&odd, &members[i]) = bytes((const char *)(uintptr_t)1, 0);
        if (may_be_empty) expect_taken(&odd, members[i].kind, members[i].name);
        else expect_bad(&odd, members[i].kind, members[i].name);
    }
}

static void identities_end_at_1024_bytes(void) {
    char text[1025];
    answer odd;
    memset(text, 'x', sizeof text);
    answer_init(&odd);
    odd.approval.approval_id = bytes(text, 1024);
    expect_taken(&odd, RUN, "1024 bytes");
    odd.approval.approval_id = bytes(text, 1025);
    expect_bad(&odd, RUN, "1025 bytes");
}

static void a_name_given_twice_in_metadata(void) {
    size_t i;
    for (i = 0; i < member_count; i++) {
        answer bad;
        if (members[i].type != PAIRS) continue;
        answer_init(&bad);
        bad.pairs[1].key = agenthost_text("region");
        expect_bad(&bad, members[i].kind, members[i].name);
    }
}

static void unknown_numbers(void) {
    static const int32_t none[] = {0, -1, 9, INT32_MIN, INT32_MAX};
    size_t i;
    answer bad;
    for (i = 0; i < sizeof none / sizeof *none; i++) {
        answer_init(&bad);
        bad.submission.status = bad.run.status = bad.event.status = none[i];
        bad.error.code = none[i];
        expect_bad(&bad, SUBMISSION, "submission.status");
        expect_bad(&bad, RUN, "run.status");
        expect_bad(&bad, EVENT, "event.status");
        expect_bad(&bad, ERROR, "error.code");
        answer_init(&bad);
        bad.approval.resolution = none[i];
        expect_bad(&bad, RUN, "approval.resolution");
    }
    answer_init(&bad);
    bad.error.retryable = 2;
    expect_bad(&bad, ERROR, "error.retryable");
    bad.approval.resolved_at_unix_ms.present = 2;
    expect_bad(&bad, RUN, "approval.resolved_at_unix_ms.present");
    answer_init(&bad);
    bad.run.completed_at_unix_ms.present = 2;
    expect_bad(&bad, RUN, "run.completed_at_unix_ms.present");
    answer_init(&bad);
    bad.context.deadline_unix_ms.present = UINT64_MAX;
    expect_bad(&bad, RUN, "context.deadline_unix_ms.present");
}

static void reserved_members_are_0(void) {
    answer bad;
    answer_init(&bad);
    bad.submission.reserved = bad.event.reserved = 1;
    expect_bad(&bad, SUBMISSION, "submission.reserved");
    expect_bad(&bad, EVENT, "event.reserved");
    bad.run.reserved = 1;
    expect_bad(&bad, RUN, "run.reserved");
    answer_init(&bad);
    bad.approval.reserved = 0x80000000u;
    expect_bad(&bad, RUN, "approval.reserved");
}

static void numbers_out_of_range(void) {
    const int64_t most = 8640000000000000;
    const uint64_t largest = ((uint64_t)1 << 53) - 1;
    answer odd;
    answer_init(&odd);
    odd.submission.revision = odd.run.revision = largest;
    odd.run.created_at_unix_ms = odd.event.timestamp_unix_ms = most;
    odd.run.updated_at_unix_ms = -most;
    odd.event.sequence = largest;
    expect_taken(&odd, SUBMISSION, "the largest revision");
    expect_taken(&odd, RUN, "the largest times");
    expect_taken(&odd, EVENT, "the largest sequence");
    odd.submission.revision = largest + 1;
    odd.event.sequence = largest + 1;
    odd.run.created_at_unix_ms = most + 1;
    expect_bad(&odd, SUBMISSION, "2^53");
    expect_bad(&odd, EVENT, "2^53");
    expect_bad(&odd, RUN, "a time beyond");
    answer_init(&odd);
    odd.submission.revision = odd.run.revision = odd.event.sequence = 0;
    expect_bad(&odd, SUBMISSION, "revision 0");
    expect_bad(&odd, RUN, "revision 0");
    expect_bad(&odd, EVENT, "sequence 0");
    answer_init(&odd);
    odd.event.timestamp_unix_ms = INT64_MIN;
    expect_bad(&odd, EVENT, "a time beyond");
}

/* ------------------------------------------------------------------------------------------------------- as JSON text */

typedef struct body {
    agenthost_str text;
    agenthost_status status;
} body;

static void serve_json(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    body *one = self->data;
    (void)request;
    one->status = agenthost_reply_json(reply, one->text);
    if (one->status == AGENTHOST_NULL_ARGUMENT) CHECK_EQUAL(answer_well(call->operation, reply), AGENTHOST_OK);
}

static void json_answers_are_checked_alike(void) {
#define SUBMITTED "{\"runId\":\"run-1\",\"revision\":7,\"status\":\"running\""
#define LITERAL(text) {text, sizeof(text) - 1}
    static const agenthost_str broken[] = {
        LITERAL(""),
        LITERAL("{"),
        LITERAL("null"),
        LITERAL("[]"),
        LITERAL("{}"),
        LITERAL(SUBMITTED "}x"),
        LITERAL(SUBMITTED "}\0"),
        LITERAL(SUBMITTED ",\"x\":\"\xff\"}"),
        LITERAL("{\"runId\":\"run-2\",\"revision\":7,\"status\":\"running\"}"),
        LITERAL("{\"runId\":\"run-1\",\"revision\":0,\"status\":\"running\"}"),
        LITERAL("{\"runId\":\"run-1\",\"revision\":7,\"status\":\"runs\"}"),
        LITERAL("{\"runId\":\"run-1\\u0000\",\"revision\":7,\"status\":\"running\"}"),
        LITERAL("{\"runId\":\"run-1\",\"revision\":7}"),
    };
    stub service = {0};
    body one;
    size_t i;
    agenthost_host *host = stub_host(&service, serve_json, &one);
    for (i = 0; i < sizeof broken / sizeof *broken; i++) {
        outcome found;
        one.text = broken[i];
        found = dispatch(host, AGENTHOST_CREATE_RUN);
        CHECK_EQUAL(one.status, AGENTHOST_BAD_ANSWER);
        CHECK_CODE(found, INTERNAL);
        CHECK_EQUAL(atomic_load(&service.logged), i + 1);
    }
    one.text = agenthost_text(SUBMITTED "}");
    CHECK_SUCCESS(dispatch(host, AGENTHOST_CREATE_RUN));
    CHECK_EQUAL(one.status, AGENTHOST_OK);
    one.text = bytes(NULL, 3);
    CHECK_SUCCESS(dispatch(host, AGENTHOST_CREATE_RUN));
    CHECK_EQUAL(one.status, AGENTHOST_NULL_ARGUMENT);
    agenthost_host_release(host);
}

/* ---------------------------------------------------------------------------------------------------------------- pages */

static void serve_pages(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    const int *which = self->data;
    answer one;
    (void)call;
    (void)request;
    answer_init(&one);
    switch (*which) {
        case 0: /* in order, with gaps */
            CHECK_EQUAL(agenthost_reply_event(reply, &one.event), AGENTHOST_OK);
            one.event.sequence = 5;
            CHECK_EQUAL(agenthost_reply_event(reply, &one.event), AGENTHOST_OK);
            CHECK_EQUAL(agenthost_reply_page(reply, 5, 1), AGENTHOST_OK);
            break;
        case 1: /* the same sequence again */
            CHECK_EQUAL(agenthost_reply_event(reply, &one.event), AGENTHOST_OK);
            CHECK_EQUAL(agenthost_reply_event(reply, &one.event), AGENTHOST_BAD_ANSWER);
            CHECK_EQUAL(agenthost_reply_event(reply, &one.event), AGENTHOST_ALREADY_DONE);
            CHECK_EQUAL(agenthost_reply_page(reply, 1, 0), AGENTHOST_ALREADY_DONE);
            break;
        case 2: /* another cursor than the last event's */
            CHECK_EQUAL(agenthost_reply_event(reply, &one.event), AGENTHOST_OK);
            CHECK_EQUAL(agenthost_reply_page(reply, 2, 0), AGENTHOST_BAD_ANSWER);
            break;
        case 3: CHECK_EQUAL(agenthost_reply_page(reply, 1, 0), AGENTHOST_BAD_ANSWER); break; /* empty, and moves */
        case 4: CHECK_EQUAL(agenthost_reply_page(reply, 0, 1), AGENTHOST_BAD_ANSWER); break; /* empty, and claims more */
        case 5: CHECK_EQUAL(agenthost_reply_page(reply, 0, 2), AGENTHOST_BAD_ANSWER); break; /* no boolean */
        case 6: /* events that no page ends are no answer */
            CHECK_EQUAL(agenthost_reply_event(reply, &one.event), AGENTHOST_OK);
            break;
        case 7: /* an error after all */
            CHECK_EQUAL(agenthost_reply_event(reply, &one.event), AGENTHOST_OK);
            CHECK_EQUAL(agenthost_reply_error(reply, &one.error), AGENTHOST_OK);
            break;
        default: break;
    }
}

static void pages_are_built_in_order(void) {
    static const int codes[] = {0, AGENTHOST_CODE_INTERNAL, AGENTHOST_CODE_INTERNAL, AGENTHOST_CODE_INTERNAL,
                                AGENTHOST_CODE_INTERNAL, AGENTHOST_CODE_INTERNAL, AGENTHOST_CODE_INTERNAL, AGENTHOST_CODE_CONFLICT};
    stub service = {0};
    int which;
    agenthost_host *host = stub_host(&service, serve_pages, &which);
    for (which = 0; which < 8; which++) CHECK_EQUAL(dispatch(host, AGENTHOST_LIST_EVENTS).code, codes[which]);
    agenthost_host_release(host);
}

/* --------------------------------------------------------------------------------------------------------------- limits */

enum { LIMIT = 4096 };

static agenthost_host *limited_host(stub *service, serve how, void *data) {
    agenthost_service slots = stub_service(service);
    agenthost_host_options options = stub_options(service);
    agenthost_host *host = NULL;
    service->serve = how;
    service->data = data;
    options.max_message_bytes = LIMIT;
    REQUIRE(agenthost_host_new(&slots, &options, &host, NULL) == AGENTHOST_OK);
    return host;
}

static void a_message_at_the_limit_passes_and_one_byte_more_does_not(void) {
    agenthost_str request = request_of(AGENTHOST_GET_RUN);
    stub service = {0};
    agenthost_host *host = limited_host(&service, serve_well, NULL);
    size_t length;
    for (length = LIMIT; length <= LIMIT + 1; length++) {
        char *message = malloc(length);
        agenthost_buffer *response = NULL;
        REQUIRE(message != NULL);
        memset(message, ' ', length);
        memcpy(message, request.data, request.len);
        REQUIRE(agenthost_dispatch_json(host, bytes(message, length), &response) == AGENTHOST_OK);
        CHECK_EQUAL(take(response).code, length == LIMIT ? 0 : AGENTHOST_CODE_INVALID_REQUEST);
        free(message);
    }
    CHECK_EQUAL(atomic_load(&service.served), 1);
    agenthost_host_release(host);
}

static void serve_padded(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    const agenthost_str *padding = self->data;
    answer one;
    (void)call;
    (void)request;
    answer_init(&one);
    one.run.error = *padding;
    agenthost_reply_run(reply, &one.run);
}

static void a_response_at_the_limit_passes_and_one_byte_more_does_not(void) {
    char text[LIMIT];
    agenthost_str padding = {text, 0};
    stub service = {0};
    agenthost_host *host = limited_host(&service, serve_padded, &padding);
    agenthost_buffer *response = NULL;
    size_t unpadded;
    memset(text, 'x', sizeof text);
    REQUIRE(agenthost_dispatch_json(host, request_of(AGENTHOST_GET_RUN), &response) == AGENTHOST_OK);
    unpadded = agenthost_buffer_len(response);
    CHECK_SUCCESS(take(response));
    padding.len = LIMIT - unpadded;
    REQUIRE(agenthost_dispatch_json(host, request_of(AGENTHOST_GET_RUN), &response) == AGENTHOST_OK);
    CHECK_EQUAL(agenthost_buffer_len(response), LIMIT);
    CHECK_SUCCESS(take(response));
    padding.len++;
    CHECK_CODE(dispatch(host, AGENTHOST_GET_RUN), INTERNAL);
    CHECK_EQUAL(atomic_load(&service.logged), 1);
    agenthost_host_release(host);
}

static void answers_are_copied_before_the_function_returns(void) {
    stub service = {0};
    char *text = malloc(8);
    agenthost_str padding;
    agenthost_host *host;
    REQUIRE(text != NULL);
    memcpy(text, "8 bytes.", 8);
    padding = bytes(text, 8);
    host = limited_host(&service, serve_padded, &padding);
    CHECK_SUCCESS(dispatch(host, AGENTHOST_GET_RUN));
    agenthost_host_release(host);
    free(text);
}

const test answer_tests[] = {
    {"good answers are taken", good_answers_are_taken},
    {"invalid UTF-8 in every reply string is internal", invalid_utf8_in_every_string},
    {"invalid JSON in every reply string that is JSON is internal", invalid_json_in_every_json_string},
    {"U+0000 in every reply string: refused in identities and JSON, carried elsewhere", nul_in_every_string},
    {"empty strings are refused where something has to be", empty_strings_where_something_has_to_be},
    {"identities end at 1024 bytes", identities_end_at_1024_bytes},
    {"a name given twice in metadata is internal", a_name_given_twice_in_metadata},
    {"unknown status, resolution, code and flag numbers are internal", unknown_numbers},
    {"reserved members that are not 0 are internal", reserved_members_are_0},
    {"numbers out of range are internal", numbers_out_of_range},
    {"answers as JSON text are checked alike", json_answers_are_checked_alike},
    {"pages are built in order", pages_are_built_in_order},
    {"a message at the limit passes, one byte more does not", a_message_at_the_limit_passes_and_one_byte_more_does_not},
    {"a response at the limit passes, one byte more does not", a_response_at_the_limit_passes_and_one_byte_more_does_not},
    {"answers are copied before the function returns", answers_are_copied_before_the_function_returns},
    {NULL, NULL},
};
