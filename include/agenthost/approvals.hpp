// Approvals of durable runs: what a worker asks for, what it gets back, and the inbox of those who decide.
#ifndef AGENTHOST_APPROVALS_HPP
#define AGENTHOST_APPROVALS_HPP

#include <agenthost/requirements.hpp>

#ifdef AGENTHOST_CPP_SUPPORTED

#include <agenthost.h>
#include <agenthost/detail/from_c.hpp>
#include <agenthost/enums.hpp>
#include <agenthost/metadata.hpp>
#include <agenthost/values.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agenthost {

/// An approval that a worker asks for. Two may be about the same tool call. Borrows its texts until the call returns.
struct approval_request {
    std::string_view tool_call_id{};                   ///< The tool call that needs it: 1 to 255 bytes.
    std::string_view tool_name{};                      ///< The tool: 1 to 255 bytes.
    std::string_view reason{};                         ///< Why it is needed, at most 64 KiB; may be empty.
    std::string_view arguments{};                      ///< JSON: what is to be approved, exactly, at most 64 KiB. Empty: nothing in particular.
    metadata_view metadata{};                          ///< Strings, at most 64 KiB, without sensitive names and names that begin with `agenthost.`.
    std::optional<std::int64_t> expires_at_unix_ms{};  ///< When it is denied by itself; nothing for never.
    agenthost::on_denied on_denied = agenthost::on_denied::fail;  ///< What a denial does.
    /// The principals that may decide it, at most 64, each once; they see the run from then on. Empty: whoever may see the run.
    std::vector<std::string_view> approvers{};
    bool not_owner = false;  ///< Whether the owner of the run may not decide it (four eyes).
};

/// What a run waits for, and how it goes on.
struct suspension {
    std::vector<approval_request> approvals{};        ///< The approvals, 1 to 64.
    std::string_view continuation{};                  ///< JSON for the worker that goes on, at most 4 MiB; empty means null.
    resume_mode resume = resume_mode::explicit_call;  ///< What makes the run go on once all is decided.
};

/// A run that waits for approvals.
struct suspended {
    run_submission run{};                     ///< The run afterwards.
    std::vector<std::string> approval_ids{};  ///< The approvals, in the order of the suspension.
};

/// An approval that was decided, with what was decided about.
struct decided_approval {
    approval_view approval{};                 ///< The approval.
    std::string arguments{};                  ///< JSON: what was approved or denied, exactly. Execute these and no others. Else empty.
    std::optional<std::string> decided_by{};  ///< The principal that decided; nothing without one, and when it expired.
    bool expired = false;                     ///< Whether nobody decided in time, which counts as denied.
};

/// Which approvals. All that is given has to fit.
struct approval_filter {
    std::optional<approval_state> state{};       ///< In this state.
    std::string_view approver{};                 ///< That name this principal among their approvers. Empty: any.
    std::optional<std::string_view> owner{};     ///< Of runs of this principal, not empty.
    bool without_owner = false;                  ///< Only of runs that no principal created; then there is no `owner`.
    std::optional<std::string_view> agent_id{};  ///< Of runs for this agent; "" for runs without one.
    std::string_view run_id{};                   ///< Of this run. Empty: any.
    std::string_view tool_name{};                ///< For this tool. Empty: any.
};

/// An approval as the inbox shows it: with all that it takes to judge and to decide it.
struct inbox_approval {
    std::uint64_t position = 0;                        ///< Its place in the order of creation of all approvals: the cursor.
    std::string run_id{};                              ///< Its run.
    std::uint64_t revision = 0;                        ///< The run's revision now: what `resolve_approval` has to expect.
    agenthost::run_status run_status = agenthost::run_status::created;  ///< The run's state now.
    std::optional<std::string> owner{};                ///< The principal that created the run.
    std::string agent_id{};                            ///< The agent of the run, or empty.
    approval_state state = approval_state::pending;    ///< Whether it can be decided, and what became of it.
    approval_view approval{};                          ///< The approval, as the run's view shows it.
    std::string arguments{};                           ///< JSON: what is to be approved, exactly. Else empty.
    std::optional<std::int64_t> expires_at_unix_ms{};  ///< When it is denied by itself; nothing for never.
    agenthost::on_denied on_denied = agenthost::on_denied::fail;  ///< What a denial does.
    std::vector<std::string> approvers{};              ///< The principals that may decide it; empty: whoever may see the run.
    bool not_owner = false;                            ///< Whether the owner of the run may not decide it.
    std::optional<std::string> decided_by{};           ///< The principal that decided it.
    bool expired = false;                              ///< Whether nobody decided it in time.
};

/// Approvals in the order of their creation.
struct approval_page {
    std::vector<inbox_approval> approvals{};  ///< The approvals.
    std::uint64_t next = 0;                   ///< The cursor of the next page; of a page without approvals the one that was given.
    bool has_more = false;                    ///< Whether there may be more behind the page.

    /// The first approval: a page is a range of its approvals.
    std::vector<inbox_approval>::const_iterator begin() const noexcept { return approvals.begin(); }
    /// Behind the last approval.
    std::vector<inbox_approval>::const_iterator end() const noexcept { return approvals.end(); }
};

namespace detail {

inline std::optional<std::string> given(std::uint32_t has, agenthost_str text) {
    return has != 0 ? std::optional<std::string>(view(text)) : std::nullopt;
}

inline decided_approval from_c(const agenthost_decided_approval& source) {
    return {from_c(*source.approval), std::string(view(source.arguments)), given(source.has_decided_by, source.decided_by),
            source.expired != 0};
}

inline inbox_approval from_c(const agenthost_inbox_approval& source) {
    inbox_approval out;
    out.position = source.position;
    out.run_id = view(source.run_id);
    out.revision = source.revision;
    out.run_status = static_cast<agenthost::run_status>(source.run_status);
    out.owner = given(source.has_owner, source.owner);
    out.agent_id = view(source.agent_id);
    out.state = static_cast<approval_state>(source.state);
    out.approval = from_c(*source.approval);
    out.arguments = view(source.arguments);
    out.expires_at_unix_ms = optional(source.expires_at_unix_ms);
    out.on_denied = static_cast<agenthost::on_denied>(source.on_denied);
    for (std::size_t index = 0; index < source.approver_count; ++index) out.approvers.emplace_back(view(source.approvers[index]));
    out.not_owner = source.not_owner != 0;
    out.decided_by = given(source.has_decided_by, source.decided_by);
    out.expired = source.expired != 0;
    return out;
}

}  // namespace detail

}  // namespace agenthost

#endif  // AGENTHOST_CPP_SUPPORTED
#endif  // AGENTHOST_APPROVALS_HPP
