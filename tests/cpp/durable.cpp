// Hosts over durable runs, opened by URL.

#include <cstdlib>
#include <filesystem>
#include <string>

#include "check.hpp"
#include "fixture.hpp"

using namespace fixture;

namespace {

constexpr std::string_view create =
    R"({"protocolVersion":"2026-07-01","requestId":"r","idempotencyKey":"k","operation":"create_run","body":{"context":{"runId":"run-1"}}})";

/// A folder that is gone with its owner.
struct folder {
    folder() {
        std::string name = (std::filesystem::temp_directory_path() / "agenthost-cpp-XXXXXX").string();
        path = mkdtemp(name.data());
    }
    ~folder() { std::filesystem::remove_all(path); }
    std::filesystem::path path;
};

}  // namespace

TEST(runs_in_a_file_outlive_their_host) {
    const folder place;
    const std::string url = "sqlite:" + (place.path / "runs.db").string();
    {
        const agenthost::host host = agenthost::host::open(url);
        CHECK(code(host.dispatch(create)) == "");
        CHECK(code(host.dispatch(get_run_message())) == "");
        host.close();
        CHECK(code(host.dispatch(get_run_message())) == "unavailable");
    }
    const agenthost::host again = agenthost::host::open(url);
    CHECK(code(again.dispatch(create)) == "");
    CHECK(code(again.dispatch_future(get_run_message()).get()) == "");
}

TEST(runs_in_memory_end_with_their_host) {
    CHECK(code(agenthost::host::open("memory:").dispatch(create)) == "");
    CHECK(code(agenthost::host::open("memory:").dispatch(get_run_message())) == "not_found");
}

TEST(runs_have_their_hosts_options) {
    std::vector<std::string> said;
    agenthost::host_options options;
    options.sensitive_names = {"shoe-size"};
    options.max_message_bytes = 260;
    options.require_principal = true;
    options.log = [&](agenthost::log_level, std::string_view message, agenthost::metadata_view) { said.emplace_back(message); };
    const agenthost::host host = agenthost::host::open("memory:", options);
    CHECK(code(host.dispatch(create)) == "unauthorized");
    agenthost::dispatch_options ann;
    ann.principal = "ann";
    CHECK(code(host.dispatch(create, ann)) == "");
    constexpr std::string_view secret =
        R"({"protocolVersion":"2026-07-01","requestId":"r","idempotencyKey":"k","operation":"create_run","body":{"context":{"metadata":{"Shoe-Size":"44"}}}})";
    CHECK(code(host.dispatch(secret, ann)) == "invalid_request");
    CHECK(said.empty());
    // The view is longer than the host allows.
    CHECK(code(host.dispatch(get_run_message(), ann)) == "internal");
    CHECK(said.size() == 1);

    options.sensitive_names = {""};
    CHECK_MISUSE(invalid_argument, agenthost::host::open("memory:", options));
    options.sensitive_names.clear();
    options.default_timeout = std::chrono::milliseconds(-1);
    CHECK_MISUSE(invalid_argument, agenthost::host::open("memory:", options));
}

TEST(a_url_that_opens_nothing_is_named) {
    CHECK_MISUSE(invalid_argument, agenthost::host::open("postgres"));
    CHECK_MISUSE(invalid_argument, agenthost::host::open("sqlite:/no/such/folder/runs.db"));
    try {
        static_cast<void>(agenthost::host::open("nothing:here"));
        CHECK(false);
    } catch (const agenthost::error& caught) {
        CHECK(std::string(caught.what()).find("sqlite:") != std::string::npos);
    }
}
