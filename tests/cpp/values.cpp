// Requests, results, metadata, the client, and the small functions of the library.

#include <algorithm>

#include "check.hpp"
#include "fixture.hpp"

using namespace fixture;

namespace {

agenthost::execution_context_view full_context(const agenthost::metadata& metadata) {
    agenthost::execution_context_view context;
    context.run_id = "run-1";
    context.trace_id = "trace";
    context.tenant_id = "ten\"ant";
    context.locale = "en-US";
    context.deadline_unix_ms = 1893456000123;
    context.metadata = metadata;
    return context;
}

/// A client of a host in this process.
agenthost::client client_of(const agenthost::host& host) {
    return agenthost::client([&host](std::string_view request) { return host.dispatch(request).str(); });
}

}  // namespace

TEST(metadata_is_a_map_in_order_of_insertion) {
    agenthost::metadata owned{{"b", "1"}, {"a", "2"}, {"b", "3"}};
    CHECK(owned.size() == 2 && owned.begin()->first == "b" && owned.find("b") == "3" && !owned.find("c"));
    owned.set("c", std::string_view("x\0y", 3));
    const agenthost::metadata_view view = owned;
    CHECK(view.size() == 3 && view.find("c")->size() == 3 && view.to_owned() == owned);
    const auto found = std::find_if(view.begin(), view.end(), [](auto pair) { return pair.value == "2"; });
    CHECK(found != view.end() && (*found).name == "a");
    CHECK(agenthost::metadata_view().empty() && agenthost::metadata_view().begin() == agenthost::metadata_view().end());
}

TEST(a_service_is_given_typed_requests) {
    struct asking : service {
        answer<agenthost::run_submission> create_run(const call& call, const agenthost::create_run_request& request) override {
            CHECK(call.operation == agenthost::operation::create_run && call.request_id == "req" && call.idempotency_key == "key");
            CHECK(call.metadata.find("trace") == "on" && !call.principal);
            CHECK(request.context.tenant_id == "ten\"ant" && request.context.deadline_unix_ms == 1893456000123);
            CHECK(request.context.metadata.find("region") == "eu" && request.input == R"({"a":[1,2]})");
            const agenthost::execution_context kept = to_owned(request.context);
            CHECK(kept.locale == "en-US" && kept.metadata == agenthost::metadata({{"region", "eu"}}));
            CHECK(request.metadata.find("kind") == "test");
            return submission(request.context.run_id);
        }
        answer<agenthost::run_submission> resolve_approval(const call&, const agenthost::resolve_approval_request& request) override {
            CHECK(request.resolution == agenthost::resolution::denied && request.reason == "no" && request.expected_revision == 9);
            return submission(request.run_id);
        }
    };
    const agenthost::host host(std::make_unique<asking>());
    const agenthost::metadata region{{"region", "eu"}}, kind{{"kind", "test"}}, trace{{"trace", "on"}};
    agenthost::request_options options;
    options.request_id = "req";
    options.idempotency_key = "key";
    options.metadata = trace;
    CHECK(client_of(host).create_run({full_context(region), R"({"a":[1,2]})", kind}, options).run_id == "run-1");
    CHECK(client_of(host).resolve_approval({"run-1", 9, "approval", agenthost::resolution::denied, "no", {}}).revision == 1);
}

TEST(a_client_reads_what_a_service_answers) {
    struct answering : service {
        answer<agenthost::run_view> get_run(const call&, const agenthost::get_run_request& request) override {
            agenthost::run_view out = run(request.run_id);
            out.context.run_id = request.run_id;
            out.context.user_id = "user";
            out.context.metadata = {{"region", "eu"}, {"accessToken", "secret"}};
            out.created_at_unix_ms = 1;
            out.updated_at_unix_ms = -2;
            out.completed_at_unix_ms = 3;
            out.approval = agenthost::approval_view{"a", "t", "tool", agenthost::resolution::approved, "fine", 4, 5, {{"risk", "low"}}};
            out.result = "[1.50]";
            out.error = "none";
            out.metadata = {{"agent", "x"}};
            return out;
        }
        answer<agenthost::event_page> list_events(const call&, const agenthost::list_events_request& request) override {
            CHECK(request.after_sequence == 4 && request.limit == 256);
            agenthost::event event;
            event.run_id = request.run_id;
            event.type = "step";
            event.metadata = {{"n", "1"}};
            agenthost::event_page page{{event, event}, 8, true};
            page.events[0].sequence = 5;
            page.events[1].sequence = 8;
            page.events[1].data = R"({"x":null})";
            page.events[1].status = agenthost::run_status::timed_out;
            return page;
        }
    };
    const agenthost::host host(std::make_unique<answering>());
    const agenthost::client client = client_of(host);
    const agenthost::run_view view = client.get_run({"run-1"});
    CHECK(view.run_id == "run-1" && view.revision == 3 && view.status == agenthost::run_status::running);
    CHECK(view.context.user_id == "user" && view.context.metadata == agenthost::metadata({{"region", "eu"}}));
    CHECK(view.updated_at_unix_ms == -2 && view.completed_at_unix_ms == 3 && view.result == "[1.50]" && view.error == "none");
    CHECK(view.approval && view.approval->resolution == agenthost::resolution::approved && view.approval->resolved_at_unix_ms == 5);
    CHECK(view.approval->metadata.find("risk") == "low" && view.metadata.find("agent") == "x");
    const agenthost::event_page page = client.list_events({"run-1", 4, 0});
    CHECK(page.events.size() == 2 && page.next_sequence == 8 && page.has_more);
    CHECK(page.events[0].data == "null" && page.events[1].data == R"({"x":null})" && page.events[1].metadata.find("n") == "1");
    CHECK(page.events[1].status == agenthost::run_status::timed_out && page.events[0].type == "step");
    CHECK(client.cancel_run({"run-1", 2, ""}).run_id == "run-1");
    CHECK(client.resume_run({"run-1", 2, "approval", "{}"}).status == agenthost::run_status::created);
}

TEST(a_client_throws_what_it_is_answered) {
    const agenthost::host host = fixture::host([](const call&, const agenthost::get_run_request&) -> answer<agenthost::run_view> {
        return agenthost::host_error(agenthost::error_code::not_found, "there is no such run");
    });
    try {
        client_of(host).get_run({"run-1"});
        FAIL("an exception was expected");
    } catch (const agenthost::host_error& error) {
        CHECK(error.code() == agenthost::error_code::not_found && std::string(error.what()) == "there is no such run");
        CHECK(error.details() == "{}" && error.original_code().empty());
    }
    const agenthost::client liar([](std::string_view) { return std::string("{}"); });
    CHECK_MISUSE(bad_response, liar.get_run({"run-1"}));
    CHECK_MISUSE(invalid_argument, client_of(host).get_run({""}));
    CHECK_MISUSE(invalid_argument, client_of(host).cancel_run({"run-1", 0, ""}));
}

TEST(a_prepared_request_is_the_same_bytes_each_time) {
    const auto request = agenthost::prepare(agenthost::cancel_run_request{"run-1", 1, "enough"});
    CHECK(request.bytes() == request.bytes() && request.request_id().size() == 36 && request.idempotency_key().size() == 36);
    CHECK(agenthost::prepare(agenthost::get_run_request{"run-1"}).idempotency_key().empty());
    const agenthost::host host = fixture::host();
    const agenthost::client client = client_of(host);
    CHECK(client.send(request).run_id == client.send(request).run_id);
    const auto other = agenthost::prepare(agenthost::cancel_run_request{"run-1", 1, "enough"});
    CHECK_MISUSE(bad_response, request.result(host.dispatch(other.bytes())));
    const agenthost::response response = request.decode(host.dispatch(request.bytes()));
    CHECK(response.request_id() == request.request_id() && response.operation() == agenthost::operation::cancel_run);
    CHECK(response.protocol_version() == "2026-07-01" && response.submission() && !response.run() && !response.page() && !response.error());
}

TEST(an_unknown_code_reads_as_internal_and_is_kept) {
    const auto error = agenthost::decode(
        R"({"protocolVersion":"2026-07-01","requestId":"r","operation":"get_run","ok":false,"body":{},"error":{"code":"tired"}})").error();
    CHECK(error && error->code() == agenthost::error_code::internal && error->original_code() == "tired");
    CHECK_MISUSE(bad_response, agenthost::decode("null"));
}

TEST(versions_are_negotiated_and_names_judged_by_the_library) {
    CHECK(agenthost::negotiate_version({"1999-01-01", "2026-07-01"}) == "2026-07-01");
    CHECK(!agenthost::negotiate_version({"1999-01-01"}) && !agenthost::negotiate_version({}));
    CHECK(agenthost::is_sensitive_name("x-api-key") && !agenthost::is_sensitive_name("max_tokens"));
    agenthost::host_options options;
    options.sensitive_names = {"Session-ID"};
    const agenthost::host host = fixture::host({}, options);
    CHECK(host.is_sensitive_name("my_session_id") && !agenthost::is_sensitive_name("my_session_id"));
    CHECK(agenthost::library_version() == AGENTHOST_VERSION);
}

TEST(words_have_their_names_and_others_have_none) {
    CHECK(name(agenthost::operation::list_events) == "list_events" && name(agenthost::run_status::timed_out) == "timed_out");
    CHECK(name(agenthost::resolution::denied) == "denied" && name(agenthost::error_code::internal) == "internal");
    CHECK(name(static_cast<agenthost::run_status>(0)) == "?" && name(static_cast<agenthost::operation>(7)) == "?");
    static_assert(name(agenthost::error_code::conflict) == "conflict");
}

TEST(the_limit_of_a_host_is_its_own) {
    agenthost::host_options options;
    options.max_message_bytes = 100;
    const agenthost::host host = fixture::host({}, options);
    CHECK(code(host.dispatch(get_run_message(std::string(200, 'x')))) == "invalid_request");
}

