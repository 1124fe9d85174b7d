#include "harness.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "json.h"

static const test *const groups[] = {null_tests,  size_tests,      making_tests, slot_tests,   answer_tests, async_tests,
                                     close_tests, abandoned_tests, fork_tests,   thread_tests, client_tests, exception_tests};

/* Longer than any test takes under any tool; a test that takes it hangs. */
enum { HANGS_AFTER_SECONDS = 240 };

static const char *running = "";
static atomic_int failures;
static int passed, failed;

static void summary(void) { printf("c-lifecycle: %d passed, %d failed\n", passed, failed); }

void check_at(int holds, const char *file, int line, const char *what) {
    if (holds) return;
    atomic_fetch_add(&failures, 1);
    printf("c-lifecycle: FAILED %s: %s:%d: %s\n", running, file, line, what);
    fflush(stdout);
}

void check_equal_at(long long found, long long expected, const char *file, int line, const char *what) {
    if (found == expected) return;
    check_at(0, file, line, what);
    printf("c-lifecycle:   expected %lld, found %lld\n", expected, found);
}

void require_at(int holds, const char *file, int line, const char *what) {
    if (holds) return;
    check_at(0, file, line, what);
    failed++;
    summary();
    fflush(stdout);
    _exit(1);
}

static void hangs(int signal) {
    static const char text[] = "c-lifecycle: FAILED, it hangs: ";
    ssize_t ignored;
    (void)signal;
    ignored = write(STDOUT_FILENO, text, sizeof text - 1);
    ignored += write(STDOUT_FILENO, running, strlen(running));
    ignored += write(STDOUT_FILENO, "\nc-lifecycle: 0 passed, 1 failed\n", 34);
    _exit(ignored > 0);
}

int rounds(int usual) {
    int fewer = usual / 20;
    if (getenv("TESTS_SLOW") == NULL) return usual;
    return fewer > 0 ? fewer : 1;
}

static void run(const test *one) {
    int kind;
    atomic_store(&failures, 0);
    running = one->name;
    alarm(HANGS_AFTER_SECONDS);
    one->run();
    alarm(0);
    for (kind = AGENTHOST_LIVE_HOSTS; kind <= AGENTHOST_LIVE_RESPONSES; kind++) {
        check_equal_at((long long)agenthost_live(kind), 0, "handles left, of kind", kind, "agenthost_live(kind)");
    }
    if (atomic_load(&failures) == 0) passed++;
    else failed++;
}

/* Runs all tests, or those whose name contains the first argument. */
int main(int argc, char **argv) {
    size_t i;
    const test *one;
    signal(SIGALRM, hangs);
    signal(SIGPIPE, SIG_IGN);
    for (i = 0; i < sizeof groups / sizeof *groups; i++) {
        for (one = groups[i]; one->name != NULL; one++) {
            if (argc > 1 && strstr(one->name, argv[1]) == NULL) continue;
            if (argc > 1) printf("%s\n", one->name);
            fflush(stdout);
            run(one);
        }
    }
    summary();
    return failed > 0 || passed == 0;
}

/* --------------------------------------------------------------------------------------------------------- waiting */

void gate_open(gate *self) {
    pthread_mutex_lock(&self->lock);
    self->open = 1;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
}

void gate_wait(gate *self) {
    pthread_mutex_lock(&self->lock);
    while (!self->open) pthread_cond_wait(&self->changed, &self->lock);
    pthread_mutex_unlock(&self->lock);
}

void sleep_ms(int milliseconds) {
    struct timespec time;
    time.tv_sec = milliseconds / 1000;
    time.tv_nsec = milliseconds % 1000 * 1000000L;
    while (nanosleep(&time, &time) != 0 && errno == EINTR) {}
}

/* ---------------------------------------------------------------------------------------------------- the service */

static void called(void *data, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    stub *self = data;
    atomic_fetch_add(&self->served, 1);
    self->serve(self, call, request, reply);
}

#define SLOT(name)                                                                                                           \
    static void stub_##name(void *data, const agenthost_call *call, const agenthost_##name *request, agenthost_reply *reply) { \
        called(data, call, request, reply);                                                                                 \
    }
SLOT(create_run)
SLOT(get_run)
SLOT(cancel_run)
SLOT(resolve_approval)
SLOT(resume_run)
SLOT(list_events)

static void stub_destroy(void *data) {
    stub *self = data;
    self->destroyed_on = pthread_self();
    atomic_fetch_add(&self->destroyed, 1);
}

static void stub_log(void *data, int32_t level, agenthost_str message, agenthost_pairs fields) {
    stub *self = data;
    (void)fields;
    CHECK(level >= AGENTHOST_LOG_ERROR && level <= AGENTHOST_LOG_DEBUG);
    CHECK(message.len > 0);
    atomic_fetch_add(&self->logged, 1);
}

static void stub_log_destroy(void *data) { atomic_fetch_add(&((stub *)data)->log_destroyed, 1); }

agenthost_service stub_service(stub *self) {
    agenthost_service service;
    AGENTHOST_INIT(&service);
    service.user_data = self;
    service.destroy = stub_destroy;
    service.create_run = stub_create_run;
    service.get_run = stub_get_run;
    service.cancel_run = stub_cancel_run;
    service.resolve_approval = stub_resolve_approval;
    service.resume_run = stub_resume_run;
    service.list_events = stub_list_events;
    return service;
}

agenthost_host_options stub_options(stub *self) {
    agenthost_host_options options;
    AGENTHOST_INIT(&options);
    options.log = stub_log;
    options.log_data = self;
    options.log_destroy = stub_log_destroy;
    return options;
}

agenthost_host *stub_host(stub *self, serve how, void *data) {
    agenthost_host *host = NULL;
    agenthost_service service = stub_service(self);
    agenthost_host_options options = stub_options(self);
    self->serve = how;
    self->data = data;
    REQUIRE(agenthost_host_new(&service, &options, &host, NULL) == AGENTHOST_OK);
    REQUIRE(host != NULL);
    return host;
}

agenthost_status answer_well(agenthost_operation operation, agenthost_reply *reply) {
    agenthost_submission submission;
    agenthost_run run;
    switch (operation) {
        case AGENTHOST_GET_RUN:
            AGENTHOST_INIT(&run);
            run.run_id = agenthost_text("run-1");
            run.revision = 7;
            run.status = AGENTHOST_RUN_RUNNING;
            return agenthost_reply_run(reply, &run);
        case AGENTHOST_LIST_EVENTS: return agenthost_reply_page(reply, 0, 0);
        default:
            AGENTHOST_INIT(&submission);
            submission.run_id = agenthost_text("run-1");
            submission.revision = 7;
            submission.status = AGENTHOST_RUN_RUNNING;
            return agenthost_reply_submission(reply, &submission);
    }
}

void serve_well(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    (void)self;
    (void)request;
    CHECK_EQUAL(answer_well(call->operation, reply), AGENTHOST_OK);
}

void serve_nothing(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    (void)self;
    (void)call;
    (void)request;
    (void)reply;
}

agenthost_str request_of(agenthost_operation operation) {
#define REQUEST(name, body) \
    "{\"protocolVersion\":\"2026-07-01\",\"requestId\":\"req-1\",\"idempotencyKey\":\"key-1\",\"operation\":\"" name "\",\"body\":{" body "}}"
    static const char *const requests[] = {
        REQUEST("create_run", "\"context\":{\"runId\":\"run-1\"}"),
        REQUEST("get_run", "\"runId\":\"run-1\""),
        REQUEST("cancel_run", "\"runId\":\"run-1\",\"expectedRevision\":6"),
        REQUEST("resolve_approval", "\"runId\":\"run-1\",\"expectedRevision\":6,\"approvalId\":\"a\",\"resolution\":\"denied\""),
        REQUEST("resume_run", "\"runId\":\"run-1\",\"expectedRevision\":6,\"approvalId\":\"a\""),
        REQUEST("list_events", "\"runId\":\"run-1\""),
    };
    return agenthost_text(requests[operation - 1]);
}

/* ------------------------------------------------------------------------------------------------------ responses */

static void keep(char *to, size_t room, const char *from, size_t length) {
    if (length >= room) length = room - 1;
    memcpy(to, from, length);
    to[length] = 0;
}

outcome take(agenthost_buffer *buffer) {
    outcome out;
    agenthost_response *response = NULL;
    agenthost_str message;
    const agenthost_error *error;
    memset(&out, 0, sizeof out);
    message.data = agenthost_buffer_data(buffer);
    message.len = agenthost_buffer_len(buffer);
    out.code = -1;
    if (agenthost_response_parse_any(message, &response, NULL) == AGENTHOST_OK) {
        agenthost_str request_id = agenthost_response_request_id(response);
        keep(out.request_id, sizeof out.request_id, request_id.data, request_id.len);
        error = agenthost_response_error(response);
        out.code = error != NULL ? error->code : 0;
        if (error != NULL) {
            json *details = json_read(error->details.data, error->details.len);
            const char *reason = json_text(details, "reason");
            keep(out.reason, sizeof out.reason, reason, strlen(reason));
            out.retryable = (int)error->retryable;
            json_free(details);
        }
    }
    agenthost_response_free(response);
    agenthost_buffer_free(buffer);
    return out;
}

outcome dispatch(agenthost_host *host, agenthost_operation operation) {
    agenthost_buffer *response = NULL;
    outcome out = {-1, 0, "", ""};
    if (agenthost_dispatch_json(host, request_of(operation), &response) == AGENTHOST_OK) return take(response);
    CHECK(response == NULL);
    return out;
}

void check_unavailable_at(outcome found, const char *reason, const char *file, int line) {
    check_equal_at(found.code, AGENTHOST_CODE_UNAVAILABLE, file, line, "code");
    check_at(found.retryable == 1, file, line, "retryable");
    check_at(strcmp(found.reason, reason) == 0, file, line, reason);
    check_at(strcmp(found.request_id, "req-1") == 0, file, line, "requestId");
}

void inbox_done(void *data, agenthost_buffer *response) {
    inbox *self = data;
    self->last = take(response);
    self->thread = pthread_self();
    atomic_fetch_add(&self->count, 1);
    gate_open(&self->arrived);
}

/* ---------------------------------------------------------------------------------------------------- other threads */

pthread_t start(void *(*body)(void *), void *data) {
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, body, data) == 0);
    return thread;
}

void finish(pthread_t thread) { REQUIRE(pthread_join(thread, NULL) == 0); }

int in_child(int (*body)(void *data), void *data, char *said, size_t room) {
    int ends[2], codes[2], status = 0, code = 0, arrived;
    size_t length = 0;
    ssize_t got;
    pid_t child;
    fflush(stdout);
    fflush(stderr);
    REQUIRE(pipe(ends) == 0 && pipe(codes) == 0);
    child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        atomic_store(&failures, 0);
        alarm(HANGS_AFTER_SECONDS / 2);
        code = body(data);
        if (code == 0) code = atomic_load(&failures) > 0;
        fflush(stdout);
        /* Tells, and vanishes: what the parent holds is no leak of the child's. */
        if (write(codes[1], &code, sizeof code) == (ssize_t)sizeof code) kill(getpid(), SIGKILL);
        _exit(1);
    }
    close(ends[1]);
    close(codes[1]);
    while ((got = read(ends[0], said + length, room - 1 - length)) > 0) length += (size_t)got;
    said[length] = 0;
    arrived = read(codes[0], &code, sizeof code) == (ssize_t)sizeof code;
    close(ends[0]);
    close(codes[0]);
    REQUIRE(waitpid(child, &status, 0) == child);
    if (arrived) return code;
    return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}
