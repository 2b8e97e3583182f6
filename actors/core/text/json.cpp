#include "actors/core/text/json.hpp"

#include <cstring>

#include "actors/core/text/json_cursor.hpp"

namespace fairlead::core {
namespace {

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

bool key_is(std::string_view raw, std::string_view name) {
  const auto inner = raw.substr(1, raw.size() - 2);
  if (std::memchr(inner.data(), '\\', inner.size()) == nullptr) return inner == name;
  return decode_json_string(raw) == name;
}

void append_utf8(std::string& out, std::uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | (c >> 6));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | (c >> 12));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (c >> 18));
    out += static_cast<char>(0x80 | ((c >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
}

/// The four hex digits at `text[at]`; a short or wrong text counts as zeros.
std::uint32_t hex4(std::string_view text, std::size_t at) {
  std::uint32_t out = 0;
  for (std::size_t i = at; i < at + 4 && i < text.size(); ++i) {
    const char c = text[i];
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : 0;
    out = out * 16 + static_cast<std::uint32_t>(digit);
  }
  return out;
}

}  // namespace

const char* skip_json_string(const char* p, const char* end) {
  for (p = skip_plain(p + 1, end); p < end; p = skip_plain(p, end)) {
    if (*p == '"') return p + 1;
    p += *p == '\\' ? 2 : 1;
  }
  return end;
}

std::string_view trim_json(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<std::string_view> json_member(std::string_view object, std::string_view name) {
  if (object.empty() || object.front() != '{') return std::nullopt;
  std::optional<std::string_view> found;
  std::string_view key;
  std::string_view value;
  for (json_cursor at{object}; at.next_member(key, value);)
    if (key.size() >= 2 && key_is(key, name)) found = value;
  return found;
}

std::optional<std::string_view> json_element(std::string_view array, std::int64_t index) {
  if (array.empty() || array.front() != '[') return std::nullopt;
  std::string_view value;
  if (index < 0) {
    for (json_cursor at{array}; at.next_element(value);) ++index;
    if (index < 0) return std::nullopt;
  }
  for (json_cursor at{array}; at.next_element(value); --index)
    if (index == 0) return value;
  return std::nullopt;
}

const char* json_kind(std::string_view value) {
  switch (value.empty() ? 'n' : value.front()) {
    case '{': return "an object";
    case '[': return "an array";
    case '"': return "a string";
    case 't':
    case 'f': return "a boolean";
    case 'n': return "null";
    default: return "a number";
  }
}

std::string decode_json_string(std::string_view raw) {
  std::string out;
  if (raw.size() < 2) return out;
  const auto text = raw.substr(1, raw.size() - 2);
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 >= text.size()) {
      out += text[i];
      continue;
    }
    switch (text[++i]) {
      case 'b': out += '\b'; break;
      case 'f': out += '\f'; break;
      case 'n': out += '\n'; break;
      case 'r': out += '\r'; break;
      case 't': out += '\t'; break;
      case 'u': {
        auto c = hex4(text, i + 1);
        i += 4;
        if (c >= 0xD800 && c < 0xDC00 && i + 6 < text.size() && text[i + 1] == '\\' && text[i + 2] == 'u') {
          const auto low = hex4(text, i + 3);
          if (low >= 0xDC00 && low < 0xE000) {
            c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
            i += 6;
          }
        }
        append_utf8(out, c >= 0xD800 && c < 0xE000 ? 0xFFFD : c);
        break;
      }
      default: out += text[i];
    }
  }
  return out;
}

void append_json_string(std::string& out, std::string_view text) {
  static constexpr char hex[] = "0123456789abcdef";
  out += '"';
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p < end; ++p) {
    const char* const plain = p;
    p = skip_plain(p, end);
    out.append(plain, p);
    if (p == end) break;
    const char c = *p;
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += "\\u00";
          out += hex[static_cast<unsigned char>(c) >> 4];
          out += hex[static_cast<unsigned char>(c) & 15];
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

std::string spell_json_key(std::string_view name) {
  bool bare = !name.empty() && !(name[0] >= '0' && name[0] <= '9');
  for (const char c : name) {
    bare = bare && (c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'));
  }
  if (bare) return "." + std::string(name);
  std::string out = "[";
  append_json_string(out, name);
  return out + "]";
}

std::string minify_json(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p < end;) {
    if (*p == '"') {
      const char* const start = p;
      p = skip_json_string(p, end);
      out.append(start, p);
    } else if (is_space(*p)) {
      ++p;
    } else {
      const char* const start = p;
      while (p < end && *p != '"' && !is_space(*p)) ++p;
      out.append(start, p);
    }
  }
  return out;
}

const char* json_kind_words(std::string_view text) {
  switch (text.empty() ? '\0' : text.front()) {
    case '"': return "a text";
    case '{': return "an object";
    case '[': return "an array";
    case 't': return "true";
    case 'f': return "false";
    case 'n': return "null";
    default: return "a number";
  }
}

}  // namespace fairlead::core
