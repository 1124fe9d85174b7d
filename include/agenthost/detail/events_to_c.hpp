// A worker's events, laid out as the C interface wants them.
#ifndef AGENTHOST_DETAIL_EVENTS_TO_C_HPP
#define AGENTHOST_DETAIL_EVENTS_TO_C_HPP

#include <agenthost/requirements.hpp>

#ifdef AGENTHOST_CPP_SUPPORTED

#include <agenthost.h>
#include <agenthost/detail/to_c.hpp>
#include <agenthost/work.hpp>

#include <cstddef>
#include <vector>

namespace agenthost {

namespace detail {

/// Borrows the texts.
class c_events {
public:
    explicit c_events(const std::vector<new_event>& source) {
        metadata_.reserve(source.size());
        events_.reserve(source.size());
        pointers_.reserve(source.size());
        for (const new_event& each : source) {
            metadata_.emplace_back(each.metadata);
            agenthost_new_event out = sized<agenthost_new_event>();
            out.type = text(each.type);
            out.step_id = text(each.step_id);
            out.tool_call_id = text(each.tool_call_id);
            out.data = text(each.data);
            out.metadata = metadata_.back().get();
            events_.push_back(out);
        }
        for (const agenthost_new_event& each : events_) pointers_.push_back(&each);
    }
    c_events(const c_events&) = delete;
    c_events& operator=(const c_events&) = delete;

    const agenthost_new_event* const* data() const noexcept { return pointers_.data(); }
    std::size_t size() const noexcept { return pointers_.size(); }

private:
    std::vector<pairs> metadata_;
    std::vector<agenthost_new_event> events_;
    std::vector<const agenthost_new_event*> pointers_;
};

}  // namespace detail

}  // namespace agenthost

#endif  // AGENTHOST_CPP_SUPPORTED
#endif  // AGENTHOST_DETAIL_EVENTS_TO_C_HPP
