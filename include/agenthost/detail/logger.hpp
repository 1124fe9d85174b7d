// Where exceptions of an application's functions are caught, and logged once.
#ifndef AGENTHOST_DETAIL_LOGGER_HPP
#define AGENTHOST_DETAIL_LOGGER_HPP

#include <agenthost/requirements.hpp>

#ifdef AGENTHOST_CPP_SUPPORTED

#include <agenthost.h>
#include <agenthost/detail/text.hpp>
#include <agenthost/enums.hpp>
#include <agenthost/metadata.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

namespace agenthost {

/// A log function: level, message, and fields by name. Runs on any thread that has something to say, on any number at once. It
/// gets names of members and causes of failures, never the values of requests and answers; but what a service's exception
/// says is up to the service. What it throws is swallowed.
using log_function = std::function<void(log_level level, std::string_view message, metadata_view fields)>;

namespace detail {

/// A log function and how it may be used: what the callbacks of one host, or of one `runs`, share.
class logger {
public:
    logger(log_function log, bool what_exceptions_say) : log_(std::move(log)), what_exceptions_say_(what_exceptions_say) {}

    bool is_empty() const noexcept { return !log_; }

    void write(log_level level, std::string_view message, metadata_view fields) const noexcept {
        if (!log_) return;
        try {
            log_(level, message, fields);
        } catch (...) {
            // A log function that fails has no other place to say so.
        }
    }
    /// Logs the exception that is being handled, once. `where` says what function of the application threw it.
    void exception(std::string_view message, std::string_view where) const noexcept {
        describe_exception(where, [&](agenthost_pairs fields) { write(log_level::error, message, metadata_view(fields)); });
    }
    /// Gives `use` what may be logged of the exception that is being handled.
    template <class Use>
    void describe_exception(std::string_view where, Use use) const noexcept {
        const auto describe = [&](std::string_view what) {
            const agenthost_pair fields[] = {{text("in"), text(where)}, {text("what"), text(what)}};
            const agenthost_pairs pairs = {fields, what_exceptions_say_ ? std::size_t(2) : std::size_t(1)};
            use(pairs);
        };
        try {
            throw;
        } catch (const std::exception& caught) {
            describe(caught.what());
        } catch (...) {
            describe("an exception that is no std::exception");
        }
    }

    /// A logger as the data of C's log hook, which owns it until `destroy`.
    static void* to_data(const std::shared_ptr<const logger>& self) { return new std::shared_ptr<const logger>(self); }
    static void write(void* data, std::int32_t level, agenthost_str message, agenthost_pairs fields) noexcept {
        const auto& self = *static_cast<std::shared_ptr<const logger>*>(data);
        self->write(static_cast<log_level>(level), view(message), metadata_view(fields));
    }
    static void destroy(void* data) noexcept { delete static_cast<std::shared_ptr<const logger>*>(data); }

private:
    log_function log_;
    bool what_exceptions_say_;
};

}  // namespace detail

}  // namespace agenthost

#endif  // AGENTHOST_CPP_SUPPORTED
#endif  // AGENTHOST_DETAIL_LOGGER_HPP
