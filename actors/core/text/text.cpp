#include "actors/core/text/text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

namespace fairlead::core {

namespace {

/// Bytes of the first character of `text`; 0: not valid UTF-8 (RFC 3629: no overlong forms, no surrogates).
std::size_t character_size(std::string_view text) {
  const auto byte = [&text](std::size_t at) { return static_cast<std::uint8_t>(text[at]); };
  const auto first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  for (std::size_t at = 1; at < size; ++at)
    if ((byte(at) & 0xc0) != 0x80) return 0;
  const auto second = byte(1);
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) || (first == 0xf0 && second < 0x90) ||
      (first == 0xf4 && second > 0x8f))
    return 0;
  return size;
}

}  // namespace

std::string verb_word(std::string_view name) {
  constexpr std::string_view before = "_VERB_";
  if (const auto at = name.find(before); at != std::string_view::npos) name.remove_prefix(at + before.size());
  std::string out{name};
  for (auto& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::string clean_text(std::string_view text, std::size_t limit) {
  constexpr std::string_view replacement = "\xef\xbf\xbd";
  std::string out;
  while (!text.empty()) {
    const auto size = character_size(text);
    const auto next = size == 0 ? replacement : text.substr(0, size);
    if (out.size() + next.size() > limit) break;
    out += next;
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return out;
}

std::string shown_key(std::string_view key) {
  constexpr std::size_t most = 256;
  return key.size() <= most ? std::string{key} : clean_text(key, most) + "…";
}

std::string clean_end(std::string_view text, std::size_t limit) {
  const auto begins_inside = [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; };
  if (text.size() > limit) {
    text.remove_prefix(text.size() - limit);
    while (!text.empty() && begins_inside(text.front())) text.remove_prefix(1);
  }
  // A byte that is replaced grows.
  auto out = clean_text(text, std::string::npos);
  auto surplus = out.size() - std::min(out.size(), limit);
  while (surplus < out.size() && begins_inside(out[surplus])) ++surplus;
  return out.erase(0, surplus);
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view{} : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string bytes_text(std::uint64_t bytes) {
  static constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return text;
}

}  // namespace fairlead::core
