// The six requests, as a service gets them and a client makes them. They borrow their texts.
#ifndef AGENTHOST_REQUESTS_HPP
#define AGENTHOST_REQUESTS_HPP

#include <agenthost/requirements.hpp>

#ifdef AGENTHOST_CPP_SUPPORTED

#include <agenthost/values.hpp>

#include <cstdint>
#include <string_view>

namespace agenthost {

/// Submits a run. Like all requests it borrows its texts: a service's until its function returns, a client's from the caller.
struct create_run_request {
    using result_type = run_submission;  ///< What answers it.
    execution_context_view context{};    ///< Where the run comes from; names the run.
    std::string_view input{};            ///< JSON text, never empty towards a service; empty from a client means `{}`.
    metadata_view metadata{};            ///< Strings that belong to the run.
};

/// Reads a run.
struct get_run_request {
    using result_type = run_view;  ///< What answers it.
    std::string_view run_id{};     ///< The run.
};

/// Cancels a run that is still at the expected revision.
struct cancel_run_request {
    using result_type = run_submission;   ///< What answers it.
    std::string_view run_id{};            ///< The run.
    std::uint64_t expected_revision = 0;  ///< The revision that the caller has seen, 1 to 2^53-1.
    std::string_view reason{};            ///< Why. Empty from a client means the contract's default.
};

/// Approves or denies what a run waits for.
struct resolve_approval_request {
    using result_type = run_submission;                                  ///< What answers it.
    std::string_view run_id{};                                           ///< The run.
    std::uint64_t expected_revision = 0;                                 ///< The revision that the caller has seen.
    std::string_view approval_id{};                                      ///< The approval, as the run's view names it.
    agenthost::resolution resolution = agenthost::resolution::approved;  ///< Approved or denied.
    std::string_view reason{};                                           ///< Why; may be empty.
    metadata_view metadata{};                                            ///< Strings that belong to the resolution.
};

/// Lets an approved run go on.
struct resume_run_request {
    using result_type = run_submission;   ///< What answers it.
    std::string_view run_id{};            ///< The run.
    std::uint64_t expected_revision = 0;  ///< The revision that the caller has seen, 1 to 2^53-1.
    std::string_view approval_id{};       ///< The approval that was given.
    std::string_view input{};             ///< JSON text, never empty towards a service; empty from a client means `{}`.
};

/// Reads events after a cursor.
struct list_events_request {
    using result_type = event_page;    ///< What answers it.
    std::string_view run_id{};         ///< The run.
    std::uint64_t after_sequence = 0;  ///< Only events with a larger sequence are asked for; 0 for all.
    std::uint64_t limit = 0;           ///< 1 to 1000 towards a service; 0 from a client means the contract's default.
};

}  // namespace agenthost

#endif  // AGENTHOST_CPP_SUPPORTED
#endif  // AGENTHOST_REQUESTS_HPP
