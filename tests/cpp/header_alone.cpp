// The header needs nothing before it, may come twice, and lives beside the C header.
#include <agenthost.hpp>
#include <agenthost.hpp>
#include <agenthost.h>

// Everything that is a template is made once.
template class agenthost::reply<agenthost::run_submission>;
template class agenthost::reply<agenthost::run_view>;
template class agenthost::reply<agenthost::event_page>;
template class agenthost::answer<agenthost::run_submission>;
template class agenthost::prepared_request<agenthost::event_page>;
template struct agenthost::basic_execution_context<std::string, agenthost::metadata>;
static_assert(!std::is_copy_constructible_v<agenthost::reply<agenthost::run_view>>);
static_assert(std::is_nothrow_move_constructible_v<agenthost::reply<agenthost::run_view>>);
static_assert(std::is_copy_constructible_v<agenthost::host> && std::is_nothrow_move_constructible_v<agenthost::host>);
static_assert(!std::is_copy_constructible_v<agenthost::call>);

int main() { return 0; }
