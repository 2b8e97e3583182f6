#include "app/yaml/scalar.hpp"

#include <algorithm>
#include <array>

namespace fairlead::app {

namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }

// Takes digits off the front and says how many there were.
std::size_t digits(std::string_view& text) {
  std::size_t count = 0;
  while (count < text.size() && digit(text[count])) ++count;
  text.remove_prefix(count);
  return count;
}

template <class Allowed>
bool prefixed(std::string_view text, std::string_view prefix, Allowed allowed) {
  return text.size() > prefix.size() && text.substr(0, prefix.size()) == prefix &&
         std::all_of(text.begin() + static_cast<std::ptrdiff_t>(prefix.size()), text.end(), allowed);
}

}  // namespace

scalar_type type_of_scalar(std::string_view text) {
  constexpr std::array<std::string_view, 6> booleans{"true", "True", "TRUE", "false", "False", "FALSE"};
  constexpr std::array<std::string_view, 6> specials{".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"};
  if (std::find(booleans.begin(), booleans.end(), text) != booleans.end()) return scalar_type::boolean;
  if (prefixed(text, "0x", [](char c) { return digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }) ||
      prefixed(text, "0o", [](char c) { return c >= '0' && c <= '7'; }))
    return scalar_type::other_number;

  // [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?
  auto rest = text;
  bool json = true;
  bool whole = true;
  if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) {
    json = rest.front() == '-';
    rest.remove_prefix(1);
  }
  if (std::find(specials.begin(), specials.end(), rest) != specials.end())
    return text.size() == rest.size() || rest[1] == 'i' || rest[1] == 'I' ? scalar_type::other_number : scalar_type::text;
  const auto front = rest;
  const auto before = digits(rest);
  json = json && before > 0 && (before == 1 || front.front() != '0');
  std::size_t after = 0;
  if (!rest.empty() && rest.front() == '.') {
    whole = false;
    rest.remove_prefix(1);
    after = digits(rest);
    json = json && after > 0;
  }
  if (before + after == 0) return scalar_type::text;
  if (!rest.empty() && (rest.front() == 'e' || rest.front() == 'E')) {
    whole = false;
    rest.remove_prefix(1);
    if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) rest.remove_prefix(1);
    if (digits(rest) == 0) return scalar_type::text;
  }
  if (!rest.empty()) return scalar_type::text;
  if (!json) return scalar_type::other_number;
  return whole ? scalar_type::json_integer : scalar_type::json_float;
}

}  // namespace fairlead::app
