// A service that answers what a vector tells it to, at once or from another thread, and keeps what it was asked.
#ifndef AGENTHOST_TESTS_SCRIPT_HPP
#define AGENTHOST_TESTS_SCRIPT_HPP

#include <agenthost.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "json.hpp"

namespace script {

/// How the service answers: all of them have to come to the same.
enum class manner { returned, deferred, json };

/* ------------------------------------------------------------------------------------- typed values as JSON text */

inline std::string text(std::string_view name, std::string_view value) { return json::quote(name) + ":" + json::quote(value); }
inline std::string raw(std::string_view name, std::string_view value) { return json::quote(name) + ":" + std::string(value); }
inline std::string number(std::string_view name, std::uint64_t value) { return raw(name, std::to_string(value)); }
inline std::string time(std::string_view name, std::optional<std::int64_t> value) {
    return raw(name, value ? std::to_string(*value) : "null");
}
inline std::string object(const std::vector<std::string>& members) {
    std::string out = "{";
    for (const std::string& member : members) out += (out.size() > 1 ? "," : "") + member;
    return out + "}";
}
inline std::string pairs(std::string_view name, agenthost::metadata_view metadata) {
    std::vector<std::string> members;
    for (const auto pair : metadata) members.push_back(text(pair.name, pair.value));
    return raw(name, object(members));
}
template <class Context>
std::string context_text(const Context& context) {
    return raw("context", object({text("runId", context.run_id), text("traceId", context.trace_id),
                                  text("requestId", context.request_id), text("tenantId", context.tenant_id),
                                  text("userId", context.user_id), text("applicationId", context.application_id),
                                  text("workspaceId", context.workspace_id), text("conversationId", context.conversation_id),
                                  text("agentId", context.agent_id), text("locale", context.locale),
                                  time("deadlineUnixMs", context.deadline_unix_ms), pairs("metadata", context.metadata)}));
}

inline std::string request_text(const agenthost::create_run_request& request) {
    return object({context_text(request.context), raw("input", request.input), pairs("metadata", request.metadata)});
}
inline std::string request_text(const agenthost::get_run_request& request) { return object({text("runId", request.run_id)}); }
inline std::string request_text(const agenthost::cancel_run_request& request) {
    return object({text("runId", request.run_id), number("expectedRevision", request.expected_revision),
                   text("reason", request.reason)});
}
inline std::string request_text(const agenthost::resolve_approval_request& request) {
    return object({text("runId", request.run_id), number("expectedRevision", request.expected_revision),
                   text("approvalId", request.approval_id), text("resolution", name(request.resolution)),
                   text("reason", request.reason), pairs("metadata", request.metadata)});
}
inline std::string request_text(const agenthost::resume_run_request& request) {
    return object({text("runId", request.run_id), number("expectedRevision", request.expected_revision),
                   text("approvalId", request.approval_id), raw("input", request.input)});
}
inline std::string request_text(const agenthost::list_events_request& request) {
    return object({text("runId", request.run_id), number("afterSequence", request.after_sequence), number("limit", request.limit)});
}

inline std::string result_text(const agenthost::run_submission& result) {
    return object({text("runId", result.run_id), number("revision", result.revision), text("status", name(result.status))});
}
inline std::string result_text(const agenthost::approval_view& result) {
    return object({text("approvalId", result.approval_id), text("toolCallId", result.tool_call_id),
                   text("toolName", result.tool_name), text("resolution", name(result.resolution)),
                   text("reason", result.reason), time("createdAtUnixMs", result.created_at_unix_ms),
                   time("resolvedAtUnixMs", result.resolved_at_unix_ms), pairs("metadata", result.metadata)});
}
inline std::string result_text(const agenthost::run_view& result) {
    return object({text("runId", result.run_id), number("revision", result.revision), text("status", name(result.status)),
                   context_text(result.context), time("createdAtUnixMs", result.created_at_unix_ms),
                   time("updatedAtUnixMs", result.updated_at_unix_ms), time("completedAtUnixMs", result.completed_at_unix_ms),
                   raw("approval", result.approval ? result_text(*result.approval) : "null"), raw("result", result.result),
                   text("error", result.error), pairs("metadata", result.metadata)});
}
inline std::string result_text(const agenthost::event& result) {
    return object({text("runId", result.run_id), number("sequence", result.sequence), text("type", result.type),
                   text("status", name(result.status)), text("stepId", result.step_id),
                   text("toolCallId", result.tool_call_id), time("timestampUnixMs", result.timestamp_unix_ms),
                   raw("data", result.data), pairs("metadata", result.metadata)});
}
inline std::string result_text(const agenthost::event_page& result) {
    std::string events;
    for (const agenthost::event& each : result.events) events += (events.empty() ? "" : ",") + result_text(each);
    return object({raw("events", "[" + events + "]"), number("nextSequence", result.next_sequence),
                   raw("hasMore", result.has_more ? "true" : "false")});
}

/* ------------------------------------------------------------------------------------- JSON values as typed ones */

/// The enumerator whose word this is; 0, which is none, when there is no such word.
template <class Enum>
Enum from_word(const json::value& word, int count) {
    for (int number = 1; number <= count; ++number) {
        if (agenthost::name(static_cast<Enum>(number)) == word.string) return static_cast<Enum>(number);
    }
    return static_cast<Enum>(0);
}
inline agenthost::run_status status(const json::value& word) { return from_word<agenthost::run_status>(word, 7); }
inline std::optional<std::int64_t> time(const json::value& value) {
    return value.is_null() ? std::nullopt : std::optional(value.integer());
}
inline agenthost::metadata metadata(const json::value& value) {
    agenthost::metadata out;
    for (const auto& [name, member] : value.members) out.set(name, member.string);
    return out;
}

inline void read(const json::value& from, agenthost::run_submission& to) {
    to = {from["runId"].string, from["revision"].unsigned_integer(), status(from["status"])};
}
inline void read(const json::value& from, agenthost::execution_context& to) {
    to = {from["runId"].string,         from["traceId"].string,        from["requestId"].string,     from["tenantId"].string,
          from["userId"].string,        from["applicationId"].string,  from["workspaceId"].string,   from["conversationId"].string,
          from["agentId"].string,       from["locale"].string,         time(from["deadlineUnixMs"]), metadata(from["metadata"])};
}
inline void read(const json::value& from, agenthost::approval_view& to) {
    to = {from["approvalId"].string, from["toolCallId"].string,
          from["toolName"].string,   from_word<agenthost::resolution>(from["resolution"], 3),
          from["reason"].string,     from["createdAtUnixMs"].integer(),
          time(from["resolvedAtUnixMs"]), metadata(from["metadata"])};
}
inline void read(const json::value& from, agenthost::run_view& to) {
    to.run_id = from["runId"].string;
    to.revision = from["revision"].unsigned_integer();
    to.status = status(from["status"]);
    read(from["context"], to.context);
    to.created_at_unix_ms = from["createdAtUnixMs"].integer();
    to.updated_at_unix_ms = from["updatedAtUnixMs"].integer();
    to.completed_at_unix_ms = time(from["completedAtUnixMs"]);
    if (!from["approval"].is_null()) read(from["approval"], to.approval.emplace());
    to.result = from["result"].raw;
    to.error = from["error"].string;
    to.metadata = metadata(from["metadata"]);
}
inline void read(const json::value& from, agenthost::event& to) {
    to = {from["runId"].string,  from["sequence"].unsigned_integer(), from["type"].string, status(from["status"]),
          from["stepId"].string, from["toolCallId"].string, from["timestampUnixMs"].integer(), std::string(from["data"].raw),
          metadata(from["metadata"])};
}
inline void read(const json::value& from, agenthost::event_page& to) {
    for (const json::value& each : from["events"].elements) read(each, to.events.emplace_back());
    to.next_sequence = from["nextSequence"].unsigned_integer();
    to.has_more = from["hasMore"].boolean;
}
inline agenthost::host_error error(const json::value& from) {
    agenthost::host_error out(from_word<agenthost::error_code>(from["code"], 8), from["message"].string);
    out.with_retryable(from["retryable"].boolean)
        .with_details(std::string(from["details"].raw))
        .with_metadata(metadata(from["metadata"]));
    return out;
}

/* ------------------------------------------------------------------------------------------------- the service */

class service final : public agenthost::service {
public:
    service(const json::value& reply, manner how, std::vector<std::string>& seen) : reply_(reply), how_(how), seen_(seen) {}
    ~service() override {
        for (std::thread& thread : threads_) thread.join();
    }

    agenthost::answer<agenthost::run_submission> create_run(const agenthost::call& call, const agenthost::create_run_request& request) override {
        return serve(call, request);
    }
    agenthost::answer<agenthost::run_view> get_run(const agenthost::call& call, const agenthost::get_run_request& request) override {
        return serve(call, request);
    }
    agenthost::answer<agenthost::run_submission> cancel_run(const agenthost::call& call, const agenthost::cancel_run_request& request) override {
        return serve(call, request);
    }
    agenthost::answer<agenthost::run_submission> resolve_approval(const agenthost::call& call, const agenthost::resolve_approval_request& request) override {
        return serve(call, request);
    }
    agenthost::answer<agenthost::run_submission> resume_run(const agenthost::call& call, const agenthost::resume_run_request& request) override {
        return serve(call, request);
    }
    agenthost::answer<agenthost::event_page> list_events(const agenthost::call& call, const agenthost::list_events_request& request) override {
        return serve(call, request);
    }

private:
    template <class Request>
    agenthost::answer<typename Request::result_type> serve(const agenthost::call& call, const Request& request) {
        using result = typename Request::result_type;
        seen_.push_back(object({text("operation", name(call.operation)),
                                raw("context", object({text("requestId", call.request_id), text("idempotencyKey", call.idempotency_key),
                                                       pairs("metadata", call.metadata)})),
                                raw("request", request_text(request))}));
        if (how_ == manner::deferred && !reply_["throw"].boolean) {
            threads_.emplace_back([this, reply = call.defer(request)]() mutable { answer(reply); });
            return agenthost::deferred;
        }
        if (reply_.has("error")) {
            if (how_ == manner::json) return error(reply_["error"]);
            throw error(reply_["error"]);
        }
        if (!reply_.has("ok")) {
            // Deferred, it is the exception that gives the reply back to the slot.
            auto kept = how_ == manner::deferred ? call.defer(request) : agenthost::reply<result>();
            throw std::runtime_error("the vector tells the service to fail");
        }
        if (how_ == manner::json) return agenthost::json_result{std::string(reply_["ok"].raw)};
        result out;
        read(reply_["ok"], out);
        return out;
    }

    template <class Result>
    void answer(agenthost::reply<Result>& reply) {
        try {
            if (reply_.has("error")) {
                reply.fail(error(reply_["error"]));
                return;
            }
            Result out;
            read(reply_["ok"], out);
            reply.answer(out);
        } catch (const agenthost::error& broken) {
            // Some vectors break a rule; what comes out of it is what they are about.
            if (broken.status() != agenthost::status_code::bad_answer) throw;
        }
    }

    const json::value& reply_;
    manner how_;
    std::vector<std::string>& seen_;
    std::vector<std::thread> threads_;
};

}  // namespace script

#endif
