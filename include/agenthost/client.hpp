// The other side: typed requests through a transport of the application's.
#ifndef AGENTHOST_CLIENT_HPP
#define AGENTHOST_CLIENT_HPP

#include <agenthost/requirements.hpp>

#ifdef AGENTHOST_CPP_SUPPORTED

#include <agenthost/prepared_request.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace agenthost {

/// The other side: sends typed requests through a transport of the application's, and checks what comes back. As thread-safe as
/// its transport.
///
/// Each operation throws `host_error` when it is answered with an error, `error` with `invalid_argument` when the request breaks
/// a rule (nothing is sent then) and with `bad_response` when what came back is no answer to it, and whatever the transport throws.
/// To retry a mutation whose outcome is not known, send the same bytes again: `prepare` it once and `send` it twice.
class client {
public:
    /// Takes the bytes of a request to a host, and brings its response back: `std::string(std::string_view)` or the like.
    using transport = std::function<std::string(std::string_view request)>;

    /// A client of whatever is behind `function`.
    /// @throws error `null_argument`: there is no function.
    explicit client(transport function) : transport_(std::move(function)) {
        if (!transport_) detail::fail(AGENTHOST_NULL_ARGUMENT);
    }

    /// Submits a run.
    run_submission create_run(const create_run_request& request, const request_options& options = {}) const {
        return send(prepare(request, options));
    }
    /// Reads a run.
    run_view get_run(const get_run_request& request, const request_options& options = {}) const {
        return send(prepare(request, options));
    }
    /// Cancels a run.
    run_submission cancel_run(const cancel_run_request& request, const request_options& options = {}) const {
        return send(prepare(request, options));
    }
    /// Approves or denies what a run waits for.
    run_submission resolve_approval(const resolve_approval_request& request, const request_options& options = {}) const {
        return send(prepare(request, options));
    }
    /// Lets an approved run go on.
    run_submission resume_run(const resume_run_request& request, const request_options& options = {}) const {
        return send(prepare(request, options));
    }
    /// Reads events after a cursor.
    event_page list_events(const list_events_request& request, const request_options& options = {}) const {
        return send(prepare(request, options));
    }
    /// Sends a request, for the first time or again.
    template <class T>
    T send(const prepared_request<T>& request) const {
        return request.result(transport_(request.bytes()));
    }

private:
    transport transport_;
};

}  // namespace agenthost

#endif  // AGENTHOST_CPP_SUPPORTED
#endif  // AGENTHOST_CLIENT_HPP
