// An asynchronous dispatch, to be cancelled.
#ifndef AGENTHOST_PENDING_HPP
#define AGENTHOST_PENDING_HPP

#include <agenthost/requirements.hpp>

#ifdef AGENTHOST_CPP_SUPPORTED

#include <agenthost.h>
#include <agenthost/errors.hpp>

#include <utility>

namespace agenthost {

/// An asynchronous dispatch. Destroying it does not cancel.
class pending {
public:
    pending() noexcept = default;
    pending(pending&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    pending& operator=(pending&& other) noexcept {
        if (this != &other) agenthost_pending_free(std::exchange(handle_, std::exchange(other.handle_, nullptr)));
        return *this;
    }
    ~pending() { agenthost_pending_free(handle_); }

    /// Gives the call up: its response is `unavailable`. Says nothing about the run. Any thread, also inside the callback. True
    /// when this decided the answer, false when something else has.
    /// @throws error `null_argument`: default-made or moved from; `forked`.
    bool cancel() {
        const agenthost_status status = agenthost_pending_cancel(handle_);
        if (status == AGENTHOST_ALREADY_DONE) return false;
        detail::check(status);
        return true;
    }
    /// Whether there is a dispatch behind it: not default-made and not moved from.
    explicit operator bool() const noexcept { return handle_ != nullptr; }

private:
    friend class host;
    agenthost_pending* handle_ = nullptr;
};

}  // namespace agenthost

#endif  // AGENTHOST_CPP_SUPPORTED
#endif  // AGENTHOST_PENDING_HPP
