// The life of hosts, replies and pending calls: who owns what, and who answers.

#include <chrono>
#include <thread>

#include "check.hpp"
#include "fixture.hpp"

using namespace fixture;
using namespace std::chrono_literals;

namespace {

/// Counts how often a service is destroyed, and where.
struct watched : service {
    watched(std::atomic<int>& ended, get_function get = {}) : service(std::move(get)), ended_(ended) {}
    ~watched() override { ++ended_; }
    std::atomic<int>& ended_;
};

}  // namespace

TEST(a_service_ends_once_with_the_last_owner_of_its_host) {
    std::atomic<int> ended{0};
    {
        agenthost::host first(std::make_unique<watched>(ended));
        agenthost::host second = first;
        agenthost::host third = std::move(first);
        second = third;
        second = std::move(third);
        CHECK(code(second.dispatch(get_run_message())) == "");
        CHECK(ended == 0);
    }
    CHECK(ended == 1);
}

TEST(closing_ends_the_service_at_once_and_twice_is_once) {
    std::atomic<int> ended{0};
    const agenthost::host host(std::make_unique<watched>(ended));
    host.close();
    CHECK(ended == 1);
    CHECK(host.close(0ms));
    CHECK(ended == 1);
    CHECK(has_reason(host.dispatch(get_run_message()), "closed"));
}

TEST(a_service_that_others_share_outlives_its_host) {
    std::atomic<int> ended{0};
    auto shared = std::make_shared<watched>(ended);
    agenthost::host(shared).close();
    CHECK(ended == 0 && shared.use_count() == 1);
}

TEST(a_service_ends_when_its_host_cannot_be_made) {
    std::atomic<int> ended{0};
    agenthost::host_options options;
    options.sensitive_names = {"\xe6\x97\xa5"};
    fixture::memory_log log;
    options.log = log.function();
    CHECK_MISUSE(invalid_argument, agenthost::host(std::make_unique<watched>(ended), options));
    CHECK(ended == 1);
}

TEST(a_deferred_reply_answers_from_another_thread) {
    std::vector<std::thread> threads;
    const agenthost::host host = fixture::host([&](const call& call, const agenthost::get_run_request& request) -> answer<agenthost::run_view> {
        threads.emplace_back([reply = call.defer(request), id = std::string(request.run_id)]() mutable {
            CHECK(!reply.is_abandoned());
            CHECK(reply.answer(run(id)));
            CHECK(!reply.answer(run(id)));
            CHECK(!reply.fail(agenthost::host_error(agenthost::error_code::conflict)));
        });
        return agenthost::deferred;
    });
    CHECK(agenthost::decode(host.dispatch(get_run_message())).run()->revision == 3);
    for (std::thread& thread : threads) thread.join();
}

TEST(a_reply_that_is_dropped_answers_unavailable) {
    agenthost::reply<agenthost::run_view> kept;
    const agenthost::host host = fixture::host([&](const call& call, const agenthost::get_run_request& request) -> answer<agenthost::run_view> {
        kept = call.defer(request);
        return agenthost::deferred;
    });
    auto future = host.dispatch_future(get_run_message());
    CHECK(future.wait_for(0s) == std::future_status::timeout);
    kept = {};
    CHECK(has_reason(future.get(), "dropped"));
}

TEST(a_reply_is_deferred_once_and_only_for_its_own_operation) {
    const agenthost::host host = fixture::host([&](const call& call, const agenthost::get_run_request& request) -> answer<agenthost::run_view> {
        CHECK_MISUSE(wrong_operation, call.defer(agenthost::cancel_run_request{}));
        CHECK_MISUSE(wrong_operation, call.defer(agenthost::list_events_request{}));
        auto reply = call.defer(request);
        CHECK_MISUSE(already_done, call.defer(request));
        reply.answer(run(request.run_id));
        return agenthost::deferred;
    });
    CHECK(code(host.dispatch(get_run_message())) == "");
}

TEST(a_reply_says_when_its_answer_breaks_a_rule) {
    const agenthost::host host = fixture::host([&](const call& call, const agenthost::get_run_request& request) -> answer<agenthost::run_view> {
        auto reply = call.defer(request);
        CHECK_MISUSE(bad_answer, reply.answer(run("another")));
        CHECK(!reply.answer(run(request.run_id)));
        return agenthost::deferred;
    });
    CHECK(code(host.dispatch(get_run_message())) == "internal");
}

TEST(moved_from_and_empty_objects_are_misused_not_undefined) {
    agenthost::host host = fixture::host();
    agenthost::host other = std::move(host);
    const agenthost::host copy = host;
    CHECK(host.native_handle() == nullptr && copy.native_handle() == nullptr && other.native_handle() != nullptr);
    CHECK_MISUSE(null_argument, host.dispatch(get_run_message()));
    CHECK_MISUSE(null_argument, host.dispatch_future(get_run_message()));
    CHECK_MISUSE(null_argument, host.close());
    CHECK(!host.is_sensitive_name("region") && host.is_sensitive_name("password"));
    CHECK_MISUSE(null_argument, agenthost::host(std::shared_ptr<agenthost::service>()));

    agenthost::reply<agenthost::run_view> reply;
    CHECK(!reply && reply.is_abandoned() == false);
    CHECK_MISUSE(null_argument, reply.answer(run("r")));
    CHECK_MISUSE(null_argument, reply.fail(agenthost::host_error(agenthost::error_code::conflict)));
    CHECK_MISUSE(null_argument, reply.on_abandoned([] {}));

    agenthost::pending pending;
    CHECK(!pending);
    CHECK_MISUSE(null_argument, pending.cancel());

    agenthost::buffer buffer = other.dispatch(get_run_message());
    const agenthost::buffer taken = std::move(buffer);
    CHECK(buffer.empty() && buffer.view() == "" && !taken.empty());

    auto request = agenthost::prepare(agenthost::get_run_request{"run-1"});
    const auto moved = std::move(request);
    CHECK(request.bytes() == "" && !moved.bytes().empty());
    CHECK_MISUSE(null_argument, request.decode(taken));
}

TEST(wrong_options_are_named) {
    const agenthost::host host = fixture::host();
    agenthost::dispatch_options options;
    options.principal = "";
    CHECK_MISUSE(invalid_argument, host.dispatch(get_run_message(), options));
    options.principal = "\xff";
    CHECK_MISUSE(invalid_argument, host.dispatch(get_run_message(), options));
    options.principal = std::string_view();
    CHECK_MISUSE(invalid_argument, host.dispatch_future(get_run_message(), options));
    options.principal = std::string_view("a\0b", 3);
    CHECK_MISUSE(invalid_argument, host.dispatch(get_run_message(), options));
    options.principal = "alice";
    options.timeout = -1ms;
    CHECK_MISUSE(invalid_argument, host.dispatch(get_run_message(), options));
    CHECK_MISUSE(invalid_argument, host.close(-1ms));
    options.timeout = 5ms;
    bool called = false;
    CHECK_MISUSE(invalid_argument, host.dispatch_async(get_run_message(), [&](agenthost::buffer) { called = true; }, options));
    CHECK(!called);
    agenthost::pending place = host.dispatch_async(get_run_message(), [](agenthost::buffer) {});
    CHECK_MISUSE(invalid_argument, host.dispatch_async(get_run_message(), [](agenthost::buffer) {}, {}, place));
    agenthost::host_options wrong;
    wrong.default_timeout = -1ms;
    CHECK_MISUSE(invalid_argument, fixture::host({}, wrong));
}

TEST(a_principal_reaches_the_service_and_can_be_required) {
    std::optional<std::string> seen;
    agenthost::host_options options;
    options.require_principal = true;
    const agenthost::host host = fixture::host([&](const call& call, const agenthost::get_run_request& request) -> answer<agenthost::run_view> {
        seen = call.principal;
        return run(request.run_id);
    }, options);
    CHECK(code(host.dispatch(get_run_message())) == "unauthorized" && !seen);
    agenthost::dispatch_options alice;
    alice.principal = "alice";
    CHECK(code(host.dispatch(get_run_message(), alice)) == "" && seen == "alice");
}

TEST(dispatch_waits_as_long_as_it_was_told_and_no_longer) {
    agenthost::reply<agenthost::run_view> kept;
    agenthost::host_options options;
    options.default_timeout = 20ms;
    const agenthost::host host = fixture::host([&](const call& call, const agenthost::get_run_request& request) -> answer<agenthost::run_view> {
        kept = call.defer(request);
        return agenthost::deferred;
    }, options);
    CHECK(has_reason(host.dispatch(get_run_message()), "timeout"));
    CHECK(kept.is_abandoned() && !kept.answer(run("run-1")));
    agenthost::dispatch_options once;
    once.timeout = 10ms;
    CHECK(has_reason(host.dispatch(get_run_message(), once), "timeout"));
}

TEST(a_callback_gets_the_response_once_and_need_not_be_copyable) {
    int calls = 0;
    const agenthost::host host = fixture::host();
    auto unique = std::make_unique<int>(7);
    const agenthost::pending pending = host.dispatch_async(get_run_message(), [&calls, unique = std::move(unique)](agenthost::buffer response) {
        calls += *unique;
        CHECK(code(response) == "");
    });
    CHECK(calls == 7);
    host.dispatch_async("no JSON", [&](agenthost::buffer response) { CHECK(code(response) == "invalid_request"), ++calls; });
    CHECK(calls == 8);
}

TEST(a_cancel_decides_the_answer_or_says_that_it_did_not) {
    agenthost::reply<agenthost::run_view> kept;
    const agenthost::host host = fixture::host([&](const call& call, const agenthost::get_run_request& request) -> answer<agenthost::run_view> {
        kept = call.defer(request);
        return agenthost::deferred;
    });
    std::string response;
    agenthost::pending pending = host.dispatch_async(get_run_message(), [&](agenthost::buffer got) { response = got.str(); });
    std::atomic<int> told{0};
    kept.on_abandoned([&] { ++told; });
    CHECK_MISUSE(already_done, kept.on_abandoned([] {}));
    CHECK(pending.cancel());
    CHECK(!pending.cancel() && told == 1 && kept.is_abandoned());
    CHECK(has_reason(response, "cancelled"));
    pending = host.dispatch_async(get_run_message(), [&](agenthost::buffer got) { response = got.str(); });
    CHECK(kept.answer(run("run-1")));
    CHECK(!pending.cancel() && code(response) == "");
    CHECK_MISUSE(already_done, kept.on_abandoned([] {}));
}

TEST(a_call_can_be_cancelled_while_its_function_runs) {
    gate inside, cancelled;
    const agenthost::host host = fixture::host([&](const call& call, const agenthost::get_run_request& request) -> answer<agenthost::run_view> {
        auto reply = call.defer(request);
        inside.open();
        cancelled.wait();
        CHECK(reply.is_abandoned() && !reply.answer(run(request.run_id)));
        return agenthost::deferred;
    });
    agenthost::pending place;
    std::string response;
    std::thread canceller([&] {
        inside.wait();
        CHECK(place.cancel());
        CHECK(response.empty());
        cancelled.open();
    });
    host.dispatch_async(get_run_message(), [&](agenthost::buffer got) { response = got.str(); }, {}, place);
    canceller.join();
    CHECK(has_reason(response, "cancelled"));
}

TEST(a_notification_ends_with_its_reply_even_when_it_never_runs) {
    auto token = std::make_shared<int>(1);
    const agenthost::host host = fixture::host([&](const call& call, const agenthost::get_run_request& request) -> answer<agenthost::run_view> {
        auto reply = call.defer(request);
        reply.on_abandoned([token] { throw 1; });
        reply.answer(run(request.run_id));
        return agenthost::deferred;
    });
    CHECK(code(host.dispatch(get_run_message())) == "");
    CHECK(token.use_count() == 1);
}

TEST(closing_from_inside_would_deadlock_and_says_so) {
    agenthost::host* self = nullptr;
    agenthost::host host = fixture::host([&](const call&, const agenthost::get_run_request& request) -> answer<agenthost::run_view> {
        CHECK_MISUSE(would_deadlock, self->close());
        return run(request.run_id);
    });
    self = &host;
    CHECK(code(host.dispatch(get_run_message())) == "");
    CHECK(has_reason(host.dispatch(get_run_message()), "closed"));
}

TEST(closing_answers_what_is_deferred_and_waits_for_what_runs) {
    std::atomic<int> ended{0};
    gate inside, go_on;
    std::vector<agenthost::reply<agenthost::run_view>> kept;
    const agenthost::host host(std::make_unique<watched>(ended, [&](const call& call, const agenthost::get_run_request& request) -> answer<agenthost::run_view> {
        if (request.run_id == "slow") {
            inside.open();
            go_on.wait();
            return run(request.run_id);
        }
        kept.push_back(call.defer(request));
        return agenthost::deferred;
    }));
    auto deferred = host.dispatch_future(get_run_message("later"));
    std::thread slow([&] { CHECK(code(host.dispatch(get_run_message("slow"))) == ""); });
    inside.wait();
    CHECK(!host.close(1ms));
    CHECK(ended == 0);
    CHECK(has_reason(deferred.get(), "closed"));
    go_on.open();
    slow.join();
    host.close();
    CHECK(ended == 1);
    CHECK(!kept[0].answer(run("later")));
}

TEST(the_last_owner_may_go_inside_a_callback) {
    std::atomic<int> ended{0};
    std::optional<agenthost::host> owner;
    owner.emplace(std::make_unique<watched>(ended, [&](const call&, const agenthost::get_run_request& request) -> answer<agenthost::run_view> {
        owner.reset();
        CHECK(ended == 0);
        return run(request.run_id);
    }));
    std::string response;
    const agenthost::host& borrowed = *owner;
    borrowed.dispatch_async(get_run_message(), [&](agenthost::buffer got) { response = got.str(); });
    CHECK(code(response) == "" && ended == 1);
}

TEST(a_callback_may_let_go_of_the_pending_call_and_the_host_that_it_is_called_by) {
    std::atomic<int> ended{0};
    agenthost::reply<agenthost::run_view> kept;
    std::optional<agenthost::host> owner;
    owner.emplace(std::make_unique<watched>(ended, [&](const call& call, const agenthost::get_run_request& request) -> answer<agenthost::run_view> {
        kept = call.defer(request);
        return agenthost::deferred;
    }));
    std::optional<agenthost::pending> pending;
    std::string response;
    pending.emplace(owner->dispatch_async(get_run_message(), [&](agenthost::buffer got) {
        response = got.str();
        pending.reset();
        CHECK_MISUSE(would_deadlock, owner->close());
        owner.reset();
        CHECK(ended == 0);
    }));
    CHECK(pending->cancel());
    CHECK(has_reason(response, "cancelled") && !pending && ended == 1);
}

TEST(a_notification_may_let_go_of_its_reply) {
    agenthost::reply<agenthost::run_view> kept;
    const agenthost::host host = fixture::host([&](const call& call, const agenthost::get_run_request& request) -> answer<agenthost::run_view> {
        kept = call.defer(request);
        kept.on_abandoned([&] { kept = {}; });
        return agenthost::deferred;
    });
    std::string response;
    agenthost::pending pending = host.dispatch_async(get_run_message(), [&](agenthost::buffer got) { response = got.str(); });
    CHECK(pending.cancel() && !kept && has_reason(response, "cancelled"));
}

TEST(replies_outlive_their_host_and_find_nobody) {
    agenthost::reply<agenthost::run_view> kept;
    std::future<agenthost::buffer> future;
    {
        const agenthost::host host = fixture::host([&](const call& call, const agenthost::get_run_request& request) -> answer<agenthost::run_view> {
            kept = call.defer(request);
            return agenthost::deferred;
        });
        future = host.dispatch_future(get_run_message());
    }
    CHECK(has_reason(future.get(), "closed"));
    CHECK(kept.is_abandoned() && !kept.answer(run("run-1")));
}

TEST(many_threads_dispatch_defer_and_close_at_once) {
    constexpr int rounds = 200;
    std::mutex mutex;
    std::vector<agenthost::reply<agenthost::run_view>> waiting;
    std::atomic<bool> stop{false};
    std::thread worker([&] {
        while (!stop) {
            std::vector<agenthost::reply<agenthost::run_view>> batch;
            {
                const std::lock_guard<std::mutex> lock(mutex);
                batch.swap(waiting);
            }
            for (auto& reply : batch) reply.answer(run("run-1"));
            std::this_thread::yield();
        }
    });
    std::atomic<int> answered{0}, refused{0};
    const agenthost::host host = fixture::host([&](const call& call, const agenthost::get_run_request& request) -> answer<agenthost::run_view> {
        const std::lock_guard<std::mutex> lock(mutex);
        waiting.push_back(call.defer(request));
        return agenthost::deferred;
    });
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 4; ++caller) {
        callers.emplace_back([&] {
            for (int round = 0; round < rounds; ++round) {
                const std::string got = code(host.dispatch(get_run_message()));
                got.empty() ? ++answered : ++refused;
                host.dispatch_async(get_run_message(), [&](agenthost::buffer response) { code(response).empty() ? ++answered : ++refused; });
            }
        });
    }
    std::thread closer([&] {
        while (answered < rounds) std::this_thread::yield();
        host.close();
    });
    for (std::thread& caller : callers) caller.join();
    closer.join();
    stop = true;
    worker.join();
    CHECK(answered + refused == 4 * rounds * 2);
}
