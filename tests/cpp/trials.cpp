// Trials by fire, through the C ABI: memory stays flat over a million dispatches, and messages that are large in one way - deep,
// wide, long - are answered in time that grows with their size and not faster.

#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>

#include <unistd.h>

#include "check.hpp"
#include "fixture.hpp"

using namespace fixture;

namespace {

std::size_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    std::size_t total = 0, resident = 0;
    file >> total >> resident;
    return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

agenthost::host large_host(std::size_t most) {
    agenthost::host_options options;
    options.max_message_bytes = most;
    return fixture::host({}, options);
}

/// Dispatches messages of a kind at size n and 4 n, and wants `expected` as the code. Four times the size may take sixteen
/// times as long, or two seconds where that is more: a cost in proportion to the square would take far more.
template <class Make>
void is_linear(std::size_t n, const char* expected, Make make) {
    const agenthost::host host = large_host(std::size_t(1) << 30);
    double seconds[2] = {1e9, 1e9};
    for (int size = 0; size < 2; ++size) {
        const std::string message = make(size == 0 ? n : 4 * n);
        for (int round = 0; round < 2; ++round) {
            const auto start = std::chrono::steady_clock::now();
            const agenthost::buffer response = host.dispatch(message);
            const double taken = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
            if (taken < seconds[size]) seconds[size] = taken;
            CHECK(code(response) == expected);
        }
    }
    if (seconds[1] >= 16 * seconds[0] && seconds[1] >= 2) {
        throw check::failure("size n: " + std::to_string(seconds[0]) + " s, 4 n: " + std::to_string(seconds[1]) + " s");
    }
}

std::string create_run(const std::string& context, const std::string& more) {
    return R"({"protocolVersion":"2026-07-01","requestId":"r","idempotencyKey":"k","operation":"create_run",)"
           R"("body":{"context":{"runId":"run-1")" + context + "}" + more + "}}";
}

/// `count` members "k0":"v" and so on.
std::string members(std::size_t count, const char* value) {
    std::string out = "{";
    for (std::size_t index = 0; index < count; ++index) {
        out += (index > 0 ? ",\"k" : "\"k") + std::to_string(index) + "\":" + value;
    }
    return out + "}";
}

}  // namespace

TEST(memory_is_flat_over_a_million_dispatches) {
    const agenthost::host host = fixture::host([](const call& call, const agenthost::get_run_request& request) -> answer<agenthost::run_view> {
        if (request.run_id == "run-deferred") {
            call.defer(request).answer(run(request.run_id));
            return agenthost::deferred;
        }
        if (request.run_id == "run-error") return agenthost::host_error(agenthost::error_code::not_found, "no such run");
        return run(request.run_id);
    });
    const std::string messages[] = {
        get_run_message(), get_run_message("run-deferred"), get_run_message("run-error"), "no JSON", "",
        create_run(R"(,"metadata":{"a":"1","b":"2"})", R"(,"input":{"x":[1,2,3]},"metadata":{"c":"3"})"),
        R"({"protocolVersion":"1999-01-01","requestId":"r"})",
    };
    const auto dispatch = [&](int count) {
        for (int index = 0; index < count; ++index) {
            const std::string& message = messages[static_cast<std::size_t>(index) % std::size(messages)];
            if (index % 10 == 0) {
                host.dispatch_async(message, [](agenthost::buffer) {});
            } else {
                host.dispatch(message);
            }
        }
    };
    dispatch(100000);
    const std::size_t before = resident_bytes();
    dispatch(900000);
    const std::size_t after = resident_bytes();
    // A leak of two bytes a dispatch would show.
    CHECK(after < before + 1500000);
}

TEST(memory_is_flat_over_threads_and_hosts) {
    const auto lives = [](int count) {
        for (int index = 0; index < count; ++index) {
            const agenthost::host host = fixture::host();
            std::thread([&] { CHECK(code(host.dispatch(get_run_message())) == ""); }).join();
        }
    };
    lives(200);
    const std::size_t before = resident_bytes();
    lives(2000);
    CHECK(resident_bytes() < before + 1500000);
}

TEST(brackets_to_128_megabytes_are_refused_in_linear_time) {
    for (const char bracket : {'[', '{'}) {
        is_linear(std::size_t(32) << 20, "invalid_request", [&](std::size_t n) { return std::string(n, bracket); });
    }
    is_linear(std::size_t(16) << 20, "invalid_request", [](std::size_t n) { return std::string(n, '[') + std::string(n, ']'); });
    is_linear(std::size_t(8) << 20, "invalid_request", [](std::size_t n) {
        return create_run("", ",\"input\":" + std::string(n, '[') + std::string(n, ']'));
    });
}

TEST(objects_nested_by_name_are_refused_in_linear_time) {
    is_linear(1000000, "invalid_request", [](std::size_t n) {
        std::string message;
        for (std::size_t level = 0; level < n; ++level) message += "{\"a\":";
        return message + "1" + std::string(n, '}');
    });
}

TEST(a_million_members_are_read_in_linear_time) {
    is_linear(250000, "", [](std::size_t n) { return create_run("", ",\"input\":" + members(n, "1")); });
    is_linear(250000, "", [](std::size_t n) { return create_run("", ",\"unknown\":" + members(n, "[]")); });
}

TEST(a_hundred_thousand_metadata_keys_are_read_in_linear_time) {
    is_linear(25000, "", [](std::size_t n) { return create_run(",\"metadata\":" + members(n, "\"v\""), ""); });
    is_linear(25000, "", [](std::size_t n) { return create_run("", ",\"metadata\":" + members(n, "\"v\"")); });
    is_linear(25000, "invalid_request", [](std::size_t n) {
        return create_run("", ",\"metadata\":" + members(n, "\"v\"").insert(1, "\"k" + std::to_string(n - 1) + "\":\"again\","));
    });
}

TEST(long_texts_and_numbers_are_read_in_linear_time) {
    const std::size_t n = std::size_t(4) << 20;
    is_linear(n, "", [](std::size_t size) { return create_run("", ",\"input\":\"" + std::string(size, 'x') + "\""); });
    is_linear(n, "", [](std::size_t size) { return create_run("", ",\"input\":[0." + std::string(size, '1') + "]"); });
    is_linear(n, "invalid_request", [](std::size_t size) { return create_run("", ",\"input\":" + std::string(size, '9')); });
    is_linear(n / 4, "", [](std::size_t size) {
        std::string text;
        for (std::size_t index = 0; index < size; ++index) text += "\\u00e9";
        return create_run(",\"traceId\":\"" + text + "\"", "");
    });
}

TEST(a_large_answer_is_checked_and_written_in_linear_time) {
    double seconds[2];
    for (int size = 0; size < 2; ++size) {
        const std::string result = members(size == 0 ? 250000 : 1000000, "[1]");
        agenthost::host_options options;
        options.max_message_bytes = std::uint64_t(1) << 30;
        const agenthost::host host = fixture::host([&](const call&, const agenthost::get_run_request& request) -> answer<agenthost::run_view> {
            agenthost::run_view view = run(request.run_id);
            view.result = result;
            return view;
        }, options);
        const auto start = std::chrono::steady_clock::now();
        const agenthost::buffer response = host.dispatch(get_run_message());
        seconds[size] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        CHECK(code(response) == "" && response.size() > result.size());
    }
    CHECK(seconds[1] < 16 * seconds[0] || seconds[1] < 2);
}

int main() { return check::main("cpp-trials"); }
