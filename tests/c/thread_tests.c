/* Eight threads on one host, doing everything at once. */
#include <stdlib.h>

#include "harness.h"

enum { THREADS = 8 };

typedef struct crowd {
    agenthost_host *host;
    atomic_int answered, unavailable, others, replies;
    int rounds;
} crowd;

/* By the operation: at once, deferred and answered here, deferred and answered by a new thread, dropped, nothing. */
static void *answer_and_free(void *data) {
    agenthost_status status = answer_well(AGENTHOST_RESUME_RUN, data);
    CHECK(status == AGENTHOST_OK || status == AGENTHOST_ALREADY_DONE);
    agenthost_reply_free(data);
    return NULL;
}

static void serve_all_ways(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    agenthost_reply *deferred = NULL;
    pthread_t thread;
    (void)self;
    (void)request;
    switch (call->operation) {
        case AGENTHOST_CANCEL_RUN:
            if (agenthost_reply_defer(reply, &deferred) == AGENTHOST_OK) agenthost_reply_free(deferred);
            break;
        case AGENTHOST_RESOLVE_APPROVAL:
            if (agenthost_reply_defer(reply, &deferred) == AGENTHOST_OK) answer_well(call->operation, deferred);
            agenthost_reply_free(deferred);
            break;
        case AGENTHOST_RESUME_RUN:
            if (agenthost_reply_defer(reply, &deferred) != AGENTHOST_OK) break;
            thread = start(answer_and_free, deferred);
            REQUIRE(pthread_detach(thread) == 0);
            break;
        default: answer_well(call->operation, reply); break;
    }
}

static void count(crowd *all, outcome found, agenthost_operation operation) {
    int expected = operation == AGENTHOST_CANCEL_RUN ? AGENTHOST_CODE_INTERNAL : 0;
    if (found.code == expected) atomic_fetch_add(&all->answered, 1);
    else if (found.code == AGENTHOST_CODE_UNAVAILABLE) atomic_fetch_add(&all->unavailable, 1);
    else atomic_fetch_add(&all->others, 1);
}

static void *dispatch_all(void *data) {
    crowd *all = data;
    int round;
    for (round = 0; round < all->rounds; round++) {
        agenthost_operation operation = round % 6 + 1;
        if (round % 4 < 2) {
            count(all, dispatch(all->host, operation), operation);
        } else {
            inbox in = INBOX;
            agenthost_pending *pending = NULL;
            CHECK_EQUAL(agenthost_dispatch_json_async(all->host, request_of(operation), NULL, inbox_done, &in, &pending), AGENTHOST_OK);
            if (round % 4 == 3) agenthost_pending_cancel(pending);
            gate_wait(&in.arrived);
            /* Until the opener has let go of the gate's lock. */
            pthread_mutex_lock(&in.arrived.lock);
            pthread_mutex_unlock(&in.arrived.lock);
            agenthost_pending_free(pending);
            count(all, in.last, operation);
        }
    }
    return NULL;
}

static void eight_threads_dispatch_in_all_ways(void) {
    stub service = {0};
    crowd all = {0};
    pthread_t threads[THREADS];
    int i;
    all.host = stub_host(&service, serve_all_ways, NULL);
    all.rounds = rounds(600);
    for (i = 0; i < THREADS; i++) threads[i] = start(dispatch_all, &all);
    for (i = 0; i < THREADS; i++) finish(threads[i]);
    CHECK_EQUAL(atomic_load(&all.others), 0);
    CHECK_EQUAL(atomic_load(&all.answered) + atomic_load(&all.unavailable), THREADS * all.rounds);
    CHECK(atomic_load(&all.answered) >= atomic_load(&all.unavailable));
    CHECK_EQUAL(atomic_load(&service.served), THREADS * all.rounds);
    agenthost_host_release(all.host);
    /* Threads that answered last may still be giving their replies back. */
    while (agenthost_live(AGENTHOST_LIVE_REPLIES) > 0) sleep_ms(1);
    sleep_ms(20);
}

static void *retain_dispatch_release(void *data) {
    crowd *all = data;
    int round;
    for (round = 0; round < all->rounds; round++) {
        CHECK_EQUAL(agenthost_host_retain(all->host), AGENTHOST_OK);
        CHECK_SUCCESS(dispatch(all->host, AGENTHOST_LIST_EVENTS));
        agenthost_host_release(all->host);
    }
    agenthost_host_release(all->host);
    return NULL;
}

static void eight_threads_retain_and_release(void) {
    stub service = {0};
    crowd all = {0};
    pthread_t threads[THREADS];
    int i;
    all.host = stub_host(&service, serve_well, NULL);
    all.rounds = rounds(1000);
    for (i = 0; i < THREADS; i++) {
        CHECK_EQUAL(agenthost_host_retain(all.host), AGENTHOST_OK);
        threads[i] = start(retain_dispatch_release, &all);
    }
    agenthost_host_release(all.host);
    for (i = 0; i < THREADS; i++) finish(threads[i]);
    CHECK_EQUAL(atomic_load(&service.destroyed), 1);
}

static void *dispatch_until_closed(void *data) {
    crowd *all = data;
    for (;;) {
        outcome found = dispatch(all->host, AGENTHOST_GET_RUN);
        if (found.code == AGENTHOST_CODE_UNAVAILABLE) break;
        CHECK_SUCCESS(found);
        atomic_fetch_add(&all->answered, 1);
    }
    return NULL;
}

static void eight_threads_dispatch_while_the_host_closes(void) {
    int round, i;
    for (round = 0; round < rounds(60); round++) {
        stub service = {0};
        crowd all = {0};
        pthread_t threads[THREADS];
        all.host = stub_host(&service, serve_well, NULL);
        for (i = 0; i < THREADS; i++) threads[i] = start(dispatch_until_closed, &all);
        while (atomic_load(&all.answered) < 8) sleep_ms(1);
        CHECK_EQUAL(agenthost_host_close(all.host, UINT64_MAX), AGENTHOST_OK);
        CHECK_EQUAL(atomic_load(&service.destroyed), 1);
        for (i = 0; i < THREADS; i++) finish(threads[i]);
        CHECK_EQUAL(atomic_load(&service.served), atomic_load(&all.answered));
        agenthost_host_release(all.host);
    }
}

const test thread_tests[] = {
    {"8 threads dispatch in all ways", eight_threads_dispatch_in_all_ways},
    {"8 threads retain and release", eight_threads_retain_and_release},
    {"8 threads dispatch while the host closes", eight_threads_dispatch_while_the_host_closes},
    {NULL, NULL},
};
