// The options of a host and of a dispatch.
#ifndef AGENTHOST_OPTIONS_HPP
#define AGENTHOST_OPTIONS_HPP

#include <agenthost/requirements.hpp>

#ifdef AGENTHOST_CPP_SUPPORTED

#include <agenthost.h>
#include <agenthost/detail/logger.hpp>
#include <agenthost/detail/text.hpp>
#include <agenthost/errors.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace agenthost {

/// The options of a host.
struct host_options {
    std::uint64_t max_message_bytes = 0;           ///< The most bytes of a message and of a response. 0: 16 MiB.
    std::chrono::milliseconds default_timeout{0};  ///< How long `dispatch` waits for a deferred answer. 0: for ever.
    /// Names that are sensitive beside the built-in ones. A host over durable runs has those of its runs: none are given here.
    std::vector<std::string> sensitive_names{};
    log_function log{};                            ///< Where causes of failures go that callers do not get. Empty: nowhere.
    bool log_exceptions = true;                    ///< Whether `what()` of a service's exceptions goes to the log.
    bool require_principal = false;                ///< Whether a dispatch without a principal answers `unauthorized`.
};

/// What belongs to one dispatch, beside the message.
struct dispatch_options {
    /// Whom the transport authenticated, not empty. Never take it from the message.
    std::optional<std::string_view> principal{};
    /// How long to wait for a deferred answer. 0: the host's default. Asynchronous dispatch takes none: use your timer and cancel.
    std::chrono::milliseconds timeout{0};
};

namespace detail {

/// A time for the C interface. `member` names it when it is negative.
inline std::uint64_t milliseconds(std::chrono::milliseconds time, const char* member) {
    if (time.count() < 0) throw error(status_code::invalid_argument, std::string(member) + ": expected 0 or more");
    return static_cast<std::uint64_t>(time.count());
}

/// Names laid out as C wants them; borrows the texts.
template <class Texts>
std::vector<agenthost_str> texts(const Texts& source) {
    std::vector<agenthost_str> out;
    out.reserve(source.size());
    for (std::string_view each : source) out.push_back(text(each));
    return out;
}

/// Makes a host by `function`, which gives C's options and a place for the reason to a function of C. That takes the log hook over
/// whatever it returns.
template <class Function>
agenthost_host* make_host(const std::shared_ptr<const logger>& log, const host_options& from,
                          const std::vector<std::string>& sensitive_names, Function function) {
    const std::vector<agenthost_str> names = texts(sensitive_names);
    agenthost_host_options options = sized<agenthost_host_options>();
    options.max_message_bytes = from.max_message_bytes;
    options.default_timeout_ms = milliseconds(from.default_timeout, "default_timeout");
    options.sensitive_names = names.data();
    options.sensitive_name_count = names.size();
    options.require_principal = from.require_principal ? 1 : 0;
    if (!log->is_empty()) {
        options.log_data = logger::to_data(log);
        options.log = logger::write;
        options.log_destroy = logger::destroy;
    }
    agenthost_host* made = nullptr;
    agenthost_buffer* why = nullptr;
    const agenthost_status status = function(options, &made, &why);
    if (status != AGENTHOST_OK) fail(status, buffer(why));
    return made;
}

inline agenthost_dispatch_options to_c(const dispatch_options& from) {
    agenthost_dispatch_options options = sized<agenthost_dispatch_options>();
    options.has_principal = from.principal ? 1 : 0;
    options.principal = text(from.principal.value_or(std::string_view()));
    options.timeout_ms = milliseconds(from.timeout, "timeout");
    return options;
}

/// Whether a callback may be empty, as `std::function` may: it compares with `nullptr`, and does not become a pointer for that.
template <class Callback, class = void>
struct is_nullable : std::false_type {};
template <class Callback>
struct is_nullable<Callback, std::void_t<decltype(std::declval<Callback&>() = nullptr)>> : std::true_type {};

/// Refuses a callback that would only fail when it is called: an empty `std::function`, a null pointer.
template <class Callback>
void check_callback(const Callback& callback) {
    if constexpr (std::is_pointer_v<Callback> || (std::is_class_v<Callback> && is_nullable<Callback>::value)) {
        if (callback == nullptr) fail(AGENTHOST_NULL_ARGUMENT);
    }
}

}  // namespace detail

}  // namespace agenthost

#endif  // AGENTHOST_CPP_SUPPORTED
#endif  // AGENTHOST_OPTIONS_HPP
