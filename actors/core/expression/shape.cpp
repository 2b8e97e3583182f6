#include <algorithm>

#include "actors/core/expression/check.hpp"
#include "actors/core/expression/lexer.hpp"

namespace fairlead::core {

std::optional<std::string> shape_of(std::string_view expression) {
  if (!check_expression(expression).ok()) return std::nullopt;
  const auto text = strict_body(expression);
  const auto tokens = lex_expression(text);
  if (!tokens.ok()) return std::nullopt;
  // jq computes constants while it compiles, and refuses a division by zero.
  const auto divides = std::any_of(tokens->begin(), tokens->end(), [](const token& one) {
    return one.kind == token_kind::symbol && (one.text == "/" || one.text == "%" || one.text == "/=" || one.text == "%=");
  });
  std::string out;
  std::size_t done = 0;
  const auto stands_for = [&](const token& one, std::string_view by) {
    out.append(text, done, one.offset - done);
    out += by;
    done = one.offset + one.text.size();
  };
  for (const auto& one : *tokens) {
    // With spaces, or the number could become a part of the token beside it.
    if (one.kind == token_kind::number && !divides) stands_for(one, " 1 ");
    if (one.kind == token_kind::field) stands_for(one, ".f");
    // What is escaped may be wrong.
    if (one.kind == token_kind::string && one.text.find('\\') == std::string_view::npos) stands_for(one, "\"s\"");
  }
  return out.append(text, done);
}

}  // namespace fairlead::core
