// What is thrown: misuse of the interface, errors of the protocol, and the conflicts of durable runs by their reasons.
#ifndef AGENTHOST_ERRORS_HPP
#define AGENTHOST_ERRORS_HPP

#include <agenthost/requirements.hpp>

#ifdef AGENTHOST_CPP_SUPPORTED

#include <agenthost.h>
#include <agenthost/buffer.hpp>
#include <agenthost/detail/text.hpp>
#include <agenthost/enums.hpp>
#include <agenthost/metadata.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace agenthost {

/// The interface was used against its rules; `what()` says how, where the library knows it better than by its status.
class error : public std::runtime_error {
public:
    /// `why` may be empty: the status then speaks for itself.
    explicit error(status_code status, const std::string& why = {})
        : std::runtime_error(why.empty() ? agenthost_status_text(static_cast<agenthost_status>(status)) : why), status_(status) {}

    /// What the library said.
    status_code status() const noexcept { return status_; }

private:
    status_code status_;
};

class host_error;

namespace detail {

[[noreturn]] inline void fail(agenthost_status status, buffer why = {}) {
    throw error(static_cast<status_code>(status), why.str());
}

inline void check(agenthost_status status) {
    if (status != AGENTHOST_OK) fail(status);
}

host_error read_error(const agenthost_error& source);

}  // namespace detail

/// An error of the protocol. A service throws or returns it to answer with a code; a client throws it when it is answered so.
/// `what()` is the message. Message, details and metadata leave the host as they are, but for metadata with sensitive names:
/// no secrets. Of an `internal` error only `retryable` leaves.
class host_error : public std::runtime_error {
public:
    /// An error that is not retryable, without details and metadata.
    explicit host_error(error_code code, const std::string& message = {}) : std::runtime_error(message), code_(code) {}

    /// Says whether the same request may succeed later.
    host_error& with_retryable(bool retryable) noexcept {
        retryable_ = retryable;
        return *this;
    }
    /// Sets the details, for programs: JSON text, `{}` when empty.
    host_error& with_details(std::string details) noexcept {
        details_ = std::move(details);
        return *this;
    }
    /// Sets the metadata, for programs.
    host_error& with_metadata(metadata pairs) noexcept {
        metadata_ = std::move(pairs);
        return *this;
    }

    /// The code.
    error_code code() const noexcept { return code_; }
    /// For people.
    std::string_view message() const noexcept { return what(); }
    /// Whether the same request may succeed later.
    bool retryable() const noexcept { return retryable_; }
    /// For programs: JSON text.
    const std::string& details() const noexcept { return details_; }
    /// For programs.
    const agenthost::metadata& metadata() const noexcept { return metadata_; }
    /// Client: the code that was received when it is none of the contract's, else empty.
    const std::string& original_code() const noexcept { return original_code_; }

private:
    friend host_error detail::read_error(const agenthost_error& source);
    error_code code_;
    bool retryable_ = false;
    std::string details_ = "{}";
    agenthost::metadata metadata_;
    std::string original_code_;
};

/// A conflict that says why, as durable runs answer it, to a worker or to a client. Each reason has a type of its own, below.
/// A number is there when the reason has it and the answer brought it.
class conflict_error : public host_error {
public:
    /// Takes an error, and reads its reason and numbers.
    explicit conflict_error(const agenthost_error& source);

    /// Why.
    conflict_reason reason() const noexcept { return reason_; }
    /// The revision that the run is at: of `revision_mismatch`, `invalid_state`, `approval_mismatch` and `run_exists`.
    std::optional<std::uint64_t> current_revision() const noexcept { return current_revision_; }
    /// The first event that is still there: of `cursor_expired`.
    std::optional<std::uint64_t> first_sequence() const noexcept { return first_sequence_; }
    /// The last event that there is: of `cursor_expired` and `cursor_ahead`.
    std::optional<std::uint64_t> head_sequence() const noexcept { return head_sequence_; }
    /// How long to wait before trying again: of `claim_held`.
    std::optional<std::chrono::milliseconds> retry_after() const noexcept { return retry_after_; }

private:
    conflict_reason reason_;
    std::optional<std::uint64_t> current_revision_;
    std::optional<std::uint64_t> first_sequence_;
    std::optional<std::uint64_t> head_sequence_;
    std::optional<std::chrono::milliseconds> retry_after_;
};

/// A conflict of one reason.
template <conflict_reason Reason>
class conflict_of final : public conflict_error {
public:
    using conflict_error::conflict_error;
};

/// The run is at another revision: read it again, decide anew.
using revision_mismatch = conflict_of<conflict_reason::revision_mismatch>;
/// The run's state does not allow the call.
using invalid_state = conflict_of<conflict_reason::invalid_state>;
/// The approval is not the run's current one: read the run again.
using approval_mismatch = conflict_of<conflict_reason::approval_mismatch>;
/// A run of that id exists, from another request.
using run_exists = conflict_of<conflict_reason::run_exists>;
/// The key was used for another request.
using idempotency_mismatch = conflict_of<conflict_reason::idempotency_mismatch>;
/// Somebody works on the run, or it waits for a worker.
using claim_held = conflict_of<conflict_reason::claim_held>;
/// The claim is not valid any more: stop working on the run.
using claim_lost = conflict_of<conflict_reason::claim_lost>;
/// The events after the cursor were compacted away: go on from `first_sequence`.
using cursor_expired = conflict_of<conflict_reason::cursor_expired>;
/// The cursor lies behind the last event: it belongs to another run of that id. Read from the start.
using cursor_ahead = conflict_of<conflict_reason::cursor_ahead>;

namespace detail {

/// An error of the C interface, copied.
inline host_error read_error(const agenthost_error& source) {
    host_error out(static_cast<error_code>(source.code), std::string(view(source.message)));
    out.with_retryable(source.retryable != 0)
        .with_details(std::string(view(source.details)))
        .with_metadata(metadata_view(source.metadata).to_owned());
    out.original_code_ = view(source.original_code);
    return out;
}

/// A number in the details of a conflict.
inline std::optional<std::uint64_t> conflict_number(const agenthost_error& source, std::string_view name) noexcept {
    std::uint64_t number = 0;
    return agenthost_error_number(&source, text(name), &number) != 0 ? std::optional(number) : std::nullopt;
}

/// Throws an error of the C interface, by its reason when it is a conflict that says one.
[[noreturn]] inline void throw_error(const agenthost_error& source) {
    switch (static_cast<conflict_reason>(agenthost_error_reason(&source))) {
        case conflict_reason::revision_mismatch: throw revision_mismatch(source);
        case conflict_reason::invalid_state: throw invalid_state(source);
        case conflict_reason::approval_mismatch: throw approval_mismatch(source);
        case conflict_reason::run_exists: throw run_exists(source);
        case conflict_reason::idempotency_mismatch: throw idempotency_mismatch(source);
        case conflict_reason::claim_held: throw claim_held(source);
        case conflict_reason::claim_lost: throw claim_lost(source);
        case conflict_reason::cursor_expired: throw cursor_expired(source);
        case conflict_reason::cursor_ahead: throw cursor_ahead(source);
    }
    throw read_error(source);
}

}  // namespace detail

inline conflict_error::conflict_error(const agenthost_error& source)
    : host_error(detail::read_error(source)),
      reason_(static_cast<conflict_reason>(agenthost_error_reason(&source))),
      current_revision_(detail::conflict_number(source, "currentRevision")),
      first_sequence_(detail::conflict_number(source, "firstSequence")),
      head_sequence_(detail::conflict_number(source, "headSequence")) {
    if (const auto wait = detail::conflict_number(source, "retryAfterMs")) {
        retry_after_ = std::chrono::milliseconds(static_cast<std::chrono::milliseconds::rep>(*wait));
    }
}

}  // namespace agenthost

#endif  // AGENTHOST_CPP_SUPPORTED
#endif  // AGENTHOST_ERRORS_HPP
