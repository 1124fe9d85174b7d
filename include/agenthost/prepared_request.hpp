// Requests that are ready to be sent, and sent again.
#ifndef AGENTHOST_PREPARED_REQUEST_HPP
#define AGENTHOST_PREPARED_REQUEST_HPP

#include <agenthost/requirements.hpp>

#ifdef AGENTHOST_CPP_SUPPORTED

#include <agenthost.h>
#include <agenthost/buffer.hpp>
#include <agenthost/detail/to_c.hpp>
#include <agenthost/errors.hpp>
#include <agenthost/requests.hpp>
#include <agenthost/response.hpp>

#include <memory>
#include <string_view>

namespace agenthost {

/// What goes around a request.
struct request_options {
    std::string_view request_id{};        ///< Names the request. Empty: a new UUIDv7.
    std::string_view idempotency_key{};   ///< Names the mutation. Empty: a new UUIDv7 for mutations, none for reads.
    std::string_view protocol_version{};  ///< Empty: the preferred one.
    metadata_view metadata{};             ///< The envelope's metadata.
};

/// A request that is ready to be sent, again and again. `T` is what answers it. Any number of threads may use it at once.
template <class T>
class prepared_request {
public:
    /// Takes a request of the C interface over. Its operation has to be one that `T` answers.
    explicit prepared_request(agenthost_request* owned) noexcept : handle_(owned) {}

    /// The envelope: the same bytes each time. To retry, send them again. Borrowed from this object.
    std::string_view bytes() const noexcept { return detail::view(agenthost_request_bytes(handle_.get())); }
    /// What names the request. Borrowed from this object.
    std::string_view request_id() const noexcept { return detail::view(agenthost_request_id(handle_.get())); }
    /// What names the mutation; empty for a read without a key. Borrowed from this object.
    std::string_view idempotency_key() const noexcept {
        return detail::view(agenthost_request_idempotency_key(handle_.get()));
    }
    /// What answers this request, a refusal too.
    /// @throws error `bad_response`: it is no answer to this request; `what()` says which rule it breaks.
    response decode(std::string_view message) const {
        agenthost_response* parsed = nullptr;
        agenthost_buffer* why = nullptr;
        const agenthost_status status = agenthost_response_parse(handle_.get(), detail::text(message), &parsed, &why);
        if (status != AGENTHOST_OK) detail::fail(status, buffer(why));
        return response(parsed);
    }
    /// The result in a response.
    /// @throws host_error the response is a refusal or failure; error as `decode` does.
    T result(std::string_view message) const {
        const response answered = decode(message);
        answered.throw_error();
        return get(answered, static_cast<T*>(nullptr)).value();
    }

private:
    static std::optional<run_submission> get(const response& from, run_submission*) { return from.submission(); }
    static std::optional<run_view> get(const response& from, run_view*) { return from.run(); }
    static std::optional<event_page> get(const response& from, event_page*) { return from.page(); }

    struct free {
        void operator()(agenthost_request* handle) const noexcept { agenthost_request_free(handle); }
    };
    std::unique_ptr<agenthost_request, free> handle_;
};

namespace detail {

template <class Body>
agenthost_request* build(
    agenthost_status (*make)(const Body*, const agenthost_request_options*, agenthost_request**, agenthost_buffer**),
    const Body& body, const request_options& from) {
    const pairs own(from.metadata);
    agenthost_request_options options = sized<agenthost_request_options>();
    options.request_id = text(from.request_id);
    options.idempotency_key = text(from.idempotency_key);
    options.protocol_version = text(from.protocol_version);
    options.metadata = own.get();
    agenthost_request* made = nullptr;
    agenthost_buffer* why = nullptr;
    const agenthost_status status = make(&body, &options, &made, &why);
    if (status != AGENTHOST_OK) fail(status, buffer(why));
    return made;
}

}  // namespace detail

/// Builds a request, by the dispatcher's own rules.
/// @throws error `invalid_argument`: `what()` names the member, and says what was expected.
inline prepared_request<run_submission> prepare(const create_run_request& request, const request_options& options = {}) {
    const detail::c_context context(request.context);
    const detail::pairs own(request.metadata);
    agenthost_create_run body = detail::sized<agenthost_create_run>();
    body.context = context.get();
    body.input = detail::text(request.input);
    body.metadata = own.get();
    return prepared_request<run_submission>(detail::build(agenthost_request_create_run, body, options));
}
/// Builds a request. See the first overload.
inline prepared_request<run_view> prepare(const get_run_request& request, const request_options& options = {}) {
    agenthost_get_run body = detail::sized<agenthost_get_run>();
    body.run_id = detail::text(request.run_id);
    return prepared_request<run_view>(detail::build(agenthost_request_get_run, body, options));
}
/// Builds a request. See the first overload.
inline prepared_request<run_submission> prepare(const cancel_run_request& request, const request_options& options = {}) {
    agenthost_cancel_run body = detail::sized<agenthost_cancel_run>();
    body.run_id = detail::text(request.run_id);
    body.expected_revision = request.expected_revision;
    body.reason = detail::text(request.reason);
    return prepared_request<run_submission>(detail::build(agenthost_request_cancel_run, body, options));
}
/// Builds a request. See the first overload.
inline prepared_request<run_submission> prepare(const resolve_approval_request& request, const request_options& options = {}) {
    const detail::pairs own(request.metadata);
    agenthost_resolve_approval body = detail::sized<agenthost_resolve_approval>();
    body.run_id = detail::text(request.run_id);
    body.expected_revision = request.expected_revision;
    body.approval_id = detail::text(request.approval_id);
    body.resolution = static_cast<agenthost_resolution>(request.resolution);
    body.reason = detail::text(request.reason);
    body.metadata = own.get();
    return prepared_request<run_submission>(detail::build(agenthost_request_resolve_approval, body, options));
}
/// Builds a request. See the first overload.
inline prepared_request<run_submission> prepare(const resume_run_request& request, const request_options& options = {}) {
    agenthost_resume_run body = detail::sized<agenthost_resume_run>();
    body.run_id = detail::text(request.run_id);
    body.expected_revision = request.expected_revision;
    body.approval_id = detail::text(request.approval_id);
    body.input = detail::text(request.input);
    return prepared_request<run_submission>(detail::build(agenthost_request_resume_run, body, options));
}
/// Builds a request. See the first overload.
inline prepared_request<event_page> prepare(const list_events_request& request, const request_options& options = {}) {
    agenthost_list_events body = detail::sized<agenthost_list_events>();
    body.run_id = detail::text(request.run_id);
    body.after_sequence = request.after_sequence;
    body.limit = request.limit;
    return prepared_request<event_page>(detail::build(agenthost_request_list_events, body, options));
}

}  // namespace agenthost

#endif  // AGENTHOST_CPP_SUPPORTED
#endif  // AGENTHOST_PREPARED_REQUEST_HPP
