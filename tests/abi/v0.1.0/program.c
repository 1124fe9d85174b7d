/* A host in C: a service that keeps one run in memory, and the run's whole life as envelopes in and out.
 *
 *     cc host.c $(pkg-config --cflags --libs agenthost) -o host && ./host [request.json]
 */
#include <agenthost.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------ the service */

/* A real service has many runs, a lock around them, and looks at call->idempotency_key to answer a retry as before. */
typedef struct store {
    char run_id[256], input[256], reason[256];
    agenthost_run_status status;
    agenthost_resolution resolution;
    uint64_t revision; /* each step of the run is one event */
    struct { const char *type; agenthost_run_status status; } events[8];
} store;

/* Borrowed text dies when the slot returns: keep a copy. */
static int copy(char *to, size_t room, agenthost_str from) {
    if (from.len >= room) return 0;
    memcpy(to, from.data, from.len);
    to[from.len] = 0;
    return 1;
}

static void refuse(agenthost_reply *reply, agenthost_code code, const char *message) {
    agenthost_error error;
    AGENTHOST_INIT(&error);
    error.code = code;
    error.message = agenthost_text(message);
    agenthost_reply_error(reply, &error);
}

/* The run is there, at the revision that the caller has seen, in a status from which it can go on. */
static int ready(store *s, agenthost_str run_id, uint64_t revision, agenthost_run_status status, agenthost_reply *reply) {
    if (run_id.len != strlen(s->run_id) || memcmp(run_id.data, s->run_id, run_id.len) != 0) {
        refuse(reply, AGENTHOST_CODE_NOT_FOUND, "there is no such run");
    } else if (revision != 0 && revision != s->revision) {
        refuse(reply, AGENTHOST_CODE_CONFLICT, "the run has another revision");
    } else if (status != 0 && status != s->status) {
        refuse(reply, AGENTHOST_CODE_CONFLICT, "the run has another status");
    } else {
        return 1;
    }
    return 0;
}

/* The run takes a step: a new revision, and an event. */
static void step(store *s, agenthost_run_status status, const char *event) {
    s->status = status;
    s->events[++s->revision].type = event;
    s->events[s->revision].status = status;
}

static void submit(store *s, agenthost_reply *reply) {
    agenthost_submission submission;
    AGENTHOST_INIT(&submission);
    submission.run_id = agenthost_text(s->run_id);
    submission.revision = s->revision;
    submission.status = s->status;
    agenthost_reply_submission(reply, &submission);
}

static void create_run(void *data, const agenthost_call *call, const agenthost_create_run *request, agenthost_reply *reply) {
    store *s = data;
    (void)call;
    if (s->revision != 0) {
        refuse(reply, AGENTHOST_CODE_CONFLICT, "this service keeps one run");
    } else if (!copy(s->run_id, sizeof s->run_id, request->context->run_id) || !copy(s->input, sizeof s->input, request->input)) {
        refuse(reply, AGENTHOST_CODE_INVALID_REQUEST, "too long for this service");
    } else {
        step(s, AGENTHOST_RUN_RUNNING, "run.created");
        submit(s, reply);
        /* The agent asks for a tool that needs approval: the run is suspended. */
        s->resolution = AGENTHOST_APPROVAL_PENDING;
        step(s, AGENTHOST_RUN_WAITING_FOR_APPROVAL, "approval.requested");
    }
}

static void get_run(void *data, const agenthost_call *call, const agenthost_get_run *request, agenthost_reply *reply) {
    store *s = data;
    agenthost_approval approval;
    agenthost_run run;
    (void)call;
    if (!ready(s, request->run_id, 0, 0, reply)) return;
    AGENTHOST_INIT(&approval);
    approval.approval_id = agenthost_text("approval-1");
    approval.tool_call_id = agenthost_text("call-1");
    approval.tool_name = agenthost_text("write_file");
    approval.resolution = s->resolution;
    approval.reason = agenthost_text(s->reason);
    approval.resolved_at_unix_ms.present = s->resolution != AGENTHOST_APPROVAL_PENDING;
    AGENTHOST_INIT(&run);
    run.run_id = agenthost_text(s->run_id);
    run.revision = s->revision;
    run.status = s->status;
    run.approval = &approval;
    run.result = agenthost_text(s->input); /* free JSON, as it came */
    agenthost_reply_run(reply, &run);
}

static void cancel_run(void *data, const agenthost_call *call, const agenthost_cancel_run *request, agenthost_reply *reply) {
    store *s = data;
    (void)call;
    if (!ready(s, request->run_id, request->expected_revision, 0, reply)) return;
    if (s->status == AGENTHOST_RUN_CANCELLED) {
        refuse(reply, AGENTHOST_CODE_CONFLICT, "the run has ended");
        return;
    }
    step(s, AGENTHOST_RUN_CANCELLED, "run.cancelled");
    submit(s, reply);
}

static void resolve_approval(void *data, const agenthost_call *call, const agenthost_resolve_approval *request, agenthost_reply *reply) {
    store *s = data;
    (void)call;
    if (!ready(s, request->run_id, request->expected_revision, AGENTHOST_RUN_WAITING_FOR_APPROVAL, reply)) return;
    if (s->resolution != AGENTHOST_APPROVAL_PENDING || !copy(s->reason, sizeof s->reason, request->reason)) {
        refuse(reply, AGENTHOST_CODE_CONFLICT, "resolved before, or the reason is too long for this service");
        return;
    }
    s->resolution = request->resolution;
    step(s, s->status, "approval.resolved");
    submit(s, reply);
}

static void resume_run(void *data, const agenthost_call *call, const agenthost_resume_run *request, agenthost_reply *reply) {
    store *s = data;
    (void)call;
    if (!ready(s, request->run_id, request->expected_revision, AGENTHOST_RUN_WAITING_FOR_APPROVAL, reply)) return;
    if (s->resolution != AGENTHOST_APPROVAL_APPROVED) {
        refuse(reply, AGENTHOST_CODE_CONFLICT, "the approval is not given");
        return;
    }
    step(s, AGENTHOST_RUN_RUNNING, "run.resumed");
    submit(s, reply);
}

static void list_events(void *data, const agenthost_call *call, const agenthost_list_events *request, agenthost_reply *reply) {
    store *s = data;
    uint64_t last = request->after_sequence, end;
    (void)call;
    if (!ready(s, request->run_id, 0, 0, reply)) return;
    end = last + request->limit < s->revision ? last + request->limit : s->revision;
    while (last < end) {
        agenthost_event event;
        last++;
        AGENTHOST_INIT(&event);
        event.run_id = agenthost_text(s->run_id);
        event.sequence = last;
        event.type = agenthost_text(s->events[last].type);
        event.status = s->events[last].status;
        agenthost_reply_event(reply, &event);
    }
    agenthost_reply_page(reply, last, last < s->revision);
}

/* --------------------------------------------------------------------------------------------------------- the host */

/* A message in, its response out: 0 when the host could not even answer. */
static int send(agenthost_host *host, agenthost_str message) {
    agenthost_buffer *response = NULL;
    agenthost_status status = agenthost_dispatch_json(host, message, &response);
    printf("> %.*s\n", (int)message.len, message.data);
    if (status == AGENTHOST_OK) printf("< %.*s\n\n", (int)agenthost_buffer_len(response), agenthost_buffer_data(response));
    else fprintf(stderr, "dispatch: %s\n", agenthost_status_text(status));
    agenthost_buffer_free(response);
    return status == AGENTHOST_OK;
}

/* The request in a file. */
static int send_file(agenthost_host *host, const char *path) {
    static char bytes[1 << 20];
    agenthost_str message;
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        return 0;
    }
    message.data = bytes;
    message.len = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    return send(host, message);
}

#define REQUEST(operation, key, body) \
    "{\"protocolVersion\":\"2026-07-01\",\"requestId\":\"r-" key "\",\"idempotencyKey\":\"k-" key "\",\"operation\":\"" operation "\",\"body\":" body "}"

int main(int argc, char **argv) {
    static const char *const life[] = {
        REQUEST("create_run", "1", "{\"context\":{\"runId\":\"run-1\"},\"input\":{\"task\":\"tidy up\"}}"),
        REQUEST("get_run", "2", "{\"runId\":\"run-1\"}"),
        REQUEST("resolve_approval", "3", "{\"runId\":\"run-1\",\"expectedRevision\":2,\"approvalId\":\"approval-1\",\"resolution\":\"approved\"}"),
        REQUEST("resume_run", "4", "{\"runId\":\"run-1\",\"expectedRevision\":3,\"approvalId\":\"approval-1\"}"),
        REQUEST("cancel_run", "5", "{\"runId\":\"run-1\",\"expectedRevision\":4,\"reason\":\"changed my mind\"}"),
        REQUEST("list_events", "6", "{\"runId\":\"run-1\",\"limit\":3}"),
        REQUEST("list_events", "7", "{\"runId\":\"run-1\",\"afterSequence\":3}"),
        REQUEST("get_run", "8", "{\"runId\":\"\"}"), /* refused: the service is not asked */
    };
    static store runs;
    agenthost_service service;
    agenthost_host *host = NULL;
    agenthost_buffer *why = NULL;
    int answered = 1;
    size_t i;

    AGENTHOST_INIT(&service);
    service.user_data = &runs;
    service.create_run = create_run;
    service.get_run = get_run;
    service.cancel_run = cancel_run;
    service.resolve_approval = resolve_approval;
    service.resume_run = resume_run;
    service.list_events = list_events;
    if (agenthost_host_new(&service, NULL, &host, &why) != AGENTHOST_OK) {
        fprintf(stderr, "%.*s\n", (int)agenthost_buffer_len(why), agenthost_buffer_data(why));
        agenthost_buffer_free(why);
        return EXIT_FAILURE;
    }
    for (i = 0; i < sizeof life / sizeof *life; i++) answered &= send(host, agenthost_text(life[i]));
    if (argc > 1) answered &= send_file(host, argv[1]);
    agenthost_host_release(host);
    return answered ? EXIT_SUCCESS : EXIT_FAILURE;
}
