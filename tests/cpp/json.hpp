// A small JSON reader for the tests: enough to read vectors and to compare values as the vectors want it. It is lenient where
// the library is strict; nothing here judges the protocol.
#ifndef AGENTHOST_TESTS_JSON_HPP
#define AGENTHOST_TESTS_JSON_HPP

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace json {

enum class kind { null, boolean, number, string, array, object };

/// A value. `raw` is its text as it came, borrowed from the text that was parsed.
struct value {
    json::kind kind = json::kind::null;
    std::string_view raw;
    bool boolean = false;
    std::string string;
    std::vector<value> elements;
    std::map<std::string, value> members;

    bool has(const std::string& name) const { return members.count(name) != 0; }
    /// The member, or null when it is not there.
    const value& operator[](const std::string& name) const {
        static const value nothing;
        const auto found = members.find(name);
        return found == members.end() ? nothing : found->second;
    }
    bool is_null() const { return kind == json::kind::null; }
    std::int64_t integer() const { return std::strtoll(std::string(raw).c_str(), nullptr, 10); }
    std::uint64_t unsigned_integer() const { return std::strtoull(std::string(raw).c_str(), nullptr, 10); }
};

class parser {
public:
    explicit parser(std::string_view text) : text_(text) {}

    value document() {
        value out = next();
        space();
        if (at_ != text_.size()) fail("the end");
        return out;
    }

private:
    [[noreturn]] void fail(const char* expected) const {
        throw std::runtime_error("JSON: expected " + std::string(expected) + " at byte " + std::to_string(at_));
    }
    char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    void space() {
        while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
    }
    void expect(char wanted) {
        if (peek() != wanted) fail(std::string(1, wanted).c_str());
        ++at_;
    }
    bool word(std::string_view wanted) {
        if (text_.substr(at_, wanted.size()) != wanted) return false;
        at_ += wanted.size();
        return true;
    }

    value next() {
        space();
        const std::size_t start = at_;
        value out;
        if (peek() == '{') {
            out.kind = kind::object;
            ++at_;
            for (space(); peek() != '}'; space()) {
                if (!out.members.empty()) expect(',');
                space();
                std::string name = text();
                space();
                expect(':');
                out.members[name] = next();
            }
            ++at_;
        } else if (peek() == '[') {
            out.kind = kind::array;
            ++at_;
            for (space(); peek() != ']'; space()) {
                if (!out.elements.empty()) expect(',');
                out.elements.push_back(next());
            }
            ++at_;
        } else if (peek() == '"') {
            out.kind = kind::string;
            out.string = text();
        } else if (word("true") || word("false")) {
            out.kind = kind::boolean;
            out.boolean = text_[start] == 't';
        } else if (word("null")) {
            out.kind = kind::null;
        } else {
            out.kind = kind::number;
            while (std::string_view("+-.0123456789eE").find(peek()) != std::string_view::npos && peek() != '\0') ++at_;
            if (at_ == start) fail("a value");
        }
        out.raw = text_.substr(start, at_ - start);
        return out;
    }

    std::string text() {
        expect('"');
        std::string out;
        while (peek() != '"') {
            if (at_ >= text_.size()) fail("the end of a string");
            if (peek() != '\\') {
                out += text_[at_++];
                continue;
            }
            ++at_;
            const char escape = peek();
            ++at_;
            switch (escape) {
                case 'b': out += '\b'; break;
                case 'f': out += '\f'; break;
                case 'n': out += '\n'; break;
                case 'r': out += '\r'; break;
                case 't': out += '\t'; break;
                case 'u': unicode(out); break;
                default: out += escape;
            }
        }
        ++at_;
        return out;
    }

    std::uint32_t four() {
        const std::string digits(text_.substr(at_, 4));
        at_ += 4;
        return static_cast<std::uint32_t>(std::strtoul(digits.c_str(), nullptr, 16));
    }
    void unicode(std::string& out) {
        std::uint32_t code = four();
        if (code >= 0xd800 && code < 0xdc00 && text_.substr(at_, 2) == "\\u") {
            at_ += 2;
            code = 0x10000 + ((code - 0xd800) << 10) + (four() - 0xdc00);
        }
        const auto byte = [&](std::uint32_t bits) { out += static_cast<char>(bits); };
        if (code < 0x80) {
            byte(code);
        } else if (code < 0x800) {
            byte(0xc0 | code >> 6), byte(0x80 | (code & 63));
        } else if (code < 0x10000) {
            byte(0xe0 | code >> 12), byte(0x80 | (code >> 6 & 63)), byte(0x80 | (code & 63));
        } else {
            byte(0xf0 | code >> 18), byte(0x80 | (code >> 12 & 63)), byte(0x80 | (code >> 6 & 63)), byte(0x80 | (code & 63));
        }
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

inline value parse(std::string_view text) { return parser(text).document(); }

/// Equality as the vectors want it: integers within 64 bits exactly, other numbers as doubles, members in any order.
inline bool equal_numbers(std::string_view left, std::string_view right) {
    if (left == "-0") left = "0";
    if (right == "-0") right = "0";
    if (left == right) return true;
    const auto integer = [](std::string_view text) {
        if (text.find_first_of(".eE") != std::string_view::npos) return false;
        return text.size() < 19 || (text[0] == '-' ? std::string(text.substr(1)) <= "9223372036854775808" && text.size() <= 20
                                                   : text.size() < 20 || (text.size() == 20 && text <= "18446744073709551615"));
    };
    if (integer(left) && integer(right)) return false;
    return std::strtod(std::string(left).c_str(), nullptr) == std::strtod(std::string(right).c_str(), nullptr);
}

inline bool equal(const value& left, const value& right) {
    if (left.kind != right.kind) return false;
    switch (left.kind) {
        case kind::null: return true;
        case kind::boolean: return left.boolean == right.boolean;
        case kind::number: return equal_numbers(left.raw, right.raw);
        case kind::string: return left.string == right.string;
        case kind::array:
            if (left.elements.size() != right.elements.size()) return false;
            for (std::size_t i = 0; i < left.elements.size(); ++i) {
                if (!equal(left.elements[i], right.elements[i])) return false;
            }
            return true;
        case kind::object:
            if (left.members.size() != right.members.size()) return false;
            for (const auto& [name, member] : left.members) {
                const auto found = right.members.find(name);
                if (found == right.members.end() || !equal(member, found->second)) return false;
            }
            return true;
    }
    return false;
}

/// A string as JSON.
inline std::string quote(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            const char* hex = "0123456789abcdef";
            out += "\\u00";
            out += hex[static_cast<unsigned char>(c) >> 4];
            out += hex[static_cast<unsigned char>(c) & 15];
        } else {
            out += c;
        }
    }
    return out + "\"";
}

}  // namespace json

#endif
