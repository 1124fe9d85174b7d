#include "show.h"

#include "names.h"

static void show_word(text *out, const char *name, const char *const *words, int32_t number) {
    text_string_member(out, name, agenthost_text(name_of_number(words, number)));
}

static void show_context(text *out, const agenthost_context *context) {
    text_raw(out, "{");
    text_string_member(out, "runId", context->run_id);
    text_string_member(out, "traceId", context->trace_id);
    text_string_member(out, "requestId", context->request_id);
    text_string_member(out, "tenantId", context->tenant_id);
    text_string_member(out, "userId", context->user_id);
    text_string_member(out, "applicationId", context->application_id);
    text_string_member(out, "workspaceId", context->workspace_id);
    text_string_member(out, "conversationId", context->conversation_id);
    text_string_member(out, "agentId", context->agent_id);
    text_string_member(out, "locale", context->locale);
    text_optional_member(out, "deadlineUnixMs", context->deadline_unix_ms);
    text_pairs_member(out, "metadata", context->metadata);
    text_raw(out, "}");
}

static void show_create(text *out, const agenthost_create_run *request) {
    text_member(out, "context");
    show_context(out, request->context);
    text_json_member(out, "input", request->input);
    text_pairs_member(out, "metadata", request->metadata);
}

static void show_cancel(text *out, const agenthost_cancel_run *request) {
    text_string_member(out, "runId", request->run_id);
    text_unsigned_member(out, "expectedRevision", request->expected_revision);
    text_string_member(out, "reason", request->reason);
}

static void show_resolve(text *out, const agenthost_resolve_approval *request) {
    text_string_member(out, "runId", request->run_id);
    text_unsigned_member(out, "expectedRevision", request->expected_revision);
    text_string_member(out, "approvalId", request->approval_id);
    show_word(out, "resolution", resolution_names, request->resolution);
    text_string_member(out, "reason", request->reason);
    text_pairs_member(out, "metadata", request->metadata);
}

static void show_resume(text *out, const agenthost_resume_run *request) {
    text_string_member(out, "runId", request->run_id);
    text_unsigned_member(out, "expectedRevision", request->expected_revision);
    text_string_member(out, "approvalId", request->approval_id);
    text_json_member(out, "input", request->input);
}

static void show_list(text *out, const agenthost_list_events *request) {
    text_string_member(out, "runId", request->run_id);
    text_unsigned_member(out, "afterSequence", request->after_sequence);
    text_unsigned_member(out, "limit", request->limit);
}

void show_call(text *out, const agenthost_call *call, const void *request) {
    text_raw(out, "{");
    show_word(out, "operation", operation_names, call->operation);
    text_member(out, "context");
    text_raw(out, "{");
    text_string_member(out, "requestId", call->request_id);
    text_string_member(out, "idempotencyKey", call->idempotency_key);
    text_pairs_member(out, "metadata", call->metadata);
    text_raw(out, "}");
    text_member(out, "request");
    text_raw(out, "{");
    switch (call->operation) {
        case AGENTHOST_CREATE_RUN: show_create(out, request); break;
        case AGENTHOST_GET_RUN: text_string_member(out, "runId", ((const agenthost_get_run *)request)->run_id); break;
        case AGENTHOST_CANCEL_RUN: show_cancel(out, request); break;
        case AGENTHOST_RESOLVE_APPROVAL: show_resolve(out, request); break;
        case AGENTHOST_RESUME_RUN: show_resume(out, request); break;
        case AGENTHOST_LIST_EVENTS: show_list(out, request); break;
        default: break;
    }
    text_raw(out, "}}");
}

static void show_approval(text *out, const agenthost_approval *approval) {
    if (approval == NULL) {
        text_raw(out, "null");
        return;
    }
    text_raw(out, "{");
    text_string_member(out, "approvalId", approval->approval_id);
    text_string_member(out, "toolCallId", approval->tool_call_id);
    text_string_member(out, "toolName", approval->tool_name);
    show_word(out, "resolution", resolution_names, approval->resolution);
    text_string_member(out, "reason", approval->reason);
    text_signed_member(out, "createdAtUnixMs", approval->created_at_unix_ms);
    text_optional_member(out, "resolvedAtUnixMs", approval->resolved_at_unix_ms);
    text_pairs_member(out, "metadata", approval->metadata);
    text_raw(out, "}");
}

static void show_run(text *out, const agenthost_run *run) {
    text_string_member(out, "runId", run->run_id);
    text_unsigned_member(out, "revision", run->revision);
    show_word(out, "status", run_status_names, run->status);
    text_member(out, "context");
    show_context(out, run->context);
    text_signed_member(out, "createdAtUnixMs", run->created_at_unix_ms);
    text_signed_member(out, "updatedAtUnixMs", run->updated_at_unix_ms);
    text_optional_member(out, "completedAtUnixMs", run->completed_at_unix_ms);
    text_member(out, "approval");
    show_approval(out, run->approval);
    text_json_member(out, "result", run->result);
    text_string_member(out, "error", run->error);
    text_pairs_member(out, "metadata", run->metadata);
}

static void show_event(text *out, const agenthost_event *event) {
    text_raw(out, "{");
    text_string_member(out, "runId", event->run_id);
    text_unsigned_member(out, "sequence", event->sequence);
    text_string_member(out, "type", event->type);
    show_word(out, "status", run_status_names, event->status);
    text_string_member(out, "stepId", event->step_id);
    text_string_member(out, "toolCallId", event->tool_call_id);
    text_signed_member(out, "timestampUnixMs", event->timestamp_unix_ms);
    text_json_member(out, "data", event->data);
    text_pairs_member(out, "metadata", event->metadata);
    text_raw(out, "}");
}

static void show_page(text *out, const agenthost_response *response) {
    size_t i;
    text_member(out, "events");
    text_raw(out, "[");
    for (i = 0; i < agenthost_response_event_count(response); i++) {
        if (i > 0) text_raw(out, ",");
        show_event(out, agenthost_response_event(response, i));
    }
    text_raw(out, "]");
    text_unsigned_member(out, "nextSequence", agenthost_response_next_sequence(response));
    text_member(out, "hasMore");
    text_raw(out, agenthost_response_has_more(response) ? "true" : "false");
}

static void show_error(text *out, const agenthost_error *error) {
    show_word(out, "code", code_names, error->code);
    text_member(out, "retryable");
    text_raw(out, error->retryable ? "true" : "false");
    text_string_member(out, "message", error->message);
    text_json_member(out, "details", error->details);
    text_pairs_member(out, "metadata", error->metadata);
    text_string_member(out, "originalCode", error->original_code);
}

void show_response(text *out, const agenthost_response *response) {
    const agenthost_error *error = agenthost_response_error(response);
    const agenthost_submission *submission = agenthost_response_submission(response);
    const agenthost_run *run = agenthost_response_run(response);
    text_raw(out, "{");
    text_string_member(out, "outcome", agenthost_text(error ? "error" : "ok"));
    text_member(out, error ? "error" : "decoded");
    text_raw(out, "{");
    if (error != NULL) {
        show_error(out, error);
    } else if (submission != NULL) {
        text_string_member(out, "runId", submission->run_id);
        text_unsigned_member(out, "revision", submission->revision);
        show_word(out, "status", run_status_names, submission->status);
    } else if (run != NULL) {
        show_run(out, run);
    } else {
        show_page(out, response);
    }
    text_raw(out, "}}");
}
