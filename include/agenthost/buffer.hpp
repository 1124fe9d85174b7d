// Bytes that the library made.
#ifndef AGENTHOST_BUFFER_HPP
#define AGENTHOST_BUFFER_HPP

#include <agenthost/requirements.hpp>

#ifdef AGENTHOST_CPP_SUPPORTED

#include <agenthost.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace agenthost {

/// Bytes that the library made: a response. Movable, owns them.
class buffer {
public:
    buffer() noexcept = default;
    /// Takes a buffer of the C interface over; null is the empty buffer.
    explicit buffer(agenthost_buffer* owned) noexcept : handle_(owned) {}

    /// The bytes; valid as long as this object holds them.
    std::string_view view() const noexcept {
        return {agenthost_buffer_data(handle_.get()), agenthost_buffer_len(handle_.get())};
    }
    /// The bytes; valid as long as this object holds them.
    operator std::string_view() const& noexcept { return view(); }
    /// A copy of the bytes.
    std::string str() const { return std::string(view()); }
    /// The number of bytes.
    std::size_t size() const noexcept { return agenthost_buffer_len(handle_.get()); }
    /// Whether there are none: default-made or moved from.
    bool empty() const noexcept { return size() == 0; }

private:
    struct free {
        void operator()(agenthost_buffer* handle) const noexcept { agenthost_buffer_free(handle); }
    };
    std::unique_ptr<agenthost_buffer, free> handle_;
};

}  // namespace agenthost

#endif  // AGENTHOST_CPP_SUPPORTED
#endif  // AGENTHOST_BUFFER_HPP
