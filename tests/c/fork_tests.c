/* A forked child: what belongs to the parent is FORKED or only forgotten, and a new host works. */
#include <unistd.h>

#include "answers.h"

typedef struct scene {
    stub service;
    agenthost_host *host;
    agenthost_reply *deferred;
    agenthost_pending *pending;
    inbox in;
    atomic_int notified, notify_destroyed;
} scene;

static void serve_deferred(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    scene *one = self->data;
    if (call->operation == AGENTHOST_GET_RUN) serve_well(self, call, request, reply);
    else CHECK_EQUAL(agenthost_reply_defer(reply, &one->deferred), AGENTHOST_OK);
}

static void notify(void *data) { atomic_fetch_add(&((scene *)data)->notified, 1); }
static void notify_destroy(void *data) { atomic_fetch_add(&((scene *)data)->notify_destroyed, 1); }

static void begin(scene *one) {
    static const gate closed = GATE;
    memset(one, 0, sizeof *one);
    one->in.arrived = closed;
    one->host = stub_host(&one->service, serve_deferred, one);
    CHECK_EQUAL(agenthost_dispatch_json_async(one->host, request_of(AGENTHOST_CREATE_RUN), NULL, inbox_done, &one->in, &one->pending),
                AGENTHOST_OK);
    CHECK_EQUAL(agenthost_reply_on_abandoned(one->deferred, notify, one, notify_destroy), AGENTHOST_OK);
}

static void end(scene *one) {
    agenthost_reply_free(one->deferred);
    CHECK_UNAVAILABLE(one->in.last, "dropped");
    agenthost_pending_free(one->pending);
    agenthost_host_release(one->host);
    CHECK_EQUAL(atomic_load(&one->service.destroyed), 1);
    CHECK_EQUAL(atomic_load(&one->service.log_destroyed), 1);
    CHECK_EQUAL(atomic_load(&one->notify_destroyed), 1);
    CHECK_EQUAL(atomic_load(&one->notified), 0);
}

static int child_calls(void *data) {
    static const agenthost_pairs nothing = {NULL, 0};
    scene *one = data;
    agenthost_buffer *response = (agenthost_buffer *)&one;
    agenthost_pending *pending = (agenthost_pending *)&one;
    agenthost_reply *again = (agenthost_reply *)&one;
    agenthost_str request = request_of(AGENTHOST_GET_RUN);
    answer good;
    answer_init(&good);
    CHECK_EQUAL(agenthost_dispatch_json(one->host, request, &response), AGENTHOST_FORKED);
    CHECK(response == NULL);
    CHECK_EQUAL(agenthost_dispatch_json(one->host, agenthost_text("no JSON"), &response), AGENTHOST_FORKED);
    CHECK_EQUAL(agenthost_dispatch_json_with(one->host, request, NULL, &response), AGENTHOST_FORKED);
    CHECK_EQUAL(agenthost_dispatch_json_async(one->host, request, NULL, inbox_done, &one->in, &pending), AGENTHOST_FORKED);
    CHECK(pending == NULL);
    CHECK_EQUAL(agenthost_host_close(one->host, 0), AGENTHOST_FORKED);
    CHECK_EQUAL(agenthost_host_retain(one->host), AGENTHOST_FORKED);
    CHECK_EQUAL(agenthost_pending_cancel(one->pending), AGENTHOST_FORKED);
    CHECK_EQUAL(agenthost_reply_submission(one->deferred, &good.submission), AGENTHOST_FORKED);
    CHECK_EQUAL(agenthost_reply_run(one->deferred, &good.run), AGENTHOST_FORKED);
    CHECK_EQUAL(agenthost_reply_event(one->deferred, &good.event), AGENTHOST_FORKED);
    CHECK_EQUAL(agenthost_reply_page(one->deferred, 0, 0), AGENTHOST_FORKED);
    CHECK_EQUAL(agenthost_reply_error(one->deferred, &good.error), AGENTHOST_FORKED);
    CHECK_EQUAL(agenthost_reply_json(one->deferred, agenthost_text("{}")), AGENTHOST_FORKED);
    CHECK_EQUAL(agenthost_reply_fail(one->deferred, agenthost_text("failed"), nothing), AGENTHOST_FORKED);
    CHECK_EQUAL(agenthost_reply_defer(one->deferred, &again), AGENTHOST_FORKED);
    CHECK(again == NULL);
    /* What this call is given is its own to end. */
    CHECK_EQUAL(agenthost_reply_on_abandoned(one->deferred, notify, one, notify_destroy), AGENTHOST_FORKED);
    CHECK_EQUAL(atomic_load(&one->notify_destroyed), 1);
    agenthost_reply_free(one->deferred);
    agenthost_pending_free(one->pending);
    agenthost_host_release(one->host);
    CHECK_EQUAL(atomic_load(&one->service.destroyed), 0);
    CHECK_EQUAL(atomic_load(&one->service.log_destroyed), 0);
    CHECK_EQUAL(atomic_load(&one->service.logged), 0);
    CHECK_EQUAL(atomic_load(&one->notify_destroyed), 1);
    CHECK_EQUAL(atomic_load(&one->notified), 0);
    CHECK_EQUAL(atomic_load(&one->in.count), 0);
    CHECK_EQUAL(agenthost_live(AGENTHOST_LIVE_HOSTS) + agenthost_live(AGENTHOST_LIVE_REPLIES) + agenthost_live(AGENTHOST_LIVE_PENDINGS), 0);
    return 0;
}

static void a_child_gets_forked_and_only_forgets(void) {
    scene one;
    char said[512];
    begin(&one);
    CHECK_EQUAL(in_child(child_calls, &one, said, sizeof said), 0);
    end(&one);
}

static int child_forgets_abandoned(void *data) {
    scene *one = data;
    agenthost_reply_free(one->deferred);
    agenthost_pending_free(one->pending);
    agenthost_host_release(one->host);
    CHECK_EQUAL(atomic_load(&one->notify_destroyed), 0);
    CHECK_EQUAL(atomic_load(&one->service.log_destroyed), 0);
    return 0;
}

static void a_child_forgets_a_reply_that_is_abandoned(void) {
    scene one;
    char said[512];
    begin(&one);
    CHECK_EQUAL(agenthost_pending_cancel(one.pending), AGENTHOST_OK);
    CHECK_EQUAL(atomic_load(&one.notified), 1);
    CHECK_EQUAL(in_child(child_forgets_abandoned, &one, said, sizeof said), 0);
    CHECK_EQUAL(atomic_load(&one.notify_destroyed), 0);
    agenthost_reply_free(one.deferred);
    CHECK_EQUAL(atomic_load(&one.notify_destroyed), 1);
    agenthost_pending_free(one.pending);
    agenthost_host_release(one.host);
}

static int child_makes_its_own(void *data) {
    stub service = {0};
    agenthost_host *host = stub_host(&service, serve_well, NULL);
    int round;
    (void)data;
    for (round = 0; round < 100; round++) CHECK_SUCCESS(dispatch(host, AGENTHOST_CREATE_RUN));
    CHECK_EQUAL(agenthost_host_close(host, UINT64_MAX), AGENTHOST_OK);
    agenthost_host_release(host);
    CHECK_EQUAL(atomic_load(&service.destroyed), 1);
    CHECK_EQUAL(atomic_load(&service.log_destroyed), 1);
    return 0;
}

static int child_of_a_child(void *data) {
    char said[512];
    CHECK_EQUAL(child_makes_its_own(data), 0);
    CHECK_EQUAL(in_child(child_makes_its_own, data, said, sizeof said), 0);
    return child_makes_its_own(data);
}

static void a_new_host_works_in_the_child_and_the_old_one_in_the_parent(void) {
    scene one;
    char said[512];
    begin(&one);
    CHECK_EQUAL(in_child(child_of_a_child, &one, said, sizeof said), 0);
    CHECK_SUCCESS(dispatch(one.host, AGENTHOST_GET_RUN));
    end(&one);
}

static void serve_forking(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    char said[512];
    (void)request;
    CHECK_EQUAL(in_child(child_makes_its_own, self, said, sizeof said), 0);
    CHECK_EQUAL(answer_well(call->operation, reply), AGENTHOST_OK);
}

static void a_slot_may_fork(void) {
    stub service = {0};
    agenthost_host *host = stub_host(&service, serve_forking, NULL);
    CHECK_SUCCESS(dispatch(host, AGENTHOST_CREATE_RUN));
    agenthost_host_release(host);
}

const test fork_tests[] = {
    {"fork: the child gets FORKED, and release only forgets", a_child_gets_forked_and_only_forgets},
    {"fork: the child forgets a reply that is abandoned", a_child_forgets_a_reply_that_is_abandoned},
    {"fork: a new host works in the child, the old one in the parent", a_new_host_works_in_the_child_and_the_old_one_in_the_parent},
    {"fork: a slot may fork", a_slot_may_fork},
    {NULL, NULL},
};
