// What a worker asks approvals for, and which approvals are asked for, laid out as the C interface wants them.
#ifndef AGENTHOST_DETAIL_APPROVALS_TO_C_HPP
#define AGENTHOST_DETAIL_APPROVALS_TO_C_HPP

#include <agenthost/requirements.hpp>

#ifdef AGENTHOST_CPP_SUPPORTED

#include <agenthost.h>
#include <agenthost/approvals.hpp>
#include <agenthost/detail/to_c.hpp>
#include <agenthost/errors.hpp>
#include <agenthost/options.hpp>

#include <vector>

namespace agenthost {

namespace detail {

/// Borrows the texts.
class c_suspension {
public:
    explicit c_suspension(const suspension& source) : value_(sized<agenthost_suspension>()) {
        metadata_.reserve(source.approvals.size());
        approvers_.reserve(source.approvals.size());
        requests_.reserve(source.approvals.size());
        for (const approval_request& each : source.approvals) {
            metadata_.emplace_back(each.metadata);
            approvers_.push_back(texts(each.approvers));
            agenthost_approval_request out = sized<agenthost_approval_request>();
            out.tool_call_id = text(each.tool_call_id);
            out.tool_name = text(each.tool_name);
            out.reason = text(each.reason);
            out.metadata = metadata_.back().get();
            out.arguments = text(each.arguments);
            out.expires_at_unix_ms = optional(each.expires_at_unix_ms);
            out.on_denied = static_cast<agenthost_on_denied>(each.on_denied);
            out.not_owner = each.not_owner ? 1 : 0;
            out.approvers = approvers_.back().data();
            out.approver_count = approvers_.back().size();
            requests_.push_back(out);
        }
        for (const agenthost_approval_request& each : requests_) pointers_.push_back(&each);
        value_.approvals = pointers_.data();
        value_.approval_count = pointers_.size();
        value_.continuation = text(source.continuation);
        value_.resume = static_cast<agenthost_resume_mode>(source.resume);
    }
    c_suspension(const c_suspension&) = delete;
    c_suspension& operator=(const c_suspension&) = delete;

    const agenthost_suspension* get() const noexcept { return &value_; }

private:
    std::vector<pairs> metadata_;
    std::vector<std::vector<agenthost_str>> approvers_;
    std::vector<agenthost_approval_request> requests_;
    std::vector<const agenthost_approval_request*> pointers_;
    agenthost_suspension value_;
};

inline agenthost_approval_filter to_c(const approval_filter& source) {
    if (source.without_owner && source.owner) {
        throw error(status_code::invalid_argument, "owner: expected none beside without_owner");
    }
    agenthost_approval_filter out = sized<agenthost_approval_filter>();
    out.state = source.state ? static_cast<agenthost_approval_state>(*source.state) : 0;
    out.has_owner = source.without_owner ? AGENTHOST_OWNER_NONE : source.owner ? AGENTHOST_OWNER_GIVEN : AGENTHOST_OWNER_ANY;
    out.owner = text(source.owner.value_or(std::string_view()));
    out.has_agent_id = source.agent_id ? 1 : 0;
    out.agent_id = text(source.agent_id.value_or(std::string_view()));
    out.approver = text(source.approver);
    out.run_id = text(source.run_id);
    out.tool_name = text(source.tool_name);
    return out;
}

}  // namespace detail

}  // namespace agenthost

#endif  // AGENTHOST_CPP_SUPPORTED
#endif  // AGENTHOST_DETAIL_APPROVALS_TO_C_HPP
