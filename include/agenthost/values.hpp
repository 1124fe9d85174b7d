// What a service answers and a client reads: runs, approvals, events, and where a run comes from. They own what they hold.
#ifndef AGENTHOST_VALUES_HPP
#define AGENTHOST_VALUES_HPP

#include <agenthost/requirements.hpp>

#ifdef AGENTHOST_CPP_SUPPORTED

#include <agenthost/enums.hpp>
#include <agenthost/metadata.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agenthost {

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

    /// The first event: a page is a range of its events.
    std::vector<event>::const_iterator begin() const noexcept { return events.begin(); }
    /// Behind the last event.
    std::vector<event>::const_iterator end() const noexcept { return events.end(); }
};

/// A result as JSON text, for services that have it so. Checked like the typed ones.
struct json_result {
    std::string text;  ///< The result of the operation.
};

}  // namespace agenthost

#endif  // AGENTHOST_CPP_SUPPORTED
#endif  // AGENTHOST_VALUES_HPP
