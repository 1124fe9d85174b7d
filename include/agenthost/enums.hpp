// The enumerations of the contract and of the interface, and their names on the wire.
#ifndef AGENTHOST_ENUMS_HPP
#define AGENTHOST_ENUMS_HPP

#include <agenthost/requirements.hpp>

#ifdef AGENTHOST_CPP_SUPPORTED

#include <agenthost.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace agenthost {

/// What a call of the library came to when it was used against its rules (`AGENTHOST_...` of agenthost.h).
enum class status_code : std::int32_t {
    ok = AGENTHOST_OK,
    null_argument = AGENTHOST_NULL_ARGUMENT,
    invalid_argument = AGENTHOST_INVALID_ARGUMENT,
    invalid_size = AGENTHOST_INVALID_SIZE,
    closed = AGENTHOST_CLOSED,
    forked = AGENTHOST_FORKED,
    already_done = AGENTHOST_ALREADY_DONE,
    wrong_operation = AGENTHOST_WRONG_OPERATION,
    bad_answer = AGENTHOST_BAD_ANSWER,
    bad_response = AGENTHOST_BAD_RESPONSE,
    timed_out = AGENTHOST_TIMED_OUT,
    would_deadlock = AGENTHOST_WOULD_DEADLOCK,
    abi_mismatch = AGENTHOST_ABI_MISMATCH,
    panic = AGENTHOST_PANIC,
};

/// One of the six operations.
enum class operation : std::int32_t {
    create_run = AGENTHOST_CREATE_RUN,
    get_run = AGENTHOST_GET_RUN,
    cancel_run = AGENTHOST_CANCEL_RUN,
    resolve_approval = AGENTHOST_RESOLVE_APPROVAL,
    resume_run = AGENTHOST_RESUME_RUN,
    list_events = AGENTHOST_LIST_EVENTS,
};

/// The state of a run. The last four are terminal.
enum class run_status : std::int32_t {
    created = AGENTHOST_RUN_CREATED,
    running = AGENTHOST_RUN_RUNNING,
    waiting_for_approval = AGENTHOST_RUN_WAITING_FOR_APPROVAL,
    completed = AGENTHOST_RUN_COMPLETED,
    failed = AGENTHOST_RUN_FAILED,
    cancelled = AGENTHOST_RUN_CANCELLED,
    timed_out = AGENTHOST_RUN_TIMED_OUT,
};

/// What became of an approval. `pending` is no decision: `resolve_approval` is only asked with the other two.
enum class resolution : std::int32_t {
    pending = AGENTHOST_APPROVAL_PENDING,
    approved = AGENTHOST_APPROVAL_APPROVED,
    denied = AGENTHOST_APPROVAL_DENIED,
};

/// What a denial does.
enum class on_denied : std::int32_t {
    fail = AGENTHOST_ON_DENIED_FAIL,      ///< It ends the run as failed.
    resume = AGENTHOST_ON_DENIED_RESUME,  ///< The run goes on once all is decided, and its worker is told.
};

/// What makes a run go on once all its approvals are decided.
enum class resume_mode : std::int32_t {
    explicit_call = AGENTHOST_RESUME_EXPLICIT,  ///< A client calls `resume_run`.
    automatic = AGENTHOST_RESUME_AUTO,          ///< The last decision does; the resume input is then `{}`.
};

/// Whether an approval can be decided, and what became of it.
enum class approval_state : std::int32_t {
    pending = AGENTHOST_APPROVAL_STATE_PENDING,    ///< It can be decided.
    approved = AGENTHOST_APPROVAL_STATE_APPROVED,  ///< It was approved.
    denied = AGENTHOST_APPROVAL_STATE_DENIED,      ///< It was denied, or expired.
    closed = AGENTHOST_APPROVAL_STATE_CLOSED,      ///< Its run ended before anybody decided it.
};

/// The code of a `host_error`.
enum class error_code : std::int32_t {
    invalid_request = AGENTHOST_CODE_INVALID_REQUEST,
    unsupported_protocol_version = AGENTHOST_CODE_UNSUPPORTED_PROTOCOL_VERSION,
    unauthorized = AGENTHOST_CODE_UNAUTHORIZED,
    forbidden = AGENTHOST_CODE_FORBIDDEN,
    not_found = AGENTHOST_CODE_NOT_FOUND,
    conflict = AGENTHOST_CODE_CONFLICT,
    unavailable = AGENTHOST_CODE_UNAVAILABLE,
    internal = AGENTHOST_CODE_INTERNAL,
};

/// Why a call of durable runs is a conflict: `details.reason` of the error.
enum class conflict_reason : std::int32_t {
    revision_mismatch = AGENTHOST_REASON_REVISION_MISMATCH,
    invalid_state = AGENTHOST_REASON_INVALID_STATE,
    approval_mismatch = AGENTHOST_REASON_APPROVAL_MISMATCH,
    run_exists = AGENTHOST_REASON_RUN_EXISTS,
    idempotency_mismatch = AGENTHOST_REASON_IDEMPOTENCY_MISMATCH,
    claim_held = AGENTHOST_REASON_CLAIM_HELD,
    claim_lost = AGENTHOST_REASON_CLAIM_LOST,
    cursor_expired = AGENTHOST_REASON_CURSOR_EXPIRED,
    cursor_ahead = AGENTHOST_REASON_CURSOR_AHEAD,
};

/// How much a log record matters.
enum class log_level : std::int32_t {
    error = AGENTHOST_LOG_ERROR,
    warn = AGENTHOST_LOG_WARN,
    info = AGENTHOST_LOG_INFO,
    debug = AGENTHOST_LOG_DEBUG,
};

namespace detail {

template <std::size_t N>
constexpr std::string_view name_of(const std::string_view (&names)[N], std::int32_t number) noexcept {
    return number >= 1 && number <= static_cast<std::int32_t>(N) ? names[static_cast<std::size_t>(number) - 1] : std::string_view("?");
}

constexpr std::string_view operation_names[] = {
    "create_run", "get_run", "cancel_run", "resolve_approval", "resume_run", "list_events"};
constexpr std::string_view run_status_names[] = {
    "created", "running", "waiting_for_approval", "completed", "failed", "cancelled", "timed_out"};
constexpr std::string_view resolution_names[] = {"pending", "approved", "denied"};
constexpr std::string_view error_code_names[] = {
    "invalid_request", "unsupported_protocol_version", "unauthorized", "forbidden",
    "not_found", "conflict", "unavailable", "internal"};
constexpr std::string_view conflict_reason_names[] = {
    "revision_mismatch", "invalid_state", "approval_mismatch", "run_exists", "idempotency_mismatch",
    "claim_held", "claim_lost", "cursor_expired", "cursor_ahead"};

}  // namespace detail

/// The name on the wire, for logs and for comparison; "?" for a number that is none of the enumerators.
constexpr std::string_view name(operation value) noexcept {
    return detail::name_of(detail::operation_names, static_cast<std::int32_t>(value));
}
/// The name on the wire; "?" for a number that is none of the enumerators.
constexpr std::string_view name(run_status value) noexcept {
    return detail::name_of(detail::run_status_names, static_cast<std::int32_t>(value));
}
/// The name on the wire; "?" for a number that is none of the enumerators.
constexpr std::string_view name(resolution value) noexcept {
    return detail::name_of(detail::resolution_names, static_cast<std::int32_t>(value));
}
/// The name on the wire; "?" for a number that is none of the enumerators.
constexpr std::string_view name(error_code value) noexcept {
    return detail::name_of(detail::error_code_names, static_cast<std::int32_t>(value));
}
/// The name in `details.reason`; "?" for a number that is none of the enumerators.
constexpr std::string_view name(conflict_reason value) noexcept {
    return detail::name_of(detail::conflict_reason_names, static_cast<std::int32_t>(value));
}

}  // namespace agenthost

#endif  // AGENTHOST_CPP_SUPPORTED
#endif  // AGENTHOST_ENUMS_HPP
