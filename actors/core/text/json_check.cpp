// check_json: strict RFC 8259 (UTF-8 without surrogates or overlong forms, `\u` surrogates in pairs), in one pass that knows the position
// of an error and needs no memory.

#include <array>
#include <cstdint>
#include <string>

#include "actors/core/text/json.hpp"

namespace fairlead::core {
namespace {

constexpr int max_depth = 64;

class checker {
 public:
  explicit checker(std::string_view text) : begin_(text.data()), p_(text.data()), end_(text.data() + text.size()) {}

  status run() {
    skip_space();
    if (!document()) {
      const auto at = " at byte " + std::to_string(p_ - begin_ + 1);
      if (too_deep_) return error{v1::ERROR_CODE_INVALID_ARGUMENT, "nested more than 64 levels deep" + at, "Send a flatter value."};
      return error{v1::ERROR_CODE_INVALID_ARGUMENT, "not valid JSON" + at + ": " + what_, "Send one JSON value in UTF-8 (RFC 8259)."};
    }
    return nothing{};
  }

 private:
  bool fail(std::string what) {
    what_ = std::move(what);
    return false;
  }

  bool unexpected(const char* wanted) {
    if (p_ >= end_) return fail(std::string("the text ends where ") + wanted + " was expected");
    return fail(std::string("expected ") + wanted);
  }

  void skip_space() {
    while (p_ < end_ && (*p_ == ' ' || *p_ == '\n' || *p_ == '\t' || *p_ == '\r')) ++p_;
  }

  /// One value and nothing after it. `objects_[depth - 1]` holds the kind of the open container.
  bool document() {
    int depth = 0;
    for (;;) {
      // The start of a value.
      if (p_ >= end_) return unexpected("a value");
      if (*p_ == '{' || *p_ == '[') {
        if (depth == max_depth) {
          too_deep_ = true;  // which valid JSON may be
          return false;
        }
        const bool object = *p_ == '{';
        objects_[static_cast<std::size_t>(depth++)] = object;
        ++p_;
        skip_space();
        if (p_ < end_ && *p_ == (object ? '}' : ']')) {
          ++p_;
          --depth;
        } else {
          if (object && !key()) return false;
          continue;
        }
      } else if (!scalar()) {
        return false;
      }
      // The end of a value: closes the containers that end here, then reads the comma before the next value.
      for (;;) {
        skip_space();
        if (depth == 0) return p_ == end_ || fail("there is more text after the value");
        const bool object = objects_[static_cast<std::size_t>(depth - 1)];
        if (p_ >= end_) return unexpected(object ? "`,` or `}`" : "`,` or `]`");
        if (*p_ == (object ? '}' : ']')) {
          ++p_;
          --depth;
          continue;
        }
        if (*p_ != ',') return unexpected(object ? "`,` or `}`" : "`,` or `]`");
        ++p_;
        skip_space();
        if (object && !key()) return false;
        break;
      }
    }
  }

  bool key() {
    if (p_ >= end_ || *p_ != '"') return unexpected("a key in quotes");
    if (!string()) return false;
    skip_space();
    if (p_ >= end_ || *p_ != ':') return unexpected("`:`");
    ++p_;
    skip_space();
    return true;
  }

  bool scalar() {
    switch (*p_) {
      case '"': return string();
      case 't': return word("true");
      case 'f': return word("false");
      case 'n': return word("null");
      default: return number();
    }
  }

  bool word(std::string_view expected) {
    if (std::string_view(p_, static_cast<std::size_t>(end_ - p_)).substr(0, expected.size()) != expected) return fail("expected a value");
    p_ += expected.size();
    return true;
  }

  bool digit() const { return p_ < end_ && *p_ >= '0' && *p_ <= '9'; }

  bool digits() {
    if (!digit()) return unexpected("a digit");
    while (digit()) ++p_;
    return true;
  }

  bool number() {
    if (*p_ != '-' && !digit()) return fail("expected a value");
    if (*p_ == '-') ++p_;
    if (p_ < end_ && *p_ == '0') {
      ++p_;
      if (digit()) return fail("a number begins with a needless zero");
    } else if (!digits()) {
      return false;
    }
    if (p_ < end_ && *p_ == '.') {
      ++p_;
      if (!digits()) return false;
    }
    if (p_ < end_ && (*p_ == 'e' || *p_ == 'E')) {
      ++p_;
      if (p_ < end_ && (*p_ == '+' || *p_ == '-')) ++p_;
      if (!digits()) return false;
    }
    return true;
  }

  bool string() {
    for (p_ = skip_plain(p_ + 1, end_); p_ < end_; p_ = skip_plain(p_, end_)) {
      const auto c = static_cast<unsigned char>(*p_);
      if (c == '"') {
        ++p_;
        return true;
      }
      if (c < 0x20) return fail("a string has a control character, write it as an escape");
      if (!(c == '\\' ? escape() : utf8())) return false;
    }
    return unexpected("the end of a string");
  }

  bool hex4(unsigned& out) {
    out = 0;
    for (int i = 0; i < 4; ++i, ++p_) {
      if (p_ >= end_) return unexpected("a hex digit");
      const char c = *p_;
      if (c >= '0' && c <= '9')
        out = out * 16 + static_cast<unsigned>(c - '0');
      else if (c >= 'a' && c <= 'f')
        out = out * 16 + static_cast<unsigned>(c - 'a' + 10);
      else if (c >= 'A' && c <= 'F')
        out = out * 16 + static_cast<unsigned>(c - 'A' + 10);
      else
        return unexpected("a hex digit");
    }
    return true;
  }

  bool escape() {
    ++p_;
    if (p_ >= end_) return unexpected("an escape");
    if (*p_ != 'u') {
      if (std::string_view("\"\\/bfnrt").find(*p_) == std::string_view::npos) return fail("no such escape");
      ++p_;
      return true;
    }
    ++p_;
    unsigned c = 0;
    if (!hex4(c)) return false;
    if (c < 0xD800 || c > 0xDFFF) return true;
    unsigned low = 0;
    if (c > 0xDBFF || end_ - p_ < 6 || p_[0] != '\\' || p_[1] != 'u') return fail("half of a surrogate pair");
    p_ += 2;
    if (!hex4(low)) return false;
    return (low >= 0xDC00 && low <= 0xDFFF) || fail("half of a surrogate pair");
  }

  /// Well-formed byte sequences of the Unicode standard, table 3-7.
  bool utf8() {
    const auto byte = [&](int i) { return p_ + i < end_ ? static_cast<unsigned char>(p_[i]) : 0U; };
    const auto tail = [&](int i) { return (byte(i) & 0xC0U) == 0x80U; };
    const auto c = byte(0);
    int size = 0;
    if (c >= 0xC2 && c <= 0xDF) {
      size = tail(1) ? 2 : 0;
    } else if (c >= 0xE0 && c <= 0xEF) {
      const auto second = byte(1);
      const bool fits = !(c == 0xE0 && second < 0xA0) && !(c == 0xED && second > 0x9F);
      size = fits && tail(1) && tail(2) ? 3 : 0;
    } else if (c >= 0xF0 && c <= 0xF4) {
      const auto second = byte(1);
      const bool fits = !(c == 0xF0 && second < 0x90) && !(c == 0xF4 && second > 0x8F);
      size = fits && tail(1) && tail(2) && tail(3) ? 4 : 0;
    }
    if (size == 0) return fail("not UTF-8");
    p_ += size;
    return true;
  }

  const char* begin_;
  const char* p_;
  const char* end_;
  std::array<bool, max_depth> objects_{};
  std::string what_;
  bool too_deep_ = false;
};

}  // namespace

status check_json(std::string_view text) { return checker(text).run(); }

}  // namespace fairlead::core
