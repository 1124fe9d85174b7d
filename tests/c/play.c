#include "play.h"

#include <stdlib.h>

#include "names.h"

static agenthost_str string(const json *object, const char *name) {
    const json *member = json_get(object, name);
    agenthost_str out = {NULL, 0};
    if (member != NULL && member->kind == JSON_STRING) {
        out.data = member->text;
        out.len = member->length;
    }
    return out;
}

/* Free JSON as it stands in the vector. */
static agenthost_str free_json(const json *object, const char *name) {
    const json *member = json_get(object, name);
    agenthost_str out = {NULL, 0};
    if (member != NULL) {
        out.data = member->raw;
        out.len = member->raw_length;
    }
    return out;
}

static uint64_t unsigned_number(const json *object, const char *name) {
    const json *member = json_get(object, name);
    return member != NULL && member->kind == JSON_NUMBER ? member->magnitude : 0;
}

static int64_t signed_number(const json *object, const char *name) {
    const json *member = json_get(object, name);
    uint64_t magnitude = unsigned_number(object, name);
    if (member == NULL || !member->is_negative) return (int64_t)magnitude;
    return magnitude == 0 ? 0 : -(int64_t)(magnitude - 1) - 1;
}

static agenthost_optional_i64 optional_number(const json *object, const char *name) {
    const json *member = json_get(object, name);
    agenthost_optional_i64 out = {0, 0};
    out.present = member != NULL && member->kind == JSON_NUMBER;
    out.value = signed_number(object, name);
    return out;
}

/* The pairs belong to the caller: free(items). */
static agenthost_pairs map(const json *object, const char *name) {
    const json *member = json_get(object, name), *item;
    agenthost_pairs out = {NULL, 0};
    agenthost_pair *items;
    size_t count = 0;
    if (member == NULL) return out;
    for (item = member->first; item != NULL; item = item->next) count++;
    items = calloc(count + 1, sizeof *items);
    if (items == NULL) abort();
    for (item = member->first; item != NULL; item = item->next) {
        agenthost_pair *pair = &items[out.count++];
        pair->key.data = item->name;
        pair->key.len = item->name_length;
        pair->value.data = item->text;
        pair->value.len = item->length;
    }
    out.items = items;
    return out;
}

static void end_map(agenthost_pairs pairs) { free((void *)(uintptr_t)pairs.items); }

static agenthost_status play_submission(const json *result, agenthost_reply *out) {
    agenthost_submission submission;
    AGENTHOST_INIT(&submission);
    submission.run_id = string(result, "runId");
    submission.revision = unsigned_number(result, "revision");
    submission.status = number_of_name(run_status_names, json_text(result, "status"));
    return agenthost_reply_submission(out, &submission);
}

static void read_context(const json *from, agenthost_context *context) {
    AGENTHOST_INIT(context);
    context->run_id = string(from, "runId");
    context->trace_id = string(from, "traceId");
    context->request_id = string(from, "requestId");
    context->tenant_id = string(from, "tenantId");
    context->user_id = string(from, "userId");
    context->application_id = string(from, "applicationId");
    context->workspace_id = string(from, "workspaceId");
    context->conversation_id = string(from, "conversationId");
    context->agent_id = string(from, "agentId");
    context->locale = string(from, "locale");
    context->deadline_unix_ms = optional_number(from, "deadlineUnixMs");
    context->metadata = map(from, "metadata");
}

static void read_approval(const json *from, agenthost_approval *approval) {
    AGENTHOST_INIT(approval);
    approval->approval_id = string(from, "approvalId");
    approval->tool_call_id = string(from, "toolCallId");
    approval->tool_name = string(from, "toolName");
    approval->resolution = number_of_name(resolution_names, json_text(from, "resolution"));
    approval->reason = string(from, "reason");
    approval->created_at_unix_ms = signed_number(from, "createdAtUnixMs");
    approval->resolved_at_unix_ms = optional_number(from, "resolvedAtUnixMs");
    approval->metadata = map(from, "metadata");
}

static agenthost_status play_run(const json *result, agenthost_reply *out) {
    const json *approval_json = json_get(result, "approval");
    agenthost_context context;
    agenthost_approval approval;
    agenthost_run run;
    agenthost_status status;
    read_context(json_get(result, "context"), &context);
    read_approval(approval_json, &approval);
    AGENTHOST_INIT(&run);
    run.run_id = string(result, "runId");
    run.revision = unsigned_number(result, "revision");
    run.status = number_of_name(run_status_names, json_text(result, "status"));
    run.context = &context;
    run.created_at_unix_ms = signed_number(result, "createdAtUnixMs");
    run.updated_at_unix_ms = signed_number(result, "updatedAtUnixMs");
    run.completed_at_unix_ms = optional_number(result, "completedAtUnixMs");
    run.approval = approval_json != NULL && approval_json->kind == JSON_OBJECT ? &approval : NULL;
    run.result = free_json(result, "result");
    run.error = string(result, "error");
    run.metadata = map(result, "metadata");
    status = agenthost_reply_run(out, &run);
    end_map(context.metadata);
    end_map(approval.metadata);
    end_map(run.metadata);
    return status;
}

static agenthost_status play_page(const json *result, agenthost_reply *out) {
    const json *events = json_get(result, "events"), *from;
    for (from = events != NULL ? events->first : NULL; from != NULL; from = from->next) {
        agenthost_event event;
        agenthost_status status;
        AGENTHOST_INIT(&event);
        event.run_id = string(from, "runId");
        event.sequence = unsigned_number(from, "sequence");
        event.type = string(from, "type");
        event.status = number_of_name(run_status_names, json_text(from, "status"));
        event.step_id = string(from, "stepId");
        event.tool_call_id = string(from, "toolCallId");
        event.timestamp_unix_ms = signed_number(from, "timestampUnixMs");
        event.data = free_json(from, "data");
        event.metadata = map(from, "metadata");
        status = agenthost_reply_event(out, &event);
        end_map(event.metadata);
        if (status != AGENTHOST_OK) return status;
    }
    return agenthost_reply_page(out, unsigned_number(result, "nextSequence"), (uint32_t)json_is_true(result, "hasMore"));
}

static agenthost_status play_error(const json *from, agenthost_reply *out) {
    agenthost_error error;
    agenthost_status status;
    AGENTHOST_INIT(&error);
    error.code = number_of_name(code_names, json_text(from, "code"));
    error.retryable = (uint32_t)json_is_true(from, "retryable");
    error.message = string(from, "message");
    error.details = free_json(from, "details");
    error.metadata = map(from, "metadata");
    status = agenthost_reply_error(out, &error);
    end_map(error.metadata);
    return status;
}

agenthost_status play_typed(const json *reply, agenthost_operation operation, agenthost_reply *out) {
    const json *result = json_get(reply, "ok");
    if (result == NULL) return play_error(json_get(reply, "error"), out);
    switch (operation) {
        case AGENTHOST_GET_RUN: return play_run(result, out);
        case AGENTHOST_LIST_EVENTS: return play_page(result, out);
        default: return play_submission(result, out);
    }
}

agenthost_status play_json(const json *reply, agenthost_operation operation, agenthost_reply *out) {
    if (json_get(reply, "ok") == NULL) return play_typed(reply, operation, out);
    return agenthost_reply_json(out, free_json(reply, "ok"));
}
