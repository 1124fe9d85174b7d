/* What leaves a callback in another way than by returning ends the process with a message: each in a child process. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness.h"

/* In throwing.cpp. */
void throw_exception(void);

typedef struct scene {
    agenthost_host *host;
    agenthost_reply *deferred;
    agenthost_pending *pending;
    int defers;
} scene;

static void serve_throwing(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    scene *one = self->data;
    (void)call;
    (void)request;
    if (one->defers) agenthost_reply_defer(reply, &one->deferred);
    throw_exception();
}

static void serve_deferred(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    (void)call;
    (void)request;
    agenthost_reply_defer(reply, &((scene *)self->data)->deferred);
}

static void serve_exiting(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    (void)self;
    (void)call;
    (void)request;
    (void)reply;
    pthread_exit(NULL);
}

static void done_throws(void *data, agenthost_buffer *response) {
    (void)data;
    (void)response;
    throw_exception();
}

static void notify_throws(void *data) {
    (void)data;
    throw_exception();
}

static void destroy_throws(void *data) {
    (void)data;
    throw_exception();
}

static void log_throws(void *data, int32_t level, agenthost_str message, agenthost_pairs fields) {
    (void)data;
    (void)level;
    (void)message;
    (void)fields;
    throw_exception();
}

static int child_slot(void *data) {
    stub service = {0};
    scene *one = data;
    one->host = stub_host(&service, serve_throwing, one);
    dispatch(one->host, AGENTHOST_CREATE_RUN);
    return 0;
}

static int child_exits_its_thread(void *data) {
    stub service = {0};
    scene *one = data;
    one->host = stub_host(&service, serve_exiting, one);
    dispatch(one->host, AGENTHOST_CREATE_RUN);
    return 0;
}

static int child_done(void *data) {
    stub service = {0};
    scene *one = data;
    one->host = stub_host(&service, serve_well, one);
    agenthost_dispatch_json_async(one->host, request_of(AGENTHOST_CREATE_RUN), NULL, done_throws, NULL, NULL);
    return 0;
}

static int child_notify(void *data) {
    stub service = {0};
    inbox in = INBOX;
    scene *one = data;
    one->host = stub_host(&service, serve_deferred, one);
    agenthost_dispatch_json_async(one->host, request_of(AGENTHOST_CREATE_RUN), NULL, inbox_done, &in, &one->pending);
    agenthost_reply_on_abandoned(one->deferred, notify_throws, NULL, NULL);
    agenthost_pending_cancel(one->pending);
    return 0;
}

static int child_destroy(void *data) {
    stub service = {0};
    agenthost_service slots = stub_service(&service);
    agenthost_host *host = NULL;
    (void)data;
    slots.destroy = destroy_throws;
    agenthost_host_new(&slots, NULL, &host, NULL);
    agenthost_host_release(host);
    return 0;
}

static int child_log(void *data) {
    stub service = {0};
    agenthost_service slots = stub_service(&service);
    agenthost_host_options options = stub_options(&service);
    agenthost_host *host = NULL;
    (void)data;
    service.serve = serve_nothing;
    options.log = log_throws;
    agenthost_host_new(&slots, &options, &host, NULL);
    dispatch(host, AGENTHOST_CREATE_RUN);
    return 0;
}

/* The process ends by abort, and says something on standard error before. */
static void ends(int (*body)(void *), int defers) {
    char said[4096];
    scene one = {0};
    one.defers = defers;
    CHECK_EQUAL(in_child(body, &one, said, sizeof said), 1000 + SIGABRT);
    CHECK(strlen(said) > 10);
}

static void out_of_a_slot(void) { ends(child_slot, 0); }
static void out_of_a_slot_that_has_deferred(void) { ends(child_slot, 1); }
static void out_of_done(void) { ends(child_done, 0); }
static void out_of_notify(void) { ends(child_notify, 0); }
static void out_of_destroy(void) { ends(child_destroy, 0); }
static void out_of_log(void) { ends(child_log, 0); }
static void pthread_exit_out_of_a_slot(void) { ends(child_exits_its_thread, 0); }

const test exception_tests[] = {
    {"an exception out of a slot ends the process with a message", out_of_a_slot},
    {"an exception out of a slot that has deferred ends the process with a message", out_of_a_slot_that_has_deferred},
    {"an exception out of done ends the process with a message", out_of_done},
    {"an exception out of notify ends the process with a message", out_of_notify},
    {"an exception out of destroy ends the process with a message", out_of_destroy},
    {"an exception out of log ends the process with a message", out_of_log},
    {"pthread_exit out of a slot ends the process with a message", pthread_exit_out_of_a_slot},
    {NULL, NULL},
};
