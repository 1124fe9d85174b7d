/* Prints the size of every struct of the header, and the place of every member, as tests/abi/layout.txt has them. Fails when the
 * members do not fill their struct: an unknown tail could not be checked for zeros then. */
#include <agenthost.h>
#include <stdio.h>

static int holes;
static size_t filled;
static const char *name_of_struct;
static size_t size_of_struct;

static void end(void) {
    if (name_of_struct != NULL && filled != size_of_struct) {
        holes++;
        fprintf(stderr, "%s: %lu bytes, its members fill %lu\n", name_of_struct, (unsigned long)size_of_struct, (unsigned long)filled);
    }
}

static void begin(const char *name, size_t size) {
    end();
    name_of_struct = name;
    size_of_struct = size;
    filled = 0;
    printf("%s %lu\n", name, (unsigned long)size);
}

static void member(const char *name, size_t offset, size_t size) {
    filled += size;
    printf("  %s %lu %lu\n", name, (unsigned long)offset, (unsigned long)size);
}

#define STRUCT(type) begin(#type, sizeof(type));
#define MEMBER(type, name) member(#name, offsetof(type, name), sizeof(((type *)0)->name));

int main(void) {
    STRUCT(agenthost_str)
    MEMBER(agenthost_str, data)
    MEMBER(agenthost_str, len)
    STRUCT(agenthost_submission)
    MEMBER(agenthost_submission, struct_size)
    MEMBER(agenthost_submission, run_id)
    MEMBER(agenthost_submission, revision)
    MEMBER(agenthost_submission, status)
    MEMBER(agenthost_submission, reserved)
    STRUCT(agenthost_optional_i64)
    MEMBER(agenthost_optional_i64, present)
    MEMBER(agenthost_optional_i64, value)
    STRUCT(agenthost_pair)
    MEMBER(agenthost_pair, key)
    MEMBER(agenthost_pair, value)
    STRUCT(agenthost_pairs)
    MEMBER(agenthost_pairs, items)
    MEMBER(agenthost_pairs, count)
    STRUCT(agenthost_context)
    MEMBER(agenthost_context, struct_size)
    MEMBER(agenthost_context, run_id)
    MEMBER(agenthost_context, trace_id)
    MEMBER(agenthost_context, request_id)
    MEMBER(agenthost_context, tenant_id)
    MEMBER(agenthost_context, user_id)
    MEMBER(agenthost_context, application_id)
    MEMBER(agenthost_context, workspace_id)
    MEMBER(agenthost_context, conversation_id)
    MEMBER(agenthost_context, agent_id)
    MEMBER(agenthost_context, locale)
    MEMBER(agenthost_context, deadline_unix_ms)
    MEMBER(agenthost_context, metadata)
    STRUCT(agenthost_approval)
    MEMBER(agenthost_approval, struct_size)
    MEMBER(agenthost_approval, approval_id)
    MEMBER(agenthost_approval, tool_call_id)
    MEMBER(agenthost_approval, tool_name)
    MEMBER(agenthost_approval, resolution)
    MEMBER(agenthost_approval, reserved)
    MEMBER(agenthost_approval, reason)
    MEMBER(agenthost_approval, created_at_unix_ms)
    MEMBER(agenthost_approval, resolved_at_unix_ms)
    MEMBER(agenthost_approval, metadata)
    STRUCT(agenthost_run)
    MEMBER(agenthost_run, struct_size)
    MEMBER(agenthost_run, run_id)
    MEMBER(agenthost_run, revision)
    MEMBER(agenthost_run, status)
    MEMBER(agenthost_run, reserved)
    MEMBER(agenthost_run, context)
    MEMBER(agenthost_run, created_at_unix_ms)
    MEMBER(agenthost_run, updated_at_unix_ms)
    MEMBER(agenthost_run, completed_at_unix_ms)
    MEMBER(agenthost_run, approval)
    MEMBER(agenthost_run, result)
    MEMBER(agenthost_run, error)
    MEMBER(agenthost_run, metadata)
    STRUCT(agenthost_event)
    MEMBER(agenthost_event, struct_size)
    MEMBER(agenthost_event, run_id)
    MEMBER(agenthost_event, sequence)
    MEMBER(agenthost_event, type)
    MEMBER(agenthost_event, status)
    MEMBER(agenthost_event, reserved)
    MEMBER(agenthost_event, step_id)
    MEMBER(agenthost_event, tool_call_id)
    MEMBER(agenthost_event, timestamp_unix_ms)
    MEMBER(agenthost_event, data)
    MEMBER(agenthost_event, metadata)
    STRUCT(agenthost_error)
    MEMBER(agenthost_error, struct_size)
    MEMBER(agenthost_error, code)
    MEMBER(agenthost_error, retryable)
    MEMBER(agenthost_error, message)
    MEMBER(agenthost_error, details)
    MEMBER(agenthost_error, metadata)
    MEMBER(agenthost_error, original_code)
    STRUCT(agenthost_call)
    MEMBER(agenthost_call, struct_size)
    MEMBER(agenthost_call, operation)
    MEMBER(agenthost_call, has_principal)
    MEMBER(agenthost_call, principal)
    MEMBER(agenthost_call, request_id)
    MEMBER(agenthost_call, idempotency_key)
    MEMBER(agenthost_call, metadata)
    STRUCT(agenthost_create_run)
    MEMBER(agenthost_create_run, struct_size)
    MEMBER(agenthost_create_run, context)
    MEMBER(agenthost_create_run, input)
    MEMBER(agenthost_create_run, metadata)
    STRUCT(agenthost_get_run)
    MEMBER(agenthost_get_run, struct_size)
    MEMBER(agenthost_get_run, run_id)
    STRUCT(agenthost_cancel_run)
    MEMBER(agenthost_cancel_run, struct_size)
    MEMBER(agenthost_cancel_run, run_id)
    MEMBER(agenthost_cancel_run, expected_revision)
    MEMBER(agenthost_cancel_run, reason)
    STRUCT(agenthost_resolve_approval)
    MEMBER(agenthost_resolve_approval, struct_size)
    MEMBER(agenthost_resolve_approval, run_id)
    MEMBER(agenthost_resolve_approval, expected_revision)
    MEMBER(agenthost_resolve_approval, approval_id)
    MEMBER(agenthost_resolve_approval, resolution)
    MEMBER(agenthost_resolve_approval, reserved)
    MEMBER(agenthost_resolve_approval, reason)
    MEMBER(agenthost_resolve_approval, metadata)
    STRUCT(agenthost_resume_run)
    MEMBER(agenthost_resume_run, struct_size)
    MEMBER(agenthost_resume_run, run_id)
    MEMBER(agenthost_resume_run, expected_revision)
    MEMBER(agenthost_resume_run, approval_id)
    MEMBER(agenthost_resume_run, input)
    STRUCT(agenthost_list_events)
    MEMBER(agenthost_list_events, struct_size)
    MEMBER(agenthost_list_events, run_id)
    MEMBER(agenthost_list_events, after_sequence)
    MEMBER(agenthost_list_events, limit)
    STRUCT(agenthost_service)
    MEMBER(agenthost_service, struct_size)
    MEMBER(agenthost_service, user_data)
    MEMBER(agenthost_service, destroy)
    MEMBER(agenthost_service, create_run)
    MEMBER(agenthost_service, get_run)
    MEMBER(agenthost_service, cancel_run)
    MEMBER(agenthost_service, resolve_approval)
    MEMBER(agenthost_service, resume_run)
    MEMBER(agenthost_service, list_events)
    STRUCT(agenthost_host_options)
    MEMBER(agenthost_host_options, struct_size)
    MEMBER(agenthost_host_options, max_message_bytes)
    MEMBER(agenthost_host_options, default_timeout_ms)
    MEMBER(agenthost_host_options, sensitive_names)
    MEMBER(agenthost_host_options, sensitive_name_count)
    MEMBER(agenthost_host_options, log)
    MEMBER(agenthost_host_options, log_data)
    MEMBER(agenthost_host_options, log_destroy)
    MEMBER(agenthost_host_options, require_principal)
    MEMBER(agenthost_host_options, reserved)
    STRUCT(agenthost_dispatch_options)
    MEMBER(agenthost_dispatch_options, struct_size)
    MEMBER(agenthost_dispatch_options, has_principal)
    MEMBER(agenthost_dispatch_options, reserved)
    MEMBER(agenthost_dispatch_options, principal)
    MEMBER(agenthost_dispatch_options, timeout_ms)
    STRUCT(agenthost_request_options)
    MEMBER(agenthost_request_options, struct_size)
    MEMBER(agenthost_request_options, request_id)
    MEMBER(agenthost_request_options, idempotency_key)
    MEMBER(agenthost_request_options, protocol_version)
    MEMBER(agenthost_request_options, metadata)
    end();
    return holes > 0;
}
