// How a call of durable runs completes: by waiting, by a future, or by a callback.
#ifndef AGENTHOST_DETAIL_COMPLETION_HPP
#define AGENTHOST_DETAIL_COMPLETION_HPP

#include <agenthost/requirements.hpp>

#ifdef AGENTHOST_CPP_SUPPORTED

#include <agenthost.h>
#include <agenthost/detail/logger.hpp>
#include <agenthost/errors.hpp>
#include <agenthost/options.hpp>

#include <exception>
#include <future>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>

namespace agenthost {

/// What a call of durable runs came to, for a callback: a value, or an exception (`host_error`, or `std::bad_alloc`).
template <class T>
class result {
    using stored = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

public:
    /// A value.
    explicit result(stored value) : content_(std::in_place_index<0>, std::move(value)) {}
    /// Why there is none.
    explicit result(std::exception_ptr why) noexcept : content_(std::in_place_index<1>, std::move(why)) {}

    /// Whether there is a value.
    explicit operator bool() const noexcept { return content_.index() == 0; }
    /// Takes the value out.
    /// @throws host_error the call was refused or failed, a conflict by its reason; std::bad_alloc.
    T value() && {
        if (std::exception_ptr* why = std::get_if<1>(&content_)) std::rethrow_exception(*why);
        if constexpr (!std::is_void_v<T>) return std::get<0>(std::move(content_));
    }
    /// The exception; null when there is a value.
    std::exception_ptr exception() const noexcept {
        const std::exception_ptr* why = std::get_if<1>(&content_);
        return why != nullptr ? *why : nullptr;
    }

private:
    std::variant<stored, std::exception_ptr> content_;
};

/// See `wait`.
struct wait_t {};
/// See `as_future`.
struct as_future_t {};
/// The call waits and returns its value. The default.
inline constexpr wait_t wait{};
/// The call returns a `std::future` of its value at once. Letting go of the future changes nothing. Do not wait for it in a
/// callback of runs.
inline constexpr as_future_t as_future{};

/// What a call that completes by `Completion` returns: a value of `T`, a future of it, or nothing when it is a callback's.
template <class T, class Completion>
using completed = std::conditional_t<std::is_same_v<Completion, wait_t>, T,
                                     std::conditional_t<std::is_same_v<Completion, as_future_t>, std::future<T>, void>>;

namespace detail {

struct free_outcome {
    void operator()(agenthost_outcome* outcome) const noexcept { agenthost_outcome_free(outcome); }
};
using owned_outcome = std::unique_ptr<agenthost_outcome, free_outcome>;

/// The value of an outcome, as `read` finds it, or the outcome's error.
template <class T, class Read>
T take_value(const owned_outcome& outcome, const Read& read) {
    if (const agenthost_error* refused = agenthost_outcome_error(outcome.get())) throw_error(*refused);
    return read(outcome.get());
}

/// A callback on its way to the thread that completes the call.
template <class T, class Read, class Done>
struct completion {
    Done done;
    Read read;
    std::shared_ptr<const logger> log;

    result<T> make(const owned_outcome& outcome) const noexcept {
        try {
            if constexpr (std::is_void_v<T>) {
                take_value<T>(outcome, read);
                return result<T>(std::monostate());
            } else {
                return result<T>(take_value<T>(outcome, read));
            }
        } catch (...) {
            return result<T>(std::current_exception());
        }
    }
    static void run(void* data, agenthost_outcome* raw) noexcept {
        const std::unique_ptr<completion> self(static_cast<completion*>(data));
        owned_outcome outcome(raw);
        result<T> made = self->make(outcome);
        outcome.reset();
        try {
            self->done(std::move(made));
        } catch (...) {
            self->log->exception("the callback for a call of runs threw", "runs");
        }
    }
};

/// Starts a call by `start`, which gives `done`, `data` and `outcome` to a function of the C interface.
template <class T, class Read, class Start>
T complete(wait_t, const std::shared_ptr<const logger>&, Read read, Start start) {
    agenthost_outcome* raw = nullptr;
    check(start(nullptr, nullptr, &raw));
    return take_value<T>(owned_outcome(raw), read);
}

template <class T, class Read, class Done, class Start>
void complete(Done done, const std::shared_ptr<const logger>& log, Read read, Start start) {
    static_assert(std::is_invocable_v<Done&, result<T>>, "a callback takes agenthost::result<T>, T being what the call gives");
    check_callback(done);
    using pending_completion = completion<T, Read, Done>;
    auto data = std::make_unique<pending_completion>(pending_completion{std::move(done), std::move(read), log});
    check(start(pending_completion::run, data.get(), nullptr));
    // Owned by the callback, which has perhaps ended it already.
    static_cast<void>(data.release());
}

template <class T, class Read, class Start>
std::future<T> complete(as_future_t, const std::shared_ptr<const logger>& log, Read read, Start start) {
    std::promise<T> promise;
    std::future<T> future = promise.get_future();
    auto keep = [promise = std::move(promise)](result<T> made) mutable {
        if (std::exception_ptr why = made.exception()) {
            promise.set_exception(why);
        } else if constexpr (std::is_void_v<T>) {
            promise.set_value();
        } else {
            promise.set_value(std::move(made).value());
        }
    };
    complete<T>(std::move(keep), log, std::move(read), std::move(start));
    return future;
}

}  // namespace detail

}  // namespace agenthost

#endif  // AGENTHOST_CPP_SUPPORTED
#endif  // AGENTHOST_DETAIL_COMPLETION_HPP
