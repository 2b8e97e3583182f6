#include <algorithm>

#include "actors/core/expression/check.hpp"
#include "actors/core/expression/lexer.hpp"
#include "actors/core/expression/together.hpp"

namespace fairlead::core {

std::optional<std::string> shape_of(std::string_view expression) {
  const auto body = checked_body(expression);
  if (!body) return std::nullopt;
  const std::string_view text{*body};
  const auto tokens = lex_expression(text);
  if (!tokens.ok()) return std::nullopt;
  // jq computes constants while it compiles, and refuses a division by zero.
  const auto divides = std::any_of(tokens->begin(), tokens->end(), [](const token& one) {
    return one.kind == token_kind::symbol && (one.text == "/" || one.text == "%" || one.text == "/=" || one.text == "%=");
  });
  std::string out;
  std::size_t done = 0;
  const auto stands_for = [&](const token& one, std::string_view by) {
    out += text.substr(done, one.offset - done);
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
  out += text.substr(done);
  return out;
}

}  // namespace fairlead::core
