// A host: bytes in, bytes out.
#ifndef AGENTHOST_HOST_HPP
#define AGENTHOST_HOST_HPP

#include <agenthost/requirements.hpp>

#ifdef AGENTHOST_CPP_SUPPORTED

#include <agenthost.h>
#include <agenthost/buffer.hpp>
#include <agenthost/detail/service_adapter.hpp>
#include <agenthost/options.hpp>
#include <agenthost/pending.hpp>
#include <agenthost/service.hpp>

#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <string_view>
#include <utility>

namespace agenthost {

/// A host: bytes in, bytes out, from any number of threads at once. Copies are owners of the same host; the last one that goes
/// closes it without waiting for deferred answers, which get `unavailable`, and waits for callbacks on other threads.
class host {
public:
    /// A host of a service, which is let go of when the host is closed; `std::unique_ptr` of a service will do too.
    /// @throws error `invalid_argument`: `what()` says which option, and what was expected; `null_argument`: no service.
    explicit host(std::shared_ptr<service> service, const host_options& options = {})
        : log_(std::make_shared<const detail::logger>(options.log, options.log_exceptions)),
          handle_(make(std::move(service), log_, options)) {}
    /// Takes one count of a host of the C interface over.
    explicit host(agenthost_host* owned)
        : log_(std::make_shared<const detail::logger>(log_function(), false)), handle_(owned) {}

    /// Another owner of the same host. A copy of one that was moved from is like it.
    host(const host& other) : log_(other.log_), handle_(other.handle_) {
        if (handle_ != nullptr) detail::check(agenthost_host_retain(handle_));
    }
    host(host&& other) noexcept : log_(std::move(other.log_)), handle_(std::exchange(other.handle_, nullptr)) {}
    host& operator=(host other) noexcept {
        std::swap(log_, other.log_);
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~host() { agenthost_host_release(handle_); }

    /// The response to a message, any bytes. The service runs on this thread; when it defers, this function waits. A host that
    /// is closing or closed answers `unavailable`.
    /// @throws error `invalid_argument`: an empty principal or a negative timeout; `forked`; `null_argument`: moved from.
    buffer dispatch(std::string_view message, const dispatch_options& options = {}) const {
        const agenthost_dispatch_options given = detail::to_c(options);
        agenthost_buffer* response = nullptr;
        detail::check(agenthost_dispatch_json_with(handle_, detail::text(message), &given, &response));
        return buffer(response);
    }

    /// Dispatches without waiting. `done` is called with the response, a `buffer`, exactly once: on this thread, perhaps before this
    /// function returns, or later on the thread that answers, cancels, drops the reply or closes; never while the service's
    /// function runs. What it throws goes to the log. It need not be copyable. `message` is borrowed until this returns.
    /// `done` may close the host, let go of it, and destroy the pending call.
    /// @throws error as `dispatch` does, `invalid_argument` for a timeout, and `null_argument` for a `done` that is empty. `done` is
    ///         not called then.
    template <class Done>
    pending dispatch_async(std::string_view message, Done done, const dispatch_options& options = {}) const {
        pending place;
        dispatch_async(message, std::move(done), options, place);
        return place;
    }
    /// The same, with the pending call in `place`, which has to be empty, before the service runs: so that a thread that the
    /// service wakes may cancel it while the service's function still runs.
    template <class Done>
    void dispatch_async(std::string_view message, Done done, const dispatch_options& options, pending& place) const {
        if (place) throw error(status_code::invalid_argument, "place: expected an empty pending");
        detail::check_callback(done);
        const agenthost_dispatch_options given = detail::to_c(options);
        auto data = std::make_unique<delivery<Done>>(delivery<Done>{std::move(done), log_});
        const agenthost_status status = agenthost_dispatch_json_async(
            handle_, detail::text(message), &given, delivery<Done>::run, data.get(), &place.handle_);
        if (status != AGENTHOST_OK) detail::fail(status);
        // Owned by the callback, which has perhaps ended it already.
        static_cast<void>(data.release());
    }
    /// Dispatches without waiting, with a future for the response. Letting go of the future does not cancel. To cancel, use
    /// `dispatch_async`.
    /// @throws error as `dispatch_async` does.
    std::future<buffer> dispatch_future(std::string_view message, const dispatch_options& options = {}) const {
        std::promise<buffer> promise;
        std::future<buffer> future = promise.get_future();
        dispatch_async(message, [promise = std::move(promise)](buffer response) mutable { promise.set_value(std::move(response)); },
                       options);
        return future;
    }

    /// Waits for as long as it takes: see the overload below.
    void close() const { detail::check(agenthost_host_close(handle_, UINT64_MAX)); }
    /// Refuses new calls (they answer `unavailable`), waits up to `timeout` for those in flight, then answers every deferred one
    /// `unavailable`. True: no function of the service, callback or log function of this host runs or will run, and the
    /// service is let go of. Closing again is fine. False: a callback is still on some thread's stack, nothing was destroyed;
    /// close again.
    /// @throws error `would_deadlock`: called from a callback of this host, which is closing now; `forked`; `invalid_argument`:
    ///         a negative timeout; `null_argument`: moved from.
    bool close(std::chrono::milliseconds timeout) const {
        const agenthost_status status = agenthost_host_close(handle_, detail::milliseconds(timeout, "timeout"));
        if (status == AGENTHOST_TIMED_OUT) return false;
        detail::check(status);
        return true;
    }

    /// Whether `name` looks as if its value were a secret, by the built-in names and the host's own.
    bool is_sensitive_name(std::string_view name) const noexcept {
        return agenthost_is_sensitive_name(handle_, detail::text(name)) != 0;
    }
    /// The host for the C interface, still owned by this object; null when it was moved from.
    agenthost_host* native_handle() const noexcept { return handle_; }

private:
    /// A callback on its way to the thread that delivers.
    template <class Done>
    struct delivery {
        Done done;
        std::shared_ptr<const detail::logger> log;

        static void run(void* data, agenthost_buffer* response) noexcept {
            const std::unique_ptr<delivery> self(static_cast<delivery*>(data));
            buffer owned(response);
            try {
                self->done(std::move(owned));
            } catch (...) {
                self->log->exception("the callback for a response threw", "dispatch_async");
            }
        }
    };

    friend class runs;
    host(agenthost_host* owned, std::shared_ptr<const detail::logger> log) noexcept : log_(std::move(log)), handle_(owned) {}

    static agenthost_host* make(std::shared_ptr<service> served, const std::shared_ptr<const detail::logger>& log,
                                const host_options& options) {
        if (!served) detail::fail(AGENTHOST_NULL_ARGUMENT);
        auto adapter = std::make_unique<detail::service_adapter>(std::move(served), log);
        agenthost_service slots = detail::service_adapter::slots();
        const auto over_service = [&](const agenthost_host_options& given, agenthost_host** made, agenthost_buffer** why) {
            // The library's, whatever it returns.
            slots.user_data = adapter.release();
            return agenthost_host_new(&slots, &given, made, why);
        };
        return detail::make_host(log, options, options.sensitive_names, over_service);
    }

    std::shared_ptr<const detail::logger> log_;
    agenthost_host* handle_ = nullptr;
};

}  // namespace agenthost

#endif  // AGENTHOST_CPP_SUPPORTED
#endif  // AGENTHOST_HOST_HPP
