// The contract's vectors, played through agenthost.hpp: every dispatch vector with a service that returns its answer, one that
// answers later from another thread, and one that answers with JSON text. AGENTHOST_VECTORS names another folder.
// Ends with `cpp: N passed, M failed`; a vector has passed when it has in every manner.

#include <agenthost.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "json.hpp"
#include "script.hpp"

namespace {

struct failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

std::string from_base64(const std::string& text) {
    const std::string alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    unsigned bits = 0;
    int count = 0;
    for (const char c : text) {
        const std::size_t digit = alphabet.find(c);
        if (digit == std::string::npos) continue;
        bits = bits << 6 | static_cast<unsigned>(digit);
        count += 6;
        if (count >= 8) {
            count -= 8;
            out += static_cast<char>(bits >> count & 255);
        }
    }
    return out;
}

std::string message(const json::value& vector, const char* plain, const char* base64) {
    if (vector.has(plain)) return vector[plain].string;
    if (vector.has(base64)) return from_base64(vector[base64].string);
    throw failure("the vector has no message");
}

void expect(const std::string& what, const json::value& expected, const json::value& found) {
    if (json::equal(expected, found)) return;
    throw failure(what + ": expected " + std::string(expected.raw) + ", found " + std::string(found.raw));
}

/// Of an `internal` error nothing that the service said may be in the response.
void nothing_leaks(const json::value& vector, const std::string& response) {
    const json::value& error = vector["reply"]["error"];
    std::vector<std::string> secrets = {error["message"].string};
    for (const char* map : {"details", "metadata"}) {
        for (const auto& [name, member] : error[map].members) secrets.push_back(std::string(member.raw));
    }
    for (const std::string& secret : secrets) {
        if (secret.size() > 3 && response.find(secret) != std::string::npos) throw failure("the response holds " + secret);
    }
}

void check_response(const json::value& vector, const std::string& text) {
    const json::value& wanted = vector["response"];
    const json::value found = json::parse(text);
    if (found.members.size() != 6) throw failure("a response has six members: " + text);
    for (const char* name : {"protocolVersion", "requestId", "operation", "ok", "body", "error"}) {
        if (!found.has(name)) throw failure(std::string("the response has no ") + name);
    }
    for (const char* name : {"ok", "requestId", "operation"}) {
        if (wanted[name].string != "*") expect(name, wanted[name], found[name]);
    }
    const json::value empty = json::parse("{}");
    if (wanted["ok"].boolean) {
        expect("error", json::value(), found["error"]);
        expect("body", wanted["body"], found["body"]);
        return;
    }
    expect("body", empty, found["body"]);
    for (const char* name : {"code", "retryable", "details"}) {
        if (wanted.has(name)) expect(name, wanted[name], found["error"][name]);
    }
    for (const auto& [name, member] : wanted["error"].members) expect(name, member, found["error"][name]);
    if (vector["call"].is_null() && found["error"]["message"].string.empty()) throw failure("a refusal without a message");
    if (found["error"]["code"].string == "internal") nothing_leaks(vector, text);
}

void play_dispatch(const json::value& vector) {
    const std::string request = message(vector, "request", "request_base64");
    for (const script::manner how : {script::manner::returned, script::manner::deferred, script::manner::json}) {
        std::vector<std::string> seen;
        const agenthost::host host(std::make_unique<script::service>(vector["reply"], how, seen));
        const std::string response = host.dispatch(request).str();
        host.close();
        if (seen.size() > 1) throw failure("the service was called more than once");
        const std::string called = seen.empty() ? "null" : seen[0];
        expect("call", vector["call"], json::parse(called));
        check_response(vector, response);
    }
}

std::string found(const std::string& text) {
    using namespace script;
    try {
        const agenthost::response response = agenthost::decode(text);
        if (const auto error = response.error()) {
            return object({script::text("outcome", "error"),
                           raw("error", object({script::text("code", name(error->code())), script::text("message", error->message()),
                                                raw("retryable", error->retryable() ? "true" : "false"),
                                                raw("details", error->details()), pairs("metadata", error->metadata()),
                                                script::text("originalCode", error->original_code())}))});
        }
        std::string decoded;
        if (const auto submission = response.submission()) decoded = result_text(*submission);
        if (const auto run = response.run()) decoded = result_text(*run);
        if (const auto page = response.page()) decoded = result_text(*page);
        return object({script::text("outcome", "ok"), raw("decoded", decoded)});
    } catch (const agenthost::error& rejected) {
        if (rejected.status() != agenthost::status_code::bad_response) throw;
        if (std::string(rejected.what()).empty()) throw failure("a rejection without a reason");
        return object({script::text("outcome", "rejected")});
    }
}

void play_client(const json::value& vector) {
    const std::string outcome = found(message(vector, "response_text", "response_base64"));
    const json::value got = json::parse(outcome);
    const json::value& wanted = vector["expect"];
    expect("outcome", wanted["outcome"], got["outcome"]);
    if (wanted.has("decoded")) expect("decoded", wanted["decoded"], got["decoded"]);
    for (const auto& [name, member] : wanted["error"].members) expect(name, member, got["error"][name]);
}

struct tally {
    int passed = 0;
    int failed = 0;

    void fail(const std::string& name, const std::string& why) {
        ++failed;
        std::printf("cpp: FAILED %s: %s\n", name.c_str(), why.c_str());
    }
};

/// Plays a file. A vector of a client says what is expected of it.
void play(const std::filesystem::path& path, tally& tally) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
        std::string name = line.substr(0, 80);
        try {
            const json::value vector = json::parse(line);
            name = vector["name"].string;
            if (vector.has("expect")) {
                play_client(vector);
            } else {
                play_dispatch(vector);
            }
            ++tally.passed;
        } catch (const std::exception& error) {
            tally.fail(name, error.what());
        }
    }
}

}  // namespace

int main() {
    const char* given = std::getenv("AGENTHOST_VECTORS");
    const std::string folder = given != nullptr ? given : AGENTHOST_TESTS_VECTORS;
    tally tally;
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (const auto& file : files) play(file, tally);
    if (tally.passed == 0) tally.fail("the vectors", "none passed in " + folder);
    for (int kind = AGENTHOST_LIVE_HOSTS; kind <= AGENTHOST_LIVE_RESPONSES; ++kind) {
        if (agenthost_live(kind) != 0) tally.fail("handles", "some of kind " + std::to_string(kind) + " are left");
    }
    std::printf("cpp: %d passed, %d failed\n", tally.passed, tally.failed);
    return tally.failed > 0;
}
