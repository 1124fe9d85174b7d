// The smallest program that uses the C++ header: builds a request and prints it.
#include <agenthost.hpp>
#include <iostream>

int main() {
    const auto request = agenthost::prepare(agenthost::get_run_request{"run-1"});
    std::cout << agenthost_version() << ' ' << request.bytes() << '\n';
}
