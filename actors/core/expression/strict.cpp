#include <stdexcept>
#include <utility>
#include <vector>

#include "actors/core/expression/check.hpp"
#include "actors/core/expression/lexer.hpp"
#include "actors/core/expression/together.hpp"
#include "actors/core/text/json.hpp"

namespace fairlead::core {

std::string_view strict_definitions() {
  // jq's `has` takes no negative index.
  return "def __must($path; $name): reduce $path[] as $part (.; if (type == \"object\" and ($part | type) == \"string\" and has($part)) or "
         "(type == \"array\" and ($part | type) == \"number\" and (length as $size | if $part < 0 then -$part <= $size else $part < $size "
         "end)) "
         "then .[$part] else error($name + \" is missing\") end); ";
}

std::string strict_expression(std::string_view expression) { return std::string{strict_definitions()} + strict_body(expression); }

std::string strict_body(std::string_view expression) {
  auto body = checked_body(expression);
  if (!body) throw std::logic_error("an expression was to be evaluated that does not pass its check");
  return std::move(*body);
}

std::optional<std::string> checked_body(std::string_view expression) {
  const auto checked = check_expression(expression);
  if (!checked.ok()) return std::nullopt;
  std::string out;
  std::size_t done = 0;
  // Copies up to `end`. `.a?//0` means `.a? // 0`, but jq takes `?//` for one symbol.
  std::vector<token> tokens;
  if (expression.find("?//") != std::string_view::npos) tokens = lex_expression(expression).value();
  auto next = tokens.begin();
  const auto copy = [&](std::size_t end) {
    for (; next != tokens.end() && next->offset < end; ++next) {
      if (next->text.substr(0, 2) != "//" || next->offset == 0 || expression[next->offset - 1] != '?' || next->offset < done) continue;
      out.append(expression.substr(done, next->offset - done));
      out += ' ';
      done = next->offset;
    }
    out.append(expression.substr(done, end - done));
    done = end;
  };
  for (const auto& path : checked->required) {
    copy(path.begin);
    out += "__must([";
    for (std::size_t i = 0; i < path.parts.size(); ++i) {
      if (i > 0) out += ',';
      if (path.parts[i].is_key)
        append_json_string(out, path.parts[i].key);
      else
        out += std::to_string(path.parts[i].index);
    }
    out += "]; ";
    append_json_string(out, spell_path(path.parts, path.parts.size()));
    out += ")";
    done = path.end;
  }
  copy(expression.size());
  return out;
}

}  // namespace fairlead::core
