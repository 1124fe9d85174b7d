#include "answers.h"

#include <stdio.h>

#define TEXT_MEMBER(kind, type, path) {#path, kind, type, offsetof(answer, path)}

const member members[] = {
    TEXT_MEMBER(SUBMISSION, IDENTITY, submission.run_id),
    TEXT_MEMBER(RUN, IDENTITY, run.run_id),
    TEXT_MEMBER(RUN, FREE_JSON, run.result),
    TEXT_MEMBER(RUN, TEXT, run.error),
    TEXT_MEMBER(RUN, PAIRS, run.metadata),
    TEXT_MEMBER(RUN, IDENTITY, context.run_id),
    TEXT_MEMBER(RUN, TEXT, context.trace_id),
    TEXT_MEMBER(RUN, TEXT, context.request_id),
    TEXT_MEMBER(RUN, TEXT, context.tenant_id),
    TEXT_MEMBER(RUN, TEXT, context.user_id),
    TEXT_MEMBER(RUN, TEXT, context.application_id),
    TEXT_MEMBER(RUN, TEXT, context.workspace_id),
    TEXT_MEMBER(RUN, TEXT, context.conversation_id),
    TEXT_MEMBER(RUN, TEXT, context.agent_id),
    TEXT_MEMBER(RUN, TEXT, context.locale),
    TEXT_MEMBER(RUN, PAIRS, context.metadata),
    TEXT_MEMBER(RUN, IDENTITY, approval.approval_id),
    TEXT_MEMBER(RUN, NOT_EMPTY, approval.tool_call_id),
    TEXT_MEMBER(RUN, NOT_EMPTY, approval.tool_name),
    TEXT_MEMBER(RUN, TEXT, approval.reason),
    TEXT_MEMBER(RUN, PAIRS, approval.metadata),
    TEXT_MEMBER(EVENT, IDENTITY, event.run_id),
    TEXT_MEMBER(EVENT, NOT_EMPTY, event.type),
    TEXT_MEMBER(EVENT, TEXT, event.step_id),
    TEXT_MEMBER(EVENT, TEXT, event.tool_call_id),
    TEXT_MEMBER(EVENT, FREE_JSON, event.data),
    TEXT_MEMBER(EVENT, PAIRS, event.metadata),
    TEXT_MEMBER(ERROR, TEXT, error.message),
    TEXT_MEMBER(ERROR, FREE_JSON, error.details),
    TEXT_MEMBER(ERROR, PAIRS, error.metadata),
    TEXT_MEMBER(ERROR, TEXT, error.original_code),
};
const size_t member_count = sizeof members / sizeof *members;

agenthost_str *member_text(answer *self, const member *which) { return (agenthost_str *)(void *)((char *)self + which->offset); }

agenthost_pairs *member_pairs(answer *self, const member *which) {
    return (agenthost_pairs *)(void *)((char *)self + which->offset);
}

void answer_init(answer *self) {
    agenthost_pairs pairs;
    memset(self, 0, sizeof *self);
    self->pairs[0].key = agenthost_text("region");
    self->pairs[0].value = agenthost_text("north");
    self->pairs[1].key = agenthost_text("zone");
    self->pairs[1].value = agenthost_text("b");
    pairs.items = self->pairs;
    pairs.count = 2;
    AGENTHOST_INIT(&self->submission);
    self->submission.run_id = agenthost_text("run-1");
    self->submission.revision = 7;
    self->submission.status = AGENTHOST_RUN_RUNNING;
    AGENTHOST_INIT(&self->context);
    self->context.run_id = agenthost_text("run-1");
    self->context.locale = agenthost_text("en-US");
    self->context.metadata = pairs;
    AGENTHOST_INIT(&self->approval);
    self->approval.approval_id = agenthost_text("approval-1");
    self->approval.tool_call_id = agenthost_text("call-1");
    self->approval.tool_name = agenthost_text("write_file");
    self->approval.resolution = AGENTHOST_APPROVAL_PENDING;
    self->approval.metadata = pairs;
    AGENTHOST_INIT(&self->run);
    self->run.run_id = agenthost_text("run-1");
    self->run.revision = 7;
    self->run.status = AGENTHOST_RUN_WAITING_FOR_APPROVAL;
    self->run.context = &self->context;
    self->run.approval = &self->approval;
    self->run.result = agenthost_text("{\"a\":[1,2.5,null]}");
    self->run.metadata = pairs;
    AGENTHOST_INIT(&self->event);
    self->event.run_id = agenthost_text("run-1");
    self->event.sequence = 1;
    self->event.type = agenthost_text("step");
    self->event.status = AGENTHOST_RUN_RUNNING;
    self->event.data = agenthost_text("[true]");
    self->event.metadata = pairs;
    AGENTHOST_INIT(&self->error);
    self->error.code = AGENTHOST_CODE_CONFLICT;
    self->error.message = agenthost_text("another revision");
    self->error.details = agenthost_text("{\"revision\":8}");
    self->error.metadata = pairs;
}

agenthost_status answer_give(const answer *self, answer_kind kind, agenthost_reply *reply) {
    agenthost_status status;
    switch (kind) {
        case SUBMISSION: return agenthost_reply_submission(reply, &self->submission);
        case RUN: return agenthost_reply_run(reply, &self->run);
        case EVENT:
            status = agenthost_reply_event(reply, &self->event);
            return status == AGENTHOST_OK ? agenthost_reply_page(reply, self->event.sequence, 0) : status;
        default: return agenthost_reply_error(reply, &self->error);
    }
}

agenthost_operation answer_operation(answer_kind kind) {
    static const agenthost_operation operations[] = {AGENTHOST_CREATE_RUN, AGENTHOST_GET_RUN, AGENTHOST_LIST_EVENTS,
                                                     AGENTHOST_GET_RUN};
    return operations[kind];
}

typedef struct trial {
    const answer *given;
    answer_kind kind;
    agenthost_status status;
} trial;

static int is_misuse(agenthost_status status) {
    return status == AGENTHOST_NULL_ARGUMENT || status == AGENTHOST_INVALID_SIZE || status == AGENTHOST_WRONG_OPERATION;
}

static void serve_trial(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    trial *one = self->data;
    (void)request;
    one->status = answer_give(one->given, one->kind, reply);
    if (is_misuse(one->status)) CHECK_EQUAL(answer_well(call->operation, reply), AGENTHOST_OK);
    else CHECK_EQUAL(answer_well(call->operation, reply), AGENTHOST_ALREADY_DONE);
}

outcome answer_dispatch(const answer *self, answer_kind kind, agenthost_status *status, int *times_logged) {
    stub service = {0};
    trial one;
    agenthost_host *host;
    outcome out;
    one.given = self;
    one.kind = kind;
    one.status = -1;
    host = stub_host(&service, serve_trial, &one);
    out = dispatch(host, answer_operation(kind));
    agenthost_host_release(host);
    *status = one.status;
    *times_logged = atomic_load(&service.logged);
    return out;
}

static void expect(int holds, const char *what, agenthost_status status, outcome found, int logged) {
    char text[160];
    snprintf(text, sizeof text, "%s: status %d, code %d, logged %d", what, (int)status, found.code, logged);
    check_at(holds, __FILE__, __LINE__, text);
}

void expect_bad(const answer *self, answer_kind kind, const char *what) {
    agenthost_status status;
    int logged;
    outcome found = answer_dispatch(self, kind, &status, &logged);
    expect(status == AGENTHOST_BAD_ANSWER && found.code == AGENTHOST_CODE_INTERNAL && logged == 1, what, status, found, logged);
}

void expect_misuse(const answer *self, answer_kind kind, agenthost_status expected, const char *what) {
    agenthost_status status;
    int logged;
    outcome found = answer_dispatch(self, kind, &status, &logged);
    expect(status == expected && found.code == 0 && logged == 0, what, status, found, logged);
}

void expect_taken(const answer *self, answer_kind kind, const char *what) {
    agenthost_status status;
    int logged, expected = kind == ERROR ? self->error.code : 0;
    outcome found = answer_dispatch(self, kind, &status, &logged);
    expect(status == AGENTHOST_OK && found.code == expected && logged == 0, what, status, found, logged);
}
