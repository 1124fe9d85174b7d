// Values, laid out as the C interface wants them. Nothing is copied but the pairs of metadata.
#ifndef AGENTHOST_DETAIL_TO_C_HPP
#define AGENTHOST_DETAIL_TO_C_HPP

#include <agenthost/requirements.hpp>

#ifdef AGENTHOST_CPP_SUPPORTED

#include <agenthost.h>
#include <agenthost/detail/text.hpp>
#include <agenthost/errors.hpp>
#include <agenthost/values.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace agenthost {

namespace detail {

inline agenthost_optional_i64 optional(std::optional<std::int64_t> value) noexcept {
    agenthost_optional_i64 out = {value ? 1u : 0u, value.value_or(0)};
    return out;
}


/// Metadata laid out as C wants it; borrows the strings.
class pairs {
public:
    explicit pairs(metadata_view source) {
        items_.reserve(source.size());
        for (metadata_view::value_type pair : source) items_.push_back({text(pair.name), text(pair.value)});
    }
    agenthost_pairs get() const noexcept {
        agenthost_pairs out = {items_.data(), items_.size()};
        return out;
    }

private:
    std::vector<agenthost_pair> items_;
};

/// An execution context laid out as C wants it; borrows from its source.
class c_context {
public:
    template <class Text, class Metadata>
    explicit c_context(const basic_execution_context<Text, Metadata>& source)
        : pairs_(metadata_view(source.metadata)), value_(sized<agenthost_context>()) {
        value_.run_id = text(source.run_id);
        value_.trace_id = text(source.trace_id);
        value_.request_id = text(source.request_id);
        value_.tenant_id = text(source.tenant_id);
        value_.user_id = text(source.user_id);
        value_.application_id = text(source.application_id);
        value_.workspace_id = text(source.workspace_id);
        value_.conversation_id = text(source.conversation_id);
        value_.agent_id = text(source.agent_id);
        value_.locale = text(source.locale);
        value_.deadline_unix_ms = optional(source.deadline_unix_ms);
        value_.metadata = pairs_.get();
    }
    const agenthost_context* get() const noexcept { return &value_; }

private:
    pairs pairs_;
    agenthost_context value_;
};

inline agenthost_status give(agenthost_reply* reply, const run_submission& answer) noexcept {
    agenthost_submission out = sized<agenthost_submission>();
    out.run_id = text(answer.run_id);
    out.revision = answer.revision;
    out.status = static_cast<agenthost_run_status>(answer.status);
    return agenthost_reply_submission(reply, &out);
}

inline agenthost_status give(agenthost_reply* reply, const run_view& answer) {
    const c_context context(answer.context);
    const pairs own(answer.metadata);
    const pairs approvals(answer.approval ? metadata_view(answer.approval->metadata) : metadata_view());
    agenthost_approval approval = sized<agenthost_approval>();
    if (answer.approval) {
        approval.approval_id = text(answer.approval->approval_id);
        approval.tool_call_id = text(answer.approval->tool_call_id);
        approval.tool_name = text(answer.approval->tool_name);
        approval.resolution = static_cast<agenthost_resolution>(answer.approval->resolution);
        approval.reason = text(answer.approval->reason);
        approval.created_at_unix_ms = answer.approval->created_at_unix_ms;
        approval.resolved_at_unix_ms = optional(answer.approval->resolved_at_unix_ms);
        approval.metadata = approvals.get();
    }
    agenthost_run out = sized<agenthost_run>();
    out.run_id = text(answer.run_id);
    out.revision = answer.revision;
    out.status = static_cast<agenthost_run_status>(answer.status);
    out.context = context.get();
    out.created_at_unix_ms = answer.created_at_unix_ms;
    out.updated_at_unix_ms = answer.updated_at_unix_ms;
    out.completed_at_unix_ms = optional(answer.completed_at_unix_ms);
    out.approval = answer.approval ? &approval : nullptr;
    out.result = text(answer.result);
    out.error = text(answer.error);
    out.metadata = own.get();
    return agenthost_reply_run(reply, &out);
}

inline agenthost_status give(agenthost_reply* reply, const event_page& answer) {
    for (const event& source : answer.events) {
        const pairs own(source.metadata);
        agenthost_event out = sized<agenthost_event>();
        out.run_id = text(source.run_id);
        out.sequence = source.sequence;
        out.type = text(source.type);
        out.status = static_cast<agenthost_run_status>(source.status);
        out.step_id = text(source.step_id);
        out.tool_call_id = text(source.tool_call_id);
        out.timestamp_unix_ms = source.timestamp_unix_ms;
        out.data = text(source.data);
        out.metadata = own.get();
        const agenthost_status status = agenthost_reply_event(reply, &out);
        if (status != AGENTHOST_OK) return status;
    }
    return agenthost_reply_page(reply, answer.next_sequence, answer.has_more ? 1 : 0);
}

inline agenthost_status give(agenthost_reply* reply, const host_error& answer) {
    const pairs own(answer.metadata());
    agenthost_error out = sized<agenthost_error>();
    out.code = static_cast<agenthost_code>(answer.code());
    out.retryable = answer.retryable() ? 1 : 0;
    out.message = text(answer.message());
    out.details = text(answer.details());
    out.metadata = own.get();
    return agenthost_reply_error(reply, &out);
}

inline agenthost_status give(agenthost_reply* reply, const json_result& answer) noexcept {
    return agenthost_reply_json(reply, text(answer.text));
}

}  // namespace detail

}  // namespace agenthost

#endif  // AGENTHOST_CPP_SUPPORTED
#endif  // AGENTHOST_DETAIL_TO_C_HPP
