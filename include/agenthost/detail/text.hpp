// Texts and structs of the C interface.
#ifndef AGENTHOST_DETAIL_TEXT_HPP
#define AGENTHOST_DETAIL_TEXT_HPP

#include <agenthost/requirements.hpp>

#ifdef AGENTHOST_CPP_SUPPORTED

#include <agenthost.h>

#include <string_view>

namespace agenthost {

namespace detail {

/// Borrowed text of the C interface. Its pointer may be anything when the length is 0.
inline std::string_view view(agenthost_str text) noexcept {
    return text.len == 0 ? std::string_view() : std::string_view(text.data, text.len);
}

/// Borrowed text for the C interface.
inline agenthost_str text(std::string_view value) noexcept {
    agenthost_str out = {value.data(), value.size()};
    return out;
}

/// A struct of the C interface, zeroed, with its size.
template <class T>
T sized() noexcept {
    T value{};
    value.struct_size = sizeof value;
    return value;
}

}  // namespace detail

}  // namespace agenthost

#endif  // AGENTHOST_CPP_SUPPORTED
#endif  // AGENTHOST_DETAIL_TEXT_HPP
