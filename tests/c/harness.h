/* The harness of the lifecycle tests: named tests, checks, a service that does what a test says, and places to wait. */
#ifndef TESTS_HARNESS_H
#define TESTS_HARNESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "agenthost.h"

typedef struct test {
    const char *name;
    void (*run)(void);
} test;

/* Groups of tests; each ends with a test without a name. */
extern const test null_tests[], size_tests[], making_tests[], slot_tests[], answer_tests[], async_tests[], close_tests[],
    abandoned_tests[], fork_tests[], thread_tests[], client_tests[], exception_tests[];

/* A failed CHECK fails its test, which goes on; a failed REQUIRE ends the run. */
#define CHECK(condition) check_at((condition) != 0, __FILE__, __LINE__, #condition)
#define REQUIRE(condition) require_at((condition) != 0, __FILE__, __LINE__, #condition)
#define CHECK_EQUAL(found, expected) check_equal_at((long long)(found), (long long)(expected), __FILE__, __LINE__, #found)
void check_at(int holds, const char *file, int line, const char *what);
void require_at(int holds, const char *file, int line, const char *what);
void check_equal_at(long long found, long long expected, const char *file, int line, const char *what);

/* How much less of what takes long is enough under a tool that makes everything slow (TESTS_SLOW). */
int rounds(int usual);

/* --------------------------------------------------------------------------------------------------------- waiting */

/* Opened once; whoever waits goes on. */
typedef struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int open;
} gate;
#define GATE {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0}
void gate_open(gate *self);
void gate_wait(gate *self);
void sleep_ms(int milliseconds);

/* ---------------------------------------------------------------------------------------------------- the service */

typedef struct stub stub;
typedef void (*serve)(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply);

/* A service that does what a test says, and counts. Also the data of its host's log hook. */
struct stub {
    serve serve;
    void *data;
    atomic_int served;
    atomic_int destroyed;
    atomic_int logged;
    atomic_int log_destroyed;
    pthread_t destroyed_on;
};

/* The structs of a stub, ready for agenthost_host_new. */
agenthost_service stub_service(stub *self);
agenthost_host_options stub_options(stub *self);
/* A host of a stub with a log hook; it has to be there. */
agenthost_host *stub_host(stub *self, serve how, void *data);

/* Answers an operation well: run-1, revision 7; an empty page. */
agenthost_status answer_well(agenthost_operation operation, agenthost_reply *reply);
/* Slots: answers well; does nothing. */
void serve_well(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply);
void serve_nothing(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply);

/* A good request of an operation, about run-1; its requestId is req-1. */
agenthost_str request_of(agenthost_operation operation);

/* ------------------------------------------------------------------------------------------------------ responses */

typedef struct outcome {
    int code;        /* 0: a success; -1: no valid response */
    int retryable;
    char reason[16]; /* details.reason */
    char request_id[32];
} outcome;

/* What a response says. Frees it. */
outcome take(agenthost_buffer *response);
/* Dispatches, and says what came out; `code` is -1 when the function was not OK. */
outcome dispatch(agenthost_host *host, agenthost_operation operation);
#define CHECK_SUCCESS(outcome) CHECK_EQUAL((outcome).code, 0)
#define CHECK_CODE(outcome, expected) CHECK_EQUAL((outcome).code, AGENTHOST_CODE_##expected)
/* `unavailable`, retryable, with the reason, answering req-1. */
#define CHECK_UNAVAILABLE(outcome, reason) check_unavailable_at(outcome, reason, __FILE__, __LINE__)
void check_unavailable_at(outcome found, const char *reason, const char *file, int line);

/* Where an asynchronous dispatch ends. */
typedef struct inbox {
    atomic_int count;
    outcome last;
    pthread_t thread;
    gate arrived;
} inbox;
#define INBOX {0, {0, 0, "", ""}, 0, GATE}
void inbox_done(void *data, agenthost_buffer *response);

/* ---------------------------------------------------------------------------------------------------- other threads */

pthread_t start(void *(*body)(void *), void *data);
void finish(pthread_t thread);

/* Runs `body` in a child process. What it came to: its result (1 when a check failed), or 1000 plus its signal; `said` gets what it wrote to
 * standard error. */
int in_child(int (*body)(void *data), void *data, char *said, size_t room);

#endif
