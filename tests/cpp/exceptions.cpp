// What a service throws never reaches a caller: the caller gets a code, the log gets the cause.

#include <new>
#include <stdexcept>

#include "check.hpp"
#include "fixture.hpp"

using namespace fixture;
using agenthost::error_code;
using agenthost::host_error;

namespace {

std::string thrown_by(service::get_function get, memory_log& log, bool log_exceptions = true) {
    agenthost::host_options options;
    options.log = log.function();
    options.log_exceptions = log_exceptions;
    return host(std::move(get), options).dispatch(get_run_message()).str();
}

struct no_std_exception {};

}  // namespace

TEST(a_host_error_answers_with_its_code_thrown_or_returned) {
    for (const bool thrown : {true, false}) {
        memory_log log;
        const std::string response = thrown_by(
            [&](const call&, const agenthost::get_run_request&) -> answer<agenthost::run_view> {
                host_error error(error_code::conflict, "not now");
                error.with_retryable(true).with_details(R"({"revision":4})").with_metadata({{"region", "eu"}, {"password", "x"}});
                if (thrown) throw error;
                return error;
            },
            log);
        const auto error = agenthost::decode(response).error();
        CHECK(error && error->code() == error_code::conflict && error->message() == "not now" && error->retryable());
        CHECK(error->details() == R"({"revision":4})");
        CHECK(error->metadata() == agenthost::metadata({{"region", "eu"}}));
        CHECK(log.size() == 0);
    }
}

TEST(an_exception_is_internal_outside_and_its_cause_in_the_log) {
    memory_log log;
    const std::string response =
        thrown_by([](const call&, const agenthost::get_run_request&) -> answer<agenthost::run_view> {
            throw std::runtime_error("the database said no");
        }, log);
    CHECK(code(response) == "internal");
    CHECK(response.find("database") == std::string::npos);
    CHECK(log.size() == 1 && log.contains("the service threw in=get_run what=the database said no"));
}

TEST(the_cause_can_be_kept_out_of_the_log) {
    memory_log log;
    const std::string response =
        thrown_by([](const call&, const agenthost::get_run_request&) -> answer<agenthost::run_view> {
            throw std::runtime_error("the database said no");
        }, log, false);
    CHECK(code(response) == "internal");
    CHECK(!log.contains("database"));
    CHECK(log.size() == 1 && log.contains("the service threw in=get_run"));
}

TEST(every_kind_of_exception_is_caught) {
    const std::vector<std::pair<const char*, void (*)()>> kinds = {
        {"bad_alloc", [] { throw std::bad_alloc(); }},
        {"logic", [] { throw std::logic_error("logic"); }},
        {"misuse", [] { throw agenthost::error(agenthost::status_code::closed, "misuse"); }},
        {"no std::exception", [] { throw 42; }},
        {"no std::exception", [] { throw no_std_exception(); }},
        {"no std::exception", [] { throw "text"; }},
    };
    for (const auto& [told, raise] : kinds) {
        memory_log log;
        const auto raise_it = raise;
        const std::string response =
            thrown_by([raise_it](const call&, const agenthost::get_run_request& request) -> answer<agenthost::run_view> {
                raise_it();
                return run(request.run_id);
            }, log);
        CHECK(code(response) == "internal");
        CHECK(log.size() == 1 && log.contains(told));
    }
}

TEST(every_function_of_a_service_is_guarded) {
    struct throwing : agenthost::service {
        answer<agenthost::run_submission> create_run(const call&, const agenthost::create_run_request&) override { throw 1; }
        answer<agenthost::run_view> get_run(const call&, const agenthost::get_run_request&) override { throw 2; }
        answer<agenthost::run_submission> cancel_run(const call&, const agenthost::cancel_run_request&) override { throw 3; }
        answer<agenthost::run_submission> resolve_approval(const call&, const agenthost::resolve_approval_request&) override { throw 4; }
        answer<agenthost::run_submission> resume_run(const call&, const agenthost::resume_run_request&) override { throw 5; }
        answer<agenthost::event_page> list_events(const call&, const agenthost::list_events_request&) override { throw 6; }
    };
    memory_log log;
    agenthost::host_options options;
    options.log = log.function();
    const agenthost::host host(std::make_unique<throwing>(), options);
    agenthost::execution_context_view context;
    context.run_id = "run-1";
    const auto bytes = [&](const auto& request) { return std::string(agenthost::prepare(request).bytes()); };
    const std::pair<const char*, std::string> messages[] = {
        {"create_run", bytes(agenthost::create_run_request{context, "{}", {}})},
        {"get_run", bytes(agenthost::get_run_request{"run-1"})},
        {"cancel_run", bytes(agenthost::cancel_run_request{"run-1", 1, ""})},
        {"resolve_approval", bytes(agenthost::resolve_approval_request{"run-1", 1, "a", agenthost::resolution::denied, "", {}})},
        {"resume_run", bytes(agenthost::resume_run_request{"run-1", 1, "a", "[]"})},
        {"list_events", bytes(agenthost::list_events_request{"run-1", 0, 5})},
    };
    for (const auto& [operation, message] : messages) {
        CHECK(code(host.dispatch(message)) == "internal");
        CHECK(log.contains("in=" + std::string(operation)));
    }
}

TEST(an_exception_after_deferring_is_internal_when_the_reply_goes_with_it) {
    memory_log log;
    const std::string response =
        thrown_by([](const call& call, const agenthost::get_run_request& request) -> answer<agenthost::run_view> {
            const auto reply = call.defer(request);
            throw std::runtime_error("after deferring");
        }, log);
    CHECK(code(response) == "internal");
    CHECK(log.size() == 1 && log.contains("after deferring"));
}

TEST(an_exception_after_deferring_changes_nothing_when_somebody_else_has_the_reply) {
    memory_log log;
    agenthost::host_options options;
    options.log = log.function();
    agenthost::reply<agenthost::run_view> kept;
    const agenthost::host host = fixture::host(
        [&](const call& call, const agenthost::get_run_request& request) -> answer<agenthost::run_view> {
            kept = call.defer(request);
            throw std::runtime_error("too late");
        }, options);
    auto future = host.dispatch_future(get_run_message());
    CHECK(log.size() == 1 && log.contains("too late"));
    CHECK(kept.answer(run("run-1")));
    CHECK(code(future.get()) == "");
}

TEST(an_answer_beside_a_deferred_reply_is_lost_and_logged) {
    memory_log log;
    agenthost::host_options options;
    options.log = log.function();
    agenthost::reply<agenthost::run_view> kept;
    const agenthost::host host = fixture::host(
        [&](const call& call, const agenthost::get_run_request& request) -> answer<agenthost::run_view> {
            kept = call.defer(request);
            return run(request.run_id);
        }, options);
    auto future = host.dispatch_future(get_run_message());
    CHECK(log.contains("deferred a call and answered it at once too"));
    CHECK(kept.fail(host_error(error_code::not_found, "gone")));
    CHECK(code(future.get()) == "not_found");
}

TEST(saying_deferred_without_deferring_is_internal) {
    memory_log log;
    CHECK(code(thrown_by([](const call&, const agenthost::get_run_request&) -> answer<agenthost::run_view> {
              return agenthost::deferred;
          }, log)) == "internal");
    CHECK(log.contains("without an answer"));
}

TEST(an_answer_that_breaks_a_rule_is_internal_and_the_rule_is_logged) {
    memory_log log;
    const std::string response =
        thrown_by([](const call&, const agenthost::get_run_request&) -> answer<agenthost::run_view> { return run("another"); }, log);
    CHECK(code(response) == "internal");
    CHECK(log.contains("path=runId"));
    memory_log other;
    CHECK(code(thrown_by([](const call&, const agenthost::get_run_request&) -> answer<agenthost::run_view> {
              return agenthost::json_result{"{\"runId\":"};
          }, other)) == "internal");
    CHECK(other.contains("breaks a rule"));
}

TEST(an_error_of_no_code_and_one_that_is_no_text_are_internal) {
    for (const auto& error : {host_error(static_cast<error_code>(99), "x"), host_error(error_code::conflict, "\xff")}) {
        memory_log log;
        CHECK(code(thrown_by([&](const call&, const agenthost::get_run_request&) -> answer<agenthost::run_view> { throw error; }, log)) == "internal");
        CHECK(log.contains("breaks a rule"));
    }
}

TEST(a_log_function_that_throws_harms_nobody) {
    agenthost::host_options options;
    options.log = [](agenthost::log_level, std::string_view, agenthost::metadata_view) { throw std::runtime_error("log"); };
    const agenthost::host host = fixture::host(
        [](const call&, const agenthost::get_run_request&) -> answer<agenthost::run_view> { throw std::runtime_error("x"); }, options);
    CHECK(code(host.dispatch(get_run_message())) == "internal");
}

TEST(a_callback_that_throws_is_logged_once_and_harms_nobody) {
    memory_log log;
    agenthost::host_options options;
    options.log = log.function();
    const agenthost::host host = fixture::host({}, options);
    host.dispatch_async(get_run_message(), [](agenthost::buffer) { throw std::runtime_error("from the callback"); });
    CHECK(log.size() == 1 && log.contains("from the callback"));
    CHECK(code(host.dispatch(get_run_message())) == "");
}

TEST(a_notification_that_throws_is_logged_once_and_harms_nobody) {
    memory_log log;
    agenthost::host_options options;
    options.log = log.function();
    agenthost::reply<agenthost::run_view> kept;
    const agenthost::host host = fixture::host([&](const call& call, const agenthost::get_run_request& request) -> answer<agenthost::run_view> {
        kept = call.defer(request);
        kept.on_abandoned([] { throw std::runtime_error("from the notification"); });
        return agenthost::deferred;
    }, options);
    std::string response;
    host.dispatch_async(get_run_message(), [&](agenthost::buffer got) { response = got.str(); }).cancel();
    CHECK(has_reason(response, "cancelled"));
    CHECK(log.size() == 1 && log.contains("from the notification"));
}
