#include "actors/agents/secrets/views.hpp"

#include <array>
#include <utility>

namespace fairlead::agents {

namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// A number of up to `most` digits at `at`; the number of digits read goes to `count`.
std::uint32_t number_at(std::string_view text, std::size_t at, int base, std::size_t most, std::size_t& count) {
  std::uint32_t out = 0;
  count = 0;
  while (count < most && at + count < text.size()) {
    const auto digit = hex_digit(text[at + count]);
    if (digit < 0 || digit >= base) break;
    out = out * static_cast<std::uint32_t>(base) + static_cast<std::uint32_t>(digit);
    ++count;
  }
  return out;
}

void append_utf8(std::string& out, std::uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0U | (c >> 6U));
    out += static_cast<char>(0x80U | (c & 0x3FU));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0U | (c >> 12U));
    out += static_cast<char>(0x80U | ((c >> 6U) & 0x3FU));
    out += static_cast<char>(0x80U | (c & 0x3FU));
  } else {
    out += static_cast<char>(0xF0U | (c >> 18U));
    out += static_cast<char>(0x80U | ((c >> 12U) & 0x3FU));
    out += static_cast<char>(0x80U | ((c >> 6U) & 0x3FU));
    out += static_cast<char>(0x80U | (c & 0x3FU));
  }
}

/// Decodes the escape at `at` into `out`. Returns the number of its bytes; 0: no escape.
std::size_t decode_json(std::string_view text, std::size_t at, std::string& out) {
  if (at + 1 >= text.size()) return 0;
  constexpr std::string_view letters = "\"\\/bfnrt";
  constexpr std::string_view meant = "\"\\/\b\f\n\r\t";
  if (const auto index = letters.find(text[at + 1]); index != std::string_view::npos) {
    out += meant[index];
    return 2;
  }
  if (text[at + 1] != 'u') return 0;
  std::size_t digits = 0;
  const auto high = number_at(text, at + 2, 16, 4, digits);
  if (digits != 4) return 0;
  if (high >= 0xD800 && high < 0xDC00 && text.substr(at + 6, 2) == "\\u") {
    const auto low = number_at(text, at + 8, 16, 4, digits);
    if (digits == 4 && low >= 0xDC00 && low < 0xE000) {
      append_utf8(out, 0x10000 + ((high - 0xD800) << 10U) + (low - 0xDC00));
      return 12;
    }
  }
  append_utf8(out, high);
  return 6;
}

std::size_t decode_percent(std::string_view text, std::size_t at, std::string& out) {
  std::size_t digits = 0;
  const auto byte = number_at(text, at + 1, 16, 2, digits);
  if (digits != 2) return 0;
  out += static_cast<char>(byte);
  return 3;
}

std::size_t decode_html(std::string_view text, std::size_t at, std::string& out) {
  constexpr std::array<std::pair<std::string_view, char>, 5> names{
      {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}}};
  for (const auto& [name, meant] : names) {
    if (text.substr(at, name.size()) != name) continue;
    out += meant;
    return name.size();
  }
  if (at + 2 >= text.size() || text[at + 1] != '#') return 0;
  const bool hex = text[at + 2] == 'x' || text[at + 2] == 'X';
  const auto from = at + (hex ? 3 : 2);
  std::size_t digits = 0;
  const auto c = number_at(text, from, hex ? 16 : 10, 7, digits);
  if (digits == 0 || c > 0x10FFFF || from + digits >= text.size() || text[from + digits] != ';') return 0;
  append_utf8(out, c);
  return from + digits + 1 - at;
}

/// The characters that begin an escape.
std::string_view marks_of(secret_encoding encoding) {
  switch (encoding) {
    case secret_encoding::json: return "\\";
    case secret_encoding::percent: return "%";
    case secret_encoding::form: return "+";
    case secret_encoding::html: return "&";
    case secret_encoding::unwrapped: return "\r\n";
  }
  return {};
}

std::size_t decode_at(std::string_view text, std::size_t at, secret_encoding encoding, std::string& out) {
  switch (encoding) {
    case secret_encoding::json: return text[at] == '\\' ? decode_json(text, at, out) : 0;
    case secret_encoding::percent: return text[at] == '%' ? decode_percent(text, at, out) : 0;
    case secret_encoding::form:
      if (text[at] == '%') return decode_percent(text, at, out);
      if (text[at] != '+') return 0;
      out += ' ';
      return 1;
    case secret_encoding::html: return text[at] == '&' ? decode_html(text, at, out) : 0;
    case secret_encoding::unwrapped: return text[at] == '\r' || text[at] == '\n' ? 1 : 0;
  }
  return 0;
}

}  // namespace

std::optional<secret_view> decode_view(std::string_view text, const std::vector<std::uint32_t>& origin, secret_encoding encoding) {
  if (text.find_first_of(marks_of(encoding)) == std::string_view::npos) return std::nullopt;
  const auto origin_of = [&](std::size_t at) { return origin.empty() ? static_cast<std::uint32_t>(at) : origin[at]; };
  secret_view out;
  out.text.reserve(text.size());
  out.origin.reserve(text.size() + 1);
  bool changed = false;
  for (std::size_t at = 0; at < text.size();) {
    const auto before = out.text.size();
    const auto taken = decode_at(text, at, encoding, out.text);
    if (taken == 0) {
      out.text += text[at];
      out.origin.push_back(origin_of(at));
      ++at;
      continue;
    }
    changed = true;
    out.origin.resize(out.origin.size() + (out.text.size() - before), origin_of(at));
    at += taken;
  }
  if (!changed) return std::nullopt;
  out.origin.push_back(origin_of(text.size()));
  return out;
}

}  // namespace fairlead::agents
