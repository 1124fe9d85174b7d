/*
 * The core through its C ABI: bytes to bytes, with a service written in C. Beside it, on the same bytes, serde_json reading over
 * them (floor) and a dispatcher of serde_json values (naive). All three take turns, in short batches; medians of the rounds.
 *
 *     bench [--json] [--cpu-time] [--rounds N] [--only CASE] [--count N]
 *
 * --cpu-time counts the time that the threads were on a processor, for machines that others use too; else it is the clock's.
 * --count dispatches the one case N times and measures nothing: for profilers.
 */
#define _GNU_SOURCE
#include <agenthost.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

unsigned bench_floor(const char *data, size_t length);
size_t bench_naive(const char *data, size_t length, size_t events, unsigned full, const char *event_data, size_t event_data_length);

/* ------------------------------------------------------------------------------------------- allocations, counted */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *pointer, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static __thread unsigned long allocations;

void *malloc(size_t size) { allocations++; return __libc_malloc(size); }
void *calloc(size_t count, size_t size) { allocations++; return __libc_calloc(count, size); }
void *realloc(void *pointer, size_t size) { allocations++; return __libc_realloc(pointer, size); }
void *aligned_alloc(size_t alignment, size_t size) { allocations++; return __libc_memalign(alignment, size); }
int posix_memalign(void **place, size_t alignment, size_t size) {
    allocations++;
    *place = __libc_memalign(alignment, size);
    return *place ? 0 : 12;
}

/* ---------------------------------------------------------------------------------------------------- the service */

struct answers {
    size_t events;
    unsigned full;
    char event_data[256];
    size_t event_data_length;
};

static agenthost_str lit(const char *text) { return agenthost_text(text); }

static void submit(agenthost_reply *reply, agenthost_str run_id) {
    agenthost_submission out;
    AGENTHOST_INIT(&out);
    out.run_id = run_id;
    out.revision = 1;
    out.status = AGENTHOST_RUN_CREATED;
    agenthost_reply_submission(reply, &out);
}

static void on_create(void *data, const agenthost_call *call, const agenthost_create_run *request, agenthost_reply *reply) {
    (void)data, (void)call;
    submit(reply, request->context->run_id);
}

static void on_get(void *data, const agenthost_call *call, const agenthost_get_run *request, agenthost_reply *reply) {
    const struct answers *answers = data;
    agenthost_run out;
    agenthost_context context;
    agenthost_approval approval;
    agenthost_pair region, risk, type;
    (void)call;
    AGENTHOST_INIT(&out);
    out.run_id = request->run_id;
    out.revision = 9;
    out.status = AGENTHOST_RUN_RUNNING;
    out.created_at_unix_ms = 1750000000001;
    out.updated_at_unix_ms = 1750000000002;
    if (answers->full) {
        AGENTHOST_INIT(&context);
        AGENTHOST_INIT(&approval);
        region.key = lit("region"), region.value = lit("ap-southeast-1");
        risk.key = lit("risk"), risk.value = lit("high");
        type.key = lit("agent_type"), type.value = lit("general");
        context.run_id = request->run_id;
        context.trace_id = lit("trace-1");
        context.request_id = lit("ctx-request-1");
        context.tenant_id = lit("tenant-1");
        context.user_id = lit("user-1");
        context.application_id = lit("app-1");
        context.workspace_id = lit("workspace-1");
        context.conversation_id = lit("conversation-1");
        context.agent_id = lit("agent-1");
        context.locale = lit("en-US");
        context.deadline_unix_ms.present = 1;
        context.deadline_unix_ms.value = 1893456000123;
        context.metadata.items = &region, context.metadata.count = 1;
        approval.approval_id = lit("approval-1");
        approval.tool_call_id = lit("call-1");
        approval.tool_name = lit("write_config");
        approval.resolution = AGENTHOST_APPROVAL_PENDING;
        approval.reason = lit("needs operator");
        approval.created_at_unix_ms = 1750000000000;
        approval.metadata.items = &risk, approval.metadata.count = 1;
        out.context = &context;
        out.approval = &approval;
        out.result = lit("{\"answer\":42,\"list\":[1,2.5,null,true]}");
        out.metadata.items = &type, out.metadata.count = 1;
    }
    agenthost_reply_run(reply, &out);
}

static void on_cancel(void *data, const agenthost_call *call, const agenthost_cancel_run *request, agenthost_reply *reply) {
    (void)data, (void)call;
    submit(reply, request->run_id);
}

static void on_resolve(void *data, const agenthost_call *call, const agenthost_resolve_approval *request, agenthost_reply *reply) {
    (void)data, (void)call;
    submit(reply, request->run_id);
}

static void on_resume(void *data, const agenthost_call *call, const agenthost_resume_run *request, agenthost_reply *reply) {
    (void)data, (void)call;
    submit(reply, request->run_id);
}

static void on_list(void *data, const agenthost_call *call, const agenthost_list_events *request, agenthost_reply *reply) {
    const struct answers *answers = data;
    agenthost_event out;
    size_t sequence;
    (void)call;
    AGENTHOST_INIT(&out);
    out.run_id = request->run_id;
    out.type = lit("step.progress");
    out.status = AGENTHOST_RUN_RUNNING;
    out.step_id = lit("step-1");
    out.tool_call_id = lit("call-1");
    out.timestamp_unix_ms = 1750000000000;
    out.data.data = answers->event_data;
    out.data.len = answers->event_data_length;
    for (sequence = 1; sequence <= answers->events; sequence++) {
        out.sequence = sequence;
        agenthost_reply_event(reply, &out);
    }
    agenthost_reply_page(reply, answers->events, 1);
}

static agenthost_host *make_host(struct answers *answers) {
    agenthost_service service;
    agenthost_host *host = NULL;
    AGENTHOST_INIT(&service);
    service.user_data = answers;
    service.create_run = on_create;
    service.get_run = on_get;
    service.cancel_run = on_cancel;
    service.resolve_approval = on_resolve;
    service.resume_run = on_resume;
    service.list_events = on_list;
    if (agenthost_host_new(&service, NULL, &host, NULL) != AGENTHOST_OK) abort();
    return host;
}

/* ------------------------------------------------------------------------------------------------------- the cases */

struct bench_case {
    char name[48];
    char *message;
    size_t length;
    struct answers answers;
    int success;
    agenthost_host *host;
};

static struct bench_case cases[32];
static size_t case_count;

/* About `size` bytes of JSON: one string, or objects of six members. */
static char *make_input(const char *shape, size_t size) {
    char *out = malloc(size + 512), *at = out;
    size_t id = 0;
    if (strcmp(shape, "string") == 0) {
        *at++ = '"';
        for (; (size_t)(at - out) < size - 1; at++) *at = "abcdefghijklmnopqrstuvwxyz 0123456789"[(at - out) % 37];
        *at++ = '"';
    } else {
        *at++ = '[';
        while ((size_t)(at - out) < size - 60) {
            if (id) *at++ = ',';
            at += sprintf(at, "{\"id\":%zu,\"name\":\"item %zu\",\"ok\":%s,\"parent\":null,\"score\":%zu.%02zu,\"tags\":[\"red\",\"tag-%zu\"]}",
                          id, id, id % 2 ? "true" : "false", id % 100, id % 97, id % 10);
            id++;
        }
        *at++ = ']';
    }
    *at = 0;
    return out;
}

static struct bench_case *add(const char *name, char *message) {
    struct bench_case *added = &cases[case_count++];
    snprintf(added->name, sizeof added->name, "%s", name);
    added->message = message;
    added->length = strlen(message);
    added->success = 1;
    return added;
}

static void add_create(const char *shape, const char *label, size_t size) {
    static const char format[] =
        "{\"protocolVersion\":\"2026-07-01\",\"requestId\":\"req-1\",\"idempotencyKey\":\"key-1\",\"operation\":\"create_run\","
        "\"body\":{\"context\":{\"runId\":\"run-1\",\"tenantId\":\"tenant-1\",\"userId\":\"user-1\"},\"input\":%s}}";
    char name[48], *input = make_input(shape, size), *message = malloc(strlen(input) + sizeof format);
    sprintf(message, format, input);
    free(input);
    snprintf(name, sizeof name, "create_run/%s/%s", shape, label);
    add(name, message);
}

static void add_events(const char *name, size_t events) {
    char *message = malloc(256);
    struct bench_case *added;
    sprintf(message, "{\"protocolVersion\":\"2026-07-01\",\"requestId\":\"req-1\",\"operation\":\"list_events\",\"body\":{\"runId\":\"run-1\",\"limit\":%zu}}", events);
    added = add(name, message);
    added->answers.events = events;
    sprintf(added->answers.event_data, "{\"step\":1,\"text\":\"%0168d\",\"done\":false}", 7);
    added->answers.event_data_length = strlen(added->answers.event_data);
}

static void make_cases(void) {
    add("get_run/minimal", strdup("{\"protocolVersion\":\"2026-07-01\",\"requestId\":\"req-1\",\"operation\":\"get_run\",\"body\":{\"runId\":\"run-1\"}}"));
    add("get_run/full", strdup("{\"protocolVersion\":\"2026-07-01\",\"requestId\":\"req-1\",\"operation\":\"get_run\",\"body\":{\"runId\":\"run-1\"}}"))
        ->answers.full = 1;
    add_create("string", "1KiB", 1 << 10);
    add_create("string", "64KiB", 64 << 10);
    add_create("string", "1MiB", 1 << 20);
    add_create("tree", "1KiB", 1 << 10);
    add_create("tree", "4KiB", 4 << 10);
    add_create("tree", "16KiB", 16 << 10);
    add_create("tree", "64KiB", 64 << 10);
    add_create("tree", "256KiB", 256 << 10);
    add_create("tree", "1MiB", 1 << 20);
    add_create("tree", "4MiB", 4 << 20);
    add_create("tree", "16MiB", (16 << 20) - 1024);
    add("cancel_run", strdup("{\"protocolVersion\":\"2026-07-01\",\"requestId\":\"req-1\",\"idempotencyKey\":\"key-1\",\"operation\":\"cancel_run\","
                             "\"body\":{\"runId\":\"run-1\",\"expectedRevision\":7,\"reason\":\"enough\"}}"));
    add_events("list_events/256", 256);
    add_events("list_events/1000", 1000);
    add("refused/unsupported_version", strdup("{\"protocolVersion\":\"1999-01-01\",\"requestId\":\"req-1\",\"operation\":\"get_run\",\"body\":{\"runId\":\"run-1\"}}"))->success = 0;
    add("refused/missing_key", strdup("{\"protocolVersion\":\"2026-07-01\",\"requestId\":\"req-1\",\"operation\":\"cancel_run\","
                                      "\"body\":{\"runId\":\"run-1\",\"expectedRevision\":7}}"))->success = 0;
}

/* ------------------------------------------------------------------------------------------------------- measuring */

enum subject { CORE, FLOOR, NAIVE };

static size_t once(const struct bench_case *it, enum subject subject) {
    agenthost_buffer *response = NULL;
    agenthost_str message;
    size_t length;
    if (subject == FLOOR) return bench_floor(it->message, it->length);
    if (subject == NAIVE)
        return bench_naive(it->message, it->length, it->answers.events, it->answers.full,
                           it->answers.event_data_length ? it->answers.event_data : "0",
                           it->answers.event_data_length ? it->answers.event_data_length : 1);
    message.data = it->message;
    message.len = it->length;
    if (agenthost_dispatch_json(it->host, message, &response) != AGENTHOST_OK) abort();
    length = agenthost_buffer_len(response);
    agenthost_buffer_free(response);
    return length;
}

static int clock_of_threads;

static double now(void) {
    struct timespec time;
    clock_gettime(clock_of_threads ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

struct batch {
    const struct bench_case *it;
    enum subject subject;
    size_t count;
    pthread_barrier_t *start;
    double began, ended;
};

static void run_batch(struct batch *batch) {
    size_t i;
    batch->began = now();
    for (i = 0; i < batch->count; i++) once(batch->it, batch->subject);
    batch->ended = now();
}

static void *on_thread(void *data) {
    struct batch *batch = data;
    once(batch->it, batch->subject);
    pthread_barrier_wait(batch->start);
    run_batch(batch);
    return NULL;
}

/* Nanoseconds for each message that any thread has worked on: of two threads that start together, the mean of both. */
static double measure(const struct bench_case *it, enum subject subject, size_t count, int threads) {
    struct batch batches[2];
    pthread_t others[2];
    pthread_barrier_t start;
    int i;
    if (threads == 1) {
        struct batch batch = {it, subject, count, NULL, 0, 0};
        run_batch(&batch);
        return (batch.ended - batch.began) / (double)count;
    }
    pthread_barrier_init(&start, NULL, 2);
    for (i = 0; i < 2; i++) {
        batches[i] = (struct batch){it, subject, count, &start, 0, 0};
        pthread_create(&others[i], NULL, on_thread, &batches[i]);
    }
    for (i = 0; i < 2; i++) pthread_join(others[i], NULL);
    pthread_barrier_destroy(&start);
    return (batches[0].ended - batches[0].began + batches[1].ended - batches[1].began) / (double)(4 * count);
}

static int compare(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, compare);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* How many messages a batch of about `budget` nanoseconds holds: the batch is shorter than a scheduler's slice. */
static size_t calibrate(const struct bench_case *it, enum subject subject, double budget) {
    double best = 1e300;
    int i;
    for (i = 0; i < 20; i++) {
        double time = measure(it, subject, 1, 1);
        if (time < best) best = time;
        if (time > 2e7 && i >= 2) break;
    }
    return best >= budget ? 1 : (size_t)(budget / best) + 1;
}

static void check(const struct bench_case *it) {
    agenthost_buffer *response = NULL;
    agenthost_str message;
    const char *expected = it->success ? "\"ok\":true" : "\"ok\":false";
    message.data = it->message;
    message.len = it->length;
    agenthost_dispatch_json(it->host, message, &response);
    if (!response || !memmem(agenthost_buffer_data(response), agenthost_buffer_len(response), expected, strlen(expected))) {
        fprintf(stderr, "%s: an unexpected response\n", it->name);
        exit(1);
    }
    agenthost_buffer_free(response);
}

int main(int argc, char **argv) {
    enum { MOST_ROUNDS = 201 };
    static double times[3][MOST_ROUNDS];
    int json = 0, rounds = 31, printed = 0, argument, threads, round, subject;
    size_t count = 0, i;
    const char *only = NULL;
    for (argument = 1; argument < argc; argument++) {
        if (strcmp(argv[argument], "--json") == 0) json = 1;
        else if (strcmp(argv[argument], "--cpu-time") == 0) clock_of_threads = 1;
        else if (strcmp(argv[argument], "--rounds") == 0 && argument + 1 < argc) rounds = atoi(argv[++argument]);
        else if (strcmp(argv[argument], "--only") == 0 && argument + 1 < argc) only = argv[++argument];
        else if (strcmp(argv[argument], "--count") == 0 && argument + 1 < argc) count = strtoul(argv[++argument], NULL, 10);
        else return fprintf(stderr, "usage: bench [--json] [--cpu-time] [--rounds N] [--only CASE] [--count N]\n"), 2;
    }
    if (rounds < 1) rounds = 1;
    if (rounds > MOST_ROUNDS) rounds = MOST_ROUNDS;
    make_cases();
    if (json) printf("[");
    else printf("%-28s %7s %12s %12s %12s %7s %7s %9s %9s\n", "case", "threads", "ns", "floor ns", "naive ns", "x floor", "allocs", "bytes in", "bytes out");
    for (i = 0; i < case_count; i++) {
        struct bench_case *it = &cases[i];
        unsigned long before, allocs;
        size_t bytes_out, batch[3];
        if (only && strncmp(it->name, only, strlen(only)) != 0) continue;
        it->host = make_host(&it->answers);
        check(it);
        if (count) {
            size_t done;
            for (done = 0; done < count; done++) once(it, CORE);
            agenthost_host_release(it->host);
            continue;
        }
        bytes_out = once(it, CORE);
        before = allocations;
        once(it, CORE);
        allocs = allocations - before;
        for (subject = CORE; subject <= NAIVE; subject++) batch[subject] = calibrate(it, (enum subject)subject, 3e5);
        for (threads = 1; threads <= 2; threads++) {
            double ns[3];
            int most = it->length > (4u << 20) && rounds > 5 ? 5 : it->length > (512u << 10) && rounds > 11 ? 11 : rounds;
            for (round = 0; round < most; round++) {
                for (subject = CORE; subject <= NAIVE; subject++) {
                    size_t each = batch[subject];
                    /* Starting threads costs what many messages cost: two threads get longer batches. */
                    if (threads == 2) each *= 8;
                    if (threads == 2 && it->length > (512u << 10)) each = 1;
                    times[subject][round] = measure(it, (enum subject)subject, each, threads);
                }
            }
            for (subject = CORE; subject <= NAIVE; subject++) ns[subject] = median(times[subject], most);
            if (json)
                printf("%s\n{\"case\":\"%s\",\"threads\":%d,\"ns\":%.1f,\"floor_ns\":%.1f,\"naive_ns\":%.1f,\"allocs\":%lu,\"bytes_in\":%zu,\"bytes_out\":%zu}",
                       printed++ ? "," : "", it->name, threads, ns[CORE], ns[FLOOR], ns[NAIVE], allocs, it->length, bytes_out);
            else
                printf("%-28s %7d %12.1f %12.1f %12.1f %7.2f %7lu %9zu %9zu\n", it->name, threads, ns[CORE], ns[FLOOR], ns[NAIVE],
                       ns[CORE] / ns[FLOOR], allocs, it->length, bytes_out);
            fflush(stdout);
        }
        agenthost_host_release(it->host);
    }
    if (json) printf("\n]\n");
    for (i = 0; i < case_count; i++) free(cases[i].message);
    return 0;
}
