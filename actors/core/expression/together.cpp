#include "actors/core/expression/together.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "actors/core/expression/lexer.hpp"

namespace fairlead::core {
namespace {

// Key words of expressions that bind nothing.
constexpr std::array key_words = std::to_array<std::string_view>({"and", "catch", "elif", "else", "end", "if", "or", "then", "try"});

struct bracket {
  bool object = false;
  std::string_view function;  // whose arguments it holds; empty: none
  int arguments = 1;
};

std::string call_with(std::string_view function, int arguments) {
  std::string out{function};
  for (int i = 0; i < arguments; ++i) out += i == 0 ? "(." : ";.";
  return arguments > 0 ? out + ")" : out;
}

}  // namespace

bool binds_nothing(std::string_view expression) {
  if (expression.find('$') != std::string_view::npos) return false;
  constexpr std::string_view def = "def";
  for (auto at = expression.find(def); at != std::string_view::npos; at = expression.find(def, at + 1)) {
    const auto behind = at + def.size();
    const bool begins = at == 0 || !(in_name(expression[at - 1]) || expression[at - 1] == '.');
    if (begins && (behind == expression.size() || !in_name(expression[behind]))) return false;
  }
  return true;
}

std::set<std::string> calls_of(std::string_view expression) {
  std::set<std::string> out;
  const auto lexed = lex_expression(expression);
  if (!lexed.ok()) return out;
  const auto& tokens = *lexed;
  const auto is = [&](std::size_t i, std::string_view text) {
    return i < tokens.size() && tokens[i].kind == token_kind::symbol && tokens[i].text == text;
  };
  std::vector<bracket> open;
  const auto close = [&] {
    if (open.empty()) return;
    if (const auto& last = open.back(); !last.function.empty()) out.insert(call_with(last.function, last.arguments));
    open.pop_back();
  };
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto& one = tokens[i];
    if (one.kind == token_kind::interp_open) {
      open.emplace_back();
    } else if (one.kind == token_kind::interp_close) {
      close();
    } else if (one.kind == token_kind::name) {
      const bool key = i > 0 && !open.empty() && open.back().object && (is(i - 1, "{") || is(i - 1, ","));
      if (key || std::find(key_words.begin(), key_words.end(), one.text) != key_words.end()) continue;
      if (is(i + 1, "(")) {
        open.push_back({false, one.text});
        ++i;
      } else {
        out.insert(std::string{one.text});
      }
    } else if (is(i, "(") || is(i, "[") || is(i, "{")) {
      open.push_back({one.text == "{", {}});
    } else if (is(i, ")") || is(i, "]") || is(i, "}")) {
      close();
    } else if (is(i, ";") && !open.empty()) {
      ++open.back().arguments;
    }
  }
  return out;
}

}  // namespace fairlead::core
