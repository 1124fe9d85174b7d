// A response as a client reads it: checked, and taken apart.
#ifndef AGENTHOST_RESPONSE_HPP
#define AGENTHOST_RESPONSE_HPP

#include <agenthost/requirements.hpp>

#ifdef AGENTHOST_CPP_SUPPORTED

#include <agenthost.h>
#include <agenthost/buffer.hpp>
#include <agenthost/detail/from_c.hpp>
#include <agenthost/errors.hpp>
#include <agenthost/values.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

namespace agenthost {

/// A response that was checked and taken apart. Owns what it holds; any number of threads may read it.
class response {
public:
    /// Takes a response of the C interface over.
    explicit response(agenthost_response* owned) noexcept : handle_(owned) {}

    /// The operation that it names; none in a refusal of a version that the library does not speak, when it does not know it.
    std::optional<agenthost::operation> operation() const noexcept {
        const agenthost_operation number = agenthost_response_operation(handle_.get());
        return number != 0 ? std::optional(static_cast<agenthost::operation>(number)) : std::nullopt;
    }
    /// The request that it answers; empty in a refusal whose request could not be read. Borrowed from this object.
    std::string_view request_id() const noexcept { return detail::view(agenthost_response_request_id(handle_.get())); }
    /// The version that it is written in. Borrowed from this object.
    std::string_view protocol_version() const noexcept {
        return detail::view(agenthost_response_protocol_version(handle_.get()));
    }

    /// The error. At most one of this and the next three is there. After a mutation `internal` and `unavailable` mean that the
    /// outcome is not known: send the same bytes again.
    std::optional<host_error> error() const {
        const agenthost_error* found = agenthost_response_error(handle_.get());
        return found != nullptr ? std::optional(detail::read_error(*found)) : std::nullopt;
    }
    /// Throws the error when there is one, a conflict of durable runs by its reason (`conflict_error`).
    void throw_error() const {
        const agenthost_error* found = agenthost_response_error(handle_.get());
        if (found != nullptr) detail::throw_error(*found);
    }
    /// The result of a mutation.
    std::optional<run_submission> submission() const { return copy(agenthost_response_submission(handle_.get())); }
    /// The result of `get_run`.
    std::optional<run_view> run() const { return copy(agenthost_response_run(handle_.get())); }
    /// The result of `list_events`.
    std::optional<event_page> page() const {
        if (agenthost_response_is_page(handle_.get()) == 0) return std::nullopt;
        event_page out;
        const std::size_t count = agenthost_response_event_count(handle_.get());
        out.events.reserve(count);
        for (std::size_t index = 0; index < count; ++index) {
            out.events.push_back(detail::from_c(*agenthost_response_event(handle_.get(), index)));
        }
        out.next_sequence = agenthost_response_next_sequence(handle_.get());
        out.has_more = agenthost_response_has_more(handle_.get()) != 0;
        return out;
    }

private:
    template <class T>
    static auto copy(const T* found) -> std::optional<decltype(detail::from_c(*found))> {
        if (found == nullptr) return std::nullopt;
        return detail::from_c(*found);
    }

    struct free {
        void operator()(agenthost_response* handle) const noexcept { agenthost_response_free(handle); }
    };
    std::unique_ptr<agenthost_response, free> handle_;
};

/// A response whose request is not known (from a log, in a proxy): everything but "it answers this request" is checked. Metadata
/// with sensitive names is dropped.
/// @throws error `bad_response`: `what()` says which rule it breaks.
inline response decode(std::string_view message) {
    agenthost_response* parsed = nullptr;
    agenthost_buffer* why = nullptr;
    const agenthost_status status = agenthost_response_parse_any(detail::text(message), &parsed, &why);
    if (status != AGENTHOST_OK) detail::fail(status, buffer(why));
    return response(parsed);
}

}  // namespace agenthost

#endif  // AGENTHOST_CPP_SUPPORTED
#endif  // AGENTHOST_RESPONSE_HPP
