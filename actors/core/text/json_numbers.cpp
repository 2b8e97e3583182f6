// The numbers that jq 1.6 would change: it reads every number as a double and writes the shortest text that reads back as that double.

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <vector>

#include "actors/core/text/json.hpp"

namespace fairlead::core {
namespace {

/// A decimal value in its only normal form: 0.DIGITS times ten to the power, no zeros at either end. Zero has no digits.
struct decimal {
  std::string digits;
  long power = 0;
  friend bool operator==(const decimal&, const decimal&) = default;
};

decimal normalize(std::string_view number) {
  decimal out;
  if (!number.empty() && number.front() == '-') number.remove_prefix(1);
  const auto exponent_at = std::min(number.find_first_of("eE"), number.size());
  const auto mantissa = number.substr(0, exponent_at);
  const auto point = std::min(mantissa.find('.'), mantissa.size());
  out.power = static_cast<long>(point);
  if (exponent_at < number.size()) {
    // Beyond this limit the double has long overflowed or vanished.
    out.power += std::clamp(std::strtol(std::string(number.substr(exponent_at + 1)).c_str(), nullptr, 10), -1'000'000L, 1'000'000L);
  }
  for (const char c : mantissa) {
    if (c != '.') out.digits += c;
  }
  const auto zeros = std::min(out.digits.find_first_not_of('0'), out.digits.size());
  out.digits.erase(0, zeros);
  out.power -= static_cast<long>(zeros);
  while (!out.digits.empty() && out.digits.back() == '0') out.digits.pop_back();
  if (out.digits.empty()) out.power = 0;
  return out;
}

class walker {
 public:
  explicit walker(std::string_view text) : p_(text.data()), end_(text.data() + text.size()) {}

  /// False: met a number that jq would change; the path is then complete, from its end backwards.
  bool value() {
    space();
    if (p_ >= end_) return true;
    switch (*p_) {
      case '"': p_ = skip_json_string(p_, end_); return true;
      case '{': return object();
      case '[': return array();
      default: return scalar();
    }
  }

  changed_number found() const {
    changed_number out;
    for (auto part = reverse_path_.rbegin(); part != reverse_path_.rend(); ++part) out.path += *part;
    out.number = std::string(number_);
    return out;
  }

 private:
  void space() {
    while (p_ < end_ && (*p_ == ' ' || *p_ == '\n' || *p_ == '\t' || *p_ == '\r')) ++p_;
  }

  bool object() {
    ++p_;
    for (space(); p_ < end_ && *p_ == '"'; space()) {
      const char* const key = p_;
      p_ = skip_json_string(p_, end_);
      const std::string_view raw(key, static_cast<std::size_t>(p_ - key));
      space();
      ++p_;
      if (!value()) {
        reverse_path_.push_back(spell_json_key(decode_json_string(raw)));
        return false;
      }
      comma();
    }
    ++p_;
    return true;
  }

  bool array() {
    ++p_;
    space();
    for (int i = 0; p_ < end_ && *p_ != ']'; ++i) {
      if (!value()) {
        reverse_path_.push_back("[" + std::to_string(i) + "]");
        return false;
      }
      comma();
    }
    ++p_;
    return true;
  }

  void comma() {
    space();
    if (p_ < end_ && *p_ == ',') ++p_;
    space();
  }

  bool scalar() {
    const char* const start = p_;
    while (p_ < end_ && *p_ != ',' && *p_ != '}' && *p_ != ']' && *p_ > ' ') ++p_;
    if (p_ == start) ++p_;
    if (*start != '-' && (*start < '0' || *start > '9')) return true;
    number_ = std::string_view(start, static_cast<std::size_t>(p_ - start));
    return jq_keeps_number(number_);
  }

  const char* p_;
  const char* end_;
  std::string_view number_;
  std::vector<std::string> reverse_path_;
};

}  // namespace

bool jq_keeps_number(std::string_view number) {
  const auto digits = number.substr(!number.empty() && number.front() == '-' ? 1 : 0);
  // Fifteen digits always survive in a double; without an exponent nothing can overflow either.
  const bool exponent = digits.find_first_of("eE") != std::string_view::npos;
  if (!exponent && digits.size() <= 15) return true;
  if (!exponent && digits.find('.') == std::string_view::npos) {
    std::uint64_t magnitude = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), magnitude);
    return read.ec == std::errc{} && magnitude <= (std::uint64_t{1} << 53);
  }
  double value = 0;
  if (std::from_chars(number.data(), number.data() + number.size(), value).ec != std::errc{}) {
    return normalize(number).digits.empty();
  }
  char text[64];
  const auto written = std::to_chars(text, text + sizeof text, value);
  return normalize(number) == normalize(std::string_view(text, static_cast<std::size_t>(written.ptr - text)));
}

std::optional<changed_number> find_changed_number(std::string_view value) {
  walker walk(value);
  if (walk.value()) return std::nullopt;
  return walk.found();
}

}  // namespace fairlead::core
