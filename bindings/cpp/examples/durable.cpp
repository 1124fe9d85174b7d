// A durable run's whole life: a client creates it, a worker on a thread of its own works on it and suspends it for an approval, the
// client approves and resumes it, the worker completes it, and whoever follows it sees every event once.
//
//     durable [URL]        memory: unless another is given, such as sqlite:runs.db

#include <agenthost.hpp>

#include <chrono>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <thread>

namespace {

using namespace std::chrono_literals;

/// Works on the runs of an agent until the runs are closed.
void work(const agenthost::runs& runs) {
    try {
        while (runs.wait_for_work({"writer"}, 60s)) {
            const std::optional<agenthost::claimed> claimed = runs.claim({{"writer"}, "worker-1", {}});
            // Another worker may have been quicker.
            if (!claimed) continue;
            try {
                if (claimed->approvals.empty()) {
                    runs.append_events(claimed->claim, {{"draft", R"({"words":120})"}}, "draft");
                    runs.suspend(claimed->claim, {{{"publish-1", "publish", "the page will be public", R"({"page":"/otters"})"}}, R"({"draft":1})"});
                } else {
                    runs.complete(claimed->claim, R"({"published":true})");
                }
            } catch (const agenthost::claim_lost&) {
                // Cancelled, timed out or taken over: nothing of this run is ours any more.
            }
        }
    } catch (const agenthost::host_error& closed) {
        if (closed.code() != agenthost::error_code::unavailable) std::printf("the worker stops: %s\n", closed.what());
    }
}

/// A worker on a thread of its own. It ends by closing the runs, whatever happens meanwhile.
class worker {
public:
    explicit worker(const agenthost::runs& runs) : runs_(runs), thread_([this] { work(runs_); }) {}
    ~worker() {
        runs_.close();
        thread_.join();
    }

private:
    agenthost::runs runs_;
    std::thread thread_;
};

/// Follows a run to a state, and prints each event as it comes.
std::uint64_t follow(const agenthost::runs& runs, const std::string& run_id, std::uint64_t after, agenthost::run_status until) {
    for (;;) {
        const agenthost::followed_events events = runs.wait_events(run_id, after, 0, 60s);
        for (const agenthost::event& event : events) {
            std::printf("%llu %s\n", static_cast<unsigned long long>(event.sequence), event.type.c_str());
        }
        after = events.next_sequence;
        if (events.is_drained() || (events.status == until && !events.has_more)) return after;
    }
}

}  // namespace

int main(int count, char** arguments) {
    try {
        const agenthost::runs runs = agenthost::runs::open(count > 1 ? arguments[1] : "memory:");
        const agenthost::host host = runs.host();
        // A service would put its transport here, and the principal that it authenticated.
        const agenthost::client client([&](std::string_view request) { return host.dispatch(request).str(); });
        const worker writer(runs);

        agenthost::create_run_request request;
        request.context.run_id = "run-1";
        request.context.agent_id = "writer";
        request.input = R"({"topic":"otters"})";
        client.create_run(request);
        const std::uint64_t seen = follow(runs, "run-1", 0, agenthost::run_status::waiting_for_approval);

        const agenthost::run_view view = client.get_run({"run-1"});
        const std::string& approval = view.approval->approval_id;
        const std::uint64_t revision =
            client.resolve_approval({"run-1", view.revision, approval, agenthost::resolution::approved, "go on", {}}).revision;
        client.resume_run({"run-1", revision, approval, "{}"});
        follow(runs, "run-1", seen, agenthost::run_status::completed);
        std::printf("%s\n", client.get_run({"run-1"}).result.c_str());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "durable: %s\n", error.what());
        return 1;
    }
}
