/* agenthost_reply_on_abandoned: notify at most once, destroy exactly once, in every order of things. */
#include <stdlib.h>

#include "harness.h"

typedef struct scene {
    agenthost_host *host;
    agenthost_reply *deferred;
    agenthost_pending *pending;
    inbox in;
    atomic_int notified, destroyed;
    int frees_reply;
    agenthost_status status;
} scene;
#define SCENE {NULL, NULL, NULL, INBOX, 0, 0, 0, -1}

static void serve_deferred(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    scene *one = self->data;
    (void)call;
    (void)request;
    CHECK_EQUAL(agenthost_reply_defer(reply, &one->deferred), AGENTHOST_OK);
}

static void notify(void *data) {
    scene *one = data;
    CHECK_EQUAL(atomic_load(&one->destroyed), 0);
    CHECK_EQUAL(atomic_fetch_add(&one->notified, 1), 0);
    if (one->frees_reply) agenthost_reply_free(one->deferred);
}

static void destroy(void *data) { CHECK_EQUAL(atomic_fetch_add(&((scene *)data)->destroyed, 1), 0); }

static agenthost_status ask(scene *one) { return agenthost_reply_on_abandoned(one->deferred, notify, one, destroy); }

static void expect(scene *one, int notified, int destroyed) {
    CHECK_EQUAL(atomic_load(&one->notified), notified);
    CHECK_EQUAL(atomic_load(&one->destroyed), destroyed);
}

/* A call that is deferred, and its service is gone from the stack. */
static void begin(stub *service, scene *one) {
    one->host = stub_host(service, serve_deferred, one);
    CHECK_EQUAL(agenthost_dispatch_json_async(one->host, request_of(AGENTHOST_CREATE_RUN), NULL, inbox_done, &one->in, &one->pending),
                AGENTHOST_OK);
}

static void end(scene *one) {
    agenthost_pending_free(one->pending);
    agenthost_host_release(one->host);
}

static void registered_abandoned_freed(void) {
    stub service = {0};
    scene one = SCENE;
    begin(&service, &one);
    CHECK_EQUAL(ask(&one), AGENTHOST_OK);
    expect(&one, 0, 0);
    CHECK_EQUAL(agenthost_pending_cancel(one.pending), AGENTHOST_OK);
    expect(&one, 1, 0);
    agenthost_reply_free(one.deferred);
    expect(&one, 1, 1);
    end(&one);
}

static void abandoned_registered_freed(void) {
    stub service = {0};
    scene one = SCENE;
    begin(&service, &one);
    CHECK_EQUAL(agenthost_pending_cancel(one.pending), AGENTHOST_OK);
    CHECK_EQUAL(ask(&one), AGENTHOST_OK);
    expect(&one, 1, 0);
    CHECK_EQUAL(answer_well(AGENTHOST_CREATE_RUN, one.deferred), AGENTHOST_ALREADY_DONE);
    agenthost_reply_free(one.deferred);
    expect(&one, 1, 1);
    end(&one);
}

static void answered_registered_freed(void) {
    stub service = {0};
    scene one = SCENE;
    begin(&service, &one);
    CHECK_EQUAL(answer_well(AGENTHOST_CREATE_RUN, one.deferred), AGENTHOST_OK);
    CHECK_EQUAL(ask(&one), AGENTHOST_ALREADY_DONE);
    expect(&one, 0, 1);
    agenthost_reply_free(one.deferred);
    expect(&one, 0, 1);
    end(&one);
}

static void registered_answered_freed(void) {
    stub service = {0};
    scene one = SCENE;
    begin(&service, &one);
    CHECK_EQUAL(ask(&one), AGENTHOST_OK);
    CHECK_EQUAL(answer_well(AGENTHOST_CREATE_RUN, one.deferred), AGENTHOST_OK);
    expect(&one, 0, 0);
    CHECK_EQUAL(agenthost_pending_cancel(one.pending), AGENTHOST_ALREADY_DONE);
    agenthost_reply_free(one.deferred);
    expect(&one, 0, 1);
    end(&one);
}

static void registered_freed_unanswered(void) {
    stub service = {0};
    scene one = SCENE;
    begin(&service, &one);
    CHECK_EQUAL(ask(&one), AGENTHOST_OK);
    agenthost_reply_free(one.deferred);
    expect(&one, 0, 1);
    CHECK_UNAVAILABLE(one.in.last, "dropped");
    CHECK_EQUAL(agenthost_pending_cancel(one.pending), AGENTHOST_ALREADY_DONE);
    expect(&one, 0, 1);
    end(&one);
}

static void registered_closed_freed_after_the_host(void) {
    stub service = {0};
    scene one = SCENE;
    begin(&service, &one);
    CHECK_EQUAL(ask(&one), AGENTHOST_OK);
    end(&one);
    CHECK_UNAVAILABLE(one.in.last, "closed");
    expect(&one, 1, 0);
    agenthost_reply_free(one.deferred);
    expect(&one, 1, 1);
}

static void closed_registered_freed(void) {
    stub service = {0};
    scene one = SCENE;
    begin(&service, &one);
    end(&one);
    CHECK_EQUAL(ask(&one), AGENTHOST_OK);
    expect(&one, 1, 0);
    agenthost_reply_free(one.deferred);
    expect(&one, 1, 1);
}

static void serve_registered(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    scene *one = self->data;
    serve_deferred(self, call, request, reply);
    CHECK_EQUAL(ask(one), AGENTHOST_OK);
}

static void registered_timed_out_freed(void) {
    stub service = {0};
    scene one = SCENE;
    agenthost_dispatch_options options;
    agenthost_buffer *response = NULL;
    AGENTHOST_INIT(&options);
    options.timeout_ms = 20;
    one.host = stub_host(&service, serve_registered, &one);
    REQUIRE(agenthost_dispatch_json_with(one.host, request_of(AGENTHOST_CREATE_RUN), &options, &response) == AGENTHOST_OK);
    CHECK_UNAVAILABLE(take(response), "timeout");
    expect(&one, 1, 0);
    agenthost_reply_free(one.deferred);
    expect(&one, 1, 1);
    agenthost_host_release(one.host);
}

static void serve_registered_dropped_answered(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    scene *one = self->data;
    serve_registered(self, call, request, reply);
    agenthost_reply_free(one->deferred);
    expect(one, 0, 1);
    CHECK_EQUAL(answer_well(call->operation, reply), AGENTHOST_OK);
}

static void registered_back_to_the_slot(void) {
    stub service = {0};
    scene one = SCENE;
    one.host = stub_host(&service, serve_registered_dropped_answered, &one);
    CHECK_SUCCESS(dispatch(one.host, AGENTHOST_CREATE_RUN));
    expect(&one, 0, 1);
    agenthost_host_release(one.host);
}

static void serve_registered_again(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    scene *one = self->data;
    scene first = SCENE;
    (void)call;
    (void)request;
    CHECK_EQUAL(agenthost_reply_defer(reply, &first.deferred), AGENTHOST_OK);
    CHECK_EQUAL(ask(&first), AGENTHOST_OK);
    agenthost_reply_free(first.deferred);
    expect(&first, 0, 1);
    CHECK_EQUAL(agenthost_reply_defer(reply, &one->deferred), AGENTHOST_OK);
    CHECK_EQUAL(ask(one), AGENTHOST_OK);
}

static void a_reply_deferred_again_can_be_registered_again(void) {
    stub service = {0};
    scene one = SCENE;
    one.host = stub_host(&service, serve_registered_again, &one);
    CHECK_EQUAL(agenthost_dispatch_json_async(one.host, request_of(AGENTHOST_CREATE_RUN), NULL, inbox_done, &one.in, &one.pending),
                AGENTHOST_OK);
    CHECK_EQUAL(agenthost_pending_cancel(one.pending), AGENTHOST_OK);
    expect(&one, 1, 0);
    agenthost_reply_free(one.deferred);
    expect(&one, 1, 1);
    end(&one);
}

static void a_second_registration_fails_and_ends_its_own_data(void) {
    stub service = {0};
    scene one = SCENE, second = SCENE;
    begin(&service, &one);
    CHECK_EQUAL(ask(&one), AGENTHOST_OK);
    CHECK_EQUAL(agenthost_reply_on_abandoned(one.deferred, notify, &second, destroy), AGENTHOST_ALREADY_DONE);
    expect(&second, 0, 1);
    CHECK_EQUAL(agenthost_pending_cancel(one.pending), AGENTHOST_OK);
    CHECK_EQUAL(agenthost_reply_on_abandoned(one.deferred, notify, &second, NULL), AGENTHOST_ALREADY_DONE);
    expect(&one, 1, 0);
    expect(&second, 0, 1);
    agenthost_reply_free(one.deferred);
    expect(&one, 1, 1);
    end(&one);
}

static void serve_borrowed(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    scene *one = self->data;
    (void)request;
    CHECK_EQUAL(agenthost_reply_on_abandoned(reply, notify, one, destroy), AGENTHOST_INVALID_ARGUMENT);
    CHECK_EQUAL(answer_well(call->operation, reply), AGENTHOST_OK);
}

static void every_failure_ends_the_data(void) {
    stub service = {0};
    scene one = SCENE, other = SCENE, third = SCENE;
    one.host = stub_host(&service, serve_borrowed, &one);
    CHECK_SUCCESS(dispatch(one.host, AGENTHOST_CREATE_RUN));
    expect(&one, 0, 1);
    CHECK_EQUAL(agenthost_reply_on_abandoned(NULL, notify, &other, destroy), AGENTHOST_NULL_ARGUMENT);
    expect(&other, 0, 1);
    agenthost_host_release(one.host);
    begin(&service, &third);
    CHECK_EQUAL(agenthost_reply_on_abandoned(third.deferred, NULL, &third, destroy), AGENTHOST_NULL_ARGUMENT);
    expect(&third, 0, 1);
    agenthost_reply_free(third.deferred);
    end(&third);
}

static void a_destroy_that_is_null_is_fine(void) {
    stub service = {0};
    scene one = SCENE;
    begin(&service, &one);
    CHECK_EQUAL(agenthost_reply_on_abandoned(one.deferred, notify, &one, NULL), AGENTHOST_OK);
    CHECK_EQUAL(agenthost_pending_cancel(one.pending), AGENTHOST_OK);
    agenthost_reply_free(one.deferred);
    expect(&one, 1, 0);
    end(&one);
}

static void notify_may_free_the_reply(void) {
    stub service = {0};
    scene before = SCENE, after = SCENE;
    before.frees_reply = after.frees_reply = 1;
    begin(&service, &before);
    CHECK_EQUAL(ask(&before), AGENTHOST_OK);
    CHECK_EQUAL(agenthost_pending_cancel(before.pending), AGENTHOST_OK);
    expect(&before, 1, 1);
    end(&before);
    memset(&service, 0, sizeof service);
    begin(&service, &after);
    CHECK_EQUAL(agenthost_pending_cancel(after.pending), AGENTHOST_OK);
    CHECK_EQUAL(ask(&after), AGENTHOST_OK);
    expect(&after, 1, 1);
    end(&after);
}

/* -------------------------------------------------------------------------------------------------------------- racing */

static void *answer_and_free(void *data) {
    scene *one = data;
    one->status = answer_well(AGENTHOST_CREATE_RUN, one->deferred);
    agenthost_reply_free(one->deferred);
    return NULL;
}

static void *register_and_free(void *data) {
    scene *one = data;
    one->status = ask(one);
    agenthost_reply_free(one->deferred);
    return NULL;
}

static void *cancel(void *data) {
    agenthost_pending_cancel(((scene *)data)->pending);
    return NULL;
}

static void racing(int registered_before, void *(*body)(void *)) {
    int round;
    for (round = 0; round < rounds(500); round++) {
        stub service = {0};
        scene one = SCENE;
        pthread_t owner, canceller;
        begin(&service, &one);
        if (registered_before) CHECK_EQUAL(ask(&one), AGENTHOST_OK);
        owner = start(body, &one);
        canceller = start(cancel, &one);
        finish(owner);
        finish(canceller);
        CHECK_EQUAL(atomic_load(&one.destroyed), 1);
        CHECK_EQUAL(atomic_load(&one.in.count), 1);
        if (registered_before && one.status == AGENTHOST_OK) CHECK_EQUAL(atomic_load(&one.notified), 0);
        if (!registered_before) CHECK_EQUAL(one.status, AGENTHOST_OK);
        end(&one);
    }
}

static void abandoned_racing_an_answer(void) { racing(1, answer_and_free); }
static void abandoned_racing_the_registration(void) { racing(0, register_and_free); }

const test abandoned_tests[] = {
    {"on_abandoned: registered, abandoned, freed", registered_abandoned_freed},
    {"on_abandoned: abandoned, registered, freed", abandoned_registered_freed},
    {"on_abandoned: answered, registered, freed", answered_registered_freed},
    {"on_abandoned: registered, answered, freed", registered_answered_freed},
    {"on_abandoned: registered, freed unanswered", registered_freed_unanswered},
    {"on_abandoned: registered, closed, freed after the host", registered_closed_freed_after_the_host},
    {"on_abandoned: closed, registered, freed", closed_registered_freed},
    {"on_abandoned: registered, timed out, freed", registered_timed_out_freed},
    {"on_abandoned: registered, back to the slot", registered_back_to_the_slot},
    {"on_abandoned: a reply deferred again can be registered again", a_reply_deferred_again_can_be_registered_again},
    {"on_abandoned: a second registration fails and ends its own data", a_second_registration_fails_and_ends_its_own_data},
    {"on_abandoned: every failure ends the data", every_failure_ends_the_data},
    {"on_abandoned: a destroy that is null is fine", a_destroy_that_is_null_is_fine},
    {"on_abandoned: notify may free the reply", notify_may_free_the_reply},
    {"on_abandoned: racing an answer", abandoned_racing_an_answer},
    {"on_abandoned: racing the registration", abandoned_racing_the_registration},
    {NULL, NULL},
};
