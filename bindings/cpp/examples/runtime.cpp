// A small agent runtime behind a host: a store of runs under one lock, a pool of threads that serves calls and works on runs, and
// clients on threads of their own. Every call is deferred and answered from the pool, so that a slow store would block no
// caller's thread. A run goes: created, running, waits for an approval, is approved or denied, resumed, completed.
//
//     c++ -std=c++17 runtime.cpp -lagenthost -pthread

#include <agenthost.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

/// Threads that work off a queue. Tasks need not be copyable: a reply has one owner.
class pool {
public:
    explicit pool(unsigned threads) {
        while (threads-- > 0) threads_.emplace_back([this] { work(); });
    }
    /// Works off what is queued, then ends. What a task queues meanwhile is worked off too.
    ~pool() {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            ending_ = true;
        }
        changed_.notify_all();
        for (std::thread& thread : threads_) thread.join();
    }
    template <class Function>
    void post(Function function) {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            tasks_.push_back(std::make_unique<task_of<Function>>(std::move(function)));
        }
        changed_.notify_one();
    }

private:
    struct task {
        virtual ~task() = default;
        virtual void run() = 0;
    };
    template <class Function>
    struct task_of final : task {
        explicit task_of(Function given) : function(std::move(given)) {}
        void run() override { function(); }
        Function function;
    };

    void work() {
        for (;;) {
            std::unique_ptr<task> next;
            {
                std::unique_lock<std::mutex> lock(mutex_);
                changed_.wait(lock, [this] { return ending_ || !tasks_.empty(); });
                if (tasks_.empty()) return;
                next = std::move(tasks_.front());
                tasks_.pop_front();
            }
            next->run();
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::unique_ptr<task>> tasks_;
    bool ending_ = false;
    std::vector<std::thread> threads_;
};

using agenthost::answer;
using agenthost::call;
using agenthost::error_code;
using agenthost::host_error;
using agenthost::run_status;

std::int64_t now() {
    using namespace std::chrono;
    return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

/// What is kept of a run.
struct record {
    agenthost::run_view view;
    std::vector<agenthost::event> events;
    std::string create_key;  // the idempotency key that created it
};

/// The runs. Everything happens under one lock; nothing here waits.
class store {
public:
    agenthost::run_submission create(const agenthost::execution_context& context, const std::string& input, const std::string& key) {
        const std::lock_guard<std::mutex> lock(mutex_);
        const auto [place, made] = runs_.try_emplace(context.run_id);
        record& run = place->second;
        if (!made) {
            if (run.create_key == key) return submission(run);
            throw host_error(error_code::conflict, "there is a run of this id already");
        }
        run.create_key = key;
        run.view.run_id = context.run_id;
        run.view.context = context;
        run.view.created_at_unix_ms = now();
        advance(run, run_status::created, "run.created", input);
        return submission(run);
    }

    agenthost::run_view view(const std::string& run_id) {
        const std::lock_guard<std::mutex> lock(mutex_);
        return find(run_id).view;
    }

    agenthost::event_page events(const std::string& run_id, std::uint64_t after, std::uint64_t limit) {
        const std::lock_guard<std::mutex> lock(mutex_);
        const std::vector<agenthost::event>& all = find(run_id).events;
        agenthost::event_page page;
        page.next_sequence = after;
        for (std::size_t at = after; at < all.size() && page.events.size() < limit; ++at) {
            page.events.push_back(all[at]);
            page.next_sequence = all[at].sequence;
        }
        page.has_more = !page.events.empty() && page.next_sequence < all.size();
        return page;
    }

    /// Changes a run that is still at the expected revision.
    template <class Change>
    agenthost::run_submission change(const std::string& run_id, std::uint64_t expected_revision, Change change) {
        const std::lock_guard<std::mutex> lock(mutex_);
        record& run = find(run_id);
        if (run.view.revision != expected_revision) {
            host_error error(error_code::conflict, "the run has moved on");
            throw error.with_details("{\"revision\":" + std::to_string(run.view.revision) + "}");
        }
        change(run);
        return submission(run);
    }

    /// One step of the work on a run, unless it has ended meanwhile.
    void step(const std::string& run_id) {
        const std::lock_guard<std::mutex> lock(mutex_);
        record& run = find(run_id);
        if (run.view.status == run_status::created) {
            advance(run, run_status::running, "run.started", "null");
            agenthost::approval_view approval;
            approval.approval_id = "approval-1";
            approval.tool_call_id = "call-1";
            approval.tool_name = "write_file";
            approval.created_at_unix_ms = now();
            approval.reason = "the run wants to write a file";
            run.view.approval = approval;
            advance(run, run_status::waiting_for_approval, "approval.requested", R"({"tool":"write_file"})");
        } else if (run.view.status == run_status::running) {
            run.view.result = R"({"written":true})";
            run.view.completed_at_unix_ms = now();
            advance(run, run_status::completed, "run.completed", run.view.result);
        }
    }

    static void advance(record& run, run_status status, const std::string& type, const std::string& data) {
        run.view.status = status;
        ++run.view.revision;
        run.view.updated_at_unix_ms = now();
        agenthost::event event;
        event.run_id = run.view.run_id;
        event.sequence = run.events.size() + 1;
        event.type = type;
        event.status = status;
        event.timestamp_unix_ms = run.view.updated_at_unix_ms;
        event.data = data;
        run.events.push_back(event);
    }

private:
    record& find(const std::string& run_id) {
        const auto found = runs_.find(run_id);
        if (found == runs_.end()) throw host_error(error_code::not_found, "there is no such run");
        return found->second;
    }
    static agenthost::run_submission submission(const record& run) {
        return {run.view.run_id, run.view.revision, run.view.status};
    }

    std::mutex mutex_;
    std::map<std::string, record> runs_;
};

/// The service: copies what it needs of a request, and answers from the pool.
class runtime final : public agenthost::service {
public:
    answer<agenthost::run_submission> create_run(const call& call, const agenthost::create_run_request& request) override {
        return later(call, request,
                     [this, context = to_owned(request.context), input = std::string(request.input), key = std::string(call.idempotency_key)] {
                         const agenthost::run_submission made = store_.create(context, input, key);
                         if (made.status == run_status::created) work_on(made.run_id);
                         return made;
                     });
    }
    answer<agenthost::run_view> get_run(const call& call, const agenthost::get_run_request& request) override {
        return later(call, request, [this, run_id = std::string(request.run_id)] { return store_.view(run_id); });
    }
    answer<agenthost::run_submission> cancel_run(const call& call, const agenthost::cancel_run_request& request) override {
        return later(call, request, [this, run_id = std::string(request.run_id), expected = request.expected_revision] {
            return store_.change(run_id, expected, [](record& run) {
                store::advance(run, run_status::cancelled, "run.cancelled", "null");
            });
        });
    }
    answer<agenthost::run_submission> resolve_approval(const call& call, const agenthost::resolve_approval_request& request) override {
        return later(call, request, [this, run_id = std::string(request.run_id), expected = request.expected_revision,
                                     approval = std::string(request.approval_id), resolution = request.resolution] {
            return store_.change(run_id, expected, [&](record& run) {
                if (!run.view.approval || run.view.approval->approval_id != approval) {
                    throw host_error(error_code::not_found, "there is no such approval");
                }
                run.view.approval->resolution = resolution;
                run.view.approval->resolved_at_unix_ms = now();
                const bool approved = resolution == agenthost::resolution::approved;
                store::advance(run, approved ? run.view.status : run_status::failed, "approval.resolved", "null");
            });
        });
    }
    answer<agenthost::run_submission> resume_run(const call& call, const agenthost::resume_run_request& request) override {
        return later(call, request, [this, run_id = std::string(request.run_id), expected = request.expected_revision] {
            const agenthost::run_submission resumed = store_.change(run_id, expected, [](record& run) {
                store::advance(run, run_status::running, "run.resumed", "null");
            });
            work_on(run_id);
            return resumed;
        });
    }
    answer<agenthost::event_page> list_events(const call& call, const agenthost::list_events_request& request) override {
        return later(call, request, [this, run_id = std::string(request.run_id), after = request.after_sequence, limit = request.limit] {
            return store_.events(run_id, after, limit);
        });
    }

private:
    /// Defers a call, and answers it from the pool with what `produce` returns or throws.
    template <class Request, class Produce>
    answer<typename Request::result_type> later(const call& call, const Request& request, Produce produce) {
        pool_.post([reply = call.defer(request), produce = std::move(produce)]() mutable {
            if (reply.is_abandoned()) return;  // nobody waits any more
            try {
                reply.answer(produce());
            } catch (const host_error& error) {
                reply.fail(error);
            } catch (const std::exception&) {
                // The outcome is not known to us either; the cause belongs into the application's own log.
                reply.fail(host_error(error_code::internal));
            }
        });
        return agenthost::deferred;
    }
    void work_on(const std::string& run_id) {
        pool_.post([this, run_id] { store_.step(run_id); });
    }

    store store_;
    pool pool_{3};  // last, so that its threads end first
};

/// Submits a run, waits for what it wants, approves it, and reads what happened. True when it came to its end.
bool drive(const agenthost::client& client, const std::string& run_id) {
    agenthost::execution_context_view context;
    context.run_id = run_id;
    context.tenant_id = "example";
    // A mutation whose outcome is not known is sent again, with the same bytes: here the second answer is the first's.
    const auto submit = agenthost::prepare(agenthost::create_run_request{context, R"({"task":"write a file"})", {}});
    client.send(submit);
    if (client.send(submit).run_id != run_id) return false;

    const auto wait_for = [&](run_status status) {
        for (;;) {
            agenthost::run_view view = client.get_run({run_id});
            if (view.status == status) return view;
            std::this_thread::yield();
        }
    };
    const agenthost::run_view waiting = wait_for(run_status::waiting_for_approval);
    const agenthost::run_submission approved = client.resolve_approval(
        {run_id, waiting.revision, waiting.approval->approval_id, agenthost::resolution::approved, "looks fine", {}});
    try {
        client.resume_run({run_id, waiting.revision, "approval-1", ""});
        return false;  // that revision is gone
    } catch (const host_error& error) {
        if (error.code() != error_code::conflict) return false;
    }
    client.resume_run({run_id, approved.revision, "approval-1", R"({"path":"a.txt"})"});
    const agenthost::run_view done = wait_for(run_status::completed);

    std::vector<std::string> types;
    for (agenthost::list_events_request next{run_id, 0, 2};;) {
        const agenthost::event_page page = client.list_events(next);
        for (const agenthost::event& event : page.events) types.push_back(event.type);
        if (!page.has_more) break;
        next.after_sequence = page.next_sequence;
    }
    return done.result == R"({"written":true})" && types.size() == 6 && types.front() == "run.created" && types.back() == "run.completed";
}

}  // namespace

int main() {
    agenthost::host_options options;
    options.default_timeout = std::chrono::seconds(60);
    options.log = [](agenthost::log_level, std::string_view message, agenthost::metadata_view) {
        std::fprintf(stderr, "host: %.*s\n", static_cast<int>(message.size()), message.data());
    };
    const agenthost::host host(std::make_unique<runtime>(), options);
    // In a real application this is HTTP or a pipe; here the bytes go straight to the host.
    const agenthost::client client([&host](std::string_view request) { return host.dispatch(request).str(); });

    std::vector<std::thread> threads;
    std::vector<int> finished(4, 0);
    for (std::size_t index = 0; index < finished.size(); ++index) {
        threads.emplace_back([&, index] { finished[index] = drive(client, "run-" + std::to_string(index + 1)); });
    }
    for (std::thread& thread : threads) thread.join();

    const auto request = agenthost::prepare(agenthost::get_run_request{"run-1"});
    std::printf("-> %s\n<- %s\n", std::string(request.bytes()).c_str(), host.dispatch_future(request.bytes()).get().str().c_str());
    std::printf("<- %s\n", host.dispatch("{\"protocolVersion\":\"1999-01-01\"}").str().c_str());
    host.close();

    int completed = 0;
    for (const int each : finished) completed += each;
    std::printf("C++ runtime: %d of %zu runs completed\n", completed, finished.size());
    return completed == static_cast<int>(finished.size()) ? 0 : 1;
}
