// Small functions of the library: versions, and which names are secret.
#ifndef AGENTHOST_LIBRARY_HPP
#define AGENTHOST_LIBRARY_HPP

#include <agenthost/requirements.hpp>

#ifdef AGENTHOST_CPP_SUPPORTED

#include <agenthost.h>
#include <agenthost/detail/text.hpp>

#include <optional>
#include <string_view>
#include <vector>

namespace agenthost {

/// The most preferred supported version of the protocol that is offered, or none: then negotiation fails. Static text.
inline std::optional<std::string_view> negotiate_version(const std::vector<std::string_view>& offered) {
    std::vector<agenthost_str> texts;
    texts.reserve(offered.size());
    for (std::string_view each : offered) texts.push_back(detail::text(each));
    const agenthost_str best = agenthost_negotiate_version(texts.data(), texts.size());
    return best.data != nullptr ? std::optional(std::string_view(best.data, best.len)) : std::nullopt;
}

/// Whether `name` looks as if its value were a secret, by the built-in names. A host may know more: `host::is_sensitive_name`.
inline bool is_sensitive_name(std::string_view name) noexcept {
    return agenthost_is_sensitive_name(nullptr, detail::text(name)) != 0;
}

/// The version of the library that is loaded, for example `0.1.0`. Static text.
inline std::string_view library_version() noexcept { return agenthost_version(); }

}  // namespace agenthost

#endif  // AGENTHOST_CPP_SUPPORTED
#endif  // AGENTHOST_LIBRARY_HPP
