/*
 * agenthost.hpp - the Agent Host protocol for C++17 and later: agenthost.h with owners, virtual functions and exceptions.
 *
 * Header-only; needs agenthost.h and the library behind it, nothing else.
 *
 * Threads      Every function may be called from any thread unless it says otherwise. Different objects are independent;
 *              one object is used like a standard container: by many readers or by one writer. A `host` is the exception:
 *              any number of threads may dispatch through one.
 * Ownership    What a function returns owns what it holds. What a service is given is borrowed: the texts of a request, of
 *              its call and of a log record are valid until the function that got them returns.
 * Text         UTF-8, may contain U+0000. JSON is text: the application brings the parser it likes.
 * Exceptions   Three kinds. `error`: this interface was used against its rules. `host_error`: an error of the protocol, which a
 *              service throws or returns and a client receives. `std::bad_alloc`. None crosses into the library: what leaves
 *              a service, a callback or a log function is caught at the border.
 * Rules        None of the protocol's rules stands here. The library checks them, the C header and the contract say them.
 */
#ifndef AGENTHOST_HPP
#define AGENTHOST_HPP

#include <agenthost.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace agenthost {

/* ---------------------------------------------------------------------------------------------------- words */

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

/// How much a log record matters.
enum class log_level : std::int32_t {
    error = AGENTHOST_LOG_ERROR,
    warn = AGENTHOST_LOG_WARN,
    info = AGENTHOST_LOG_INFO,
    debug = AGENTHOST_LOG_DEBUG,
};

namespace detail {

struct service_border;

template <std::size_t N>
constexpr std::string_view word(const std::string_view (&words)[N], std::int32_t number) noexcept {
    return number >= 1 && number <= static_cast<std::int32_t>(N) ? words[number - 1] : std::string_view("?");
}

constexpr std::string_view operation_words[] = {
    "create_run", "get_run", "cancel_run", "resolve_approval", "resume_run", "list_events"};
constexpr std::string_view run_status_words[] = {
    "created", "running", "waiting_for_approval", "completed", "failed", "cancelled", "timed_out"};
constexpr std::string_view resolution_words[] = {"pending", "approved", "denied"};
constexpr std::string_view error_code_words[] = {
    "invalid_request", "unsupported_protocol_version", "unauthorized", "forbidden",
    "not_found", "conflict", "unavailable", "internal"};

}  // namespace detail

/// The word on the wire, for logs and for comparison; "?" for a number that is none of the enumerators.
constexpr std::string_view name(operation value) noexcept {
    return detail::word(detail::operation_words, static_cast<std::int32_t>(value));
}
/// The word on the wire; "?" for a number that is none of the enumerators.
constexpr std::string_view name(run_status value) noexcept {
    return detail::word(detail::run_status_words, static_cast<std::int32_t>(value));
}
/// The word on the wire; "?" for a number that is none of the enumerators.
constexpr std::string_view name(resolution value) noexcept {
    return detail::word(detail::resolution_words, static_cast<std::int32_t>(value));
}
/// The word on the wire; "?" for a number that is none of the enumerators.
constexpr std::string_view name(error_code value) noexcept {
    return detail::word(detail::error_code_words, static_cast<std::int32_t>(value));
}

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

/* ----------------------------------------------------------------------------------------- bytes and metadata */

/// Bytes that the library made: a response. Movable, owns them.
class buffer {
public:
    buffer() noexcept = default;
    /// Takes a buffer of the C interface over; null is the empty buffer.
    explicit buffer(agenthost_buffer* owned) noexcept : handle_(owned) {}

    /// The bytes; valid as long as this object holds them.
    std::string_view view() const noexcept {
        return {agenthost_buffer_data(handle_.get()), agenthost_buffer_len(handle_.get())};
    }
    /// The bytes; valid as long as this object holds them.
    operator std::string_view() const& noexcept { return view(); }
    /// A copy of the bytes.
    std::string str() const { return std::string(view()); }
    /// The number of bytes.
    std::size_t size() const noexcept { return agenthost_buffer_len(handle_.get()); }
    /// Whether there are none: default-made or moved from.
    bool empty() const noexcept { return size() == 0; }

private:
    struct free {
        void operator()(agenthost_buffer* handle) const noexcept { agenthost_buffer_free(handle); }
    };
    std::unique_ptr<agenthost_buffer, free> handle_;
};

/// A map of strings that owns them, in the order of insertion; each name once.
class metadata {
public:
    /// A name and its value.
    using value_type = std::pair<std::string, std::string>;
    /// Iterates over the pairs.
    using const_iterator = std::vector<value_type>::const_iterator;

    metadata() = default;
    /// Of equal names the last value stays.
    metadata(std::initializer_list<value_type> pairs) {
        for (const value_type& pair : pairs) set(pair.first, pair.second);
    }
    /// Takes pairs as they are. A name that occurs twice is found by the library, when they are sent.
    explicit metadata(std::vector<value_type> pairs) noexcept : pairs_(std::move(pairs)) {}

    /// Sets a name. Takes time in proportion to the number of pairs.
    void set(std::string_view name, std::string_view value) {
        for (value_type& pair : pairs_) {
            if (pair.first == name) {
                pair.second = value;
                return;
            }
        }
        pairs_.emplace_back(name, value);
    }
    /// The value of a name. Takes time in proportion to the number of pairs.
    std::optional<std::string_view> find(std::string_view name) const noexcept {
        for (const value_type& pair : pairs_) {
            if (pair.first == name) return std::string_view(pair.second);
        }
        return std::nullopt;
    }
    /// The first pair.
    const_iterator begin() const noexcept { return pairs_.begin(); }
    /// Behind the last pair.
    const_iterator end() const noexcept { return pairs_.end(); }
    /// The number of pairs.
    std::size_t size() const noexcept { return pairs_.size(); }
    /// Whether there are none.
    bool empty() const noexcept { return pairs_.empty(); }
    /// The same pairs in the same order.
    friend bool operator==(const metadata& left, const metadata& right) { return left.pairs_ == right.pairs_; }
    friend bool operator!=(const metadata& left, const metadata& right) { return !(left == right); }

private:
    friend class metadata_view;
    std::vector<value_type> pairs_;
};

namespace detail {

inline std::string_view view(agenthost_str text) noexcept {
    return text.len == 0 ? std::string_view() : std::string_view(text.data, text.len);
}

inline agenthost_str text(std::string_view value) noexcept {
    agenthost_str out = {value.data(), value.size()};
    return out;
}

}  // namespace detail

/// A map of strings that somebody else owns: the library's for as long as a request is borrowed, or a `metadata`. A range of
/// `metadata_view::value_type`.
class metadata_view {
public:
    /// A name and its value, borrowed.
    struct value_type {
        std::string_view name;   ///< The name.
        std::string_view value;  ///< The value.
    };

    /// Iterates over the pairs.
    class const_iterator {
    public:
        using iterator_category = std::input_iterator_tag;
        using value_type = metadata_view::value_type;
        using difference_type = std::ptrdiff_t;
        using pointer = void;
        using reference = value_type;

        const_iterator() noexcept = default;
        /// The pair.
        value_type operator*() const noexcept { return view_->at(index_); }
        /// On to the next pair.
        const_iterator& operator++() noexcept {
            ++index_;
            return *this;
        }
        /// On to the next pair.
        const_iterator operator++(int) noexcept {
            const_iterator before = *this;
            ++index_;
            return before;
        }
        friend bool operator==(const_iterator left, const_iterator right) noexcept { return left.index_ == right.index_; }
        friend bool operator!=(const_iterator left, const_iterator right) noexcept { return left.index_ != right.index_; }

    private:
        friend class metadata_view;
        const_iterator(const metadata_view* view, std::size_t index) noexcept : view_(view), index_(index) {}
        const metadata_view* view_ = nullptr;
        std::size_t index_ = 0;
    };

    metadata_view() noexcept = default;
    /// Borrows pairs of the C interface.
    explicit metadata_view(agenthost_pairs pairs) noexcept : borrowed_(pairs.items), count_(pairs.count) {}
    /// Borrows `owner`, which has to outlive the view and stay as it is.
    metadata_view(const metadata& owner) noexcept : owned_(owner.pairs_.data()), count_(owner.size()) {}

    /// The value of a name. Takes time in proportion to the number of pairs.
    std::optional<std::string_view> find(std::string_view name) const noexcept {
        for (value_type pair : *this) {
            if (pair.name == name) return pair.value;
        }
        return std::nullopt;
    }
    /// The pair at a place below `size()`.
    value_type at(std::size_t index) const noexcept {
        if (owned_ != nullptr) return {owned_[index].first, owned_[index].second};
        return {detail::view(borrowed_[index].key), detail::view(borrowed_[index].value)};
    }
    /// The first pair. An iterator is good as long as the view that it comes from.
    const_iterator begin() const noexcept { return {this, 0}; }
    /// Behind the last pair.
    const_iterator end() const noexcept { return {this, count_}; }
    /// The number of pairs.
    std::size_t size() const noexcept { return count_; }
    /// Whether there are none.
    bool empty() const noexcept { return count_ == 0; }
    /// A copy that owns its strings. Linear in their number.
    metadata to_owned() const {
        std::vector<metadata::value_type> pairs;
        pairs.reserve(count_);
        for (value_type pair : *this) pairs.emplace_back(pair.name, pair.value);
        return metadata(std::move(pairs));
    }

private:
    const agenthost_pair* borrowed_ = nullptr;
    const metadata::value_type* owned_ = nullptr;
    std::size_t count_ = 0;
};

/* ----------------------------------------------------------------------------------------------------- errors */

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
    friend class response;
    error_code code_;
    bool retryable_ = false;
    std::string details_ = "{}";
    agenthost::metadata metadata_;
    std::string original_code_;
};

/* --------------------------------------------------------------------------------------- requests and results */

/// Where a run comes from. Every text is empty where nothing is known.
template <class Text, class Metadata>
struct basic_execution_context {
    Text run_id{};           ///< The run. Required in a `create_run_request`; may be empty in a view.
    Text trace_id{};         ///< The trace that the run belongs to.
    Text request_id{};       ///< The application's request that led to the run; not the protocol's.
    Text tenant_id{};        ///< The tenant that the run is for.
    Text user_id{};          ///< The user that the run is for.
    Text application_id{};   ///< The application that submitted it.
    Text workspace_id{};     ///< The workspace that it works in.
    Text conversation_id{};  ///< The conversation that it belongs to.
    Text agent_id{};         ///< The agent that is to do it.
    Text locale{};           ///< A language tag such as `en-US`.
    /// When the run has to end, in milliseconds since the Unix epoch, within 8.64e15 of it.
    std::optional<std::int64_t> deadline_unix_ms{};
    /// Strings without secrets: in a request a sensitive name refuses it.
    Metadata metadata{};
};

/// An execution context that owns its texts, as results have it.
using execution_context = basic_execution_context<std::string, metadata>;
/// An execution context that borrows its texts, as requests have it.
using execution_context_view = basic_execution_context<std::string_view, metadata_view>;

/// A copy that owns its texts.
inline execution_context to_owned(const execution_context_view& context) {
    return {std::string(context.run_id),         std::string(context.trace_id),        std::string(context.request_id),
            std::string(context.tenant_id),      std::string(context.user_id),         std::string(context.application_id),
            std::string(context.workspace_id),   std::string(context.conversation_id), std::string(context.agent_id),
            std::string(context.locale),         context.deadline_unix_ms,             context.metadata.to_owned()};
}

/// What a mutation answers: the run as it is now.
struct run_submission {
    std::string run_id{};                     ///< The run: the one that was asked for.
    std::uint64_t revision = 0;               ///< Its revision, 1 to 2^53-1.
    run_status status = run_status::created;  ///< Its status.
};

/// What a run waits for, or waited for.
struct approval_view {
    std::string approval_id{};                                          ///< An identity: 1 to 1024 bytes, no U+0000.
    std::string tool_call_id{};                                         ///< The tool call that needs it, not empty.
    std::string tool_name{};                                            ///< The tool, not empty.
    agenthost::resolution resolution = agenthost::resolution::pending;  ///< What became of it.
    std::string reason{};                                               ///< Why it is needed, or was decided so.
    std::int64_t created_at_unix_ms = 0;                                ///< Milliseconds since the Unix epoch.
    std::optional<std::int64_t> resolved_at_unix_ms{};                  ///< Null while pending, set once resolved.
    agenthost::metadata metadata{};                                     ///< Sensitive names are dropped before they leave.
};

/// A run as it is now.
struct run_view {
    std::string run_id{};                                ///< The run: the one that was asked for.
    std::uint64_t revision = 0;                          ///< Its revision, 1 to 2^53-1.
    run_status status = run_status::created;             ///< Its status.
    execution_context context{};                         ///< Where it comes from. Its run id may be left empty.
    std::int64_t created_at_unix_ms = 0;                 ///< Milliseconds since the Unix epoch, within 8.64e15 of it.
    std::int64_t updated_at_unix_ms = 0;                 ///< When it last changed.
    std::optional<std::int64_t> completed_at_unix_ms{};  ///< When it ended.
    std::optional<approval_view> approval{};             ///< Its latest approval.
    std::string result = "null";                         ///< What it came to, as JSON text: no secrets. Empty means null.
    std::string error{};                                 ///< Why it failed, or empty.
    agenthost::metadata metadata{};                      ///< Sensitive names are dropped before they leave.
};

/// Something that happened in a run.
struct event {
    std::string run_id{};                     ///< The run: the one that was asked for.
    std::uint64_t sequence = 0;               ///< Its place, 1 to 2^53-1, after the cursor and after the event before it.
    std::string type{};                       ///< What kind of event it is, not empty.
    run_status status = run_status::created;  ///< The run's status after it.
    std::string step_id{};                    ///< The step that it belongs to, or empty.
    std::string tool_call_id{};               ///< The tool call that it belongs to, or empty.
    std::int64_t timestamp_unix_ms = 0;       ///< When it happened, in milliseconds since the Unix epoch.
    std::string data = "null";                ///< What happened, as JSON text: no secrets. Empty means null.
    agenthost::metadata metadata{};           ///< Sensitive names are dropped before they leave.
};

/// Events after a cursor.
struct event_page {
    std::vector<event> events{};      ///< The events, sequences rising, at most as many as were asked for.
    std::uint64_t next_sequence = 0;  ///< The last event's sequence, or the request's cursor when there is no event.
    bool has_more = false;            ///< Whether more events are there already.
};

/// Submits a run. Like all requests it borrows its texts: a service's until its function returns, a client's from the caller.
struct create_run_request {
    using result_type = run_submission;  ///< What answers it.
    execution_context_view context{};    ///< Where the run comes from; names the run.
    std::string_view input{};            ///< JSON text, never empty towards a service; empty from a client means `{}`.
    metadata_view metadata{};            ///< Strings that belong to the run.
};

/// Reads a run.
struct get_run_request {
    using result_type = run_view;  ///< What answers it.
    std::string_view run_id{};     ///< The run.
};

/// Cancels a run that is still at the expected revision.
struct cancel_run_request {
    using result_type = run_submission;   ///< What answers it.
    std::string_view run_id{};            ///< The run.
    std::uint64_t expected_revision = 0;  ///< The revision that the caller has seen, 1 to 2^53-1.
    std::string_view reason{};            ///< Why. Empty from a client means the contract's default.
};

/// Approves or denies what a run waits for.
struct resolve_approval_request {
    using result_type = run_submission;                                  ///< What answers it.
    std::string_view run_id{};                                           ///< The run.
    std::uint64_t expected_revision = 0;                                 ///< The revision that the caller has seen.
    std::string_view approval_id{};                                      ///< The approval, as the run's view names it.
    agenthost::resolution resolution = agenthost::resolution::approved;  ///< Approved or denied.
    std::string_view reason{};                                           ///< Why; may be empty.
    metadata_view metadata{};                                            ///< Strings that belong to the resolution.
};

/// Lets an approved run go on.
struct resume_run_request {
    using result_type = run_submission;   ///< What answers it.
    std::string_view run_id{};            ///< The run.
    std::uint64_t expected_revision = 0;  ///< The revision that the caller has seen, 1 to 2^53-1.
    std::string_view approval_id{};       ///< The approval that was given.
    std::string_view input{};             ///< JSON text, never empty towards a service; empty from a client means `{}`.
};

/// Reads events after a cursor.
struct list_events_request {
    using result_type = event_page;    ///< What answers it.
    std::string_view run_id{};         ///< The run.
    std::uint64_t after_sequence = 0;  ///< Only events with a larger sequence are asked for; 0 for all.
    std::uint64_t limit = 0;           ///< 1 to 1000 towards a service; 0 from a client means the contract's default.
};

/// A result as JSON text, for services that have it so. Checked like the typed ones.
struct json_result {
    std::string text;  ///< The result of the operation.
};

/* -------------------------------------------------------------------------- between C's structs and those above */

namespace detail {

[[noreturn]] inline void fail(agenthost_status status, buffer why = {}) {
    throw error(static_cast<status_code>(status), why.str());
}

inline void check(agenthost_status status) {
    if (status != AGENTHOST_OK) fail(status);
}

/// A struct of the C interface, zeroed, with its size.
template <class T>
T sized() noexcept {
    T value{};
    value.struct_size = sizeof value;
    return value;
}

inline agenthost_optional_i64 optional(std::optional<std::int64_t> value) noexcept {
    agenthost_optional_i64 out = {value ? 1u : 0u, value.value_or(0)};
    return out;
}

inline std::optional<std::int64_t> optional(agenthost_optional_i64 value) noexcept {
    return value.present != 0 ? std::optional<std::int64_t>(value.value) : std::nullopt;
}

/// Metadata laid out as C wants it; borrows the strings.
class pairs {
public:
    explicit pairs(metadata_view source) {
        items_.reserve(source.size());
        for (metadata_view::value_type pair : source) items_.push_back({text(pair.name), text(pair.value)});
    }
    agenthost_pairs get() const noexcept {
        agenthost_pairs out = {items_.data(), items_.size()};
        return out;
    }

private:
    std::vector<agenthost_pair> items_;
};

/// An execution context laid out as C wants it; borrows from its source.
class c_context {
public:
    template <class Text, class Metadata>
    explicit c_context(const basic_execution_context<Text, Metadata>& source)
        : pairs_(metadata_view(source.metadata)), value_(sized<agenthost_context>()) {
        value_.run_id = text(source.run_id);
        value_.trace_id = text(source.trace_id);
        value_.request_id = text(source.request_id);
        value_.tenant_id = text(source.tenant_id);
        value_.user_id = text(source.user_id);
        value_.application_id = text(source.application_id);
        value_.workspace_id = text(source.workspace_id);
        value_.conversation_id = text(source.conversation_id);
        value_.agent_id = text(source.agent_id);
        value_.locale = text(source.locale);
        value_.deadline_unix_ms = optional(source.deadline_unix_ms);
        value_.metadata = pairs_.get();
    }
    const agenthost_context* get() const noexcept { return &value_; }

private:
    pairs pairs_;
    agenthost_context value_;
};

inline execution_context_view from_c(const agenthost_context& source) noexcept {
    return {view(source.run_id),         view(source.trace_id),        view(source.request_id),
            view(source.tenant_id),      view(source.user_id),         view(source.application_id),
            view(source.workspace_id),   view(source.conversation_id), view(source.agent_id),
            view(source.locale),         optional(source.deadline_unix_ms), metadata_view(source.metadata)};
}

inline create_run_request from_c(const agenthost_create_run& source) noexcept {
    return {from_c(*source.context), view(source.input), metadata_view(source.metadata)};
}

inline get_run_request from_c(const agenthost_get_run& source) noexcept { return {view(source.run_id)}; }

inline cancel_run_request from_c(const agenthost_cancel_run& source) noexcept {
    return {view(source.run_id), source.expected_revision, view(source.reason)};
}

inline resolve_approval_request from_c(const agenthost_resolve_approval& source) noexcept {
    return {view(source.run_id),      source.expected_revision,
            view(source.approval_id), static_cast<resolution>(source.resolution),
            view(source.reason),      metadata_view(source.metadata)};
}

inline resume_run_request from_c(const agenthost_resume_run& source) noexcept {
    return {view(source.run_id), source.expected_revision, view(source.approval_id), view(source.input)};
}

inline list_events_request from_c(const agenthost_list_events& source) noexcept {
    return {view(source.run_id), source.after_sequence, source.limit};
}

inline run_submission from_c(const agenthost_submission& source) {
    return {std::string(view(source.run_id)), source.revision, static_cast<run_status>(source.status)};
}

inline approval_view from_c(const agenthost_approval& source) {
    return {std::string(view(source.approval_id)),
            std::string(view(source.tool_call_id)),
            std::string(view(source.tool_name)),
            static_cast<resolution>(source.resolution),
            std::string(view(source.reason)),
            source.created_at_unix_ms,
            optional(source.resolved_at_unix_ms),
            metadata_view(source.metadata).to_owned()};
}

inline run_view from_c(const agenthost_run& source) {
    return {std::string(view(source.run_id)),
            source.revision,
            static_cast<run_status>(source.status),
            source.context != nullptr ? to_owned(from_c(*source.context)) : execution_context(),
            source.created_at_unix_ms,
            source.updated_at_unix_ms,
            optional(source.completed_at_unix_ms),
            source.approval != nullptr ? std::optional<approval_view>(from_c(*source.approval)) : std::nullopt,
            std::string(view(source.result)),
            std::string(view(source.error)),
            metadata_view(source.metadata).to_owned()};
}

inline event from_c(const agenthost_event& source) {
    return {std::string(view(source.run_id)),
            source.sequence,
            std::string(view(source.type)),
            static_cast<run_status>(source.status),
            std::string(view(source.step_id)),
            std::string(view(source.tool_call_id)),
            source.timestamp_unix_ms,
            std::string(view(source.data)),
            metadata_view(source.metadata).to_owned()};
}

inline agenthost_status give(agenthost_reply* reply, const run_submission& answer) noexcept {
    agenthost_submission out = sized<agenthost_submission>();
    out.run_id = text(answer.run_id);
    out.revision = answer.revision;
    out.status = static_cast<agenthost_run_status>(answer.status);
    return agenthost_reply_submission(reply, &out);
}

inline agenthost_status give(agenthost_reply* reply, const run_view& answer) {
    const c_context context(answer.context);
    const pairs own(answer.metadata);
    const pairs approvals(answer.approval ? metadata_view(answer.approval->metadata) : metadata_view());
    agenthost_approval approval = sized<agenthost_approval>();
    if (answer.approval) {
        approval.approval_id = text(answer.approval->approval_id);
        approval.tool_call_id = text(answer.approval->tool_call_id);
        approval.tool_name = text(answer.approval->tool_name);
        approval.resolution = static_cast<agenthost_resolution>(answer.approval->resolution);
        approval.reason = text(answer.approval->reason);
        approval.created_at_unix_ms = answer.approval->created_at_unix_ms;
        approval.resolved_at_unix_ms = optional(answer.approval->resolved_at_unix_ms);
        approval.metadata = approvals.get();
    }
    agenthost_run out = sized<agenthost_run>();
    out.run_id = text(answer.run_id);
    out.revision = answer.revision;
    out.status = static_cast<agenthost_run_status>(answer.status);
    out.context = context.get();
    out.created_at_unix_ms = answer.created_at_unix_ms;
    out.updated_at_unix_ms = answer.updated_at_unix_ms;
    out.completed_at_unix_ms = optional(answer.completed_at_unix_ms);
    out.approval = answer.approval ? &approval : nullptr;
    out.result = text(answer.result);
    out.error = text(answer.error);
    out.metadata = own.get();
    return agenthost_reply_run(reply, &out);
}

inline agenthost_status give(agenthost_reply* reply, const event_page& answer) {
    for (const event& source : answer.events) {
        const pairs own(source.metadata);
        agenthost_event out = sized<agenthost_event>();
        out.run_id = text(source.run_id);
        out.sequence = source.sequence;
        out.type = text(source.type);
        out.status = static_cast<agenthost_run_status>(source.status);
        out.step_id = text(source.step_id);
        out.tool_call_id = text(source.tool_call_id);
        out.timestamp_unix_ms = source.timestamp_unix_ms;
        out.data = text(source.data);
        out.metadata = own.get();
        const agenthost_status status = agenthost_reply_event(reply, &out);
        if (status != AGENTHOST_OK) return status;
    }
    return agenthost_reply_page(reply, answer.next_sequence, answer.has_more ? 1 : 0);
}

inline agenthost_status give(agenthost_reply* reply, const host_error& answer) {
    const pairs own(answer.metadata());
    agenthost_error out = sized<agenthost_error>();
    out.code = static_cast<agenthost_code>(answer.code());
    out.retryable = answer.retryable() ? 1 : 0;
    out.message = text(answer.message());
    out.details = text(answer.details());
    out.metadata = own.get();
    return agenthost_reply_error(reply, &out);
}

inline agenthost_status give(agenthost_reply* reply, const json_result& answer) noexcept {
    return agenthost_reply_json(reply, text(answer.text));
}

}  // namespace detail

/* --------------------------------------------------------------------------------------------------- answering */

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

    /// Asks to be told when nobody waits any more. `notify` runs at most once, on the thread that gives the call up, perhaps
    /// before this function returns, perhaps while another thread answers. Its exceptions are swallowed. It is destroyed when
    /// it has run and the reply is gone.
    /// @throws error `already_done`: the call is answered, or has a notification already; `null_argument`: moved from.
    template <class Notify>
    void on_abandoned(Notify notify) {
        auto data = std::make_unique<Notify>(std::move(notify));
        const auto run = [](void* raw) noexcept {
            try {
                (*static_cast<Notify*>(raw))();
            } catch (...) {
                // It cannot change the answer, and there is nobody to tell.
            }
        };
        const auto destroy = [](void* raw) noexcept { delete static_cast<Notify*>(raw); };
        detail::check(agenthost_reply_on_abandoned(handle_.get(), run, data.release(), destroy));
    }

    /// Whether there is a call behind it: not default-made and not moved from.
    explicit operator bool() const noexcept { return handle_ != nullptr; }

private:
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
    friend struct detail::service_border;
    std::variant<T, host_error, json_result, deferred_t> value_;
};

/// What a service is told about a call beside its request. Borrowed until the service's function returns.
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
        return reply<typename Request::result_type>(taken);
    }

private:
    friend struct detail::service_border;
    call(const agenthost_call& source, agenthost_reply* reply) noexcept
        : operation(static_cast<agenthost::operation>(source.operation)),
          request_id(detail::view(source.request_id)),
          idempotency_key(detail::view(source.idempotency_key)),
          metadata(source.metadata),
          reply_(reply) {
        if (source.has_principal != 0) principal = detail::view(source.principal);
    }
    bool fits(run_view*) const noexcept { return operation == agenthost::operation::get_run; }
    bool fits(event_page*) const noexcept { return operation == agenthost::operation::list_events; }
    bool fits(run_submission*) const noexcept { return !fits(static_cast<run_view*>(nullptr)) && !fits(static_cast<event_page*>(nullptr)); }

    agenthost_reply* reply_;
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

/* ---------------------------------------------------------------------------------------------------- the host */

/// A log function: level, message, and fields by name. Runs on any thread that has something to say, on any number at once. It
/// is told names of members and causes of failures, never the values of requests and answers; but what a service's exception
/// says is up to the service. What it throws is swallowed.
using log_function = std::function<void(log_level level, std::string_view message, metadata_view fields)>;

/// What a host can be told when it is made.
struct host_options {
    std::uint64_t max_message_bytes = 0;           ///< The most bytes of a message and of a response. 0: 16 MiB.
    std::chrono::milliseconds default_timeout{0};  ///< How long `dispatch` waits for a deferred answer. 0: for ever.
    std::vector<std::string> sensitive_names{};    ///< Names that are sensitive beside the built-in ones.
    log_function log{};                            ///< Where the host tells what it may not tell callers. Empty: nowhere.
    bool log_exceptions = true;                    ///< Whether `what()` of a service's exceptions goes to the log.
    bool require_principal = false;                ///< Whether a dispatch without a principal answers `unauthorized`.
};

/// What belongs to one dispatch, beside the message.
struct dispatch_options {
    /// Whom the transport authenticated, not empty. Never take it from the message.
    std::optional<std::string_view> principal{};
    /// How long to wait for a deferred answer. 0: the host's default. Asynchronous dispatch takes none: use your timer and cancel.
    std::chrono::milliseconds timeout{0};
};

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

namespace detail {

/// Where exceptions are caught, and told: what a host's callbacks share.
struct service_border {
    /// The host's log function and how it may be used.
    struct logger {
        log_function log;
        bool exceptions;

        void write(log_level level, std::string_view message, metadata_view fields) const noexcept {
            if (!log) return;
            try {
                log(level, message, fields);
            } catch (...) {
                // A log function that fails has no other place to say so.
            }
        }
        /// Tells of the exception that is being handled.
        void exception(std::string_view message, std::string_view where) const noexcept {
            if (!log || !exceptions) return;
            try {
                throw;
            } catch (const std::exception& caught) {
                tell(message, where, caught.what());
            } catch (...) {
                tell(message, where, "an exception that is no std::exception");
            }
        }

    private:
        void tell(std::string_view message, std::string_view where, std::string_view what) const noexcept {
            const agenthost_pair fields[] = {{detail::text("in"), detail::text(where)}, {detail::text("what"), detail::text(what)}};
            const agenthost_pairs pairs = {fields, 2};
            write(log_level::error, message, metadata_view(pairs));
        }
    };

    std::shared_ptr<service> served;
    std::shared_ptr<const logger> told;

    /// Calls one function of a service from its slot, and answers with what comes of it.
    template <auto Function, class Source>
    static void slot(void* data, const agenthost_call* source, const Source* request, agenthost_reply* reply) noexcept {
        const service_border& border = *static_cast<const service_border*>(data);
        const call about(*source, reply);
        agenthost_status status = AGENTHOST_OK;
        try {
            auto answered = ((*border.served).*Function)(about, detail::from_c(*request));
            status = std::visit([&](const auto& value) { return give(reply, value); }, answered.value_);
        } catch (const host_error& thrown) {
            status = border.fail(reply, thrown, about);
        } catch (...) {
            // The slot returns without an answer: the library says `internal`.
            border.told->exception("the service threw", name(about.operation));
        }
        if (status == AGENTHOST_ALREADY_DONE && !agenthost_reply_is_abandoned(reply)) {
            border.told->write(log_level::error, "the service deferred a call and answered it at once too: the answer is lost", {});
        }
    }

    template <class Answer>
    static agenthost_status give(agenthost_reply* reply, const Answer& value) {
        return detail::give(reply, value);
    }
    /// Nothing to give: the reply was taken, or the library answers `internal` for want of an answer.
    static agenthost_status give(agenthost_reply*, deferred_t) noexcept { return AGENTHOST_OK; }

    agenthost_status fail(agenthost_reply* reply, const host_error& thrown, const call& about) const noexcept {
        try {
            return detail::give(reply, thrown);
        } catch (...) {
            told->exception("the service's error could not be answered", name(about.operation));
            return AGENTHOST_OK;
        }
    }

    static void end_service(void* data) noexcept { delete static_cast<service_border*>(data); }

    static void write(void* data, std::int32_t level, agenthost_str message, agenthost_pairs fields) noexcept {
        (*static_cast<std::shared_ptr<const logger>*>(data))->write(static_cast<log_level>(level), detail::view(message), metadata_view(fields));
    }
    static void end_log(void* data) noexcept { delete static_cast<std::shared_ptr<const logger>*>(data); }

    /// Makes a host by a function of C that takes options and a place for the reason, and takes the log hook over whatever it returns.
    template <class Function>
    static agenthost_host* make(const std::shared_ptr<const logger>& logger, const host_options& from, Function function) {
        if (from.default_timeout.count() < 0) throw error(status_code::invalid_argument, "default_timeout: expected 0 or more");
        std::vector<agenthost_str> names;
        names.reserve(from.sensitive_names.size());
        for (const std::string& each : from.sensitive_names) names.push_back(detail::text(each));

        agenthost_host_options options = detail::sized<agenthost_host_options>();
        options.max_message_bytes = from.max_message_bytes;
        options.default_timeout_ms = static_cast<std::uint64_t>(from.default_timeout.count());
        options.sensitive_names = names.data();
        options.sensitive_name_count = names.size();
        options.require_principal = from.require_principal ? 1 : 0;
        if (logger->log) {
            options.log_data = new std::shared_ptr<const service_border::logger>(logger);
            options.log = write;
            options.log_destroy = end_log;
        }
        agenthost_host* made = nullptr;
        agenthost_buffer* why = nullptr;
        const agenthost_status status = function(options, &made, &why);
        if (status != AGENTHOST_OK) detail::fail(status, buffer(why));
        return made;
    }

    /// Makes a host whose slots call `made_for`.
    static agenthost_host* make(std::shared_ptr<service> made_for, const std::shared_ptr<const logger>& logger, const host_options& from) {
        if (!made_for) detail::fail(AGENTHOST_NULL_ARGUMENT);
        agenthost_service slots = detail::sized<agenthost_service>();
        slots.destroy = end_service;
        slots.create_run = slot<&service::create_run, agenthost_create_run>;
        slots.get_run = slot<&service::get_run, agenthost_get_run>;
        slots.cancel_run = slot<&service::cancel_run, agenthost_cancel_run>;
        slots.resolve_approval = slot<&service::resolve_approval, agenthost_resolve_approval>;
        slots.resume_run = slot<&service::resume_run, agenthost_resume_run>;
        slots.list_events = slot<&service::list_events, agenthost_list_events>;

        auto border = std::make_unique<service_border>(service_border{std::move(made_for), logger});
        return make(logger, from, [&](const agenthost_host_options& options, agenthost_host** made, agenthost_buffer** why) {
            // The library's, whatever it returns.
            slots.user_data = border.release();
            return agenthost_host_new(&slots, &options, made, why);
        });
    }
};

}  // namespace detail

/// A host: bytes in, bytes out, from any number of threads at once. Copies are owners of the same host; the last one that goes
/// closes it without waiting for deferred answers, which get `unavailable`, and waits for callbacks on other threads.
class host {
public:
    /// A host of a service, which is let go of when the host is closed; `std::unique_ptr` of a service will do too.
    /// @throws error `invalid_argument`: `what()` says which option, and what was expected; `null_argument`: no service.
    explicit host(std::shared_ptr<service> service, const host_options& options = {})
        : told_(std::make_shared<const detail::service_border::logger>(detail::service_border::logger{options.log, options.log_exceptions})),
          handle_(detail::service_border::make(std::move(service), told_, options)) {}
    /// Takes one count of a host of the C interface over.
    explicit host(agenthost_host* owned)
        : told_(std::make_shared<const detail::service_border::logger>(detail::service_border::logger{{}, false})), handle_(owned) {}

    /// A host over durable runs: `memory:`, or `sqlite:path` for a file, which is made where there is none. What is overdue is
    /// ended before this returns. The runs are closed with the host. Their side for workers is in the C header
    /// (`agenthost_runs_open`). `log_exceptions` says nothing here: there is no service of yours.
    /// @throws error `invalid_argument`: `what()` says which option or what was expected of the URL, or why the store cannot be opened.
    static host open(std::string_view url, const host_options& options = {}) {
        agenthost_runs* opened = nullptr;
        agenthost_buffer* why = nullptr;
        const agenthost_status status = agenthost_runs_open(detail::text(url), nullptr, &opened, &why);
        if (status != AGENTHOST_OK) detail::fail(status, buffer(why));
        // The host keeps them open.
        const std::unique_ptr<agenthost_runs, decltype(&agenthost_runs_release)> runs(opened, agenthost_runs_release);
        using border = detail::service_border;
        const auto told = std::make_shared<const border::logger>(border::logger{options.log, options.log_exceptions});
        const auto over_runs = [&](const agenthost_host_options& given, agenthost_host** made, agenthost_buffer** reason) {
            return agenthost_runs_host(runs.get(), &given, made, reason);
        };
        host made(border::make(told, options, over_runs));
        made.told_ = told;
        return made;
    }

    /// Another owner of the same host. A copy of one that was moved from is like it.
    host(const host& other) : told_(other.told_), handle_(other.handle_) {
        if (handle_ != nullptr) detail::check(agenthost_host_retain(handle_));
    }
    host(host&& other) noexcept : told_(std::move(other.told_)), handle_(std::exchange(other.handle_, nullptr)) {}
    host& operator=(host other) noexcept {
        std::swap(told_, other.told_);
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~host() { agenthost_host_release(handle_); }

    /// The response to a message, any bytes. The service runs on this thread; when it defers, this function waits. A host that
    /// is closing or closed answers `unavailable`.
    /// @throws error `invalid_argument`: an empty principal or a negative timeout; `forked`; `null_argument`: moved from.
    buffer dispatch(std::string_view message, const dispatch_options& options = {}) const {
        const agenthost_dispatch_options given = to_c(options);
        agenthost_buffer* response = nullptr;
        detail::check(agenthost_dispatch_json_with(handle_, detail::text(message), &given, &response));
        return buffer(response);
    }

    /// Dispatches without waiting. `done` is called with the response, a `buffer`, exactly once: on this thread, perhaps before this
    /// function returns, or later on the thread that answers, cancels, drops the reply or closes; never while the service's
    /// function runs. What it throws goes to the log. It need not be copyable. `message` is borrowed until this returns.
    /// @throws error as `dispatch` does, and `invalid_argument` for a timeout. `done` is not called then.
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
        const agenthost_dispatch_options given = to_c(options);
        auto data = std::make_unique<delivery<Done>>(delivery<Done>{std::move(done), told_});
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
        if (timeout.count() < 0) throw error(status_code::invalid_argument, "timeout: expected 0 or more");
        const agenthost_status status = agenthost_host_close(handle_, static_cast<std::uint64_t>(timeout.count()));
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
        std::shared_ptr<const detail::service_border::logger> told;

        static void run(void* data, agenthost_buffer* response) noexcept {
            const std::unique_ptr<delivery> self(static_cast<delivery*>(data));
            buffer owned(response);
            try {
                self->done(std::move(owned));
            } catch (...) {
                self->told->exception("the callback for a response threw", "dispatch_async");
            }
        }
    };

    static agenthost_dispatch_options to_c(const dispatch_options& from) {
        if (from.timeout.count() < 0) throw error(status_code::invalid_argument, "timeout: expected 0 or more");
        agenthost_dispatch_options options = detail::sized<agenthost_dispatch_options>();
        options.has_principal = from.principal ? 1 : 0;
        options.principal = detail::text(from.principal.value_or(std::string_view()));
        options.timeout_ms = static_cast<std::uint64_t>(from.timeout.count());
        return options;
    }

    std::shared_ptr<const detail::service_border::logger> told_;
    agenthost_host* handle_ = nullptr;
};

/* --------------------------------------------------------------------------------------------------- the client */

/// What goes around a request.
struct request_options {
    std::string_view request_id{};        ///< Names the request. Empty: a new UUIDv7.
    std::string_view idempotency_key{};   ///< Names the mutation. Empty: a new UUIDv7 for mutations, none for reads.
    std::string_view protocol_version{};  ///< Empty: the preferred one.
    metadata_view metadata{};             ///< The envelope's metadata.
};

/// A response that was checked and taken apart. Owns what it holds; any number of threads may read it.
class response {
public:
    /// Takes a response of the C interface over.
    explicit response(agenthost_response* owned) noexcept : handle_(owned) {}

    /// The operation that it names; none in a refusal of a version that the library does not speak, when it does not know it.
    std::optional<agenthost::operation> operation() const noexcept {
        const agenthost_operation number = agenthost_response_operation(handle_.get());
        return number != 0 ? std::optional(static_cast<agenthost::operation>(number)) : std::nullopt;
    }
    /// The request that it answers; empty in a refusal whose request could not be read. Borrowed from this object.
    std::string_view request_id() const noexcept { return detail::view(agenthost_response_request_id(handle_.get())); }
    /// The version that it is written in. Borrowed from this object.
    std::string_view protocol_version() const noexcept {
        return detail::view(agenthost_response_protocol_version(handle_.get()));
    }

    /// The error. At most one of this and the next three is there. After a mutation `internal` and `unavailable` mean that the
    /// outcome is not known: send the same bytes again.
    std::optional<host_error> error() const {
        const agenthost_error* found = agenthost_response_error(handle_.get());
        if (found == nullptr) return std::nullopt;
        host_error out(static_cast<error_code>(found->code), std::string(detail::view(found->message)));
        out.with_retryable(found->retryable != 0)
            .with_details(std::string(detail::view(found->details)))
            .with_metadata(metadata_view(found->metadata).to_owned());
        out.original_code_ = detail::view(found->original_code);
        return out;
    }
    /// The result of a mutation.
    std::optional<run_submission> submission() const { return copy(agenthost_response_submission(handle_.get())); }
    /// The result of `get_run`.
    std::optional<run_view> run() const { return copy(agenthost_response_run(handle_.get())); }
    /// The result of `list_events`.
    std::optional<event_page> page() const {
        if (agenthost_response_is_page(handle_.get()) == 0) return std::nullopt;
        event_page out;
        const std::size_t count = agenthost_response_event_count(handle_.get());
        out.events.reserve(count);
        for (std::size_t index = 0; index < count; ++index) {
            out.events.push_back(detail::from_c(*agenthost_response_event(handle_.get(), index)));
        }
        out.next_sequence = agenthost_response_next_sequence(handle_.get());
        out.has_more = agenthost_response_has_more(handle_.get()) != 0;
        return out;
    }

private:
    template <class T>
    static auto copy(const T* found) -> std::optional<decltype(detail::from_c(*found))> {
        if (found == nullptr) return std::nullopt;
        return detail::from_c(*found);
    }

    struct free {
        void operator()(agenthost_response* handle) const noexcept { agenthost_response_free(handle); }
    };
    std::unique_ptr<agenthost_response, free> handle_;
};

/// A response whose request is not known (from a log, in a proxy): everything but "it answers this request" is checked. Metadata
/// with sensitive names is dropped.
/// @throws error `bad_response`: `what()` says which rule it breaks.
inline response decode(std::string_view message) {
    agenthost_response* parsed = nullptr;
    agenthost_buffer* why = nullptr;
    const agenthost_status status = agenthost_response_parse_any(detail::text(message), &parsed, &why);
    if (status != AGENTHOST_OK) detail::fail(status, buffer(why));
    return response(parsed);
}

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
        if (std::optional<host_error> refused = answered.error()) throw *std::move(refused);
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

    /// A client of whatever is behind `transport`.
    explicit client(transport transport) : transport_(std::move(transport)) {}

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

/* -------------------------------------------------------------------------------------------------- the library */

/// The most preferred supported version of the protocol that is offered, or none: then negotiation fails. Static text.
inline std::optional<std::string_view> negotiate_version(const std::vector<std::string_view>& offered) {
    std::vector<agenthost_str> texts;
    texts.reserve(offered.size());
    for (std::string_view each : offered) texts.push_back(detail::text(each));
    const agenthost_str best = agenthost_negotiate_version(texts.data(), texts.size());
    return best.data != nullptr ? std::optional(std::string_view(best.data, best.len)) : std::nullopt;
}

/// Whether `name` looks as if its value were a secret, by the built-in names. A host may know more: `host::is_sensitive_name`.
inline bool is_sensitive_name(std::string_view name) noexcept {
    return agenthost_is_sensitive_name(nullptr, detail::text(name)) != 0;
}

/// The version of the library that is loaded, for example `0.1.0`. Static text.
inline std::string_view library_version() noexcept { return agenthost_version(); }

}  // namespace agenthost

#endif  // AGENTHOST_HPP
