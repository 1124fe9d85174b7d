// Durable runs in C++: their options, who owns what, and calls that do not wait.

#include <future>
#include <thread>

#include "check.hpp"
#include "fixture.hpp"
#include "store.hpp"

using namespace fixture;
using namespace std::chrono_literals;

namespace {

/// Creates a run that has a name in the metadata that it gives to the run itself.
agenthost::create_run_request with_metadata(std::string_view run_id, const agenthost::metadata& metadata) {
    agenthost::create_run_request request = store::create(run_id);
    request.metadata = metadata;
    return request;
}

/// The code that a call is refused with; empty when it is not.
template <class Call>
std::string refused(Call call) {
    try {
        call();
        return "";
    } catch (const agenthost::host_error& caught) {
        return std::string(name(caught.code()));
    }
}

}  // namespace

TEST(a_name_that_is_sensitive_is_never_stored_and_never_answered) {
    const store::folder folder;
    agenthost::runs_options options;
    options.sensitive_names = {"shoe-size"};
    const agenthost::runs runs = agenthost::runs::open(folder.url(), options);
    const agenthost::host host = runs.host();
    const agenthost::metadata secret{{"Shoe_Size", "fortyfour"}};
    CHECK(host.is_sensitive_name("my shoe size"));
    CHECK(refused([&] { store::client(host).create_run(with_metadata("run-1", secret)); }) == "invalid_request");
    store::client(host).create_run(store::create("run-1"));
    const agenthost::claimed claimed = store::take(runs);
    CHECK(refused([&] { runs.append_events(claimed.claim, {{"a", "", "", "", secret}}); }) == "invalid_request");
    CHECK(!folder.holds("fortyfour"));
    // One list: a host over the runs cannot have another.
    agenthost::host_options other;
    other.sensitive_names = {"hat-size"};
    CHECK_MISUSE(invalid_argument, runs.host(other));
}

TEST(options_of_runs_are_kept_to) {
    agenthost::runs_options options;
    options.lease = 1234ms;
    options.max_attempts = 1;
    options.key_ttl = 1h;
    options.require_principal = true;
    memory_log log;
    options.log = log.function();
    options.access = [](const agenthost::access_request& asked) {
        if (asked.principal == "thrower") throw std::runtime_error("nobody knows");
        return asked.principal == asked.owner || asked.principal == "root";
    };
    const agenthost::runs runs = agenthost::runs::open("memory:", options);
    agenthost::host_options small;
    small.max_message_bytes = 1000;
    const agenthost::host host = runs.host(small);
    CHECK(refused([&] { store::client(host).create_run(store::create("run-1")); }) == "unauthorized");
    store::client(host, "ann").create_run(store::create("run-1"));
    CHECK(store::client(host, "root").get_run({"run-1"}).run_id == "run-1");
    CHECK(refused([&] { store::client(host, "bob").get_run({"run-1"}); }) == "not_found");
    CHECK(log.size() == 0);
    // What the rule throws hides the run, and is logged once.
    CHECK(refused([&] { store::client(host, "thrower").get_run({"run-1"}); }) == "not_found");
    CHECK(log.size() == 1 && log.contains("the access function threw in=access what=nobody knows"));
    CHECK(store::take(runs).lease == 1234ms);
    CHECK(fixture::code(host.dispatch(std::string(1001, ' '))) == "invalid_request");
}

TEST(wrong_options_of_runs_are_named) {
    agenthost::runs_options options;
    options.lease = -1ms;
    CHECK_MISUSE(invalid_argument, agenthost::runs::open("memory:", options));
    options.lease = std::chrono::hours(25);
    CHECK_MISUSE(invalid_argument, agenthost::runs::open("memory:", options));
    options.lease = 0ms;
    options.key_ttl = -1ms;
    CHECK_MISUSE(invalid_argument, agenthost::runs::open("memory:", options));
    options.key_ttl = 0ms;
    options.sensitive_names = {""};
    options.access = [](const agenthost::access_request&) { return true; };
    memory_log log;
    options.log = log.function();
    CHECK_MISUSE(invalid_argument, agenthost::runs::open("memory:", options));
    agenthost::host_options host;
    host.default_timeout = -1ms;
    CHECK_MISUSE(invalid_argument, agenthost::runs::open("memory:").host(host));
}

TEST(a_url_that_opens_nothing_is_named) {
    CHECK_MISUSE(invalid_argument, agenthost::runs::open("postgres"));
    CHECK_MISUSE(invalid_argument, agenthost::runs::open("sqlite:/no/such/folder/runs.db"));
    try {
        static_cast<void>(agenthost::runs::open("nothing:here"));
        CHECK(false);
    } catch (const agenthost::error& caught) {
        CHECK(std::string(caught.what()).find("sqlite:") != std::string::npos);
    }
}

TEST(arguments_are_checked_before_anything_begins) {
    const agenthost::runs runs = agenthost::runs::open("memory:");
    store::client(runs.host()).create_run(store::create("run-1"));
    CHECK_MISUSE(invalid_argument, runs.claim({{"writer"}, "w", -1ms}));
    CHECK_MISUSE(invalid_argument, runs.wait_for_work({"writer"}, -1ms, agenthost::as_future));
    const agenthost::claimed claimed = store::take(runs);
    bool called = false;
    CHECK_MISUSE(invalid_argument, runs.release(claimed.claim, -1ms, [&](agenthost::result<void>) { called = true; }));
    CHECK_MISUSE(invalid_argument, runs.wait_claim_lost(claimed.claim, -1ms));
    CHECK_MISUSE(invalid_argument, runs.wait_events("run-1", 0, 0, -1ms));
    CHECK_MISUSE(null_argument, runs.complete(claimed.claim, "", std::function<void(agenthost::result<agenthost::run_submission>)>()));
    CHECK(!called && runs.heartbeat(claimed.claim) > 0);

    const agenthost::host host = runs.host();
    CHECK_MISUSE(null_argument, host.dispatch_async(get_run_message(), std::function<void(agenthost::buffer)>()));
    void (*none)(agenthost::buffer) = nullptr;
    CHECK_MISUSE(null_argument, host.dispatch_async(get_run_message(), none));
    CHECK_MISUSE(null_argument, agenthost::client(agenthost::client::transport()));
}

TEST(calls_complete_by_futures_and_by_callbacks_as_they_do_by_waiting) {
    const agenthost::runs runs = agenthost::runs::open("memory:");
    const agenthost::host host = runs.host();
    std::future<bool> work = runs.wait_for_work({"writer"}, 60s, agenthost::as_future);
    CHECK(work.wait_for(0s) == std::future_status::timeout);
    store::client(host).create_run(store::create("run-1"));
    CHECK(work.get());
    const agenthost::claimed claimed = runs.claim({{"writer"}, "", {}}, agenthost::as_future).get().value();

    std::promise<std::uint64_t> appended;
    auto unique = std::make_unique<int>(7);
    runs.append_events(claimed.claim, {{"a"}}, "", [&, unique = std::move(unique)](agenthost::result<std::uint64_t> sequence) {
        CHECK(*unique == 7 && sequence);
        appended.set_value(std::move(sequence).value());
    });
    CHECK(appended.get_future().get() == 3);

    std::future<std::optional<agenthost::run_status>> lost = runs.wait_claim_lost(claimed.claim, 60s, agenthost::as_future);
    store::client(host).cancel_run({"run-1", 2, "enough"});
    CHECK(lost.get() == agenthost::run_status::cancelled);
    std::future<std::int64_t> late = runs.heartbeat(claimed.claim, agenthost::as_future);
    bool was_lost = false;
    try {
        static_cast<void>(late.get());
    } catch (const agenthost::claim_lost&) {
        was_lost = true;
    }
    CHECK(was_lost);
    std::promise<std::string> told;
    runs.release(claimed.claim, 0ms, [&](agenthost::result<void> released) {
        CHECK(!released && released.exception());
        told.set_value(refused([&] { std::move(released).value(); }));
    });
    CHECK(told.get_future().get() == "conflict");
}

TEST(what_a_callback_of_runs_throws_is_logged_once_and_harms_nobody) {
    memory_log log;
    agenthost::runs_options options;
    options.log = log.function();
    {
        const agenthost::runs runs = agenthost::runs::open("memory:", options);
        runs.list_runs({}, [](agenthost::result<agenthost::run_page>) { throw std::runtime_error("from the callback"); });
        CHECK(runs.list_runs().runs.empty());
    }
    CHECK(log.size() == 1 && log.contains("from the callback"));
}

TEST(a_callback_may_let_go_of_what_calls_it) {
    const store::folder folder;
    std::optional<agenthost::runs> owner = agenthost::runs::open(folder.url());
    std::optional<agenthost::host> host = owner->host();
    std::promise<bool> done;
    const agenthost::runs& borrowed = *owner;
    borrowed.list_runs({}, [&](agenthost::result<agenthost::run_page> page) {
        host.reset();
        owner.reset();
        done.set_value(static_cast<bool>(page));
    });
    CHECK(done.get_future().get());
    // The file is let go of soon after: somebody else has it all.
    CHECK(agenthost::runs::open(folder.url()).list_runs().runs.empty());
}

TEST(waiting_in_a_callback_of_runs_would_deadlock_and_says_so) {
    const store::folder folder;
    const agenthost::runs runs = agenthost::runs::open(folder.url());
    store::client(runs.host()).create_run(store::create("run-1"));
    const std::thread::id caller = std::this_thread::get_id();
    std::promise<bool> done;
    runs.claim({{"writer"}, "", {}}, [&](agenthost::result<std::optional<agenthost::claimed>> claimed) {
        const agenthost::claimed taken = std::move(claimed).value().value();
        // A call that has its outcome at once calls back here, where waiting is fine.
        const bool may_wait = std::this_thread::get_id() == caller;
        try {
            runs.heartbeat(taken.claim);
            done.set_value(may_wait);
        } catch (const agenthost::error& caught) {
            done.set_value(caught.status() == agenthost::status_code::would_deadlock);
        }
    });
    CHECK(done.get_future().get());
    CHECK(runs.list_runs().runs.size() == 1);
}

TEST(runs_that_were_moved_from_are_misused_not_undefined) {
    agenthost::runs runs = agenthost::runs::open("memory:");
    agenthost::runs other = std::move(runs);
    const agenthost::runs copy = runs;
    CHECK(runs.native_handle() == nullptr && copy.native_handle() == nullptr && other.native_handle() != nullptr);
    CHECK_MISUSE(null_argument, runs.list_runs());
    CHECK_MISUSE(null_argument, runs.list_runs({}, agenthost::as_future));
    CHECK_MISUSE(null_argument, runs.list_runs({}, [](agenthost::result<agenthost::run_page>) {}));
    CHECK_MISUSE(null_argument, runs.host());
    CHECK_MISUSE(null_argument, runs.close());
    runs = other;
    other = agenthost::runs::open("memory:");
    CHECK(runs.list_runs().runs.empty() && runs.native_handle() != other.native_handle());
    agenthost_runs_retain(other.native_handle());
    agenthost::host_options options;
    options.sensitive_names = {"shoe-size"};
    CHECK(agenthost::runs(other.native_handle()).host(options).is_sensitive_name("shoe-size"));
}

TEST(closing_ends_every_wait_and_many_threads_may_wait) {
    const agenthost::runs runs = agenthost::runs::open("memory:");
    std::vector<std::future<bool>> waits;
    for (int count = 0; count < 50; ++count) waits.push_back(runs.wait_for_work({"writer"}, 600s, agenthost::as_future));
    std::vector<std::thread> threads;
    std::atomic<int> ended{0};
    for (int count = 0; count < 4; ++count) {
        threads.emplace_back([&] { ended += refused([&] { runs.wait_for_work({"writer"}, 600s); }) == "unavailable" ? 1 : 0; });
    }
    runs.close();
    for (auto& wait : waits) CHECK(refused([&] { static_cast<void>(wait.get()); }) == "unavailable");
    for (std::thread& thread : threads) thread.join();
    CHECK(ended == 4);
}
