// Maps of strings: one that owns them, and a view of one that somebody else owns. Both are ranges.
#ifndef AGENTHOST_METADATA_HPP
#define AGENTHOST_METADATA_HPP

#include <agenthost/requirements.hpp>

#ifdef AGENTHOST_CPP_SUPPORTED

#include <agenthost.h>
#include <agenthost/detail/text.hpp>

#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace agenthost {

/// A map of strings that owns them, in the order of insertion; each name once.
class metadata {
public:
    /// A name and its value.
    using value_type = std::pair<std::string, std::string>;
    /// Iterates over the pairs.
    using const_iterator = std::vector<value_type>::const_iterator;

    metadata() = default;
    /// Of equal names the last value stays.
    metadata(std::initializer_list<value_type> pairs) {
        for (const value_type& pair : pairs) set(pair.first, pair.second);
    }
    /// Takes pairs as they are. A name that occurs twice is found by the library, when they are sent.
    explicit metadata(std::vector<value_type> pairs) noexcept : pairs_(std::move(pairs)) {}

    /// Sets a name. Takes time in proportion to the number of pairs.
    void set(std::string_view name, std::string_view value) {
        for (value_type& pair : pairs_) {
            if (pair.first == name) {
                pair.second = value;
                return;
            }
        }
        pairs_.emplace_back(name, value);
    }
    /// The value of a name. Takes time in proportion to the number of pairs.
    std::optional<std::string_view> find(std::string_view name) const noexcept {
        for (const value_type& pair : pairs_) {
            if (pair.first == name) return std::string_view(pair.second);
        }
        return std::nullopt;
    }
    /// The first pair.
    const_iterator begin() const noexcept { return pairs_.begin(); }
    /// Behind the last pair.
    const_iterator end() const noexcept { return pairs_.end(); }
    /// The number of pairs.
    std::size_t size() const noexcept { return pairs_.size(); }
    /// Whether there are none.
    bool empty() const noexcept { return pairs_.empty(); }
    /// The same pairs in the same order.
    friend bool operator==(const metadata& left, const metadata& right) { return left.pairs_ == right.pairs_; }
    friend bool operator!=(const metadata& left, const metadata& right) { return !(left == right); }

private:
    friend class metadata_view;
    std::vector<value_type> pairs_;
};

/// A map of strings that somebody else owns: the library's for as long as a request is borrowed, or a `metadata`. A forward range of
/// `metadata_view::value_type`, also for `std::ranges`; its iterators are good as long as what it borrows.
class metadata_view {
public:
    /// A name and its value, borrowed.
    struct value_type {
        std::string_view name;   ///< The name.
        std::string_view value;  ///< The value.
    };

    /// Iterates over the pairs, which it makes as it is asked for them.
    class const_iterator {
    public:
        /// C++17 calls an iterator that gives values, not references, an input iterator.
        using iterator_category = std::input_iterator_tag;
#if AGENTHOST_CPP_STANDARD >= 202002L
        /// C++20 looks at what it can do.
        using iterator_concept = std::forward_iterator_tag;
#endif
        using value_type = metadata_view::value_type;
        using difference_type = std::ptrdiff_t;
        using pointer = void;
        using reference = value_type;

        const_iterator() noexcept = default;
        /// The pair.
        value_type operator*() const noexcept {
            if (owned_ != nullptr) return {owned_->first, owned_->second};
            return {detail::view(borrowed_->key), detail::view(borrowed_->value)};
        }
        /// On to the next pair.
        const_iterator& operator++() noexcept {
            if (owned_ != nullptr) {
                ++owned_;
            } else {
                ++borrowed_;
            }
            return *this;
        }
        /// On to the next pair.
        const_iterator operator++(int) noexcept {
            const_iterator before = *this;
            ++*this;
            return before;
        }
        friend bool operator==(const_iterator left, const_iterator right) noexcept {
            return left.borrowed_ == right.borrowed_ && left.owned_ == right.owned_;
        }
        friend bool operator!=(const_iterator left, const_iterator right) noexcept { return !(left == right); }

    private:
        friend class metadata_view;
        const_iterator(const agenthost_pair* borrowed, const metadata::value_type* owned) noexcept
            : borrowed_(borrowed), owned_(owned) {}
        const agenthost_pair* borrowed_ = nullptr;
        const metadata::value_type* owned_ = nullptr;
    };

    metadata_view() noexcept = default;
    /// Borrows pairs of the C interface.
    explicit metadata_view(agenthost_pairs pairs) noexcept
        : borrowed_(pairs.count > 0 ? pairs.items : nullptr), count_(pairs.count) {}
    /// Borrows `owner`, which has to outlive the view and stay as it is.
    metadata_view(const metadata& owner) noexcept : owned_(owner.pairs_.data()), count_(owner.size()) {}

    /// The value of a name. Takes time in proportion to the number of pairs.
    std::optional<std::string_view> find(std::string_view name) const noexcept {
        for (value_type pair : *this) {
            if (pair.name == name) return pair.value;
        }
        return std::nullopt;
    }
    /// The first pair.
    const_iterator begin() const noexcept { return {borrowed_, owned_}; }
    /// Behind the last pair.
    const_iterator end() const noexcept {
        // Not added to a null pointer: an empty view has no pairs to point to.
        return {borrowed_ != nullptr ? borrowed_ + count_ : nullptr, owned_ != nullptr ? owned_ + count_ : nullptr};
    }
    /// The number of pairs.
    std::size_t size() const noexcept { return count_; }
    /// Whether there are none.
    bool empty() const noexcept { return count_ == 0; }
    /// A copy that owns its strings. Linear in their number.
    metadata to_owned() const {
        std::vector<metadata::value_type> pairs;
        pairs.reserve(count_);
        for (value_type pair : *this) pairs.emplace_back(pair.name, pair.value);
        return metadata(std::move(pairs));
    }

private:
    const agenthost_pair* borrowed_ = nullptr;
    const metadata::value_type* owned_ = nullptr;
    std::size_t count_ = 0;
};

}  // namespace agenthost

// Declared by every header that has a range of its own, as <string_view>: <ranges> would double what compiling this costs.
#if defined(__cpp_lib_ranges)
/// Iterators stay good when the view is gone: they lead to what it borrows.
template <>
inline constexpr bool std::ranges::enable_borrowed_range<agenthost::metadata_view> = true;
/// Copied in constant time, and owns nothing.
template <>
inline constexpr bool std::ranges::enable_view<agenthost::metadata_view> = true;
#endif

#endif  // AGENTHOST_CPP_SUPPORTED
#endif  // AGENTHOST_METADATA_HPP
