// Durable runs: a service for who has none yet, and the side of workers and operators.
#ifndef AGENTHOST_RUNS_HPP
#define AGENTHOST_RUNS_HPP

#include <agenthost/requirements.hpp>

#ifdef AGENTHOST_CPP_SUPPORTED

#include <agenthost.h>
#include <agenthost/approvals.hpp>
#include <agenthost/detail/approvals_to_c.hpp>
#include <agenthost/detail/completion.hpp>
#include <agenthost/detail/events_to_c.hpp>
#include <agenthost/detail/outcome.hpp>
#include <agenthost/detail/to_c.hpp>
#include <agenthost/host.hpp>
#include <agenthost/options.hpp>
#include <agenthost/work.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace agenthost {

/// What an access function is asked about. Borrowed for the call.
struct access_request {
    std::optional<std::string_view> principal{};  ///< Who calls; nothing for embedded use.
    std::optional<std::string_view> owner{};      ///< The principal that created the run; nothing where there was none.
    agenthost::operation operation{};             ///< What is asked for. Waiting for events counts as `list_events`.
    /// Of `resolve_approval` the principals that the approval names, else those that the pending approvals name.
    std::vector<std::string_view> approvers{};
};

/// Who may see a run and do to it what is asked, in place of the built-in rule (its owner and calls without a principal everything,
/// an approver what names it). It does not replace four eyes. Runs on any thread, in the middle of a transaction: it must be quick,
/// and must not call these runs. What it throws goes to the log, and hides the run.
using access_function = std::function<bool(const access_request& request)>;

/// How runs are opened.
struct runs_options {
    /// How long a worker may be silent before somebody else may take over, at most 24 h. 0: 30 s.
    std::chrono::milliseconds lease{0};
    std::uint64_t max_attempts = 0;        ///< How often a run may be taken over from a silent worker before it fails. 0: 10.
    std::chrono::milliseconds key_ttl{0};  ///< How long an idempotency key is remembered. 0: 24 h.
    bool require_principal = false;        ///< Whether a client's call without a principal is `unauthorized`.
    /// Names that are sensitive beside the built-in ones, for the runs (metadata with one is refused, and never stored) and for every
    /// host over them.
    std::vector<std::string> sensitive_names{};
    access_function access{};    ///< Who may see a run. Empty: the built-in rule.
    log_function log{};          ///< Where causes of failures go that callers do not get. Empty: nowhere.
    bool log_exceptions = true;  ///< Whether `what()` of the exceptions of your callbacks goes to the log.
};

namespace detail {

/// An access function as the C interface calls it.
struct access_rule {
    access_function shows;
    std::shared_ptr<const logger> log;

    static std::optional<std::string_view> given(const agenthost_str* text) noexcept {
        return text != nullptr ? std::optional(view(*text)) : std::nullopt;
    }
    static std::uint32_t run(void* data, const agenthost_access_request* asked) noexcept {
        const access_rule& self = *static_cast<const access_rule*>(data);
        try {
            access_request request{given(asked->principal), given(asked->owner), static_cast<operation>(asked->operation), {}};
            for (std::size_t index = 0; index < asked->approver_count; ++index) request.approvers.push_back(view(asked->approvers[index]));
            return self.shows(request) ? 1 : 0;
        } catch (...) {
            self.log->exception("the access function threw", "access");
            return 0;
        }
    }
    static void destroy(void* data) noexcept { delete static_cast<access_rule*>(data); }
};

}  // namespace detail

/// Opened durable runs: they serve hosts, and have the side of workers and operators. Copies are owners of the same runs, which are
/// closed when the last of them and the last host over them are gone.
///
/// Each call takes how it completes as its last argument: `wait`, as it does when nothing is said, and returns its value; `as_future`,
/// and returns a `std::future` of it; or a callback, which takes an `agenthost::result` of it once, on any thread, perhaps before the
/// call returns. A callback has to be short: the thread that it runs on may be the one that every write goes through. What it throws goes
/// to the log. It must not wait for a call of runs, and may close or let go of hosts and copies of runs.
///
/// A call throws `host_error`, or hands it over, when it is refused or fails: values that break a rule (`invalid_request`, whose
/// message names the member), and conflicts, each reason by its type (`claim_lost`, `cursor_expired`, ...). After `unavailable` and
/// `internal` it is not known whether the call was done: call again, with the same values. It throws `error`, at once and whichever way
/// it completes, for misuse: `invalid_argument` for a negative time, `null_argument` for runs that were moved from, `forked`.
class runs {
public:
    /// Opens `memory:`, for runs that end with the last owner, or `sqlite:path`, a file, which is made where there is none. What is
    /// overdue is ended before this returns.
    /// @throws error `invalid_argument`: `what()` says which option or what was expected of the URL, or why the store cannot be opened.
    static runs open(std::string_view url, const runs_options& options = {}) {
        auto log = std::make_shared<const detail::logger>(options.log, options.log_exceptions);
        auto names = std::make_shared<const std::vector<std::string>>(options.sensitive_names);
        const std::vector<agenthost_str> texts = detail::texts(*names);
        agenthost_runs_options given = detail::sized<agenthost_runs_options>();
        given.lease_ms = detail::milliseconds(options.lease, "lease");
        given.max_attempts = options.max_attempts;
        given.key_ttl_ms = detail::milliseconds(options.key_ttl, "key_ttl");
        given.require_principal = options.require_principal ? 1 : 0;
        given.sensitive_names = texts.data();
        given.sensitive_name_count = texts.size();
        std::unique_ptr<detail::access_rule> rule;
        if (options.access) rule = std::make_unique<detail::access_rule>(detail::access_rule{options.access, log});
        if (!log->is_empty()) {
            given.log_data = detail::logger::to_data(log);
            given.log = detail::logger::write;
            given.log_destroy = detail::logger::destroy;
        }
        if (rule) {
            // The library's, whatever it returns.
            given.access_data = rule.release();
            given.access = detail::access_rule::run;
            given.access_destroy = detail::access_rule::destroy;
        }
        agenthost_runs* opened = nullptr;
        agenthost_buffer* why = nullptr;
        const agenthost_status status = agenthost_runs_open(detail::text(url), &given, &opened, &why);
        if (status != AGENTHOST_OK) detail::fail(status, buffer(why));
        return runs(opened, std::move(log), std::move(names));
    }
    /// Takes one count of runs of the C interface over. What names they know is not known here: give their hosts the same.
    explicit runs(agenthost_runs* owned)
        : runs(owned, std::make_shared<const detail::logger>(log_function(), false), nullptr) {}

    /// Another owner of the same runs. A copy of some that were moved from is like them.
    runs(const runs& other) : log_(other.log_), sensitive_names_(other.sensitive_names_), handle_(other.handle_) {
        if (handle_ != nullptr) detail::check(agenthost_runs_retain(handle_));
    }
    runs(runs&& other) noexcept
        : log_(std::move(other.log_)),
          sensitive_names_(std::move(other.sensitive_names_)),
          handle_(std::exchange(other.handle_, nullptr)) {}
    runs& operator=(runs other) noexcept {
        std::swap(log_, other.log_);
        std::swap(sensitive_names_, other.sensitive_names_);
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~runs() { agenthost_runs_release(handle_); }

    /// A host that these runs serve. It keeps them open; closing it does not close them. It has their sensitive names, and their log
    /// unless it is given one. `log_exceptions` of its options is about its own callbacks.
    /// @throws error `invalid_argument`: `what()` says which option, and what was expected; `null_argument`: moved from.
    agenthost::host host(const host_options& options = {}) const {
        if (sensitive_names_ && !options.sensitive_names.empty()) {
            throw error(status_code::invalid_argument,
                        "sensitive_names: expected none: a host over runs has the names that the runs were opened with");
        }
        auto log = options.log || !log_ ? std::make_shared<const detail::logger>(options.log, options.log_exceptions) : log_;
        const std::vector<std::string>& names = sensitive_names_ ? *sensitive_names_ : options.sensitive_names;
        const auto over_runs = [&](const agenthost_host_options& given, agenthost_host** made, agenthost_buffer** why) {
            return agenthost_runs_host(handle_, &given, made, why);
        };
        return agenthost::host(detail::make_host(log, options, names, over_runs), log);
    }

    /// Finishes what was accepted, ends every wait with `unavailable`, and refuses everything from then on. Closing again is fine.
    /// @throws error `would_deadlock`: called from a callback of runs, and nothing happened; `forked`; `null_argument`: moved from.
    void close() const { detail::check(agenthost_runs_close(handle_)); }

    /// The runs for the C interface, still owned by this object; null when it was moved from.
    agenthost_runs* native_handle() const noexcept { return handle_; }

    // ------------------------------------------------------------------------------------------------------- workers

    /// Takes the longest claimable run of the agents: `std::optional<claimed>`, nothing when there is none.
    template <class Completion = wait_t>
    auto claim(const claim_request& request, Completion completion = {}) const -> completed<std::optional<claimed>, Completion> {
        const std::vector<agenthost_str> agents = detail::texts(request.agent_ids);
        agenthost_claim_request given = detail::sized<agenthost_claim_request>();
        given.agent_ids = agents.data();
        given.agent_id_count = agents.size();
        given.worker = detail::text(request.worker);
        given.lease_ms = detail::milliseconds(request.lease, "lease");
        return start<std::optional<claimed>>(std::move(completion), detail::read_claimed, agenthost_runs_claim, &given);
    }
    /// Says that the worker is alive: when the lease ends now, in milliseconds since the Unix epoch.
    template <class Completion = wait_t>
    auto heartbeat(const agenthost::claim& claim, Completion completion = {}) const -> completed<std::int64_t, Completion> {
        return start<std::int64_t>(std::move(completion), detail::read_number, agenthost_runs_heartbeat, run(claim), token(claim));
    }
    /// Appends 1 to 1000 events, all or none: the first one's sequence. With a key (empty: none) a retry stores nothing twice.
    template <class Completion = wait_t>
    auto append_events(const agenthost::claim& claim, const std::vector<new_event>& events, std::string_view key = {},
                       Completion completion = {}) const -> completed<std::uint64_t, Completion> {
        const detail::c_events given(events);
        return start<std::uint64_t>(std::move(completion), detail::read_count, agenthost_runs_append_events, run(claim), token(claim),
                                    given.data(), given.size(), detail::text(key));
    }
    /// Ends the claim and has the run wait for approvals, 1 to 64: `suspended`.
    template <class Completion = wait_t>
    auto suspend(const agenthost::claim& claim, const suspension& suspension, Completion completion = {}) const
        -> completed<suspended, Completion> {
        const detail::c_suspension given(suspension);
        return start<suspended>(std::move(completion), detail::read_suspended, agenthost_runs_suspend, run(claim), token(claim),
                                given.get());
    }
    /// Records the outcome of a tool call for good: the `admitted_result` that counts, which is the first.
    template <class Completion = wait_t>
    auto admit_tool_result(const agenthost::claim& claim, const tool_result& result, Completion completion = {}) const
        -> completed<admitted_result, Completion> {
        agenthost_tool_result given = detail::sized<agenthost_tool_result>();
        given.step_id = detail::text(result.step_id);
        given.tool_call_id = detail::text(result.tool_call_id);
        given.tool_name = detail::text(result.tool_name);
        given.key = detail::text(result.key);
        given.outcome = detail::text(result.outcome);
        return start<admitted_result>(std::move(completion), detail::read_admitted, agenthost_runs_admit_tool_result, run(claim),
                                      token(claim), &given);
    }
    /// Ends the run well, with a result (JSON, at most 4 MiB; empty means null): the run afterwards.
    template <class Completion = wait_t>
    auto complete(const agenthost::claim& claim, std::string_view result = {}, Completion completion = {}) const
        -> completed<run_submission, Completion> {
        return start<run_submission>(std::move(completion), detail::read_submission, agenthost_runs_complete, run(claim),
                                     token(claim), detail::text(result));
    }
    /// Ends the run with an error, a text that is not empty: the run afterwards.
    template <class Completion = wait_t>
    auto fail(const agenthost::claim& claim, std::string_view error, Completion completion = {}) const
        -> completed<run_submission, Completion> {
        return start<run_submission>(std::move(completion), detail::read_submission, agenthost_runs_fail, run(claim), token(claim),
                                     detail::text(error));
    }
    /// Gives the run back: somebody may claim it `delay` from now.
    template <class Completion = wait_t>
    auto release(const agenthost::claim& claim, std::chrono::milliseconds delay = std::chrono::milliseconds(0),
                 Completion completion = {}) const -> completed<void, Completion> {
        return start<void>(std::move(completion), detail::read_nothing, agenthost_runs_give_back, run(claim), token(claim),
                           detail::milliseconds(delay, "delay"));
    }
    /// Waits, at most `timeout`, until the claim is not valid any more: the run's status then, or nothing while it is valid.
    template <class Completion = wait_t>
    auto wait_claim_lost(const agenthost::claim& claim, std::chrono::milliseconds timeout, Completion completion = {}) const
        -> completed<std::optional<run_status>, Completion> {
        return start<std::optional<run_status>>(std::move(completion), detail::read_status, agenthost_runs_wait_claim_lost, run(claim),
                                                token(claim), detail::milliseconds(timeout, "timeout"));
    }
    /// Waits, at most `timeout`, until one of the agents ("" for runs without one) has a run that can be claimed: whether it has.
    template <class Completion = wait_t>
    auto wait_for_work(const std::vector<std::string_view>& agent_ids, std::chrono::milliseconds timeout,
                       Completion completion = {}) const -> completed<bool, Completion> {
        const std::vector<agenthost_str> agents = detail::texts(agent_ids);
        return start<bool>(std::move(completion), detail::read_flag, agenthost_runs_wait_for_work, agents.data(), agents.size(),
                           detail::milliseconds(timeout, "timeout"));
    }

    // --------------------------------------------------------------------------------------- followers and operators

    /// Reads a run's events after `after`, at most `limit` (1 to 1000, 0 for 256), and waits for one, at most `timeout`:
    /// `followed_events`. Returns at once when the run has ended. For whoever may see every run.
    template <class Completion = wait_t>
    auto wait_events(std::string_view run_id, std::uint64_t after, std::uint64_t limit, std::chrono::milliseconds timeout,
                     Completion completion = {}) const -> completed<followed_events, Completion> {
        return start<followed_events>(std::move(completion), detail::read_followed, agenthost_runs_wait_events, detail::text(run_id),
                                      after, limit, detail::milliseconds(timeout, "timeout"));
    }
    /// Lists runs, whoever owns them, in the order of their creation: `run_page`.
    template <class Completion = wait_t>
    auto list_runs(const list_runs_request& request = {}, Completion completion = {}) const -> completed<run_page, Completion> {
        agenthost_list_runs given = detail::sized<agenthost_list_runs>();
        given.status = request.status ? static_cast<agenthost_run_status>(*request.status) : 0;
        given.has_owner = request.without_owner ? AGENTHOST_OWNER_NONE : request.owner ? AGENTHOST_OWNER_GIVEN : AGENTHOST_OWNER_ANY;
        given.owner = detail::text(request.owner.value_or(std::string_view()));
        given.has_agent_id = request.agent_id ? 1 : 0;
        given.agent_id = detail::text(request.agent_id.value_or(std::string_view()));
        given.after = request.after;
        given.limit = request.limit;
        if (request.without_owner && request.owner) {
            throw error(status_code::invalid_argument, "owner: expected none beside without_owner");
        }
        return start<run_page>(std::move(completion), detail::read_runs, agenthost_runs_list, &given);
    }
    /// Lists approvals, whoever owns their runs, in the order of their creation: those behind the cursor `after` (0: from the first), at
    /// most `limit` (1 to 1000; 0 for 100) and 4 MiB: `approval_page`. It costs by the page, not by what there is.
    template <class Completion = wait_t>
    auto list_approvals(const approval_filter& filter = {}, std::uint64_t after = 0, std::uint64_t limit = 0,
                        Completion completion = {}) const -> completed<approval_page, Completion> {
        const agenthost_approval_filter given = detail::to_c(filter);
        return start<approval_page>(std::move(completion), detail::read_inbox, agenthost_runs_list_approvals, &given, after, limit);
    }
    /// The same, and waits for an approval, at most `timeout`, when there is none yet: the feed of a notifier, which keeps the cursor
    /// of what it has handled, and so loses none.
    template <class Completion = wait_t>
    auto wait_approvals(const approval_filter& filter, std::uint64_t after, std::uint64_t limit, std::chrono::milliseconds timeout,
                        Completion completion = {}) const -> completed<approval_page, Completion> {
        const agenthost_approval_filter given = detail::to_c(filter);
        return start<approval_page>(std::move(completion), detail::read_inbox, agenthost_runs_wait_approvals, &given, after, limit,
                                    detail::milliseconds(timeout, "timeout"));
    }
    /// The admitted results of a run whose tool call ids follow `after` (empty: from the first), at most `limit` (1 to 1000) and 4 MiB:
    /// `admitted_page`.
    template <class Completion = wait_t>
    auto admitted_results(std::string_view run_id, std::string_view after, std::uint64_t limit, Completion completion = {}) const
        -> completed<admitted_page, Completion> {
        return start<admitted_page>(std::move(completion), detail::read_admitted_page, agenthost_runs_admitted_results,
                                    detail::text(run_id), detail::text(after), limit);
    }
    /// Removes the run's events up to and with `through`, but for the last: the first sequence that is left.
    template <class Completion = wait_t>
    auto compact(std::string_view run_id, std::uint64_t through, Completion completion = {}) const
        -> completed<std::uint64_t, Completion> {
        return start<std::uint64_t>(std::move(completion), detail::read_count, agenthost_runs_compact, detail::text(run_id), through);
    }
    /// Deletes the runs that ended before a time (milliseconds since the Unix epoch): how many.
    template <class Completion = wait_t>
    auto purge(std::int64_t ended_before_unix_ms, Completion completion = {}) const -> completed<std::uint64_t, Completion> {
        return start<std::uint64_t>(std::move(completion), detail::read_count, agenthost_runs_purge, ended_before_unix_ms);
    }
    /// Writes a consistent copy of everything to a file that does not exist yet, while the work goes on.
    template <class Completion = wait_t>
    auto backup(std::string_view path, Completion completion = {}) const -> completed<void, Completion> {
        return start<void>(std::move(completion), detail::read_nothing, agenthost_runs_backup, detail::text(path));
    }

private:
    runs(agenthost_runs* owned, std::shared_ptr<const detail::logger> log,
         std::shared_ptr<const std::vector<std::string>> sensitive_names) noexcept
        : log_(std::move(log)), sensitive_names_(std::move(sensitive_names)), handle_(owned) {}

    static agenthost_str run(const agenthost::claim& claim) noexcept { return detail::text(claim.run_id); }
    static agenthost_str token(const agenthost::claim& claim) noexcept { return detail::text(claim.token.reveal()); }

    /// Calls `function` of the C interface with `arguments` and the end that `completion` asks for.
    template <class T, class Completion, class Read, class Function, class... Arguments>
    auto start(Completion completion, Read read, Function function, Arguments... arguments) const -> completed<T, Completion> {
        return detail::complete<T>(std::move(completion), log_, read,
                                   [&](agenthost_outcome_done done, void* data, agenthost_outcome** outcome) {
                                       return function(handle_, arguments..., done, data, outcome);
                                   });
    }

    std::shared_ptr<const detail::logger> log_;
    /// None of runs that this header did not open.
    std::shared_ptr<const std::vector<std::string>> sensitive_names_;
    agenthost_runs* handle_ = nullptr;
};

}  // namespace agenthost

#endif  // AGENTHOST_CPP_SUPPORTED
#endif  // AGENTHOST_RUNS_HPP
