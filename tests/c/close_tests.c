/* Closing a host, and its last release: who waits for whom, and who destroys. */
#include <stdlib.h>

#include "harness.h"

typedef struct scene {
    agenthost_host *host;
    agenthost_reply *deferred;
    gate inside, leave;
    agenthost_status status;
    inbox in;
    stub *service;
} scene;
#define SCENE {NULL, NULL, GATE, GATE, -1, INBOX, NULL}

static void serve_deferred(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    scene *one = self->data;
    (void)call;
    (void)request;
    CHECK_EQUAL(agenthost_reply_defer(reply, &one->deferred), AGENTHOST_OK);
}

/* Stays in the slot until it may leave. */
static void serve_stay(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    scene *one = self->data;
    (void)request;
    gate_open(&one->inside);
    gate_wait(&one->leave);
    CHECK_EQUAL(atomic_load(&self->destroyed), 0);
    CHECK_EQUAL(answer_well(call->operation, reply), AGENTHOST_OK);
}

static void *dispatch_well(void *data) {
    scene *one = data;
    CHECK_SUCCESS(dispatch(one->host, AGENTHOST_CREATE_RUN));
    return NULL;
}

static void *close_for_ever(void *data) {
    scene *one = data;
    CHECK_EQUAL(agenthost_host_close(one->host, UINT64_MAX), AGENTHOST_OK);
    CHECK_EQUAL(atomic_load(&one->service->destroyed), 1);
    CHECK_EQUAL(atomic_load(&one->service->log_destroyed), 1);
    return NULL;
}

static void a_closed_host_answers_unavailable(void) {
    stub service = {0};
    scene one = SCENE;
    agenthost_pending *pending = NULL;
    one.host = stub_host(&service, serve_well, NULL);
    CHECK_EQUAL(agenthost_host_close(one.host, 0), AGENTHOST_OK);
    CHECK_EQUAL(atomic_load(&service.destroyed), 1);
    CHECK_EQUAL(atomic_load(&service.log_destroyed), 1);
    CHECK(pthread_equal(service.destroyed_on, pthread_self()));
    CHECK_EQUAL(agenthost_host_close(one.host, 0), AGENTHOST_OK);
    CHECK_UNAVAILABLE(dispatch(one.host, AGENTHOST_CREATE_RUN), "closed");
    CHECK_EQUAL(agenthost_dispatch_json_async(one.host, request_of(AGENTHOST_GET_RUN), NULL, inbox_done, &one.in, &pending), AGENTHOST_OK);
    CHECK_EQUAL(atomic_load(&one.in.count), 1);
    CHECK_UNAVAILABLE(one.in.last, "closed");
    CHECK_EQUAL(agenthost_pending_cancel(pending), AGENTHOST_ALREADY_DONE);
    agenthost_pending_free(pending);
    CHECK_EQUAL(agenthost_host_retain(one.host), AGENTHOST_OK);
    agenthost_host_release(one.host);
    agenthost_host_release(one.host);
    CHECK_EQUAL(atomic_load(&service.destroyed), 1);
    CHECK_EQUAL(atomic_load(&service.log_destroyed), 1);
    CHECK_EQUAL(atomic_load(&service.served), 0);
}

/* ------------------------------------------------------------------------------------------------- from inside a callback */

static void serve_closing(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    scene *one = self->data;
    (void)request;
    CHECK_EQUAL(agenthost_host_close(one->host, UINT64_MAX), AGENTHOST_WOULD_DEADLOCK);
    CHECK_UNAVAILABLE(dispatch(one->host, AGENTHOST_GET_RUN), "closed");
    CHECK_EQUAL(atomic_load(&self->destroyed), 0);
    CHECK_EQUAL(answer_well(call->operation, reply), AGENTHOST_OK);
}

static void notify_ran(void *data) { ((scene *)data)->status++; }

/* What closing has answered is over: who asks afterwards to be notified is, before the function returns. Nothing comes later. */
static void only_what_is_asked_for_after_close_comes_after_it(void) {
    stub service = {0};
    scene one = SCENE;
    one.status = 0;
    one.host = stub_host(&service, serve_deferred, &one);
    REQUIRE(agenthost_dispatch_json_async(one.host, request_of(AGENTHOST_GET_RUN), NULL, inbox_done, &one.in, NULL) == AGENTHOST_OK);
    CHECK_EQUAL(agenthost_host_close(one.host, 0), AGENTHOST_OK);
    CHECK_EQUAL(atomic_load(&one.in.count), 1);
    CHECK_UNAVAILABLE(one.in.last, "closed");
    CHECK_EQUAL(agenthost_reply_on_abandoned(one.deferred, notify_ran, &one, NULL), AGENTHOST_OK);
    CHECK_EQUAL(one.status, 1);
    CHECK_EQUAL(agenthost_reply_on_abandoned(one.deferred, notify_ran, &one, NULL), AGENTHOST_ALREADY_DONE);
    CHECK_EQUAL(answer_well(AGENTHOST_GET_RUN, one.deferred), AGENTHOST_ALREADY_DONE);
    agenthost_reply_free(one.deferred);
    agenthost_host_release(one.host);
    CHECK_EQUAL(one.status, 1);
    CHECK_EQUAL(atomic_load(&one.in.count), 1);
}

static void close_inside_a_slot(void) {
    stub service = {0};
    scene one = SCENE;
    one.host = stub_host(&service, serve_closing, &one);
    CHECK_SUCCESS(dispatch(one.host, AGENTHOST_CREATE_RUN));
    CHECK_UNAVAILABLE(dispatch(one.host, AGENTHOST_CREATE_RUN), "closed");
    CHECK_EQUAL(atomic_load(&service.destroyed), 0);
    CHECK_EQUAL(agenthost_host_close(one.host, 0), AGENTHOST_OK);
    CHECK_EQUAL(atomic_load(&service.destroyed), 1);
    CHECK_EQUAL(atomic_load(&service.served), 1);
    agenthost_host_release(one.host);
}

static void done_closes(void *data, agenthost_buffer *response) {
    scene *one = data;
    CHECK_EQUAL(agenthost_host_close(one->host, 0), AGENTHOST_WOULD_DEADLOCK);
    inbox_done(&one->in, response);
}

static void notify_closes(void *data) { CHECK_EQUAL(agenthost_host_close(((scene *)data)->host, 0), AGENTHOST_WOULD_DEADLOCK); }

static void log_closes(void *data, int32_t level, agenthost_str message, agenthost_pairs fields) {
    scene *one = ((stub *)data)->data;
    (void)level;
    (void)message;
    (void)fields;
    one->status = agenthost_host_close(one->host, 0);
}

static void destroy_closes(void *data) {
    scene *one = ((stub *)data)->data;
    atomic_fetch_add(&((stub *)data)->destroyed, 1);
    CHECK_EQUAL(agenthost_host_close(one->host, 0), AGENTHOST_WOULD_DEADLOCK);
}

static void close_inside_done_notify_log_and_destroy(void) {
    stub service = {0};
    scene one = SCENE;
    agenthost_pending *pending = NULL;
    agenthost_service slots = stub_service(&service);
    agenthost_host_options options = stub_options(&service);
    service.serve = serve_deferred;
    service.data = &one;
    slots.destroy = destroy_closes;
    options.log = log_closes;
    REQUIRE(agenthost_host_new(&slots, &options, &one.host, NULL) == AGENTHOST_OK);
    CHECK_EQUAL(agenthost_dispatch_json_async(one.host, request_of(AGENTHOST_CREATE_RUN), NULL, done_closes, &one, &pending), AGENTHOST_OK);
    CHECK_EQUAL(agenthost_reply_on_abandoned(one.deferred, notify_closes, &one, NULL), AGENTHOST_OK);
    CHECK_EQUAL(agenthost_pending_cancel(pending), AGENTHOST_OK);
    CHECK_EQUAL(atomic_load(&one.in.count), 1);
    agenthost_pending_free(pending);
    agenthost_reply_free(one.deferred);
    CHECK_EQUAL(agenthost_host_close(one.host, 0), AGENTHOST_OK);
    CHECK_EQUAL(atomic_load(&service.destroyed), 1);
    agenthost_host_release(one.host);
    /* The log hook, of another host: it runs when a slot has not answered. */
    memset(&service, 0, sizeof service);
    service.serve = serve_nothing;
    service.data = &one;
    REQUIRE(agenthost_host_new(&slots, &options, &one.host, NULL) == AGENTHOST_OK);
    CHECK_CODE(dispatch(one.host, AGENTHOST_CREATE_RUN), INTERNAL);
    CHECK_EQUAL(one.status, AGENTHOST_WOULD_DEADLOCK);
    agenthost_host_release(one.host);
    CHECK_EQUAL(atomic_load(&service.destroyed), 1);
}

static void serve_closing_another(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    (void)request;
    CHECK_EQUAL(agenthost_host_close(self->data, UINT64_MAX), AGENTHOST_OK);
    answer_well(call->operation, reply);
}

static void another_host_may_be_closed_inside_a_slot(void) {
    stub service = {0}, other_service = {0};
    agenthost_host *other = stub_host(&other_service, serve_well, NULL);
    agenthost_host *host = stub_host(&service, serve_closing_another, other);
    CHECK_SUCCESS(dispatch(host, AGENTHOST_GET_RUN));
    CHECK_EQUAL(atomic_load(&other_service.destroyed), 1);
    agenthost_host_release(host);
    agenthost_host_release(other);
}

/* --------------------------------------------------------------------------------------------------------------- waiting */

static void close_times_out_while_a_slot_runs_and_can_be_called_again(void) {
    stub service = {0};
    scene one = SCENE;
    pthread_t dispatcher;
    one.host = stub_host(&service, serve_stay, &one);
    dispatcher = start(dispatch_well, &one);
    gate_wait(&one.inside);
    CHECK_EQUAL(agenthost_host_close(one.host, 0), AGENTHOST_TIMED_OUT);
    CHECK_EQUAL(agenthost_host_close(one.host, 20), AGENTHOST_TIMED_OUT);
    CHECK_EQUAL(atomic_load(&service.destroyed), 0);
    CHECK_EQUAL(atomic_load(&service.log_destroyed), 0);
    gate_open(&one.leave);
    CHECK_EQUAL(agenthost_host_close(one.host, UINT64_MAX), AGENTHOST_OK);
    CHECK_EQUAL(atomic_load(&service.destroyed), 1);
    CHECK(pthread_equal(service.destroyed_on, pthread_self()));
    finish(dispatcher);
    agenthost_host_release(one.host);
}

static void close_answers_what_is_deferred(void) {
    stub service = {0};
    scene one = SCENE;
    one.host = stub_host(&service, serve_deferred, &one);
    CHECK_EQUAL(agenthost_dispatch_json_async(one.host, request_of(AGENTHOST_CREATE_RUN), NULL, inbox_done, &one.in, NULL), AGENTHOST_OK);
    CHECK_EQUAL(agenthost_host_close(one.host, 30), AGENTHOST_OK);
    CHECK_EQUAL(atomic_load(&one.in.count), 1);
    CHECK_UNAVAILABLE(one.in.last, "closed");
    CHECK(pthread_equal(one.in.thread, pthread_self()));
    CHECK_EQUAL(atomic_load(&service.destroyed), 1);
    CHECK_EQUAL(agenthost_reply_is_abandoned(one.deferred), 1);
    CHECK_EQUAL(answer_well(AGENTHOST_CREATE_RUN, one.deferred), AGENTHOST_ALREADY_DONE);
    agenthost_host_release(one.host);
    CHECK_EQUAL(answer_well(AGENTHOST_CREATE_RUN, one.deferred), AGENTHOST_ALREADY_DONE);
    agenthost_reply_free(one.deferred);
}

static void *answer_soon(void *data) {
    scene *one = data;
    sleep_ms(30);
    one->status = answer_well(AGENTHOST_CREATE_RUN, one->deferred);
    agenthost_reply_free(one->deferred);
    return NULL;
}

static void close_waits_for_what_is_answered_in_time(void) {
    stub service = {0};
    scene one = SCENE;
    pthread_t answerer;
    one.host = stub_host(&service, serve_deferred, &one);
    CHECK_EQUAL(agenthost_dispatch_json_async(one.host, request_of(AGENTHOST_CREATE_RUN), NULL, inbox_done, &one.in, NULL), AGENTHOST_OK);
    answerer = start(answer_soon, &one);
    CHECK_EQUAL(agenthost_host_close(one.host, UINT64_MAX), AGENTHOST_OK);
    CHECK_EQUAL(atomic_load(&one.in.count), 1);
    CHECK_SUCCESS(one.in.last);
    finish(answerer);
    CHECK_EQUAL(one.status, AGENTHOST_OK);
    agenthost_host_release(one.host);
}

static void serve_stay_and_defer(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    scene *one = self->data;
    (void)call;
    (void)request;
    gate_open(&one->inside);
    gate_wait(&one->leave);
    CHECK_EQUAL(agenthost_reply_defer(reply, &one->deferred), AGENTHOST_OK);
}

static void *dispatch_unavailable(void *data) {
    scene *one = data;
    CHECK_UNAVAILABLE(dispatch(one->host, AGENTHOST_CREATE_RUN), "closed");
    return NULL;
}

static void a_slot_that_defers_after_close_has_given_up_is_answered(void) {
    stub service = {0};
    scene one = SCENE;
    pthread_t dispatcher;
    one.host = stub_host(&service, serve_stay_and_defer, &one);
    dispatcher = start(dispatch_unavailable, &one);
    gate_wait(&one.inside);
    CHECK_EQUAL(agenthost_host_close(one.host, 0), AGENTHOST_TIMED_OUT);
    gate_open(&one.leave);
    finish(dispatcher);
    CHECK_EQUAL(agenthost_host_close(one.host, UINT64_MAX), AGENTHOST_OK);
    agenthost_reply_free(one.deferred);
    agenthost_host_release(one.host);
}

static void close_concurrent_from_two_threads(void) {
    int round;
    for (round = 0; round < rounds(200); round++) {
        stub service = {0};
        scene one = SCENE;
        pthread_t dispatcher, first, second;
        one.host = stub_host(&service, serve_stay, &one);
        one.service = &service;
        dispatcher = start(dispatch_well, &one);
        gate_wait(&one.inside);
        first = start(close_for_ever, &one);
        second = start(close_for_ever, &one);
        gate_open(&one.leave);
        finish(first);
        finish(second);
        CHECK_EQUAL(atomic_load(&service.destroyed), 1);
        finish(dispatcher);
        agenthost_host_release(one.host);
    }
}

/* ---------------------------------------------------------------------------------------------------------- last release */

static void *open_soon(void *data) {
    sleep_ms(40);
    gate_open(data);
    return NULL;
}

static void *dispatch_and_count(void *data) {
    scene *one = data;
    REQUIRE(agenthost_host_retain(one->host) == AGENTHOST_OK);
    CHECK_SUCCESS(dispatch(one->host, AGENTHOST_CREATE_RUN));
    agenthost_host_release(one->host);
    return NULL;
}

static void a_release_that_is_not_the_last_does_not_wait(void) {
    stub service = {0};
    scene one = SCENE;
    pthread_t dispatcher;
    one.host = stub_host(&service, serve_stay, &one);
    dispatcher = start(dispatch_and_count, &one);
    gate_wait(&one.inside);
    agenthost_host_release(one.host);
    CHECK_EQUAL(atomic_load(&service.destroyed), 0);
    gate_open(&one.leave);
    finish(dispatcher);
    CHECK_EQUAL(atomic_load(&service.destroyed), 1);
}

static void done_stays(void *data, agenthost_buffer *response) {
    scene *one = data;
    gate_open(&one->inside);
    gate_wait(&one->leave);
    inbox_done(&one->in, response);
}

static void *answer_now(void *data) {
    scene *one = data;
    one->status = answer_well(AGENTHOST_CREATE_RUN, one->deferred);
    agenthost_reply_free(one->deferred);
    return NULL;
}

static void the_last_release_waits_for_a_done_on_another_thread(void) {
    stub service = {0};
    scene one = SCENE;
    pthread_t answerer, opener;
    one.host = stub_host(&service, serve_deferred, &one);
    CHECK_EQUAL(agenthost_dispatch_json_async(one.host, request_of(AGENTHOST_CREATE_RUN), NULL, done_stays, &one, NULL), AGENTHOST_OK);
    answerer = start(answer_now, &one);
    gate_wait(&one.inside);
    opener = start(open_soon, &one.leave);
    agenthost_host_release(one.host);
    CHECK_EQUAL(atomic_load(&one.in.count), 1);
    CHECK_SUCCESS(one.in.last);
    CHECK_EQUAL(atomic_load(&service.destroyed), 1);
    CHECK(pthread_equal(service.destroyed_on, pthread_self()));
    finish(answerer);
    finish(opener);
}

static void the_last_release_answers_what_is_deferred(void) {
    stub service = {0};
    scene one = SCENE;
    one.host = stub_host(&service, serve_deferred, &one);
    CHECK_EQUAL(agenthost_dispatch_json_async(one.host, request_of(AGENTHOST_CREATE_RUN), NULL, inbox_done, &one.in, NULL), AGENTHOST_OK);
    agenthost_host_release(one.host);
    CHECK_UNAVAILABLE(one.in.last, "closed");
    CHECK_EQUAL(atomic_load(&service.destroyed), 1);
    CHECK_EQUAL(agenthost_reply_is_abandoned(one.deferred), 1);
    agenthost_reply_free(one.deferred);
}

static void serve_releasing(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    scene *one = self->data;
    (void)request;
    agenthost_host_release(one->host);
    CHECK_EQUAL(atomic_load(&self->destroyed), 0);
    CHECK_EQUAL(answer_well(call->operation, reply), AGENTHOST_OK);
}

static void the_last_release_inside_a_slot(void) {
    stub service = {0};
    scene one = SCENE;
    one.host = stub_host(&service, serve_releasing, &one);
    CHECK_EQUAL(agenthost_dispatch_json_async(one.host, request_of(AGENTHOST_CREATE_RUN), NULL, inbox_done, &one.in, NULL), AGENTHOST_OK);
    CHECK_EQUAL(atomic_load(&one.in.count), 1);
    CHECK_SUCCESS(one.in.last);
    CHECK_EQUAL(atomic_load(&service.destroyed), 1);
}

static void *dispatch_async_well(void *data) {
    scene *one = data;
    CHECK_EQUAL(agenthost_dispatch_json_async(one->host, request_of(AGENTHOST_CREATE_RUN), NULL, inbox_done, &one->in, NULL), AGENTHOST_OK);
    return NULL;
}

static void serve_stay_or_release(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    if (call->operation == AGENTHOST_CREATE_RUN) serve_stay(self, call, request, reply);
    else serve_releasing(self, call, request, reply);
}

static void a_last_release_inside_a_slot_destroys_where_the_last_callback_returns(void) {
    stub service = {0};
    scene one = SCENE;
    inbox in = INBOX;
    pthread_t other;
    one.host = stub_host(&service, serve_stay_or_release, &one);
    other = start(dispatch_async_well, &one);
    gate_wait(&one.inside);
    CHECK_EQUAL(agenthost_dispatch_json_async(one.host, request_of(AGENTHOST_GET_RUN), NULL, inbox_done, &in, NULL), AGENTHOST_OK);
    CHECK_SUCCESS(in.last);
    CHECK_EQUAL(atomic_load(&service.destroyed), 0);
    gate_open(&one.leave);
    finish(other);
    CHECK_SUCCESS(one.in.last);
    CHECK_EQUAL(atomic_load(&service.destroyed), 1);
    CHECK(pthread_equal(service.destroyed_on, other));
}

/* -------------------------------------------------------------------------------------------------------------- a pool */

enum { WORKERS = 4, DISPATCHERS = 4, QUEUE = 4096 };

/* A service that hands its calls to threads of its own, and whose destroy joins them. */
typedef struct pool {
    stub service;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    agenthost_reply *queue[QUEUE];
    size_t count;
    int ends;
    pthread_t workers[WORKERS];
    agenthost_host *host;
    atomic_int succeeded, unavailable, others, stop;
} pool;

static void pool_serve(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    pool *all = self->data;
    agenthost_reply *deferred = NULL;
    agenthost_status status = agenthost_reply_defer(reply, &deferred);
    (void)call;
    (void)request;
    CHECK_EQUAL(status, AGENTHOST_OK);
    pthread_mutex_lock(&all->lock);
    REQUIRE(all->count < QUEUE);
    all->queue[all->count++] = deferred;
    pthread_cond_signal(&all->changed);
    pthread_mutex_unlock(&all->lock);
}

static void *pool_work(void *data) {
    pool *all = data;
    pthread_mutex_lock(&all->lock);
    for (;;) {
        agenthost_reply *reply;
        agenthost_status status;
        while (all->count == 0 && !all->ends) pthread_cond_wait(&all->changed, &all->lock);
        if (all->count == 0) break;
        reply = all->queue[--all->count];
        pthread_mutex_unlock(&all->lock);
        status = answer_well(AGENTHOST_CREATE_RUN, reply);
        CHECK(status == AGENTHOST_OK || status == AGENTHOST_ALREADY_DONE);
        agenthost_reply_free(reply);
        pthread_mutex_lock(&all->lock);
    }
    pthread_mutex_unlock(&all->lock);
    return NULL;
}

/* The service's destroy: joins the pool, whose threads may be answering right now. */
static void pool_destroy(void *data) {
    pool *all = ((stub *)data)->data;
    int i;
    for (i = 0; i < WORKERS; i++) CHECK(!pthread_equal(pthread_self(), all->workers[i]));
    pthread_mutex_lock(&all->lock);
    all->ends = 1;
    pthread_cond_broadcast(&all->changed);
    pthread_mutex_unlock(&all->lock);
    for (i = 0; i < WORKERS; i++) finish(all->workers[i]);
    atomic_fetch_add(&all->service.destroyed, 1);
}

static void pool_count(pool *all, outcome found) {
    if (found.code == 0) atomic_fetch_add(&all->succeeded, 1);
    else if (found.code == AGENTHOST_CODE_UNAVAILABLE && strcmp(found.reason, "closed") == 0) atomic_fetch_add(&all->unavailable, 1);
    else atomic_fetch_add(&all->others, 1);
}

static void *pool_dispatch(void *data) {
    pool *all = data;
    while (!atomic_load(&all->stop)) pool_count(all, dispatch(all->host, AGENTHOST_CREATE_RUN));
    return NULL;
}

static void pool_start(pool *all) {
    agenthost_service slots;
    int i;
    memset(all, 0, sizeof *all);
    pthread_mutex_init(&all->lock, NULL);
    pthread_cond_init(&all->changed, NULL);
    all->service.serve = pool_serve;
    all->service.data = all;
    slots = stub_service(&all->service);
    slots.destroy = pool_destroy;
    for (i = 0; i < WORKERS; i++) all->workers[i] = start(pool_work, all);
    REQUIRE(agenthost_host_new(&slots, NULL, &all->host, NULL) == AGENTHOST_OK);
}

static void defer_and_complete_from_a_pool_while_the_host_closes(void) {
    int round, i;
    pool *all = malloc(sizeof *all);
    REQUIRE(all != NULL);
    for (round = 0; round < rounds(40); round++) {
        pthread_t dispatchers[DISPATCHERS];
        pool_start(all);
        for (i = 0; i < DISPATCHERS; i++) dispatchers[i] = start(pool_dispatch, all);
        while (atomic_load(&all->succeeded) < 20) sleep_ms(1);
        if (round % 2) agenthost_host_close(all->host, 0); /* gives up what is deferred; perhaps a callback still runs */
        CHECK_EQUAL(agenthost_host_close(all->host, UINT64_MAX), AGENTHOST_OK);
        CHECK_EQUAL(atomic_load(&all->service.destroyed), 1);
        atomic_store(&all->stop, 1);
        for (i = 0; i < DISPATCHERS; i++) finish(dispatchers[i]);
        CHECK_EQUAL(atomic_load(&all->others), 0);
        agenthost_host_release(all->host);
    }
    free(all);
}

static void pool_done(void *data, agenthost_buffer *response) { pool_count(data, take(response)); }

static void destroy_that_joins_the_pool(void) {
    int round, i;
    pool *all = malloc(sizeof *all);
    REQUIRE(all != NULL);
    for (round = 0; round < rounds(100); round++) {
        pool_start(all);
        for (i = 0; i < 50; i++) {
            CHECK_EQUAL(agenthost_dispatch_json_async(all->host, request_of(AGENTHOST_CREATE_RUN), NULL, pool_done, all, NULL), AGENTHOST_OK);
        }
        agenthost_host_release(all->host);
        CHECK_EQUAL(atomic_load(&all->service.destroyed), 1);
        CHECK_EQUAL(atomic_load(&all->succeeded) + atomic_load(&all->unavailable), 50);
        CHECK_EQUAL(atomic_load(&all->others), 0);
    }
    free(all);
}

const test close_tests[] = {
    {"a closed host answers unavailable", a_closed_host_answers_unavailable},
    {"only what is asked for after close comes after it", only_what_is_asked_for_after_close_comes_after_it},
    {"close inside a slot would deadlock", close_inside_a_slot},
    {"close inside done, notify, log and destroy would deadlock", close_inside_done_notify_log_and_destroy},
    {"another host may be closed inside a slot", another_host_may_be_closed_inside_a_slot},
    {"close times out while a slot runs, and can be called again", close_times_out_while_a_slot_runs_and_can_be_called_again},
    {"close answers what is deferred", close_answers_what_is_deferred},
    {"close waits for what is answered in time", close_waits_for_what_is_answered_in_time},
    {"a slot that defers after close has given up is answered", a_slot_that_defers_after_close_has_given_up_is_answered},
    {"close concurrent from two threads", close_concurrent_from_two_threads},
    {"a release that is not the last does not wait", a_release_that_is_not_the_last_does_not_wait},
    {"the last release waits for a done on another thread", the_last_release_waits_for_a_done_on_another_thread},
    {"the last release answers what is deferred", the_last_release_answers_what_is_deferred},
    {"the last release inside a slot", the_last_release_inside_a_slot},
    {"a last release inside a slot destroys where the last callback returns",
     a_last_release_inside_a_slot_destroys_where_the_last_callback_returns},
    {"defer and complete from a pool while the host closes", defer_and_complete_from_a_pool_while_the_host_closes},
    {"destroy that joins the pool", destroy_that_joins_the_pool},
    {NULL, NULL},
};
