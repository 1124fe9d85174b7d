// The application behind a host: six functions to write.
#ifndef AGENTHOST_SERVICE_HPP
#define AGENTHOST_SERVICE_HPP

#include <agenthost/requirements.hpp>

#ifdef AGENTHOST_CPP_SUPPORTED

#include <agenthost.h>
#include <agenthost/detail/logger.hpp>
#include <agenthost/detail/text.hpp>
#include <agenthost/errors.hpp>
#include <agenthost/reply.hpp>
#include <agenthost/requests.hpp>

#include <memory>
#include <optional>
#include <string_view>

namespace agenthost {

/// What a service knows of a call beside its request. Borrowed until the service's function returns.
class call {
public:
    agenthost::operation operation{};            ///< The operation of the request.
    std::optional<std::string_view> principal;   ///< Whom the transport authenticated; never from the message, never empty.
    std::string_view request_id;                 ///< Names this request; echoed in the response.
    std::string_view idempotency_key;            ///< Names the mutation: a retry carries the same. Empty for reads without one.
    metadata_view metadata;                      ///< The envelope's metadata.

    call(const call&) = delete;
    call& operator=(const call&) = delete;

    /// Takes the reply out of this call, to answer later: then return `deferred`. `request` is the request that came with the
    /// call; it says what type of result answers. Copy what is needed of both. Only on the thread that the service was called on.
    /// @throws error `already_done`: it was deferred before; `wrong_operation`: `request` is not this call's.
    template <class Request>
    reply<typename Request::result_type> defer(const Request&) const {
        if (!fits(static_cast<typename Request::result_type*>(nullptr))) detail::fail(AGENTHOST_WRONG_OPERATION);
        agenthost_reply* taken = nullptr;
        detail::check(agenthost_reply_defer(reply_, &taken));
        return reply<typename Request::result_type>(taken, log_);
    }

private:
    friend class detail::service_adapter;
    call(const agenthost_call& source, agenthost_reply* reply, const std::shared_ptr<const detail::logger>& log) noexcept
        : operation(static_cast<agenthost::operation>(source.operation)),
          request_id(detail::view(source.request_id)),
          idempotency_key(detail::view(source.idempotency_key)),
          metadata(source.metadata),
          reply_(reply),
          log_(log) {
        if (source.has_principal != 0) principal = detail::view(source.principal);
    }
    bool fits(run_view*) const noexcept { return operation == agenthost::operation::get_run; }
    bool fits(event_page*) const noexcept { return operation == agenthost::operation::list_events; }
    bool fits(run_submission*) const noexcept {
        return !fits(static_cast<run_view*>(nullptr)) && !fits(static_cast<event_page*>(nullptr));
    }

    agenthost_reply* reply_;
    const std::shared_ptr<const detail::logger>& log_;
};

/// The application behind a host. Each function runs on the thread that dispatches, on any number of threads at once. It returns
/// its answer, throws a `host_error`, or defers (`call::defer`). Any other exception answers `internal`, and its `what()` goes
/// to the host's log. After a mutation `internal` and `unavailable` mean that the outcome is not known: callers retry with the
/// same idempotency key.
class service {
public:
    /// Runs once, when the host is closed or its last owner is gone, and nobody else shares the service: after the last call, never
    /// on a thread of the service, so it may join them.
    virtual ~service() = default;

    /// Accepts a run.
    virtual answer<run_submission> create_run(const call& call, const create_run_request& request) = 0;
    /// Reads a run.
    virtual answer<run_view> get_run(const call& call, const get_run_request& request) = 0;
    /// Cancels a run that is still at the expected revision.
    virtual answer<run_submission> cancel_run(const call& call, const cancel_run_request& request) = 0;
    /// Approves or denies what a run waits for.
    virtual answer<run_submission> resolve_approval(const call& call, const resolve_approval_request& request) = 0;
    /// Lets an approved run go on.
    virtual answer<run_submission> resume_run(const call& call, const resume_run_request& request) = 0;
    /// Reads the events after a cursor, at most `limit` of them.
    virtual answer<event_page> list_events(const call& call, const list_events_request& request) = 0;
};

}  // namespace agenthost

#endif  // AGENTHOST_CPP_SUPPORTED
#endif  // AGENTHOST_SERVICE_HPP
