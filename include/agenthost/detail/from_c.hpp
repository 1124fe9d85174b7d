// Structs of the C interface as requests, which borrow, and results, which own.
#ifndef AGENTHOST_DETAIL_FROM_C_HPP
#define AGENTHOST_DETAIL_FROM_C_HPP

#include <agenthost/requirements.hpp>

#ifdef AGENTHOST_CPP_SUPPORTED

#include <agenthost.h>
#include <agenthost/detail/text.hpp>
#include <agenthost/requests.hpp>
#include <agenthost/values.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace agenthost {

namespace detail {

inline std::optional<std::int64_t> optional(agenthost_optional_i64 value) noexcept {
    return value.present != 0 ? std::optional<std::int64_t>(value.value) : std::nullopt;
}

inline execution_context_view from_c(const agenthost_context& source) noexcept {
    return {view(source.run_id),         view(source.trace_id),        view(source.request_id),
            view(source.tenant_id),      view(source.user_id),         view(source.application_id),
            view(source.workspace_id),   view(source.conversation_id), view(source.agent_id),
            view(source.locale),         optional(source.deadline_unix_ms), metadata_view(source.metadata)};
}

inline create_run_request from_c(const agenthost_create_run& source) noexcept {
    return {from_c(*source.context), view(source.input), metadata_view(source.metadata)};
}

inline get_run_request from_c(const agenthost_get_run& source) noexcept { return {view(source.run_id)}; }

inline cancel_run_request from_c(const agenthost_cancel_run& source) noexcept {
    return {view(source.run_id), source.expected_revision, view(source.reason)};
}

inline resolve_approval_request from_c(const agenthost_resolve_approval& source) noexcept {
    return {view(source.run_id),      source.expected_revision,
            view(source.approval_id), static_cast<resolution>(source.resolution),
            view(source.reason),      metadata_view(source.metadata)};
}

inline resume_run_request from_c(const agenthost_resume_run& source) noexcept {
    return {view(source.run_id), source.expected_revision, view(source.approval_id), view(source.input)};
}

inline list_events_request from_c(const agenthost_list_events& source) noexcept {
    return {view(source.run_id), source.after_sequence, source.limit};
}

inline run_submission from_c(const agenthost_submission& source) {
    return {std::string(view(source.run_id)), source.revision, static_cast<run_status>(source.status)};
}

inline approval_view from_c(const agenthost_approval& source) {
    return {std::string(view(source.approval_id)),
            std::string(view(source.tool_call_id)),
            std::string(view(source.tool_name)),
            static_cast<resolution>(source.resolution),
            std::string(view(source.reason)),
            source.created_at_unix_ms,
            optional(source.resolved_at_unix_ms),
            metadata_view(source.metadata).to_owned()};
}

inline run_view from_c(const agenthost_run& source) {
    return {std::string(view(source.run_id)),
            source.revision,
            static_cast<run_status>(source.status),
            source.context != nullptr ? to_owned(from_c(*source.context)) : execution_context(),
            source.created_at_unix_ms,
            source.updated_at_unix_ms,
            optional(source.completed_at_unix_ms),
            source.approval != nullptr ? std::optional<approval_view>(from_c(*source.approval)) : std::nullopt,
            std::string(view(source.result)),
            std::string(view(source.error)),
            metadata_view(source.metadata).to_owned()};
}

inline event from_c(const agenthost_event& source) {
    return {std::string(view(source.run_id)),
            source.sequence,
            std::string(view(source.type)),
            static_cast<run_status>(source.status),
            std::string(view(source.step_id)),
            std::string(view(source.tool_call_id)),
            source.timestamp_unix_ms,
            std::string(view(source.data)),
            metadata_view(source.metadata).to_owned()};
}

}  // namespace detail

}  // namespace agenthost

#endif  // AGENTHOST_CPP_SUPPORTED
#endif  // AGENTHOST_DETAIL_FROM_C_HPP
