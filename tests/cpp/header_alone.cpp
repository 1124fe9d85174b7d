// The header needs nothing before it, may come twice, and lives beside the C header.
#include <agenthost.hpp>
#include <agenthost.hpp>
#include <agenthost.h>

#if __cplusplus >= 202002L
#include <algorithm>
#include <ranges>
#endif

// Everything that is a template is made once.
template class agenthost::reply<agenthost::run_submission>;
template class agenthost::reply<agenthost::run_view>;
template class agenthost::reply<agenthost::event_page>;
template class agenthost::answer<agenthost::run_submission>;
template class agenthost::prepared_request<agenthost::event_page>;
template class agenthost::result<agenthost::run_page>;
template class agenthost::result<void>;
template struct agenthost::basic_execution_context<std::string, agenthost::metadata>;
static_assert(!std::is_copy_constructible_v<agenthost::reply<agenthost::run_view>>);
static_assert(std::is_nothrow_move_constructible_v<agenthost::reply<agenthost::run_view>>);
static_assert(!std::is_copy_constructible_v<agenthost::pending> && std::is_nothrow_move_constructible_v<agenthost::pending>);
static_assert(std::is_copy_constructible_v<agenthost::host> && std::is_nothrow_move_constructible_v<agenthost::host>);
static_assert(std::is_copy_constructible_v<agenthost::runs> && std::is_nothrow_move_constructible_v<agenthost::runs>);
static_assert(!std::is_copy_constructible_v<agenthost::call>);

/// Whether a stream takes a value.
template <class T, class = void>
struct is_printable : std::false_type {};
template <class T>
struct is_printable<T, std::void_t<decltype(std::declval<std::ostream&>() << std::declval<const T&>())>> : std::true_type {};
// The right to work on a run is a secret: it becomes text by name alone.
static_assert(is_printable<std::string>::value);
static_assert(!is_printable<agenthost::claim_token>::value && !is_printable<agenthost::claim>::value);
static_assert(!std::is_convertible_v<agenthost::claim_token, std::string> &&
              !std::is_convertible_v<agenthost::claim_token, std::string_view>);

// A call returns what it completes by.
using completion_of_claim = std::optional<agenthost::claimed>;
static_assert(std::is_same_v<agenthost::completed<completion_of_claim, agenthost::wait_t>, completion_of_claim>);
static_assert(std::is_same_v<agenthost::completed<completion_of_claim, agenthost::as_future_t>, std::future<completion_of_claim>>);
static_assert(std::is_void_v<agenthost::completed<completion_of_claim, void (*)(agenthost::result<completion_of_claim>)>>);

/// Ranges by what the language has.
std::size_t in_a_loop(const agenthost::metadata& owned, agenthost::metadata_view view, const agenthost::event_page& page) {
    std::size_t length = 0;
    for (const auto& [name, value] : owned) length += name.size() + value.size();
    for (const auto [name, value] : view) length += name.size() + value.size();
    for (const agenthost::event& event : page) length += event.type.size();
    return length;
}

#if __cplusplus >= 202002L
static_assert(std::ranges::forward_range<agenthost::metadata_view> && std::ranges::sized_range<agenthost::metadata_view>);
static_assert(std::ranges::view<agenthost::metadata_view> && std::ranges::borrowed_range<agenthost::metadata_view>);
static_assert(std::ranges::random_access_range<agenthost::metadata> && std::ranges::random_access_range<agenthost::event_page>);
static_assert(std::ranges::range<agenthost::run_page> && std::ranges::range<agenthost::admitted_page> &&
              std::ranges::range<agenthost::followed_events>);

std::ptrdiff_t by_an_algorithm(agenthost::metadata_view view, const agenthost::event_page& page) {
    const auto is_long = [](std::string_view text) { return text.size() > 10; };
    return std::ranges::count_if(view | std::views::transform([](auto pair) { return pair.value; }), is_long) +
           std::ranges::count_if(page, is_long, &agenthost::event::type);
}
#endif

int main() { return 0; }
