// What the tests of durable runs share: places for files, and messages of clients.
#ifndef AGENTHOST_TESTS_STORE_HPP
#define AGENTHOST_TESTS_STORE_HPP

#include <agenthost.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace store {

/// A folder that is gone with its owner.
class folder {
public:
    folder() {
        std::string name = (std::filesystem::temp_directory_path() / "agenthost-cpp-XXXXXX").string();
        path_ = mkdtemp(name.data());
    }
    ~folder() { std::filesystem::remove_all(path_); }
    folder(const folder&) = delete;
    folder& operator=(const folder&) = delete;

    std::string file(const char* name = "runs.db") const { return (path_ / name).string(); }
    std::string url() const { return "sqlite:" + file(); }

    /// Whether a text stands in any file here.
    bool holds(const std::string& text) const {
        for (const auto& entry : std::filesystem::directory_iterator(path_)) {
            std::ostringstream content;
            content << std::ifstream(entry.path(), std::ios::binary).rdbuf();
            if (content.str().find(text) != std::string::npos) return true;
        }
        return false;
    }

private:
    std::filesystem::path path_;
};

/// A client of a host in this process, for a principal or none.
inline agenthost::client client(const agenthost::host& host, std::optional<std::string_view> principal = {}) {
    return agenthost::client([&host, principal](std::string_view request) {
        agenthost::dispatch_options options;
        options.principal = principal;
        return host.dispatch(request, options).str();
    });
}

/// A request to create a run for an agent.
inline agenthost::create_run_request create(std::string_view run_id, std::string_view agent_id = "writer") {
    agenthost::create_run_request request;
    request.context.run_id = run_id;
    request.context.agent_id = agent_id;
    return request;
}

/// Claims a run of the agent "writer", which has to be there.
inline agenthost::claimed take(const agenthost::runs& runs) { return runs.claim({{"writer"}, "worker", {}}).value(); }

}  // namespace store

#endif
