/* Asynchronous dispatch: done runs exactly once, never while the slot runs; cancel decides or comes too late. */
#include <stdlib.h>

#include "harness.h"

typedef struct scene {
    agenthost_host *host;
    agenthost_reply *deferred;
    agenthost_pending *pending;
    inbox in;
    agenthost_status answered, cancelled;
    pthread_t thread;
    char *message;
} scene;
#define SCENE {NULL, NULL, NULL, INBOX, -1, -1, 0, NULL}

static agenthost_status start_async(scene *one, agenthost_operation operation) {
    return agenthost_dispatch_json_async(one->host, request_of(operation), NULL, inbox_done, &one->in, &one->pending);
}

static void serve_deferred(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    scene *one = self->data;
    (void)call;
    (void)request;
    CHECK_EQUAL(agenthost_reply_defer(reply, &one->deferred), AGENTHOST_OK);
}

/* ---------------------------------------------------------------------------------------------------------------- done */

static void serve_and_see_that_nothing_is_done(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    scene *one = self->data;
    (void)request;
    CHECK(one->pending != NULL);
    CHECK_EQUAL(answer_well(call->operation, reply), AGENTHOST_OK);
    CHECK_EQUAL(atomic_load(&one->in.count), 0);
}

static void done_runs_once_after_the_slot(void) {
    stub service = {0};
    scene one = SCENE;
    one.host = stub_host(&service, serve_and_see_that_nothing_is_done, &one);
    CHECK_EQUAL(start_async(&one, AGENTHOST_GET_RUN), AGENTHOST_OK);
    CHECK_EQUAL(atomic_load(&one.in.count), 1);
    CHECK_SUCCESS(one.in.last);
    CHECK(pthread_equal(one.in.thread, pthread_self()));
    CHECK_EQUAL(agenthost_pending_cancel(one.pending), AGENTHOST_ALREADY_DONE);
    agenthost_pending_free(one.pending);
    agenthost_host_release(one.host);
    CHECK_EQUAL(atomic_load(&one.in.count), 1);
}

static void *answer_deferred(void *data) {
    scene *one = data;
    one->answered = answer_well(AGENTHOST_CREATE_RUN, one->deferred);
    agenthost_reply_free(one->deferred);
    return NULL;
}

static void serve_answered_elsewhere_meanwhile(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    scene *one = self->data;
    serve_deferred(self, call, request, reply);
    finish(start(answer_deferred, one));
    CHECK_EQUAL(one->answered, AGENTHOST_OK);
    CHECK_EQUAL(atomic_load(&one->in.count), 0);
}

static void done_waits_for_the_slot_when_another_thread_answers(void) {
    stub service = {0};
    scene one = SCENE;
    one.host = stub_host(&service, serve_answered_elsewhere_meanwhile, &one);
    CHECK_EQUAL(start_async(&one, AGENTHOST_CREATE_RUN), AGENTHOST_OK);
    CHECK_EQUAL(atomic_load(&one.in.count), 1);
    CHECK(pthread_equal(one.in.thread, pthread_self()));
    agenthost_pending_free(one.pending);
    agenthost_host_release(one.host);
}

static void done_runs_on_the_thread_that_answers(void) {
    stub service = {0};
    scene one = SCENE;
    pthread_t thread;
    one.host = stub_host(&service, serve_deferred, &one);
    CHECK_EQUAL(start_async(&one, AGENTHOST_CREATE_RUN), AGENTHOST_OK);
    CHECK_EQUAL(atomic_load(&one.in.count), 0);
    thread = start(answer_deferred, &one);
    gate_wait(&one.in.arrived);
    CHECK_SUCCESS(one.in.last);
    CHECK(pthread_equal(one.in.thread, thread));
    finish(thread);
    agenthost_pending_free(one.pending);
    agenthost_host_release(one.host);
}

static void what_is_refused_is_done_too(void) {
    stub service = {0};
    scene one = SCENE;
    one.host = stub_host(&service, serve_well, NULL);
    CHECK_EQUAL(agenthost_dispatch_json_async(one.host, agenthost_text("{"), NULL, inbox_done, &one.in, &one.pending), AGENTHOST_OK);
    CHECK_EQUAL(atomic_load(&one.in.count), 1);
    CHECK_CODE(one.in.last, INVALID_REQUEST);
    REQUIRE(one.pending != NULL);
    CHECK_EQUAL(agenthost_pending_cancel(one.pending), AGENTHOST_ALREADY_DONE);
    agenthost_pending_free(one.pending);
    agenthost_host_release(one.host);
}

static void it_takes_no_timeout(void) {
    stub service = {0};
    scene one = SCENE;
    agenthost_dispatch_options options;
    AGENTHOST_INIT(&options);
    options.timeout_ms = 1;
    one.host = stub_host(&service, serve_well, NULL);
    one.pending = (agenthost_pending *)&one;
    CHECK_EQUAL(agenthost_dispatch_json_async(one.host, request_of(AGENTHOST_GET_RUN), &options, inbox_done, &one.in, &one.pending),
                AGENTHOST_INVALID_ARGUMENT);
    CHECK(one.pending == NULL);
    CHECK_EQUAL(atomic_load(&one.in.count), 0);
    CHECK_EQUAL(atomic_load(&service.served), 0);
    agenthost_host_release(one.host);
}

/* -------------------------------------------------------------------------------------------------------------- message */

static void done_frees_the_message(void *data, agenthost_buffer *response) {
    scene *one = data;
    memset(one->message, 'x', 16);
    free(one->message);
    one->message = NULL;
    inbox_done(&one->in, response);
}

static void the_message_may_be_freed_inside_done(void) {
    agenthost_str request = request_of(AGENTHOST_CREATE_RUN), message;
    int deferred;
    for (deferred = 0; deferred < 2; deferred++) {
        stub service = {0};
        scene one = SCENE;
        one.host = stub_host(&service, deferred ? serve_deferred : serve_well, &one);
        one.message = malloc(request.len);
        REQUIRE(one.message != NULL);
        memcpy(one.message, request.data, request.len);
        message.data = one.message;
        message.len = request.len;
        CHECK_EQUAL(agenthost_dispatch_json_async(one.host, message, NULL, done_frees_the_message, &one, NULL), AGENTHOST_OK);
        if (deferred) finish(start(answer_deferred, &one));
        CHECK_EQUAL(atomic_load(&one.in.count), 1);
        CHECK_SUCCESS(one.in.last);
        CHECK(strcmp(one.in.last.request_id, "req-1") == 0);
        agenthost_host_release(one.host);
    }
}

static void a_deferred_call_does_not_point_into_the_message(void) {
    agenthost_str request = request_of(AGENTHOST_CREATE_RUN), message;
    stub service = {0};
    scene one = SCENE;
    one.host = stub_host(&service, serve_deferred, &one);
    one.message = malloc(request.len);
    REQUIRE(one.message != NULL);
    memcpy(one.message, request.data, request.len);
    message.data = one.message;
    message.len = request.len;
    CHECK_EQUAL(agenthost_dispatch_json_async(one.host, message, NULL, inbox_done, &one.in, NULL), AGENTHOST_OK);
    memset(one.message, 0, request.len);
    free(one.message);
    finish(start(answer_deferred, &one));
    CHECK_SUCCESS(one.in.last);
    CHECK(strcmp(one.in.last.request_id, "req-1") == 0);
    agenthost_host_release(one.host);
}

/* --------------------------------------------------------------------------------------------------------------- cancel */

static void *cancel(void *data) {
    scene *one = data;
    one->cancelled = agenthost_pending_cancel(one->pending);
    return NULL;
}

static void serve_cancelled_meanwhile(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    scene *one = self->data;
    (void)request;
    CHECK_EQUAL(agenthost_reply_is_abandoned(reply), 0);
    finish(start(cancel, one));
    CHECK_EQUAL(one->cancelled, AGENTHOST_OK);
    CHECK_EQUAL(agenthost_reply_is_abandoned(reply), 1);
    CHECK_EQUAL(atomic_load(&one->in.count), 0);
    CHECK_EQUAL(answer_well(call->operation, reply), AGENTHOST_ALREADY_DONE);
    CHECK_EQUAL(agenthost_reply_defer(reply, &one->deferred), AGENTHOST_ALREADY_DONE);
}

static void cancel_from_another_thread_during_the_slot(void) {
    stub service = {0};
    scene one = SCENE;
    one.host = stub_host(&service, serve_cancelled_meanwhile, &one);
    CHECK_EQUAL(start_async(&one, AGENTHOST_CREATE_RUN), AGENTHOST_OK);
    CHECK_EQUAL(atomic_load(&one.in.count), 1);
    CHECK_UNAVAILABLE(one.in.last, "cancelled");
    agenthost_pending_free(one.pending);
    CHECK_EQUAL(atomic_load(&service.logged), 0);
    agenthost_host_release(one.host);
}

static void cancel_after_the_slot(void) {
    stub service = {0};
    scene one = SCENE;
    one.host = stub_host(&service, serve_deferred, &one);
    CHECK_EQUAL(start_async(&one, AGENTHOST_CREATE_RUN), AGENTHOST_OK);
    CHECK_EQUAL(agenthost_pending_cancel(one.pending), AGENTHOST_OK);
    CHECK_EQUAL(agenthost_pending_cancel(one.pending), AGENTHOST_ALREADY_DONE);
    CHECK_EQUAL(atomic_load(&one.in.count), 1);
    CHECK_UNAVAILABLE(one.in.last, "cancelled");
    CHECK(pthread_equal(one.in.thread, pthread_self()));
    CHECK_EQUAL(agenthost_reply_is_abandoned(one.deferred), 1);
    CHECK_EQUAL(answer_well(AGENTHOST_CREATE_RUN, one.deferred), AGENTHOST_ALREADY_DONE);
    agenthost_reply_free(one.deferred);
    agenthost_pending_free(one.pending);
    agenthost_host_release(one.host);
}

static void freeing_the_handle_does_not_cancel(void) {
    stub service = {0};
    scene one = SCENE;
    one.host = stub_host(&service, serve_deferred, &one);
    CHECK_EQUAL(start_async(&one, AGENTHOST_CREATE_RUN), AGENTHOST_OK);
    agenthost_pending_free(one.pending);
    CHECK_EQUAL(atomic_load(&one.in.count), 0);
    finish(start(answer_deferred, &one));
    CHECK_EQUAL(atomic_load(&one.in.count), 1);
    CHECK_SUCCESS(one.in.last);
    agenthost_host_release(one.host);
}

static void cancel_racing_completion(void) {
    stub service = {0};
    int round;
    scene shared = SCENE;
    agenthost_host *host = stub_host(&service, serve_deferred, &shared);
    for (round = 0; round < rounds(1000); round++) {
        scene one = SCENE;
        pthread_t answerer, canceller;
        one.host = host;
        service.data = &one;
        CHECK_EQUAL(start_async(&one, AGENTHOST_CREATE_RUN), AGENTHOST_OK);
        answerer = start(answer_deferred, &one);
        canceller = start(cancel, &one);
        finish(answerer);
        finish(canceller);
        CHECK_EQUAL(atomic_load(&one.in.count), 1);
        if (one.cancelled == AGENTHOST_OK) {
            CHECK_EQUAL(one.answered, AGENTHOST_ALREADY_DONE);
            CHECK_UNAVAILABLE(one.in.last, "cancelled");
        } else {
            CHECK_EQUAL(one.cancelled, AGENTHOST_ALREADY_DONE);
            CHECK_EQUAL(one.answered, AGENTHOST_OK);
            CHECK_SUCCESS(one.in.last);
        }
        agenthost_pending_free(one.pending);
    }
    agenthost_host_release(host);
}

static void serve_racing_cancel(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    scene *one = self->data;
    (void)request;
    one->thread = start(cancel, one);
    one->answered = answer_well(call->operation, reply);
}

static void cancel_racing_an_answer_in_the_slot(void) {
    stub service = {0};
    int round;
    scene shared = SCENE;
    agenthost_host *host = stub_host(&service, serve_racing_cancel, &shared);
    for (round = 0; round < rounds(1000); round++) {
        scene one = SCENE;
        one.host = host;
        service.data = &one;
        CHECK_EQUAL(start_async(&one, AGENTHOST_CREATE_RUN), AGENTHOST_OK);
        finish(one.thread);
        gate_wait(&one.in.arrived);
        CHECK_EQUAL(atomic_load(&one.in.count), 1);
        CHECK((one.cancelled == AGENTHOST_OK) != (one.answered == AGENTHOST_OK));
        if (one.cancelled == AGENTHOST_OK) CHECK_UNAVAILABLE(one.in.last, "cancelled");
        else CHECK_SUCCESS(one.in.last);
        agenthost_pending_free(one.pending);
    }
    agenthost_host_release(host);
}

/* ------------------------------------------------------------------------------------------ letting go of all inside done */

static void done_frees_everything(void *data, agenthost_buffer *response) {
    scene *one = data;
    CHECK_EQUAL(agenthost_pending_cancel(one->pending), AGENTHOST_ALREADY_DONE);
    agenthost_pending_free(one->pending);
    agenthost_host_release(one->host);
    inbox_done(&one->in, response);
}

/* The last count of the host and the handle of the call end inside done, which runs for the reason that is given. */
static void let_go_of_all_inside_done(int why) {
    stub service = {0};
    scene one = SCENE;
    agenthost_str message = why == 0 ? agenthost_text("[]") : request_of(AGENTHOST_CREATE_RUN);
    one.host = stub_host(&service, why <= 1 ? serve_well : serve_deferred, &one);
    CHECK_EQUAL(agenthost_dispatch_json_async(one.host, message, NULL, done_frees_everything, &one, &one.pending), AGENTHOST_OK);
    switch (why) {
        case 2: finish(start(answer_deferred, &one)); break;
        case 3: finish(start(cancel, &one)); break;
        case 4: agenthost_reply_free(one.deferred); break;
        default: break;
    }
    CHECK_EQUAL(atomic_load(&one.in.count), 1);
    CHECK_EQUAL(atomic_load(&service.destroyed), 1);
    CHECK_EQUAL(atomic_load(&service.log_destroyed), 1);
    CHECK_EQUAL(agenthost_live(AGENTHOST_LIVE_HOSTS), 0);
    if (why == 3) {
        CHECK_EQUAL(one.cancelled, AGENTHOST_OK);
        CHECK_EQUAL(answer_well(AGENTHOST_CREATE_RUN, one.deferred), AGENTHOST_ALREADY_DONE);
        agenthost_reply_free(one.deferred);
    }
}

static void the_last_release_inside_done_of_a_refusal(void) { let_go_of_all_inside_done(0); }
static void the_last_release_inside_done_of_a_slots_answer(void) { let_go_of_all_inside_done(1); }
static void the_last_release_inside_done_of_a_late_answer(void) { let_go_of_all_inside_done(2); }
static void the_last_release_inside_done_of_a_cancel(void) { let_go_of_all_inside_done(3); }
static void the_last_release_inside_done_of_a_drop(void) { let_go_of_all_inside_done(4); }

static void done_frees_the_reply(void *data, agenthost_buffer *response) {
    scene *one = data;
    agenthost_reply_free(one->deferred);
    inbox_done(&one->in, response);
}

static void the_reply_may_be_freed_inside_the_done_that_its_answer_runs(void) {
    stub service = {0};
    scene one = SCENE;
    one.host = stub_host(&service, serve_deferred, &one);
    CHECK_EQUAL(agenthost_dispatch_json_async(one.host, request_of(AGENTHOST_CREATE_RUN), NULL, done_frees_the_reply, &one, NULL),
                AGENTHOST_OK);
    CHECK_EQUAL(answer_well(AGENTHOST_CREATE_RUN, one.deferred), AGENTHOST_OK);
    CHECK_EQUAL(atomic_load(&one.in.count), 1);
    CHECK_SUCCESS(one.in.last);
    agenthost_host_release(one.host);
}

const test async_tests[] = {
    {"done runs once, after the slot", done_runs_once_after_the_slot},
    {"done waits for the slot when another thread answers", done_waits_for_the_slot_when_another_thread_answers},
    {"done runs on the thread that answers", done_runs_on_the_thread_that_answers},
    {"what is refused is done too", what_is_refused_is_done_too},
    {"asynchronous dispatch takes no timeout", it_takes_no_timeout},
    {"the message may be freed inside done", the_message_may_be_freed_inside_done},
    {"a deferred call does not point into the message", a_deferred_call_does_not_point_into_the_message},
    {"cancel from another thread during the slot", cancel_from_another_thread_during_the_slot},
    {"cancel after the slot", cancel_after_the_slot},
    {"freeing the handle does not cancel", freeing_the_handle_does_not_cancel},
    {"cancel racing completion: one of the two decides", cancel_racing_completion},
    {"cancel racing an answer in the slot: one of the two decides", cancel_racing_an_answer_in_the_slot},
    {"the last release inside done of a refusal", the_last_release_inside_done_of_a_refusal},
    {"the last release inside done of a slot's answer", the_last_release_inside_done_of_a_slots_answer},
    {"the last release inside done of a late answer", the_last_release_inside_done_of_a_late_answer},
    {"the last release inside done of a cancel", the_last_release_inside_done_of_a_cancel},
    {"the last release inside done of a drop", the_last_release_inside_done_of_a_drop},
    {"the reply may be freed inside the done that its answer runs", the_reply_may_be_freed_inside_the_done_that_its_answer_runs},
    {NULL, NULL},
};
