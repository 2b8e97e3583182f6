#include "app/door/target.hpp"

#include <algorithm>

#include "actors/agents/text_template.hpp"
#include "actors/core/text/text.hpp"

namespace fairlead::app::door {

namespace {

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::optional<std::string> decode_percent(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? digit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? digit(text[i + 2]) : -1;
    if (high < 0 || low < 0 || (high == 0 && low == 0)) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  if (core::clean_text(out, std::string::npos) != out) return std::nullopt;
  return out;
}

std::string encode_percent(std::string_view text) {
  std::string out;
  agents::append_percent_encoded(out, text);
  return out;
}

std::optional<parameters> parse_query(std::string_view query) {
  parameters out;
  while (!query.empty()) {
    const auto part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), part.size() + 1));
    if (part.empty()) continue;
    const auto mark = part.find('=');
    const auto decoded = [](std::string_view text) {
      std::string spaced{text};
      std::replace(spaced.begin(), spaced.end(), '+', ' ');
      return decode_percent(spaced);
    };
    auto name = decoded(part.substr(0, mark));
    auto value = mark == std::string_view::npos ? std::optional{std::string{}} : decoded(part.substr(mark + 1));
    if (!name || !value) return std::nullopt;
    out.emplace_back(std::move(*name), std::move(*value));
  }
  return out;
}

}  // namespace fairlead::app::door
