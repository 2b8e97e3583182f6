#include "actors/core/expression/lexer.hpp"

#include <algorithm>
#include <array>

#include "actors/core/text/json.hpp"

namespace fairlead::core {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

class lexer {
 public:
  explicit lexer(std::string_view text) : text_(text) {}

  result<std::vector<token>> run() {
    while (at_ < text_.size() && what_.empty()) next();
    if (what_.empty() && !strings_.empty()) fail("a string does not end", strings_.back().start);
    if (!what_.empty()) return error{v1::ERROR_CODE_EXPRESSION, what_, ""};
    return std::move(out_);
  }

 private:
  /// A string whose interpolation is being read; `parens` counts those open inside it.
  struct open_string {
    std::size_t start;
    int parens;
  };

  char peek(std::size_t ahead) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void fail(std::string what, std::size_t offset) {
    if (what_.empty()) what_ = std::move(what) + at_position(text_, offset);
  }

  void add(token_kind kind, std::size_t size, std::string value = {}) {
    out_.push_back({kind, text_.substr(at_, size), at_, std::move(value)});
    at_ += size;
  }

  std::size_t name_size(std::size_t from) const {
    std::size_t size = 0;
    while (from + size < text_.size() && in_name(text_[from + size])) ++size;
    return size;
  }

  void next() {
    const char c = text_[at_];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++at_;
    } else if (c == '#') {
      fail("comments are not allowed in expressions", at_);
    } else if (c == '"') {
      ++at_;
      string(at_ - 1, true);
    } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      number();
    } else if (c == '.' && peek(1) == '.') {
      add(token_kind::recurse, 2);
    } else if (c == '.') {
      const auto size = begins_name(peek(1)) ? name_size(at_ + 1) : 0;
      if (size > 0)
        add(token_kind::field, size + 1, std::string(text_.substr(at_ + 1, size)));
      else
        add(token_kind::dot, 1);
    } else if (c == '$' || c == '@') {
      const auto size = begins_name(peek(1)) ? name_size(at_ + 1) : 0;
      if (size == 0) return fail(std::string("a name is missing after `") + c + "`", at_);
      add(c == '$' ? token_kind::variable : token_kind::format, size + 1, std::string(text_.substr(at_ + 1, size)));
    } else if (begins_name(c)) {
      const auto size = name_size(at_);
      if (text_.substr(at_ + size, 2) == "::") return fail("modules are not allowed in expressions", at_);
      add(token_kind::name, size);
    } else {
      symbol();
    }
  }

  void number() {
    std::size_t size = 0;
    while (is_digit(peek(size))) ++size;
    if (peek(size) == '.') ++size;
    while (is_digit(peek(size))) ++size;
    if (peek(size) == 'e' || peek(size) == 'E') {
      auto exponent = size + 1;
      if (peek(exponent) == '+' || peek(exponent) == '-') ++exponent;
      if (is_digit(peek(exponent))) {
        size = exponent;
        while (is_digit(peek(size))) ++size;
      }
    }
    add(token_kind::number, size);
  }

  /// Reads the string that began at `start`, from its beginning or after an interpolation, up to the next interpolation or its end.
  void string(std::size_t start, bool from_beginning) {
    while (at_ < text_.size()) {
      if (text_[at_] == '"') {
        if (from_beginning) {
          const auto raw = text_.substr(start, at_ + 1 - start);
          out_.push_back({token_kind::string, raw, start, decode_json_string(raw)});
          ++at_;
        } else {
          add(token_kind::string_close, 1);
        }
        return;
      }
      if (text_[at_] == '\\' && peek(1) == '(') {
        if (from_beginning) out_.push_back({token_kind::string_open, text_.substr(start, 1), start, {}});
        if (strings_.size() == 32) return fail("strings are nested too deep", at_);
        strings_.push_back({start, 0});
        add(token_kind::interp_open, 2);
        return;
      }
      at_ += text_[at_] == '\\' ? 2 : 1;
    }
    fail("a string does not end", start);
  }

  void symbol() {
    // jq's `?//` is left out: users who write `.a?//0` mean `.a? // 0`.
    static constexpr std::array<std::string_view, 16> symbols = {
        "//=", "|=", "+=", "-=", "*=", "/=", "%=", "==", "!=", "<=", ">=", "//", "?", "|", ",", ";"};
    const char c = text_[at_];
    if (!strings_.empty() && c == '(') ++strings_.back().parens;
    if (!strings_.empty() && c == ')' && strings_.back().parens-- == 0) {
      const auto start = strings_.back().start;
      strings_.pop_back();
      add(token_kind::interp_close, 1);
      return string(start, false);
    }
    const auto rest = text_.substr(at_);
    const auto known = std::find_if(symbols.begin(), symbols.end(), [&](auto s) { return rest.substr(0, s.size()) == s; });
    if (known != symbols.end()) return add(token_kind::symbol, known->size());
    if (std::string_view("()[]{}:=<>+-*/%").find(c) != std::string_view::npos) return add(token_kind::symbol, 1);
    fail(c > ' ' && c < 127 ? std::string("`") + c + "` is not expected here" : "a character is not expected here", at_);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<token> out_;
  std::vector<open_string> strings_;
  std::string what_;
};

}  // namespace

result<std::vector<token>> lex_expression(std::string_view expression) { return lexer(expression).run(); }

std::size_t end_of_embedded(std::string_view text) {
  // The open brackets: `{`, `(` of an interpolation or of a group, `"`.
  std::string open = "{";
  for (std::size_t i = 2; i < text.size(); ++i) {
    const char c = text[i];
    if (open.back() == '"') {
      if (c == '"') {
        open.pop_back();
      } else if (c == '\\') {
        ++i;
        if (i < text.size() && text[i] == '(') open += '(';
      }
    } else if (c == '"' || c == '{' || c == '(') {
      open += c;
    } else if ((c == '}' && open.back() == '{') || (c == ')' && open.back() == '(')) {
      open.pop_back();
      if (open.empty()) return i + 1;
    } else if (c == '}') {
      return i + 1;  // unbalanced: the expression ends here, and its check names the error
    }
  }
  return std::string_view::npos;
}

std::string at_position(std::string_view expression, std::size_t offset) {
  const auto before = expression.substr(0, std::min(offset, expression.size()));
  const auto characters = std::count_if(before.begin(), before.end(), [](char c) { return (c & 0xC0) != 0x80; });
  return ", at character " + std::to_string(characters + 1);
}

}  // namespace fairlead::core
