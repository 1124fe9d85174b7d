// What workers and operators of durable runs give and get.
#ifndef AGENTHOST_WORK_HPP
#define AGENTHOST_WORK_HPP

#include <agenthost/requirements.hpp>

#ifdef AGENTHOST_CPP_SUPPORTED

#include <agenthost.h>
#include <agenthost/approvals.hpp>
#include <agenthost/detail/from_c.hpp>
#include <agenthost/enums.hpp>
#include <agenthost/metadata.hpp>
#include <agenthost/values.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace agenthost {

/// The right to work on a run. A secret: it has no output operator, no comparison, and no way into a text but `reveal`.
class claim_token {
public:
    claim_token() noexcept = default;
    /// Takes the text of a token, as `reveal` gave it to another process, say.
    explicit claim_token(std::string secret) noexcept : secret_(std::move(secret)) {}
    /// The token as text. Keep it out of logs and messages.
    const std::string& reveal() const noexcept { return secret_; }

private:
    std::string secret_;
};

/// A run that somebody works on, and the right to do so. Every call of a worker brings it.
struct claim {
    std::string run_id{};  ///< The run.
    claim_token token{};   ///< The right.
};

/// A run that was claimed, with all that there is to go on with.
struct claimed {
    agenthost::claim claim{};                 ///< What every call brings.
    std::optional<std::string> owner{};       ///< The principal that created it.
    std::uint64_t attempt = 0;                ///< How often it was claimed since it started or was resumed last, from 1.
    std::uint64_t revision = 0;               ///< Its revision.
    std::int64_t lease_ends_at_unix_ms = 0;   ///< When the lease ends unless a call renews it.
    std::chrono::milliseconds lease{0};       ///< The lease; a heartbeat is due at a third of it.
    execution_context context{};              ///< Where it comes from.
    std::string input{};                      ///< What it is to work on, JSON.
    agenthost::metadata metadata{};           ///< Strings that belong to it.
    std::vector<decided_approval> approvals{};  ///< After a resume: the approvals that were asked for, in order, all decided.
    std::string continuation{};               ///< After a resume: what `suspend` was given, JSON. Else empty.
    std::string resume_input{};               ///< After a resume: the input of `resume_run`, JSON. Else empty.
};

/// What a worker looks for. Like all that is given, it borrows its texts until the call returns, also one that does not wait.
struct claim_request {
    std::vector<std::string_view> agent_ids{};  ///< The agents whose runs it works on, at least one; "" for runs without one.
    std::string_view worker{};                  ///< How it calls itself, for people; may be empty.
    std::chrono::milliseconds lease{0};         ///< How long it may be silent, at most 24 h. 0: the default of the runs.
};

/// Something that happened, as a worker says it.
struct new_event {
    std::string_view type{};          ///< What kind of event: 1 to 255 bytes, none of the library's own.
    std::string_view data{};          ///< JSON, at most 1 MiB; empty means null.
    std::string_view step_id{};       ///< The step that it belongs to, or empty.
    std::string_view tool_call_id{};  ///< The tool call that it belongs to, or empty.
    metadata_view metadata{};         ///< Strings, without sensitive names.
};

/// What a tool call came to.
struct tool_result {
    std::string_view tool_call_id{};  ///< The tool call: 1 to 255 bytes. One result is admitted for each.
    std::string_view tool_name{};     ///< The tool, not empty.
    std::string_view key{};           ///< Names the execution: 1 to 255 bytes. A retry brings the same.
    std::string_view outcome{};       ///< JSON, at most 4 MiB; empty means null.
    std::string_view step_id{};       ///< The step that it belongs to, or empty.
};

/// The outcome of a tool call that counts.
struct admitted_result {
    std::string tool_call_id{};  ///< The tool call.
    std::string tool_name{};     ///< The tool.
    std::string key{};           ///< The execution's key.
    std::uint64_t sequence = 0;  ///< The sequence of the event that says so.
    std::string outcome{};       ///< The outcome that was admitted first, JSON.
    bool repeated = false;       ///< Whether it had been admitted before this call.
};

/// Admitted results, by their tool call ids.
struct admitted_page {
    std::vector<admitted_result> results{};  ///< The results. The last one's tool call id is the cursor of the next page.
    bool has_more = false;                   ///< Whether there may be more behind the page.

    /// The first result: a page is a range of its results.
    std::vector<admitted_result>::const_iterator begin() const noexcept { return results.begin(); }
    /// Behind the last result.
    std::vector<admitted_result>::const_iterator end() const noexcept { return results.end(); }
};

/// Events after a cursor, and how the run stands. A range of its events.
struct followed_events : event_page {
    run_status status = run_status::created;  ///< The run's status when they were read.

    /// Whether the run has ended, and nothing follows these events.
    bool is_drained() const noexcept { return !has_more && status >= run_status::completed; }
};

/// Which runs to list. All that is given has to fit.
struct list_runs_request {
    std::optional<run_status> status{};         ///< In this state.
    std::optional<std::string_view> owner{};    ///< Of this principal, not empty.
    bool without_owner = false;                 ///< Only runs that no principal created; then there is no `owner`.
    std::optional<std::string_view> agent_id{};  ///< For this agent; "" for runs without one.
    std::uint64_t after = 0;                    ///< The cursor of the page before; 0 for the first.
    std::uint64_t limit = 0;                    ///< The most runs of the page, 1 to 1000; 0 for 100.
};

/// A run, in short.
struct run_summary {
    std::string run_id{};                                ///< The run.
    std::optional<std::string> owner{};                  ///< The principal that created it.
    run_status status = run_status::created;             ///< Its state.
    std::string agent_id{};                              ///< The agent that is to do it, or empty.
    std::string worker{};                                ///< How the last worker called itself, or empty.
    std::uint64_t revision = 0;                          ///< The number of its state changes.
    std::uint64_t first_sequence = 0;                    ///< The first event that is still there.
    std::uint64_t head_sequence = 0;                     ///< The last event.
    std::uint64_t attempt = 0;                           ///< How often it was claimed since it started or was resumed last.
    std::int64_t created_at_unix_ms = 0;                 ///< When it was created, in milliseconds since the Unix epoch.
    std::int64_t updated_at_unix_ms = 0;                 ///< When it got its last event.
    std::optional<std::int64_t> completed_at_unix_ms{};  ///< When it ended.
    std::optional<std::int64_t> deadline_unix_ms{};      ///< When it has to end.
};

/// Runs in the order of their creation.
struct run_page {
    std::vector<run_summary> runs{};  ///< The runs.
    std::uint64_t next = 0;           ///< The cursor of the next page.
    bool has_more = false;            ///< Whether there may be more behind the page.

    /// The first run: a page is a range of its runs.
    std::vector<run_summary>::const_iterator begin() const noexcept { return runs.begin(); }
    /// Behind the last run.
    std::vector<run_summary>::const_iterator end() const noexcept { return runs.end(); }
};

namespace detail {

inline claimed from_c(const agenthost_claimed& source) {
    claimed out;
    out.claim = {std::string(view(source.run_id)), claim_token(std::string(view(source.token)))};
    out.owner = given(source.has_owner, source.owner);
    out.attempt = source.attempt;
    out.revision = source.revision;
    out.lease_ends_at_unix_ms = source.lease_ends_at_unix_ms;
    out.lease = std::chrono::milliseconds(static_cast<std::chrono::milliseconds::rep>(source.lease_ms));
    out.context = to_owned(from_c(*source.context));
    out.input = view(source.input);
    out.metadata = metadata_view(source.metadata).to_owned();
    for (std::size_t index = 0; index < source.approval_count; ++index) out.approvals.push_back(from_c(*source.approvals[index]));
    out.continuation = view(source.continuation);
    out.resume_input = view(source.resume_input);
    return out;
}

inline admitted_result from_c(const agenthost_admitted& source) {
    return {std::string(view(source.tool_call_id)), std::string(view(source.tool_name)), std::string(view(source.key)),
            source.sequence, std::string(view(source.outcome)), source.repeated != 0};
}

inline run_summary from_c(const agenthost_run_summary& source) {
    return {std::string(view(source.run_id)),
            given(source.has_owner, source.owner),
            static_cast<run_status>(source.status),
            std::string(view(source.agent_id)),
            std::string(view(source.worker)),
            source.revision,
            source.first_sequence,
            source.head_sequence,
            source.attempt,
            source.created_at_unix_ms,
            source.updated_at_unix_ms,
            optional(source.completed_at_unix_ms),
            optional(source.deadline_unix_ms)};
}

}  // namespace detail

}  // namespace agenthost

#endif  // AGENTHOST_CPP_SUPPORTED
#endif  // AGENTHOST_WORK_HPP
