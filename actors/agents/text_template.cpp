#include "actors/agents/text_template.hpp"

#include <algorithm>
#include <utility>

#include "actors/agents/secrets_reference.hpp"

namespace fairlead::agents {

namespace {

constexpr std::string_view hex = "0123456789ABCDEF";

bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool valid_field(std::string_view name) {
  return !name.empty() && !is_digit(name.front()) &&
         std::all_of(name.begin(), name.end(), [](char c) { return is_alpha(c) || is_digit(c) || c == '_'; });
}

}  // namespace

result<field_template> field_template::compile(std::string_view text, std::string_view what) {
  field_template out;
  piece current;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (text.substr(at, secret_opening.size()) == secret_opening) {
      const auto reference = next_secret_reference(text, at);
      if (!reference.ok()) {
        return error{v1::ERROR_CODE_INVALID_ARGUMENT, std::string{what} + ": " + reference.failure().sentence, reference.failure().remedy};
      }
      current.secret = text.substr(at, (*reference)->end - at);
      out.pieces_.push_back(std::exchange(current, {}));
      out.has_secrets_ = true;
      at = (*reference)->end - 1;
    } else if ((c == '{' || c == '}') && at + 1 < text.size() && text[at + 1] == c) {
      current.literal += c;
      ++at;
    } else if (c == '{') {
      const auto end = text.find('}', at);
      const auto name = end == std::string_view::npos ? std::string_view{} : text.substr(at + 1, end - at - 1);
      if (!valid_field(name)) {
        return error{v1::ERROR_CODE_INVALID_ARGUMENT, std::string{what} + " has a '{' that does not begin a {field}",
                     "write {name} with letters, digits and _, or {{ for a brace"};
      }
      current.field = name;
      out.pieces_.push_back(std::exchange(current, {}));
      at = end;
    } else if (c == '}') {
      return error{v1::ERROR_CODE_INVALID_ARGUMENT, std::string{what} + " has a '}' that does not end a {field}", "write }} for a brace"};
    } else {
      current.literal += c;
    }
  }
  if (!current.literal.empty()) out.pieces_.push_back(std::move(current));
  return out;
}

void append_percent_encoded(std::string& out, std::string_view text) {
  for (const char c : text) {
    if (is_alpha(c) || is_digit(c) || c == '-' || c == '.' || c == '_' || c == '~') {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += hex[byte >> 4];
      out += hex[byte & 15];
    }
  }
}

bool valid_header_name(std::string_view name) {
  constexpr std::string_view others = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::all_of(name.begin(), name.end(),
                                      [&](char c) { return is_alpha(c) || is_digit(c) || others.find(c) != std::string_view::npos; });
}

bool valid_header_value(std::string_view value) {
  return std::all_of(value.begin(), value.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return c == '\t' || (byte >= 0x20 && byte != 0x7f);
  });
}

std::string lower_case(std::string_view text) {
  std::string out{text};
  for (auto& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

}  // namespace fairlead::agents
