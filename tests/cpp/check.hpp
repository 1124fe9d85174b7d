// What the tests need: cases that register themselves, and checks that say what they found.
#ifndef AGENTHOST_TESTS_CHECK_HPP
#define AGENTHOST_TESTS_CHECK_HPP

#include <agenthost.hpp>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace check {

struct failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct test_case {
    const char* name;
    void (*run)();
};

inline std::vector<test_case>& cases() {
    static std::vector<test_case> all;
    return all;
}

struct registered {
    registered(const char* name, void (*run)()) { cases().push_back({name, run}); }
};

inline void that(bool holds, const char* what, const char* file, int line) {
    if (!holds) throw failure(std::string(file) + ":" + std::to_string(line) + ": " + what);
}

template <class Call>
void misuse(agenthost::status_code wanted, Call call, const char* file, int line) {
    try {
        call();
    } catch (const agenthost::error& thrown) {
        if (thrown.status() == wanted && thrown.what()[0] != '\0') return;
        throw failure(std::string(file) + ":" + std::to_string(line) + ": another error: " + thrown.what());
    }
    throw failure(std::string(file) + ":" + std::to_string(line) + ": no error was thrown");
}

/// Runs all cases. After each one no handle may be left.
inline int main(const char* suite) {
    int passed = 0, failed = 0;
    for (const test_case& each : cases()) {
        std::string why;
        try {
            each.run();
        } catch (const std::exception& error) {
            why = error.what();
        }
        for (int kind = AGENTHOST_LIVE_HOSTS; why.empty() && kind <= AGENTHOST_LIVE_OUTCOMES; ++kind) {
            if (agenthost_live(kind) != 0) why = "handles of kind " + std::to_string(kind) + " are left";
        }
        why.empty() ? ++passed : ++failed;
        if (!why.empty()) std::printf("%s: FAILED %s: %s\n", suite, each.name, why.c_str());
    }
    if (passed == 0) ++failed;
    std::printf("%s: %d passed, %d failed\n", suite, passed, failed);
    return failed > 0;
}

}  // namespace check

#define TEST(name)                                            \
    static void name();                                       \
    static const check::registered name##_registered(#name, name); \
    static void name()
#define CHECK(condition) check::that((condition), #condition, __FILE__, __LINE__)
#define FAIL(why) check::that(false, why, __FILE__, __LINE__)
#define CHECK_MISUSE(status, ...) \
    check::misuse(agenthost::status_code::status, [&] { static_cast<void>(__VA_ARGS__); }, __FILE__, __LINE__)

#endif
