// Durable runs in C++: whole lives, as a client and as a worker, in memory and in a file.

#include "check.hpp"
#include "fixture.hpp"
#include "store.hpp"

using namespace std::chrono_literals;
using agenthost::run_status;

namespace {

/// A place for runs in a file, or none for runs in memory.
struct place {
    bool in_memory;
    store::folder folder;

    std::string url() const { return in_memory ? "memory:" : folder.url(); }
};

/// Runs a test for each kind of store.
template <class Test>
void everywhere(Test test) {
    for (const bool in_memory : {true, false}) test(place{in_memory, {}});
}

}  // namespace

TEST(a_run_lives_from_its_creation_to_its_end_in_memory_and_in_a_file) {
    everywhere([](const place& where) {
        const agenthost::runs runs = agenthost::runs::open(where.url());
        const agenthost::host host = runs.host();
        const agenthost::client client = store::client(host, "ann");

        agenthost::create_run_request request = store::create("run-1");
        request.input = R"({"topic":"otters"})";
        const agenthost::metadata of_run{{"kind", "test"}};
        request.metadata = of_run;
        CHECK(client.create_run(request).status == run_status::created);
        CHECK(runs.wait_for_work({"writer"}, 10s));

        const agenthost::claimed first = store::take(runs);
        CHECK(first.claim.run_id == "run-1" && first.claim.token.reveal().size() == 32 && first.owner == "ann");
        CHECK(first.attempt == 1 && first.lease == 30s && first.lease_ends_at_unix_ms > 0 && first.approvals.empty());
        CHECK(first.context.agent_id == "writer" && first.input == R"({"topic":"otters"})" && first.metadata == of_run);
        CHECK(!runs.claim({{"writer"}, "another", {}}));
        CHECK(runs.heartbeat(first.claim) >= first.lease_ends_at_unix_ms);

        const agenthost::metadata of_event{{"n", "1"}};
        const std::uint64_t sequence = runs.append_events(first.claim, {{"draft", "[1]", "step", "call", of_event}, {"draft"}}, "once");
        CHECK(sequence == 3 && runs.append_events(first.claim, {{"draft", "[1]", "step", "call", of_event}, {"draft"}}, "once") == 3);
        const agenthost::admitted_result admitted = runs.admit_tool_result(first.claim, {"call", "search", "try-1", "[2]", "step"});
        CHECK(admitted.outcome == "[2]" && !admitted.repeated && admitted.sequence == 5 && admitted.tool_name == "search");
        CHECK(runs.admit_tool_result(first.claim, {"call", "search", "try-1", "[3]", "step"}).repeated);

        const agenthost::suspended suspended = runs.suspend(
            first.claim, {{{"publish-1", "publish", "it is public", R"({"page":"/otters"})", {}, {}, agenthost::on_denied::fail, {}, false},
                           {"mail-1", "mail", "", "", {}, {}, agenthost::on_denied::resume, {"bob"}, true}},
                          "{\"page\":2}"});
        CHECK(suspended.run.status == run_status::waiting_for_approval && suspended.approval_ids.size() == 2);
        CHECK(client.get_run({"run-1"}).approval->reason == "it is public");
        agenthost::approval_filter of_bob;
        of_bob.state = agenthost::approval_state::pending;
        of_bob.approver = "bob";
        const agenthost::approval_page inbox = runs.list_approvals(of_bob);
        CHECK(inbox.approvals.size() == 1 && inbox.begin()->approval.tool_name == "mail" && inbox.begin()->not_owner);
        CHECK(inbox.begin()->approvers.size() == 1 && inbox.begin()->revision == suspended.run.revision && inbox.begin()->owner == "ann");
        CHECK(runs.wait_approvals(of_bob, inbox.next, 0, 1ms).approvals.empty());
        const std::uint64_t granted = client.resolve_approval(
            {"run-1", suspended.run.revision, suspended.approval_ids[0], agenthost::resolution::approved, "fine", {}}).revision;
        const agenthost::client bob = store::client(host, "bob");
        const std::uint64_t denied = bob.resolve_approval(
            {"run-1", granted, suspended.approval_ids[1], agenthost::resolution::denied, "not today", {}}).revision;
        CHECK(!runs.wait_for_work({"writer"}, 1ms));
        client.resume_run({"run-1", denied, suspended.approval_ids[0], R"({"go":true})"});

        const agenthost::claimed second = store::take(runs);
        CHECK(second.continuation == "{\"page\":2}" && second.resume_input == R"({"go":true})");
        CHECK(second.approvals.size() == 2 && second.approvals[0].arguments == R"({"page":"/otters"})");
        CHECK(second.approvals[0].approval.resolution == agenthost::resolution::approved && second.approvals[0].decided_by == "ann");
        CHECK(second.approvals[1].approval.resolution == agenthost::resolution::denied && second.approvals[1].decided_by == "bob");
        const agenthost::admitted_page results = runs.admitted_results("run-1", "", 10);
        CHECK(results.results.size() == 1 && !results.has_more && results.begin()->key == "try-1");
        runs.release(second.claim);
        const agenthost::claimed third = store::take(runs);
        CHECK(!runs.wait_claim_lost(third.claim, 1ms));
        CHECK(runs.complete(third.claim, R"({"pages":3})").status == run_status::completed);
        CHECK(runs.wait_claim_lost(third.claim, 10s) == run_status::completed);
        CHECK(client.get_run({"run-1"}).result == R"({"pages":3})");

        std::uint64_t expected = 0;
        const agenthost::followed_events followed = runs.wait_events("run-1", 0, 0, 10s);
        for (const agenthost::event& event : followed) CHECK(event.sequence == ++expected);
        CHECK(followed.is_drained() && followed.next_sequence == expected && followed.events[2].metadata == of_event);
        host.close();
        // The runs outlive the host.
        CHECK(runs.list_runs().runs.size() == 1);
    });
}

TEST(operators_list_compact_purge_and_copy_runs) {
    const store::folder folder;
    const agenthost::runs runs = agenthost::runs::open(folder.url());
    const agenthost::host host = runs.host();
    store::client(host, "ann").create_run(store::create("of-ann"));
    store::client(host).create_run(store::create("of-nobody", ""));
    agenthost::list_runs_request request;
    CHECK(runs.list_runs(request).runs.size() == 2);
    request.owner = "ann";
    const agenthost::run_page of_ann = runs.list_runs(request);
    CHECK(of_ann.runs.size() == 1 && of_ann.begin()->run_id == "of-ann" && of_ann.begin()->owner == "ann" && !of_ann.has_more);
    CHECK(of_ann.begin()->agent_id == "writer" && of_ann.begin()->head_sequence == 1 && !of_ann.begin()->completed_at_unix_ms);
    request.owner = {};
    request.without_owner = true;
    CHECK(runs.list_runs(request).begin()->run_id == "of-nobody" && !runs.list_runs(request).begin()->owner);
    request.without_owner = false;
    request.agent_id = "";
    CHECK(runs.list_runs(request).begin()->run_id == "of-nobody");
    request.agent_id = {};
    request.status = run_status::running;
    CHECK(runs.list_runs(request).runs.empty());

    const agenthost::claimed claimed = store::take(runs);
    runs.append_events(claimed.claim, {{"a"}, {"b"}});
    CHECK(runs.fail(claimed.claim, "no ink").status == run_status::failed);
    CHECK(runs.compact("of-ann", 4) == 5);
    try {
        runs.wait_events("of-ann", 1, 0, 0ms);
        FAIL("an exception was expected");
    } catch (const agenthost::cursor_expired& expired) {
        CHECK(expired.first_sequence() == 5u && expired.head_sequence() == 5u && expired.reason() == agenthost::conflict_reason::cursor_expired);
    }
    runs.backup(folder.file("copy.db"));
    CHECK(runs.purge(claimed.lease_ends_at_unix_ms + 3600000) == 1);
    CHECK(runs.list_runs().runs.size() == 1);
    CHECK(agenthost::runs::open("sqlite:" + folder.file("copy.db")).list_runs().runs.size() == 2);
}

TEST(runs_in_a_file_outlive_the_process_that_wrote_them) {
    const store::folder folder;
    {
        const agenthost::runs runs = agenthost::runs::open(folder.url());
        store::client(runs.host()).create_run(store::create("run-1"));
    }
    const agenthost::runs again = agenthost::runs::open(folder.url());
    CHECK(store::take(again).claim.run_id == "run-1");
}

TEST(a_host_keeps_its_runs_open_and_closed_runs_are_unavailable) {
    std::optional<agenthost::runs> runs = agenthost::runs::open("memory:");
    const agenthost::host host = runs->host();
    const agenthost::runs copy = *runs;
    runs.reset();
    CHECK(store::client(host).create_run(store::create("run-1")).revision == 1);
    copy.close();
    copy.close();
    CHECK(fixture::code(host.dispatch(fixture::get_run_message())) == "unavailable");
    try {
        copy.list_runs();
        FAIL("an exception was expected");
    } catch (const agenthost::host_error& closed) {
        CHECK(closed.code() == agenthost::error_code::unavailable && closed.retryable());
    }
}

TEST(runs_that_nothing_else_owns_stay_open_for_their_host) {
    const agenthost::host host = agenthost::runs::open("memory:").host();
    CHECK(store::client(host).create_run(store::create("run-1")).revision == 1);
    CHECK(store::client(agenthost::runs::open("memory:").host()).create_run(store::create("run-1")).revision == 1);
}

TEST(each_reason_of_a_conflict_is_a_type_for_workers_and_for_clients) {
    const agenthost::runs runs = agenthost::runs::open("memory:");
    const agenthost::host host = runs.host();
    const agenthost::client client = store::client(host);
    client.create_run(store::create("run-1"));
    const auto conflict = [](auto call, const auto& check) {
        try {
            call();
            FAIL("an exception was expected");
        } catch (const agenthost::conflict_error& caught) {
            CHECK(caught.code() == agenthost::error_code::conflict);
            CHECK(caught.details().find("\"" + std::string(name(caught.reason())) + "\"") != std::string::npos);
            check(dynamic_cast<const std::exception&>(caught));
        }
    };
    conflict([&] { client.cancel_run({"run-1", 9, ""}); }, [](const std::exception& caught) {
        CHECK(dynamic_cast<const agenthost::revision_mismatch&>(caught).current_revision() == 1u);
    });
    conflict([&] { client.list_events({"run-1", 7, 0}); }, [](const std::exception& caught) {
        CHECK(dynamic_cast<const agenthost::cursor_ahead&>(caught).head_sequence() == 1u);
    });
    conflict([&] { runs.wait_events("run-1", 7, 0, 10s); }, [](const std::exception& caught) {
        CHECK(dynamic_cast<const agenthost::cursor_ahead&>(caught).head_sequence() == 1u);
    });
    conflict([&] { client.create_run(store::create("run-1", "another")); }, [](const std::exception& caught) {
        CHECK(dynamic_cast<const agenthost::run_exists&>(caught).current_revision() == 1u);
    });
    conflict([&] { client.resume_run({"run-1", 1, "none", ""}); },
             [](const std::exception& caught) { CHECK(dynamic_cast<const agenthost::invalid_state*>(&caught) != nullptr); });

    agenthost::claimed claimed = store::take(runs);
    CHECK(!runs.admit_tool_result(claimed.claim, {"call", "tool", "one", "1", ""}).repeated);
    conflict([&] { runs.admit_tool_result(claimed.claim, {"call", "tool", "two", "1", ""}); },
             [](const std::exception& caught) { CHECK(dynamic_cast<const agenthost::idempotency_mismatch*>(&caught) != nullptr); });
    const agenthost::suspended suspended = runs.suspend(claimed.claim, {{{"call", "tool"}}});
    conflict([&] { client.resolve_approval({"run-1", suspended.run.revision, "none", agenthost::resolution::approved, "", {}}); },
             [](const std::exception& caught) { CHECK(dynamic_cast<const agenthost::approval_mismatch*>(&caught) != nullptr); });
    const auto granted = client.resolve_approval(
        {"run-1", suspended.run.revision, suspended.approval_ids[0], agenthost::resolution::approved, "", {}});
    const auto resumed = client.resume_run({"run-1", granted.revision, suspended.approval_ids[0], ""});
    conflict([&] { client.resume_run({"run-1", resumed.revision, suspended.approval_ids[0], ""}); }, [](const std::exception& caught) {
        CHECK(dynamic_cast<const agenthost::claim_held&>(caught).retry_after().has_value());
    });
    conflict([&] { runs.heartbeat(claimed.claim); },
             [](const std::exception& caught) { CHECK(dynamic_cast<const agenthost::claim_lost*>(&caught) != nullptr); });
}

TEST(a_value_that_breaks_a_rule_is_named) {
    const agenthost::runs runs = agenthost::runs::open("memory:");
    const auto refused = [](auto call, std::string_view member) {
        try {
            call();
            FAIL("an exception was expected");
        } catch (const agenthost::host_error& caught) {
            CHECK(caught.code() == agenthost::error_code::invalid_request);
            CHECK(caught.message().find(member) != std::string_view::npos);
        }
    };
    refused([&] { runs.claim({}); }, "agentIds");
    refused([&] { runs.claim({{"writer"}, "w", std::chrono::hours(25)}); }, "lease");
    refused([&] { runs.heartbeat({"run-1", agenthost::claim_token("no token")}); }, "token");
    refused([&] { runs.wait_for_work({}, 10s); }, "agentIds");
    agenthost::list_runs_request nobody;
    nobody.owner = "";
    refused([&] { runs.list_runs(nobody); }, "owner");
    nobody.without_owner = true;
    nobody.owner = "ann";
    CHECK_MISUSE(invalid_argument, runs.list_runs(nobody));
}

TEST(a_claim_does_not_print_its_token) {
    const agenthost::runs runs = agenthost::runs::open("memory:");
    store::client(runs.host()).create_run(store::create("run-1"));
    const agenthost::claimed claimed = store::take(runs);
    const std::string token = claimed.claim.token.reveal();
    const std::string end = token.back() == '0' ? "1" : "0";
    try {
        runs.complete({"run-1", agenthost::claim_token(token.substr(0, 31) + end)}, "");
        FAIL("an exception was expected");
    } catch (const agenthost::host_error& caught) {
        CHECK(std::string(caught.what()).find(token.substr(0, 16)) == std::string::npos);
        CHECK(caught.details().find(token.substr(0, 16)) == std::string::npos);
    }
    CHECK(runs.wait_events("run-1", 0, 0, 0ms).events.size() == 2);
}
