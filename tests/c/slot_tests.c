/* What a slot may do with its reply: answer, once; defer; drop; nothing. */
#include <stdio.h>

#include "answers.h"

/* Counts and gates of one test. */
typedef struct scene {
    agenthost_reply *deferred;
    agenthost_status status;
    agenthost_host *host;
    pthread_t thread;
    gate deferred_now;
    int step;
    outcome found;
} scene;
#define SCENE {NULL, -1, NULL, 0, GATE, 0, {0, 0, "", ""}}

static void a_slot_that_never_answers(void) {
    agenthost_operation operation;
    stub service = {0};
    agenthost_host *host = stub_host(&service, serve_nothing, NULL);
    for (operation = AGENTHOST_CREATE_RUN; operation <= AGENTHOST_LIST_EVENTS; operation++) {
        CHECK_CODE(dispatch(host, operation), INTERNAL);
        CHECK_EQUAL(atomic_load(&service.logged), operation);
    }
    agenthost_host_release(host);
}

static void serve_twice(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    answer one;
    agenthost_reply *deferred = NULL;
    (void)self;
    (void)request;
    answer_init(&one);
    CHECK_EQUAL(answer_well(call->operation, reply), AGENTHOST_OK);
    CHECK_EQUAL(answer_well(call->operation, reply), AGENTHOST_ALREADY_DONE);
    CHECK_EQUAL(agenthost_reply_error(reply, &one.error), AGENTHOST_ALREADY_DONE);
    CHECK_EQUAL(agenthost_reply_json(reply, agenthost_text("{}")), AGENTHOST_ALREADY_DONE);
    CHECK_EQUAL(agenthost_reply_json(reply, agenthost_text("\xff")), AGENTHOST_ALREADY_DONE);
    CHECK_EQUAL(agenthost_reply_defer(reply, &deferred), AGENTHOST_ALREADY_DONE);
    CHECK(deferred == NULL);
}

static void a_slot_that_answers_twice(void) {
    agenthost_operation operation;
    stub service = {0};
    agenthost_host *host = stub_host(&service, serve_twice, NULL);
    for (operation = AGENTHOST_CREATE_RUN; operation <= AGENTHOST_LIST_EVENTS; operation++) CHECK_SUCCESS(dispatch(host, operation));
    CHECK_EQUAL(atomic_load(&service.logged), 0);
    agenthost_host_release(host);
}

static void serve_wrong(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    answer one;
    int run = call->operation == AGENTHOST_GET_RUN, page = call->operation == AGENTHOST_LIST_EVENTS;
    (void)self;
    (void)request;
    answer_init(&one);
    if (!run) CHECK_EQUAL(agenthost_reply_run(reply, &one.run), AGENTHOST_WRONG_OPERATION);
    if (!page) CHECK_EQUAL(agenthost_reply_event(reply, &one.event), AGENTHOST_WRONG_OPERATION);
    if (!page) CHECK_EQUAL(agenthost_reply_page(reply, 0, 0), AGENTHOST_WRONG_OPERATION);
    if (run || page) CHECK_EQUAL(agenthost_reply_submission(reply, &one.submission), AGENTHOST_WRONG_OPERATION);
    CHECK_EQUAL(answer_well(call->operation, reply), AGENTHOST_OK);
}

static void an_answer_of_another_operation_leaves_the_reply_open(void) {
    agenthost_operation operation;
    stub service = {0};
    agenthost_host *host = stub_host(&service, serve_wrong, NULL);
    for (operation = AGENTHOST_CREATE_RUN; operation <= AGENTHOST_LIST_EVENTS; operation++) CHECK_SUCCESS(dispatch(host, operation));
    agenthost_host_release(host);
}

static void serve_borrowed_after_deferring(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    agenthost_reply *deferred = NULL, *again = (agenthost_reply *)&deferred;
    (void)request;
    (void)self;
    CHECK_EQUAL(agenthost_reply_defer(reply, &deferred), AGENTHOST_OK);
    CHECK_EQUAL(agenthost_live(AGENTHOST_LIVE_REPLIES), 1);
    CHECK_EQUAL(answer_well(call->operation, reply), AGENTHOST_ALREADY_DONE);
    CHECK_EQUAL(agenthost_reply_json(reply, agenthost_text("no JSON")), AGENTHOST_ALREADY_DONE);
    CHECK_EQUAL(agenthost_reply_defer(reply, &again), AGENTHOST_ALREADY_DONE);
    CHECK(again == NULL);
    CHECK_EQUAL(agenthost_reply_defer(deferred, &again), AGENTHOST_ALREADY_DONE);
    CHECK(again == NULL);
    CHECK_EQUAL(agenthost_reply_is_abandoned(reply), 0);
    CHECK_EQUAL(agenthost_reply_is_abandoned(deferred), 0);
    CHECK_EQUAL(answer_well(call->operation, deferred), AGENTHOST_OK);
    CHECK_EQUAL(answer_well(call->operation, deferred), AGENTHOST_ALREADY_DONE);
    agenthost_reply_free(deferred);
    CHECK_EQUAL(answer_well(call->operation, reply), AGENTHOST_ALREADY_DONE);
}

static void a_slot_that_answers_through_the_borrowed_reply_after_deferring(void) {
    agenthost_operation operation;
    stub service = {0};
    agenthost_host *host = stub_host(&service, serve_borrowed_after_deferring, NULL);
    for (operation = AGENTHOST_CREATE_RUN; operation <= AGENTHOST_LIST_EVENTS; operation++) CHECK_SUCCESS(dispatch(host, operation));
    CHECK_EQUAL(atomic_load(&service.logged), 0);
    agenthost_host_release(host);
}

static void serve_drop_in_slot(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    scene *one = self->data;
    agenthost_reply *deferred = NULL;
    (void)request;
    CHECK_EQUAL(agenthost_reply_defer(reply, &deferred), AGENTHOST_OK);
    agenthost_reply_free(deferred);
    /* It is back: it answers, or is deferred again, or is left without an answer. */
    if (one->step == 1) CHECK_EQUAL(answer_well(call->operation, reply), AGENTHOST_OK);
    if (one->step == 2) {
        CHECK_EQUAL(agenthost_reply_defer(reply, &deferred), AGENTHOST_OK);
        CHECK_EQUAL(answer_well(call->operation, deferred), AGENTHOST_OK);
        agenthost_reply_free(deferred);
    }
}

static void a_reply_that_is_dropped_in_its_slot_goes_back_to_it(void) {
    stub service = {0};
    scene one = SCENE;
    agenthost_host *host = stub_host(&service, serve_drop_in_slot, &one);
    CHECK_CODE(dispatch(host, AGENTHOST_CREATE_RUN), INTERNAL);
    CHECK_EQUAL(atomic_load(&service.logged), 1);
    for (one.step = 1; one.step <= 2; one.step++) CHECK_SUCCESS(dispatch(host, AGENTHOST_CREATE_RUN));
    CHECK_EQUAL(atomic_load(&service.logged), 1);
    CHECK_EQUAL(agenthost_host_close(host, 0), AGENTHOST_OK);
    agenthost_host_release(host);
}

static void serve_drop_after_slot(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    scene *one = self->data;
    (void)call;
    (void)request;
    CHECK_EQUAL(agenthost_reply_defer(reply, &one->deferred), AGENTHOST_OK);
    gate_open(&one->deferred_now);
}

static void *dispatch_once(void *data) {
    scene *one = data;
    one->found = dispatch(one->host, AGENTHOST_CREATE_RUN);
    return NULL;
}

static void a_reply_that_is_dropped_after_its_slot_is_unavailable(void) {
    stub service = {0};
    scene one = SCENE;
    inbox in = INBOX;
    pthread_t dispatcher;
    int wait;
    one.host = stub_host(&service, serve_drop_after_slot, &one);
    /* Asynchronous: the slot has returned when the function has. */
    CHECK_EQUAL(agenthost_dispatch_json_async(one.host, request_of(AGENTHOST_CREATE_RUN), NULL, inbox_done, &in, NULL), AGENTHOST_OK);
    CHECK_EQUAL(atomic_load(&in.count), 0);
    agenthost_reply_free(one.deferred);
    CHECK_EQUAL(atomic_load(&in.count), 1);
    CHECK_UNAVAILABLE(in.last, "dropped");
    CHECK_EQUAL(atomic_load(&service.logged), 0);
    /* Synchronous, while another thread waits. A reply that is dropped before the slot has returned is the slot's (`internal`): try
     * again, and leave it more time. */
    for (wait = 5; wait < 10000; wait *= 2) {
        one.deferred_now.open = 0;
        dispatcher = start(dispatch_once, &one);
        gate_wait(&one.deferred_now);
        sleep_ms(wait);
        agenthost_reply_free(one.deferred);
        finish(dispatcher);
        if (one.found.code != AGENTHOST_CODE_INTERNAL) break;
    }
    CHECK_UNAVAILABLE(one.found, "dropped");
    agenthost_host_release(one.host);
}

static void serve_free_borrowed(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    (void)self;
    (void)request;
    agenthost_reply_free(reply);
    CHECK_EQUAL(answer_well(call->operation, reply), AGENTHOST_OK);
}

static void freeing_a_borrowed_reply_leaves_it_alone(void) {
    stub service = {0};
    agenthost_host *host = stub_host(&service, serve_free_borrowed, NULL);
    CHECK_SUCCESS(dispatch(host, AGENTHOST_GET_RUN));
    agenthost_host_release(host);
}

/* ---------------------------------------------------------------------------------------------------- another thread */

static void *answer_deferred(void *data) {
    scene *one = data;
    one->status = answer_well(AGENTHOST_CREATE_RUN, one->deferred);
    agenthost_reply_free(one->deferred);
    return NULL;
}

static void serve_answered_elsewhere(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    scene *one = self->data;
    (void)call;
    (void)request;
    CHECK_EQUAL(agenthost_reply_defer(reply, &one->deferred), AGENTHOST_OK);
    one->thread = start(answer_deferred, one);
    if (one->step == 0) finish(one->thread);
}

static void another_thread_answers_before_and_after_the_slot_has_returned(void) {
    stub service = {0};
    scene one = SCENE;
    agenthost_host *host = stub_host(&service, serve_answered_elsewhere, &one);
    CHECK_SUCCESS(dispatch(host, AGENTHOST_CREATE_RUN));
    CHECK_EQUAL(one.status, AGENTHOST_OK);
    one.step = 1;
    CHECK_SUCCESS(dispatch(host, AGENTHOST_CREATE_RUN));
    finish(one.thread);
    CHECK_EQUAL(one.status, AGENTHOST_OK);
    agenthost_host_release(host);
}

/* ----------------------------------------------------------------------------------------------------------- timeouts */

static void serve_holding(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    scene *one = self->data;
    (void)call;
    (void)request;
    if (one->step == 1) {
        sleep_ms(80);
        CHECK_EQUAL(answer_well(call->operation, reply), AGENTHOST_OK);
        return;
    }
    CHECK_EQUAL(agenthost_reply_defer(reply, &one->deferred), AGENTHOST_OK);
}

static outcome dispatch_for(agenthost_host *host, uint64_t timeout_ms) {
    agenthost_dispatch_options options;
    agenthost_buffer *response = NULL;
    AGENTHOST_INIT(&options);
    options.timeout_ms = timeout_ms;
    REQUIRE(agenthost_dispatch_json_with(host, request_of(AGENTHOST_CREATE_RUN), &options, &response) == AGENTHOST_OK);
    return take(response);
}

static void a_timeout_with_a_reply_still_held_and_completed_later(void) {
    stub service = {0};
    scene one = SCENE;
    agenthost_host *host = stub_host(&service, serve_holding, &one);
    CHECK_UNAVAILABLE(dispatch_for(host, 30), "timeout");
    CHECK_EQUAL(agenthost_reply_is_abandoned(one.deferred), 1);
    CHECK_EQUAL(answer_well(AGENTHOST_CREATE_RUN, one.deferred), AGENTHOST_ALREADY_DONE);
    CHECK_EQUAL(agenthost_live(AGENTHOST_LIVE_REPLIES), 1);
    agenthost_host_release(host);
    /* The reply outlives its host. */
    CHECK_EQUAL(atomic_load(&service.destroyed), 1);
    CHECK_EQUAL(answer_well(AGENTHOST_CREATE_RUN, one.deferred), AGENTHOST_ALREADY_DONE);
    CHECK_EQUAL(agenthost_reply_is_abandoned(one.deferred), 1);
    agenthost_reply_free(one.deferred);
}

static void a_timeout_never_cuts_a_slot_short(void) {
    stub service = {0};
    scene one = SCENE;
    agenthost_host *host = stub_host(&service, serve_holding, &one);
    one.step = 1;
    CHECK_SUCCESS(dispatch_for(host, 1));
    agenthost_host_release(host);
}

static void the_hosts_default_timeout(void) {
    stub service = {0};
    scene one = SCENE;
    agenthost_service slots = stub_service(&service);
    agenthost_host_options options = stub_options(&service);
    agenthost_host *host = NULL;
    service.serve = serve_holding;
    service.data = &one;
    options.default_timeout_ms = 30;
    REQUIRE(agenthost_host_new(&slots, &options, &host, NULL) == AGENTHOST_OK);
    CHECK_UNAVAILABLE(dispatch(host, AGENTHOST_CREATE_RUN), "timeout");
    agenthost_reply_free(one.deferred);
    CHECK_UNAVAILABLE(dispatch_for(host, 0), "timeout");
    agenthost_reply_free(one.deferred);
    agenthost_host_release(host);
}

/* -------------------------------------------------------------------------------------------------------- re-entrance */

static void serve_reentrant(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    scene *one = self->data;
    (void)request;
    if (call->operation != AGENTHOST_GET_RUN && one->step++ < 20) {
        inbox in = INBOX;
        CHECK_SUCCESS(dispatch(one->host, AGENTHOST_GET_RUN));
        CHECK_SUCCESS(dispatch(one->host, call->operation));
        CHECK_EQUAL(agenthost_dispatch_json_async(one->host, request_of(AGENTHOST_GET_RUN), NULL, inbox_done, &in, NULL), AGENTHOST_OK);
        CHECK_SUCCESS(in.last);
    }
    CHECK_EQUAL(answer_well(call->operation, reply), AGENTHOST_OK);
}

static void a_slot_may_dispatch_again(void) {
    stub service = {0};
    scene one = SCENE;
    one.host = stub_host(&service, serve_reentrant, &one);
    CHECK_SUCCESS(dispatch(one.host, AGENTHOST_CREATE_RUN));
    CHECK_EQUAL(atomic_load(&service.served), 61);
    agenthost_host_release(one.host);
}

/* ---------------------------------------------------------------------------------------------------------- failures */

/* The last record of a host's log. */
typedef struct record {
    int32_t level;
    char message[64];
    char fields[128];
} record;

static void keep_record(void *data, int32_t level, agenthost_str message, agenthost_pairs fields) {
    record *self = data;
    size_t i, used = 0;
    CHECK(self->level == 0);
    self->level = level;
    snprintf(self->message, sizeof self->message, "%.*s", (int)message.len, message.data);
    self->fields[0] = 0;
    for (i = 0; i < fields.count; i++) {
        used += (size_t)snprintf(self->fields + used, sizeof self->fields - used, "%.*s=%.*s;", (int)fields.items[i].key.len,
                                 fields.items[i].key.data, (int)fields.items[i].value.len, fields.items[i].value.data);
    }
}

static agenthost_status fail(agenthost_reply *reply) {
    agenthost_pair pairs[2];
    agenthost_pairs fields = {NULL, 2};
    pairs[0].key = agenthost_text("in");
    pairs[0].value = agenthost_text("get_run");
    pairs[1].key = agenthost_text("what");
    pairs[1].value = agenthost_text("caf\xe9");
    fields.items = pairs;
    return agenthost_reply_fail(reply, agenthost_text("the service threw"), fields);
}

static void serve_failing(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    static const agenthost_pairs none = {NULL, 0}, missing = {NULL, 1};
    static const agenthost_str no_text = {NULL, 3};
    (void)request;
    CHECK_EQUAL(agenthost_reply_fail(NULL, agenthost_text("x"), none), AGENTHOST_NULL_ARGUMENT);
    CHECK_EQUAL(agenthost_reply_fail(reply, agenthost_text("x"), missing), AGENTHOST_NULL_ARGUMENT);
    CHECK_EQUAL(agenthost_reply_fail(reply, no_text, none), AGENTHOST_NULL_ARGUMENT);
    if (self->data != NULL) CHECK_EQUAL(answer_well(call->operation, reply), AGENTHOST_OK);
    CHECK_EQUAL(fail(reply), self->data == NULL ? AGENTHOST_OK : AGENTHOST_ALREADY_DONE);
}

/* Its failure is logged once, not also as a slot that returned without an answer; and also when it had answered before. */
static void a_service_that_fails_is_logged_once(void) {
    int answered;
    for (answered = 0; answered < 2; answered++) {
        stub service = {0};
        agenthost_service slots = stub_service(&service);
        agenthost_host_options options;
        agenthost_host *host = NULL;
        record logged = {0, "", ""};
        service.serve = serve_failing;
        service.data = answered ? &service : NULL;
        AGENTHOST_INIT(&options);
        options.log = keep_record;
        options.log_data = &logged;
        REQUIRE(agenthost_host_new(&slots, &options, &host, NULL) == AGENTHOST_OK);
        if (answered) CHECK_SUCCESS(dispatch(host, AGENTHOST_GET_RUN));
        else CHECK_CODE(dispatch(host, AGENTHOST_GET_RUN), INTERNAL);
        CHECK_EQUAL(logged.level, AGENTHOST_LOG_ERROR);
        CHECK(strcmp(logged.message, "the service threw") == 0);
        CHECK(strcmp(logged.fields, "in=get_run;what=caf\xef\xbf\xbd;") == 0);
        agenthost_host_release(host);
    }
}

static void serve_deferring(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    (void)call;
    (void)request;
    CHECK_EQUAL(agenthost_reply_defer(reply, &((scene *)self->data)->deferred), AGENTHOST_OK);
}

static void a_deferred_reply_can_fail(void) {
    stub service = {0};
    scene one = SCENE;
    inbox in = INBOX;
    one.host = stub_host(&service, serve_deferring, &one);
    REQUIRE(agenthost_dispatch_json_async(one.host, request_of(AGENTHOST_GET_RUN), NULL, inbox_done, &in, NULL) == AGENTHOST_OK);
    CHECK_EQUAL(fail(one.deferred), AGENTHOST_OK);
    CHECK_EQUAL(fail(one.deferred), AGENTHOST_ALREADY_DONE);
    CHECK_EQUAL(atomic_load(&in.count), 1);
    CHECK_EQUAL(atomic_load(&service.logged), 2);
    agenthost_reply_free(one.deferred);
    agenthost_host_release(one.host);
}

/* --------------------------------------------------------------------------------------------------------- principals */

static void serve_principal(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    const agenthost_str *expected = self->data;
    (void)request;
    CHECK_EQUAL(call->has_principal, expected->data != NULL);
    CHECK_EQUAL(call->principal.len, expected->len);
    CHECK(expected->len == 0 || memcmp(call->principal.data, expected->data, expected->len) == 0);
    answer_well(call->operation, reply);
}

static void principals_are_given_or_not_and_never_empty(void) {
    stub service = {0};
    agenthost_str expected = {NULL, 0};
    agenthost_dispatch_options options;
    agenthost_buffer *response = NULL;
    agenthost_str request = request_of(AGENTHOST_GET_RUN);
    agenthost_host *host = stub_host(&service, serve_principal, &expected);
    AGENTHOST_INIT(&options);
    CHECK_SUCCESS(dispatch(host, AGENTHOST_GET_RUN));
    CHECK_EQUAL(agenthost_dispatch_json_with(host, request, &options, &response), AGENTHOST_OK);
    CHECK_SUCCESS(take(response));
    options.has_principal = 1;
    CHECK_EQUAL(agenthost_dispatch_json_with(host, request, &options, &response), AGENTHOST_INVALID_ARGUMENT);
    CHECK(response == NULL);
    options.principal = agenthost_text("\xff");
    CHECK_EQUAL(agenthost_dispatch_json_with(host, request, &options, &response), AGENTHOST_INVALID_ARGUMENT);
    expected = options.principal = agenthost_text("somebody");
    CHECK_EQUAL(agenthost_dispatch_json_with(host, request, &options, &response), AGENTHOST_OK);
    CHECK_SUCCESS(take(response));
    CHECK_EQUAL(atomic_load(&service.served), 3);
    agenthost_host_release(host);
}

static void a_principal_that_is_given_by_mistake_is_never_none(void) {
    static const agenthost_str nul_inside = {"some\0body", 9};
    stub service = {0};
    agenthost_str none = {NULL, 0};
    agenthost_dispatch_options options;
    agenthost_buffer *response = NULL;
    agenthost_pending *pending = NULL;
    agenthost_str request = request_of(AGENTHOST_GET_RUN);
    agenthost_host *host = stub_host(&service, serve_principal, &none);
    int flag;
    inbox in = INBOX;
    for (flag = 0; flag < 2; flag++) {
        AGENTHOST_INIT(&options);
        options.has_principal = (uint32_t)flag;
        options.principal = flag ? nul_inside : agenthost_text("somebody");
        CHECK_EQUAL(agenthost_dispatch_json_with(host, request, &options, &response), AGENTHOST_INVALID_ARGUMENT);
        CHECK(response == NULL);
        CHECK_EQUAL(agenthost_dispatch_json_async(host, request, &options, inbox_done, &in, &pending), AGENTHOST_INVALID_ARGUMENT);
        CHECK(pending == NULL);
    }
    CHECK_EQUAL(atomic_load(&in.count), 0);
    CHECK_EQUAL(atomic_load(&service.served), 0);
    /* An empty text says nothing, whatever it points to. */
    AGENTHOST_INIT(&options);
    options.principal = agenthost_text("");
    CHECK_EQUAL(agenthost_dispatch_json_with(host, request, &options, &response), AGENTHOST_OK);
    CHECK_SUCCESS(take(response));
    agenthost_host_release(host);
}

static void a_host_can_require_a_principal(void) {
    stub service = {0};
    agenthost_service slots = stub_service(&service);
    agenthost_host_options made = stub_options(&service);
    agenthost_dispatch_options options;
    agenthost_buffer *response = NULL;
    agenthost_host *host = NULL;
    agenthost_str expected = agenthost_text("somebody");
    service.serve = serve_principal;
    service.data = &expected;
    made.require_principal = 1;
    REQUIRE(agenthost_host_new(&slots, &made, &host, NULL) == AGENTHOST_OK);
    CHECK_CODE(dispatch(host, AGENTHOST_GET_RUN), UNAUTHORIZED);
    CHECK_EQUAL(atomic_load(&service.served), 0);
    AGENTHOST_INIT(&options);
    options.has_principal = 1;
    options.principal = expected;
    CHECK_EQUAL(agenthost_dispatch_json_with(host, request_of(AGENTHOST_GET_RUN), &options, &response), AGENTHOST_OK);
    CHECK_SUCCESS(take(response));
    agenthost_host_release(host);
}

const test slot_tests[] = {
    {"a slot that never answers is internal", a_slot_that_never_answers},
    {"a slot that answers twice: the first answer counts", a_slot_that_answers_twice},
    {"an answer of another operation leaves the reply open", an_answer_of_another_operation_leaves_the_reply_open},
    {"a slot that answers through the borrowed reply after deferring", a_slot_that_answers_through_the_borrowed_reply_after_deferring},
    {"a reply that is dropped in its slot goes back to it", a_reply_that_is_dropped_in_its_slot_goes_back_to_it},
    {"a reply that is dropped after its slot is unavailable", a_reply_that_is_dropped_after_its_slot_is_unavailable},
    {"freeing a borrowed reply leaves it alone", freeing_a_borrowed_reply_leaves_it_alone},
    {"another thread answers before and after the slot has returned", another_thread_answers_before_and_after_the_slot_has_returned},
    {"a timeout with a reply still held, completed later", a_timeout_with_a_reply_still_held_and_completed_later},
    {"a timeout never cuts a slot short", a_timeout_never_cuts_a_slot_short},
    {"the host's default timeout", the_hosts_default_timeout},
    {"a slot may dispatch again", a_slot_may_dispatch_again},
    {"a service that fails is logged once", a_service_that_fails_is_logged_once},
    {"a deferred reply can fail", a_deferred_reply_can_fail},
    {"principals are given or not, and never empty", principals_are_given_or_not_and_never_empty},
    {"a principal that is given by mistake is never none", a_principal_that_is_given_by_mistake_is_never_none},
    {"a host can require a principal", a_host_can_require_a_principal},
    {NULL, NULL},
};
