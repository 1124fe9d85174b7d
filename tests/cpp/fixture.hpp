// A service whose functions are set by a test, a log that remembers, and messages.
#ifndef AGENTHOST_TESTS_FIXTURE_HPP
#define AGENTHOST_TESTS_FIXTURE_HPP

#include <agenthost.hpp>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fixture {

using agenthost::answer;
using agenthost::call;

inline agenthost::run_submission submission(std::string_view run_id) {
    return {std::string(run_id), 1, agenthost::run_status::created};
}

inline agenthost::run_view run(std::string_view run_id) {
    agenthost::run_view out;
    out.run_id = run_id;
    out.revision = 3;
    out.status = agenthost::run_status::running;
    return out;
}

/// Answers every operation simply; `get` replaces what `get_run` does.
class service : public agenthost::service {
public:
    using get_function = std::function<answer<agenthost::run_view>(const call&, const agenthost::get_run_request&)>;

    explicit service(get_function get = {}) : get_(std::move(get)) {}

    answer<agenthost::run_submission> create_run(const call&, const agenthost::create_run_request& request) override {
        return submission(request.context.run_id);
    }
    answer<agenthost::run_view> get_run(const call& call, const agenthost::get_run_request& request) override {
        if (get_) return get_(call, request);
        return run(request.run_id);
    }
    answer<agenthost::run_submission> cancel_run(const call&, const agenthost::cancel_run_request& request) override {
        return submission(request.run_id);
    }
    answer<agenthost::run_submission> resolve_approval(const call&, const agenthost::resolve_approval_request& request) override {
        return submission(request.run_id);
    }
    answer<agenthost::run_submission> resume_run(const call&, const agenthost::resume_run_request& request) override {
        return submission(request.run_id);
    }
    answer<agenthost::event_page> list_events(const call&, const agenthost::list_events_request& request) override {
        return agenthost::event_page{{}, request.after_sequence, false};
    }

private:
    get_function get_;
};

/// Remembers what was logged, as `level message name=value ...`.
class memory_log {
public:
    agenthost::log_function function() {
        return [this](agenthost::log_level level, std::string_view message, agenthost::metadata_view fields) {
            std::string line = std::to_string(static_cast<int>(level)) + " " + std::string(message);
            for (const auto field : fields) line += " " + std::string(field.name) + "=" + std::string(field.value);
            const std::lock_guard<std::mutex> lock(mutex_);
            lines_.push_back(line);
        };
    }
    bool contains(std::string_view text) const {
        const std::lock_guard<std::mutex> lock(mutex_);
        for (const std::string& line : lines_) {
            if (line.find(text) != std::string::npos) return true;
        }
        return false;
    }
    std::size_t size() const {
        const std::lock_guard<std::mutex> lock(mutex_);
        return lines_.size();
    }

private:
    mutable std::mutex mutex_;
    std::vector<std::string> lines_;
};

/// A door that one thread opens and others wait at.
class gate {
public:
    void open() {
        const std::lock_guard<std::mutex> lock(mutex_);
        open_ = true;
        opened_.notify_all();
    }
    void wait() {
        std::unique_lock<std::mutex> lock(mutex_);
        opened_.wait(lock, [this] { return open_; });
    }

private:
    std::mutex mutex_;
    std::condition_variable opened_;
    bool open_ = false;
};

inline agenthost::host host(service::get_function get = {}, const agenthost::host_options& options = {}) {
    return agenthost::host(std::make_unique<service>(std::move(get)), options);
}

inline std::string get_run_message(std::string_view run_id = "run-1") {
    return R"({"protocolVersion":"2026-07-01","requestId":"req-1","operation":"get_run","body":{"runId":")" + std::string(run_id) + "\"}}";
}

/// The code of a refusal; empty for a success. Checks on the way that our client accepts the response.
inline std::string code(std::string_view response) {
    const auto error = agenthost::decode(response).error();
    return error ? std::string(name(error->code())) : "";
}

/// `details.reason` of what the library answers itself.
inline bool has_reason(std::string_view response, std::string_view reason) {
    const auto error = agenthost::decode(response).error();
    return error && error->code() == agenthost::error_code::unavailable && error->retryable() &&
           error->details().find("\"" + std::string(reason) + "\"") != std::string::npos;
}

}  // namespace fixture

#endif
