#pragma once
// The tokens of jq, as far as the checked subset has them.

#include <string>
#include <string_view>
#include <vector>

#include "messages/error.hpp"

namespace fairlead::core {

// Characters of a field's or function's name.
constexpr bool begins_name(char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool in_name(char c) { return begins_name(c) || (c >= '0' && c <= '9'); }

enum class token_kind {
  field,         // .name            value: name
  dot,           // .
  recurse,       // ..
  name,          // a function or a key word
  variable,      // $name            value: name
  format,        // @name            value: name
  number,        // 12.5e3
  string,        // "…" without interpolation, value: the decoded text
  string_open,   // the quote that begins a string with interpolations; their texts are no tokens
  string_close,  // its last quote
  interp_open,   // \(
  interp_close,  // its )
  symbol         // operators and brackets
};

struct token {
  token_kind kind = token_kind::symbol;
  std::string_view text;  // as written; a view into the expression
  std::size_t offset = 0;
  std::string value;
};

/// Refuses comments, modules (`a::b`) and characters that jq does not use; the sentence names the position.
result<std::vector<token>> lex_expression(std::string_view expression);

/// The offset after the `}` that ends the `${` at the start of `text`; npos if it does not end.
std::size_t end_of_embedded(std::string_view text);

/// ", at character 12": where in an expression.
std::string at_position(std::string_view expression, std::size_t offset);

}  // namespace fairlead::core
