// What a function of a service returns, and the reply that it keeps to answer later.
#ifndef AGENTHOST_REPLY_HPP
#define AGENTHOST_REPLY_HPP

#include <agenthost/requirements.hpp>

#ifdef AGENTHOST_CPP_SUPPORTED

#include <agenthost.h>
#include <agenthost/detail/logger.hpp>
#include <agenthost/detail/to_c.hpp>
#include <agenthost/errors.hpp>
#include <agenthost/values.hpp>

#include <memory>
#include <utility>
#include <variant>

namespace agenthost {

namespace detail {
class service_adapter;
}

/// A reply that was taken out of its call, to be answered later, from any thread, one thread at a time. `T` is the result of
/// the operation.
///
/// Destroyed without an answer it answers `unavailable`; while the service's function still runs it goes back to that instead,
/// so that an exception after deferring is an exception like any other. It keeps neither service nor request alive.
template <class T>
class reply {
public:
    reply() noexcept = default;
    /// Takes a deferred reply of the C interface over. Its operation has to be one that `T` answers.
    explicit reply(agenthost_reply* owned) noexcept : handle_(owned) {}
    /// The same, for a host that logs.
    reply(agenthost_reply* owned, std::shared_ptr<const detail::logger> log) noexcept : log_(std::move(log)), handle_(owned) {}

    /// Answers with a result. False: something else has answered (it was cancelled, timed out, or the host closed), and nobody
    /// gets this answer.
    /// @throws error `bad_answer`: the result breaks a rule of the contract, `internal` went out; `null_argument`: this object
    ///         was moved from.
    bool answer(const T& result) { return give(result); }
    /// Answers with a result as JSON text. See the overload above.
    bool answer(const json_result& result) { return give(result); }
    /// Answers with an error. False and exceptions as above.
    bool fail(const host_error& why) { return give(why); }

    /// Whether nobody waits for the answer any more: cancelled, timed out, host closed.
    bool is_abandoned() const noexcept { return agenthost_reply_is_abandoned(handle_.get()) != 0; }

    /// Asks for a notification when nobody waits any more. `notify` runs at most once, on the thread that gives the call up, perhaps
    /// before this function returns, perhaps while another thread answers. What it throws goes to the host's log. It may destroy
    /// this reply. It is destroyed when it has run and the reply is gone.
    /// @throws error `already_done`: the call is answered, or has a notification already; `null_argument`: moved from.
    template <class Notify>
    void on_abandoned(Notify notify) {
        auto data = std::make_unique<notification<Notify>>(notification<Notify>{std::move(notify), log_});
        // The library's, whatever it returns.
        detail::check(agenthost_reply_on_abandoned(handle_.get(), notification<Notify>::run, data.release(),
                                                   notification<Notify>::destroy));
    }

    /// Whether there is a call behind it: not default-made and not moved from.
    explicit operator bool() const noexcept { return handle_ != nullptr; }

private:
    template <class Notify>
    struct notification {
        Notify notify;
        std::shared_ptr<const detail::logger> log;

        static void run(void* data) noexcept {
            notification& self = *static_cast<notification*>(data);
            try {
                self.notify();
            } catch (...) {
                if (self.log) self.log->exception("the notification of a reply threw", "on_abandoned");
            }
        }
        static void destroy(void* data) noexcept { delete static_cast<notification*>(data); }
    };

    template <class Answer>
    bool give(const Answer& answer) {
        const agenthost_status status = detail::give(handle_.get(), answer);
        if (status == AGENTHOST_ALREADY_DONE) return false;
        detail::check(status);
        return true;
    }

    struct free {
        void operator()(agenthost_reply* handle) const noexcept { agenthost_reply_free(handle); }
    };
    std::shared_ptr<const detail::logger> log_;
    std::unique_ptr<agenthost_reply, free> handle_;
};

/// Says that a call was deferred: the answer comes through its `reply`.
struct deferred_t {};
/// Says that a call was deferred. See `call::defer`.
inline constexpr deferred_t deferred{};

/// What a function of a service returns: a result, an error, a result as JSON text, or `deferred`.
template <class T>
class answer {
public:
    /// A result.
    answer(T result) : value_(std::in_place_index<0>, std::move(result)) {}
    /// An error. Throwing it does the same.
    answer(host_error error) : value_(std::in_place_index<1>, std::move(error)) {}
    /// A result as JSON text.
    answer(json_result result) : value_(std::in_place_index<2>, std::move(result)) {}
    /// The answer comes later, through the reply that `call::defer` gave. Without one `internal` goes out.
    answer(deferred_t) noexcept : value_(std::in_place_index<3>) {}

private:
    friend class detail::service_adapter;
    std::variant<T, host_error, json_result, deferred_t> value_;
};

}  // namespace agenthost

#endif  // AGENTHOST_CPP_SUPPORTED
#endif  // AGENTHOST_REPLY_HPP
