/* NULL for every pointer of every function: a status, or nothing; never a crash. */
#include "answers.h"

static const agenthost_str missing = {NULL, 3};

static void plain_functions(void) {
    CHECK_EQUAL(agenthost_buffer_len(NULL), 0);
    CHECK(agenthost_buffer_data(NULL) == NULL);
    agenthost_buffer_free(NULL);
    agenthost_reply_free(NULL);
    CHECK_EQUAL(agenthost_reply_is_abandoned(NULL), 0);
    agenthost_host_release(NULL);
    agenthost_pending_free(NULL);
    agenthost_request_free(NULL);
    agenthost_response_free(NULL);
    CHECK(agenthost_status_text(INT32_MIN) != NULL);
    CHECK(agenthost_status_text(AGENTHOST_PANIC)[0] != 0);
    CHECK_EQUAL(agenthost_live(0), 0);
    CHECK_EQUAL(agenthost_live(INT32_MIN), 0);
    CHECK_EQUAL(agenthost_live(INT32_MAX), 0);
    CHECK(agenthost_negotiate_version(NULL, 3).data == NULL);
    CHECK(agenthost_negotiate_version(&missing, 1).data == NULL);
    CHECK_EQUAL(agenthost_is_sensitive_name(NULL, missing), 0);
    CHECK_EQUAL(agenthost_is_sensitive_name(NULL, agenthost_text("api-key")), 1);
}

static void host_functions(void) {
    agenthost_host *host = (agenthost_host *)&host;
    stub service = {0};
    agenthost_service slots = stub_service(&service);
    agenthost_buffer *why = NULL;
    CHECK_EQUAL(agenthost_host_new(NULL, NULL, &host, NULL), AGENTHOST_NULL_ARGUMENT);
    CHECK(host == NULL);
    CHECK_EQUAL(agenthost_host_new(NULL, NULL, NULL, NULL), AGENTHOST_NULL_ARGUMENT);
    CHECK_EQUAL(agenthost_host_new(NULL, NULL, &host, &why), AGENTHOST_NULL_ARGUMENT);
    CHECK(agenthost_buffer_len(why) > 0);
    agenthost_buffer_free(why);
    CHECK_EQUAL(agenthost_host_new(&slots, NULL, NULL, &why), AGENTHOST_NULL_ARGUMENT);
    CHECK(agenthost_buffer_len(why) > 0);
    agenthost_buffer_free(why);
    CHECK_EQUAL(atomic_load(&service.destroyed), 1);
    CHECK_EQUAL(agenthost_host_retain(NULL), AGENTHOST_NULL_ARGUMENT);
    CHECK_EQUAL(agenthost_host_close(NULL, 0), AGENTHOST_NULL_ARGUMENT);
}

static void every_slot_and_the_sensitive_names(void) {
    size_t i;
    for (i = 0; i < 7; i++) {
        stub service = {0};
        agenthost_service slots = stub_service(&service);
        agenthost_host_options options = stub_options(&service);
        agenthost_host *host = (agenthost_host *)&host;
        agenthost_buffer *why = NULL;
        switch (i) {
            case 0: slots.create_run = NULL; break;
            case 1: slots.get_run = NULL; break;
            case 2: slots.cancel_run = NULL; break;
            case 3: slots.resolve_approval = NULL; break;
            case 4: slots.resume_run = NULL; break;
            case 5: slots.list_events = NULL; break;
            default: options.sensitive_name_count = 1; break;
        }
        CHECK_EQUAL(agenthost_host_new(&slots, &options, &host, &why), AGENTHOST_NULL_ARGUMENT);
        CHECK(host == NULL);
        CHECK(agenthost_buffer_len(why) > 0);
        CHECK_EQUAL(atomic_load(&service.destroyed), 1);
        CHECK_EQUAL(atomic_load(&service.log_destroyed), 1);
        agenthost_buffer_free(why);
    }
}

static void dispatch_functions(void) {
    stub service = {0};
    agenthost_host *host = stub_host(&service, serve_well, NULL);
    agenthost_str request = request_of(AGENTHOST_GET_RUN);
    agenthost_dispatch_options options;
    agenthost_buffer *response = (agenthost_buffer *)&host;
    agenthost_pending *pending = (agenthost_pending *)&host;
    inbox in = INBOX;
    CHECK_EQUAL(agenthost_dispatch_json(NULL, request, &response), AGENTHOST_NULL_ARGUMENT);
    CHECK(response == NULL);
    CHECK_EQUAL(agenthost_dispatch_json(host, request, NULL), AGENTHOST_NULL_ARGUMENT);
    CHECK_EQUAL(agenthost_dispatch_json(host, missing, &response), AGENTHOST_NULL_ARGUMENT);
    CHECK_EQUAL(agenthost_dispatch_json_with(NULL, request, NULL, &response), AGENTHOST_NULL_ARGUMENT);
    CHECK_EQUAL(agenthost_dispatch_json_with(host, request, NULL, NULL), AGENTHOST_NULL_ARGUMENT);
    CHECK_EQUAL(agenthost_dispatch_json_with(host, missing, NULL, &response), AGENTHOST_NULL_ARGUMENT);
    AGENTHOST_INIT(&options);
    options.has_principal = 1;
    options.principal = missing;
    CHECK_EQUAL(agenthost_dispatch_json_with(host, request, &options, &response), AGENTHOST_NULL_ARGUMENT);
    CHECK(response == NULL);
    CHECK_EQUAL(agenthost_dispatch_json_async(NULL, request, NULL, inbox_done, &in, &pending), AGENTHOST_NULL_ARGUMENT);
    CHECK(pending == NULL);
    CHECK_EQUAL(agenthost_dispatch_json_async(host, missing, NULL, inbox_done, &in, &pending), AGENTHOST_NULL_ARGUMENT);
    CHECK_EQUAL(agenthost_dispatch_json_async(host, request, &options, inbox_done, &in, &pending), AGENTHOST_NULL_ARGUMENT);
    CHECK_EQUAL(agenthost_dispatch_json_async(host, request, NULL, NULL, &in, &pending), AGENTHOST_NULL_ARGUMENT);
    CHECK(pending == NULL);
    CHECK_EQUAL(atomic_load(&in.count), 0);
    CHECK_EQUAL(atomic_load(&service.served), 0);
    CHECK_EQUAL(agenthost_dispatch_json_async(host, request, NULL, inbox_done, &in, NULL), AGENTHOST_OK);
    CHECK_EQUAL(atomic_load(&in.count), 1);
    CHECK_EQUAL(agenthost_pending_cancel(NULL), AGENTHOST_NULL_ARGUMENT);
    /* An empty message needs no pointer: it is refused like any text that is no JSON. */
    request.data = NULL;
    request.len = 0;
    CHECK_EQUAL(agenthost_dispatch_json(host, request, &response), AGENTHOST_OK);
    CHECK_CODE(take(response), INVALID_REQUEST);
    agenthost_host_release(host);
}

static void serve_nulls(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    answer good;
    agenthost_reply *deferred = (agenthost_reply *)&good;
    int destroyed = 0;
    (void)request;
    (void)self;
    answer_init(&good);
    CHECK_EQUAL(agenthost_reply_submission(NULL, &good.submission), AGENTHOST_NULL_ARGUMENT);
    CHECK_EQUAL(agenthost_reply_submission(reply, NULL), AGENTHOST_NULL_ARGUMENT);
    CHECK_EQUAL(agenthost_reply_run(NULL, &good.run), AGENTHOST_NULL_ARGUMENT);
    CHECK_EQUAL(agenthost_reply_run(reply, NULL), AGENTHOST_NULL_ARGUMENT);
    CHECK_EQUAL(agenthost_reply_event(NULL, &good.event), AGENTHOST_NULL_ARGUMENT);
    CHECK_EQUAL(agenthost_reply_event(reply, NULL), AGENTHOST_NULL_ARGUMENT);
    CHECK_EQUAL(agenthost_reply_page(NULL, 0, 0), AGENTHOST_NULL_ARGUMENT);
    CHECK_EQUAL(agenthost_reply_error(NULL, &good.error), AGENTHOST_NULL_ARGUMENT);
    CHECK_EQUAL(agenthost_reply_error(reply, NULL), AGENTHOST_NULL_ARGUMENT);
    CHECK_EQUAL(agenthost_reply_json(NULL, agenthost_text("{}")), AGENTHOST_NULL_ARGUMENT);
    CHECK_EQUAL(agenthost_reply_json(reply, missing), AGENTHOST_NULL_ARGUMENT);
    CHECK_EQUAL(agenthost_reply_defer(NULL, &deferred), AGENTHOST_NULL_ARGUMENT);
    CHECK(deferred == NULL);
    CHECK_EQUAL(agenthost_reply_defer(reply, NULL), AGENTHOST_NULL_ARGUMENT);
    CHECK_EQUAL(agenthost_reply_on_abandoned(NULL, NULL, &destroyed, NULL), AGENTHOST_NULL_ARGUMENT);
    /* None of this was an answer. */
    CHECK_EQUAL(answer_well(call->operation, reply), AGENTHOST_OK);
}

static void reply_functions(void) {
    agenthost_operation operation;
    stub service = {0};
    agenthost_host *host = stub_host(&service, serve_nulls, NULL);
    for (operation = AGENTHOST_CREATE_RUN; operation <= AGENTHOST_LIST_EVENTS; operation++) CHECK_SUCCESS(dispatch(host, operation));
    CHECK_EQUAL(atomic_load(&service.logged), 0);
    agenthost_host_release(host);
}

static void every_pointer_inside_an_answer(void) {
    size_t i;
    agenthost_pair pair;
    for (i = 0; i < member_count; i++) {
        answer bad;
        answer_init(&bad);
        if (members[i].type != PAIRS) {
            *member_text(&bad, &members[i]) = missing;
            expect_misuse(&bad, members[i].kind, AGENTHOST_NULL_ARGUMENT, members[i].name);
            continue;
        }
        member_pairs(&bad, &members[i])->items = NULL;
        expect_misuse(&bad, members[i].kind, AGENTHOST_NULL_ARGUMENT, members[i].name);
        pair.key = missing;
        pair.value = agenthost_text("value");
        member_pairs(&bad, &members[i])->items = &pair;
        member_pairs(&bad, &members[i])->count = 1;
        expect_misuse(&bad, members[i].kind, AGENTHOST_NULL_ARGUMENT, members[i].name);
        pair.key = agenthost_text("key");
        pair.value = missing;
        expect_misuse(&bad, members[i].kind, AGENTHOST_NULL_ARGUMENT, members[i].name);
        member_pairs(&bad, &members[i])->items = NULL;
        member_pairs(&bad, &members[i])->count = 0;
        expect_taken(&bad, members[i].kind, members[i].name);
    }
}

static void the_context_and_approval_of_a_run_may_be_null(void) {
    answer good;
    answer_init(&good);
    good.run.context = NULL;
    good.run.approval = NULL;
    expect_taken(&good, RUN, "run without context and approval");
}

/* --------------------------------------------------------------------------------------------------------- the client */

typedef struct bodies {
    agenthost_context context;
    agenthost_create_run create;
    agenthost_get_run get;
    agenthost_cancel_run cancel;
    agenthost_resolve_approval resolve;
    agenthost_resume_run resume;
    agenthost_list_events list;
} bodies;

static void bodies_init(bodies *self) {
    AGENTHOST_INIT(&self->context);
    AGENTHOST_INIT(&self->create);
    AGENTHOST_INIT(&self->get);
    AGENTHOST_INIT(&self->cancel);
    AGENTHOST_INIT(&self->resolve);
    AGENTHOST_INIT(&self->resume);
    AGENTHOST_INIT(&self->list);
    self->context.run_id = agenthost_text("run-1");
    self->create.context = &self->context;
    self->get.run_id = self->cancel.run_id = self->resolve.run_id = self->resume.run_id = self->list.run_id =
        agenthost_text("run-1");
    self->cancel.expected_revision = self->resolve.expected_revision = self->resume.expected_revision = 1;
    self->resolve.approval_id = self->resume.approval_id = agenthost_text("approval-1");
    self->resolve.resolution = AGENTHOST_APPROVAL_APPROVED;
}

static void request_functions(void) {
    bodies b;
    agenthost_request *request = (agenthost_request *)&b;
    agenthost_buffer *why = NULL;
    agenthost_request_options options;
    bodies_init(&b);
#define NULLS(name, body)                                                                                      \
    request = (agenthost_request *)&b;                                                                          \
    CHECK_EQUAL(agenthost_request_##name(NULL, NULL, &request, &why), AGENTHOST_NULL_ARGUMENT);                 \
    CHECK(request == NULL);                                                                                     \
    CHECK(agenthost_buffer_len(why) > 0);                                                                       \
    agenthost_buffer_free(why);                                                                                 \
    CHECK_EQUAL(agenthost_request_##name(NULL, NULL, &request, NULL), AGENTHOST_NULL_ARGUMENT);                 \
    CHECK_EQUAL(agenthost_request_##name(body, NULL, NULL, NULL), AGENTHOST_NULL_ARGUMENT);                     \
    CHECK_EQUAL(agenthost_request_##name(body, NULL, &request, NULL), AGENTHOST_OK);                            \
    agenthost_request_free(request);
    NULLS(create_run, &b.create)
    NULLS(get_run, &b.get)
    NULLS(cancel_run, &b.cancel)
    NULLS(resolve_approval, &b.resolve)
    NULLS(resume_run, &b.resume)
    NULLS(list_events, &b.list)
#define MISSING(name, struct_, member)                                                              \
    bodies_init(&b);                                                                                \
    b.struct_.member = missing;                                                                     \
    CHECK_EQUAL(agenthost_request_##name(&b.struct_, NULL, &request, NULL), AGENTHOST_NULL_ARGUMENT); \
    CHECK(request == NULL);
    MISSING(create_run, create, input)
    MISSING(get_run, get, run_id)
    MISSING(cancel_run, cancel, run_id)
    MISSING(cancel_run, cancel, reason)
    MISSING(resolve_approval, resolve, run_id)
    MISSING(resolve_approval, resolve, approval_id)
    MISSING(resolve_approval, resolve, reason)
    MISSING(resume_run, resume, run_id)
    MISSING(resume_run, resume, approval_id)
    MISSING(resume_run, resume, input)
    MISSING(list_events, list, run_id)
    bodies_init(&b);
    b.create.metadata.count = 1;
    CHECK_EQUAL(agenthost_request_create_run(&b.create, NULL, &request, NULL), AGENTHOST_NULL_ARGUMENT);
    bodies_init(&b);
    b.context.tenant_id = missing;
    CHECK_EQUAL(agenthost_request_create_run(&b.create, NULL, &request, NULL), AGENTHOST_NULL_ARGUMENT);
    b.create.context = NULL;
    CHECK_EQUAL(agenthost_request_create_run(&b.create, NULL, &request, NULL), AGENTHOST_NULL_ARGUMENT);
    AGENTHOST_INIT(&options);
    options.request_id = missing;
    CHECK_EQUAL(agenthost_request_get_run(&b.get, &options, &request, NULL), AGENTHOST_NULL_ARGUMENT);
    AGENTHOST_INIT(&options);
    options.idempotency_key = missing;
    CHECK_EQUAL(agenthost_request_get_run(&b.get, &options, &request, NULL), AGENTHOST_NULL_ARGUMENT);
    AGENTHOST_INIT(&options);
    options.protocol_version = missing;
    CHECK_EQUAL(agenthost_request_get_run(&b.get, &options, &request, NULL), AGENTHOST_NULL_ARGUMENT);
    AGENTHOST_INIT(&options);
    options.metadata.count = 1;
    CHECK_EQUAL(agenthost_request_get_run(&b.get, &options, &request, NULL), AGENTHOST_NULL_ARGUMENT);
    CHECK_EQUAL(agenthost_request_bytes(NULL).len, 0);
    CHECK_EQUAL(agenthost_request_id(NULL).len, 0);
    CHECK_EQUAL(agenthost_request_idempotency_key(NULL).len, 0);
}

static void response_functions(void) {
    bodies b;
    agenthost_request *request = NULL;
    agenthost_response *response = (agenthost_response *)&b;
    agenthost_str message = agenthost_text("{}");
    bodies_init(&b);
    REQUIRE(agenthost_request_get_run(&b.get, NULL, &request, NULL) == AGENTHOST_OK);
    CHECK_EQUAL(agenthost_response_parse(NULL, message, &response, NULL), AGENTHOST_NULL_ARGUMENT);
    CHECK(response == NULL);
    response = (agenthost_response *)&b;
    CHECK_EQUAL(agenthost_response_parse(request, missing, &response, NULL), AGENTHOST_NULL_ARGUMENT);
    CHECK(response == NULL);
    CHECK_EQUAL(agenthost_response_parse(request, message, NULL, NULL), AGENTHOST_NULL_ARGUMENT);
    CHECK_EQUAL(agenthost_response_parse(request, message, &response, NULL), AGENTHOST_BAD_RESPONSE);
    CHECK_EQUAL(agenthost_response_parse_any(missing, &response, NULL), AGENTHOST_NULL_ARGUMENT);
    CHECK_EQUAL(agenthost_response_parse_any(message, NULL, NULL), AGENTHOST_NULL_ARGUMENT);
    CHECK_EQUAL(agenthost_response_parse_any(message, &response, NULL), AGENTHOST_BAD_RESPONSE);
    CHECK(response == NULL);
    agenthost_request_free(request);
    CHECK_EQUAL(agenthost_response_operation(NULL), 0);
    CHECK_EQUAL(agenthost_response_request_id(NULL).len, 0);
    CHECK_EQUAL(agenthost_response_protocol_version(NULL).len, 0);
    CHECK(agenthost_response_error(NULL) == NULL);
    CHECK(agenthost_response_submission(NULL) == NULL);
    CHECK(agenthost_response_run(NULL) == NULL);
    CHECK_EQUAL(agenthost_response_is_page(NULL), 0);
    CHECK_EQUAL(agenthost_response_event_count(NULL), 0);
    CHECK(agenthost_response_event(NULL, 0) == NULL);
    CHECK_EQUAL(agenthost_response_next_sequence(NULL), 0);
    CHECK_EQUAL(agenthost_response_has_more(NULL), 0);
}

const test null_tests[] = {
    {"null: functions that end or look at something", plain_functions},
    {"null: functions of a host", host_functions},
    {"null: every slot, and the sensitive names", every_slot_and_the_sensitive_names},
    {"null: functions that dispatch", dispatch_functions},
    {"null: functions that answer", reply_functions},
    {"null: every pointer inside an answer", every_pointer_inside_an_answer},
    {"null: the context and approval of a run may be", the_context_and_approval_of_a_run_may_be_null},
    {"null: functions that build requests, and every pointer inside them", request_functions},
    {"null: functions that read responses", response_functions},
    {NULL, NULL},
};
