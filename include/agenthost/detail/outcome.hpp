// What an outcome of the C interface holds, by the call that it is of.
#ifndef AGENTHOST_DETAIL_OUTCOME_HPP
#define AGENTHOST_DETAIL_OUTCOME_HPP

#include <agenthost/requirements.hpp>

#ifdef AGENTHOST_CPP_SUPPORTED

#include <agenthost.h>
#include <agenthost/detail/from_c.hpp>
#include <agenthost/work.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace agenthost {

namespace detail {

/// The elements of an outcome, by C's functions for their number and for one of them.
template <class T, class Count, class At>
std::vector<T> elements(const agenthost_outcome* from, Count count, At at) {
    std::vector<T> out;
    const std::size_t size = count(from);
    out.reserve(size);
    for (std::size_t index = 0; index < size; ++index) out.push_back(from_c(*at(from, index)));
    return out;
}

inline void read_nothing(const agenthost_outcome*) noexcept {}

inline std::optional<claimed> read_claimed(const agenthost_outcome* from) {
    const agenthost_claimed* found = agenthost_outcome_claimed(from);
    return found != nullptr ? std::optional<claimed>(from_c(*found)) : std::nullopt;
}

inline std::int64_t read_number(const agenthost_outcome* from) noexcept { return agenthost_outcome_number(from); }

inline std::uint64_t read_count(const agenthost_outcome* from) noexcept {
    return static_cast<std::uint64_t>(agenthost_outcome_number(from));
}

inline bool read_flag(const agenthost_outcome* from) noexcept { return agenthost_outcome_number(from) != 0; }

inline run_submission read_submission(const agenthost_outcome* from) { return from_c(*agenthost_outcome_submission(from)); }

inline suspended read_suspended(const agenthost_outcome* from) {
    suspended out{read_submission(from), {}};
    const std::size_t size = agenthost_outcome_approval_id_count(from);
    for (std::size_t index = 0; index < size; ++index) out.approval_ids.emplace_back(view(agenthost_outcome_approval_id(from, index)));
    return out;
}

inline admitted_result read_admitted(const agenthost_outcome* from) { return from_c(*agenthost_outcome_admitted(from, 0)); }

inline admitted_page read_admitted_page(const agenthost_outcome* from) {
    return {elements<admitted_result>(from, agenthost_outcome_admitted_count, agenthost_outcome_admitted),
            agenthost_outcome_has_more(from) != 0};
}

inline std::optional<run_status> read_status(const agenthost_outcome* from) noexcept {
    const agenthost_run_status status = agenthost_outcome_status(from);
    return status != 0 ? std::optional(static_cast<run_status>(status)) : std::nullopt;
}

inline followed_events read_followed(const agenthost_outcome* from) {
    followed_events out;
    out.events = elements<event>(from, agenthost_outcome_event_count, agenthost_outcome_event);
    out.next_sequence = agenthost_outcome_next(from);
    out.has_more = agenthost_outcome_has_more(from) != 0;
    out.status = static_cast<run_status>(agenthost_outcome_status(from));
    return out;
}

inline approval_page read_inbox(const agenthost_outcome* from) {
    return {elements<inbox_approval>(from, agenthost_outcome_inbox_count, agenthost_outcome_inbox_approval), agenthost_outcome_next(from),
            agenthost_outcome_has_more(from) != 0};
}

inline run_page read_runs(const agenthost_outcome* from) {
    return {elements<run_summary>(from, agenthost_outcome_run_count, agenthost_outcome_run), agenthost_outcome_next(from),
            agenthost_outcome_has_more(from) != 0};
}

}  // namespace detail

}  // namespace agenthost

#endif  // AGENTHOST_CPP_SUPPORTED
#endif  // AGENTHOST_DETAIL_OUTCOME_HPP
