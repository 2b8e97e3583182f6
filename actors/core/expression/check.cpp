#include "actors/core/expression/check.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "actors/core/expression/frame.hpp"
#include "actors/core/expression/lexer.hpp"
#include "actors/core/expression/together.hpp"
#include "actors/core/text/json.hpp"

namespace fairlead::core {
namespace {

bool is_key_word(std::string_view name) {
  static const std::set<std::string_view> words = {"and", "as",      "break", "catch", "def",    "elif", "else", "end",
                                                   "if",  "foreach", "label", "or",    "reduce", "then", "try"};
  return words.count(name) > 0;
}

class analysis {
 public:
  explicit analysis(std::string_view expression) : text_(expression) {}

  result<checked_expression> run() {
    auto tokens = lex_expression(text_);
    if (!tokens.ok()) return tokens.failure();
    tokens_ = std::move(tokens).value();
    if (tokens_.empty()) return error{v1::ERROR_CODE_EXPRESSION, "it is empty", ""};
    find_definitions();
    stretches_.push_back({0});
    frames_.push_back({frame::kind::top, dot::document, dot::document, 0, 0});
    new_stretch();
    for (at_ = 0; at_ < tokens_.size() && what_.empty(); ++at_) step();
    if (what_.empty() && frames_.size() > 1) what_ = "a bracket or a string is not closed";
    if (!what_.empty()) return error{v1::ERROR_CODE_EXPRESSION, what_, remedy_};
    for (auto& path : paths_) {
      if (!excused(path.where)) out_.required.push_back(std::move(path.path));
    }
    return std::move(out_);
  }

 private:
  struct found_path {
    required_path path;
    std::size_t where;
  };

  void fail(std::string what, std::size_t offset, std::string remedy = {}) {
    if (!what_.empty()) return;
    what_ = std::move(what) + at_position(text_, offset);
    remedy_ = std::move(remedy);
  }

  const token* peek(std::size_t ahead) const { return at_ + ahead < tokens_.size() ? &tokens_[at_ + ahead] : nullptr; }
  bool is_symbol(const token* t, std::string_view text) const { return t && t->kind == token_kind::symbol && t->text == text; }
  frame& top() { return frames_.back(); }

  void new_stretch() {
    stretches_.push_back({top().group});
    top().current = stretches_.size() - 1;
  }

  void open(frame::kind what, dot base) {
    stretches_.push_back({top().current});
    frames_.push_back({what, base, base, stretches_.size() - 1, 0});
    top().key = what == frame::kind::object;
    new_stretch();
    if (frames_.size() > 64) fail("brackets are nested too deep", tokens_[at_].offset);
  }

  void close(const token& t, std::initializer_list<frame::kind> kinds) {
    if (std::find(kinds.begin(), kinds.end(), top().what) == kinds.end()) {
      return fail("`" + std::string(t.text) + "` closes nothing", t.offset);
    }
    last_closed_ = top().group;
    frames_.pop_back();
  }

  bool excused(std::size_t where) const {
    for (; where != 0; where = stretches_[where].parent) {
      if (stretches_[where].excused) return true;
    }
    return false;
  }

  void excuse() { stretches_[top().current].excused = true; }

  /// Whether the token before this one ends a term, so that a field is a part of that term's path.
  bool is_suffix() const {
    if (at_ == 0) return false;
    const auto& before = tokens_[at_ - 1];
    switch (before.kind) {
      case token_kind::symbol: return before.text == ")" || before.text == "]" || before.text == "}" || before.text == "?";
      case token_kind::name: return before.text == "end" || !is_key_word(before.text);
      case token_kind::interp_open:
      case token_kind::format: return false;
      default: return true;
    }
  }

  void find_definitions() {
    for (std::size_t i = 0; i + 1 < tokens_.size(); ++i) {
      if (tokens_[i].text != "def" || tokens_[i].kind != token_kind::name) continue;
      const bool parameters = i + 2 < tokens_.size() && is_symbol(&tokens_[i + 2], "(");
      locals_.insert(tokens_[i + 1].text);
      for (auto j = i + 3; parameters && j < tokens_.size() && !is_symbol(&tokens_[j], ")"); ++j) {
        if (tokens_[j].kind == token_kind::name) locals_.insert(tokens_[j].text);
        if (tokens_[j].kind == token_kind::variable) locals_.insert(tokens_[j].text.substr(1));
      }
    }
  }

  void step() {
    const auto& t = tokens_[at_];
    if (top().key && object_key(t)) return;
    switch (t.kind) {
      case token_kind::field:
      case token_kind::dot: return path(t);
      case token_kind::recurse: return read_everything();
      case token_kind::name: return name(t);
      case token_kind::variable: return variable(t);
      case token_kind::format: return format(t);
      case token_kind::number: return number(t);
      case token_kind::interp_open: return open(frame::kind::interpolation, top().now);
      case token_kind::interp_close: return close(t, {frame::kind::interpolation});
      case token_kind::symbol: return symbol(t);
      default: return;
    }
  }

  /// Names in the place of keys call no function; a key alone (`{input}`) reads the member of that name.
  bool object_key(const token& t) {
    if (t.kind != token_kind::name && t.kind != token_kind::string) return false;
    if (!is_symbol(peek(1), ":")) read({{true, t.kind == token_kind::name ? std::string(t.text) : t.value, 0}}, t.offset);
    return true;
  }

  void read_everything() {
    if (top().now != dot::other) out_.reads_everything = true;
  }

  void read(const std::vector<path_part>& parts, std::size_t offset) {
    if (top().now == dot::other) return;
    if (top().now == dot::document) {
      if (auto why = refuse_root(parts); !why.empty()) return fail(std::move(why), offset);
      if (out_.item_root.empty() && is_root_of_item(parts[0].key)) out_.item_root = parts[0].key;
    }
    std::vector<std::string> keys;
    for (const auto& part : parts) {
      if (!part.is_key) break;
      keys.push_back(part.key);
    }
    if (!keys.empty() && root_size(keys[0]) > 0) out_.reads.push_back(std::move(keys));
  }

  void path(const token& first) {
    if (is_suffix()) return;
    std::vector<path_part> parts;
    auto last = at_;
    if (first.kind == token_kind::field) parts.push_back({true, first.value, 0});
    while (part_behind(last, parts)) {
    }
    if (parts.empty()) return read_everything();
    read(parts, first.offset);
    const auto end = tokens_[last].offset + tokens_[last].text.size();
    if (top().now == dot::document && what_.empty() && parts.size() >= root_size(parts[0].key)) {
      top().last_path = paths_.size();
      paths_.push_back({{first.offset, end, parts}, top().current});
    } else {
      top().last_path = frame::npos;
    }
    at_ = last;
  }

  /// Reads `.name`, `."name"`, `["name"]` or `[1]` after token `last`.
  bool part_behind(std::size_t& last, std::vector<path_part>& parts) {
    const auto get = [&](std::size_t i) { return last + i < tokens_.size() ? &tokens_[last + i] : nullptr; };
    const bool bare = parts.empty();  // `last` is a `.` that stands alone so far
    if (const auto* t = get(1); !bare && t && t->kind == token_kind::field) {
      parts.push_back({true, t->value, 0});
      last += 1;
      return true;
    }
    const std::size_t quoted = bare ? 1 : 2;
    if (const auto* t = get(quoted); t && t->kind == token_kind::string && (bare || get(1)->kind == token_kind::dot)) {
      parts.push_back({true, t->value, 0});
      last += quoted;
      return true;
    }
    if (!is_symbol(get(1), "[")) return false;
    const std::size_t sign = is_symbol(get(2), "-") ? 1 : 0;
    if (!is_symbol(get(3 + sign), "]")) return false;
    const auto& inner = *get(2 + sign);
    if (inner.kind == token_kind::string && sign == 0) {
      parts.push_back({true, inner.value, 0});
    } else if (inner.kind == token_kind::number && inner.text.size() < 10 &&
               inner.text.find_first_not_of("0123456789") == std::string_view::npos) {
      const auto index = std::stoll(std::string(inner.text));
      parts.push_back({false, {}, sign ? -index : index});
    } else {
      return false;
    }
    last += 3 + sign;
    return true;
  }

  void name(const token& t) {
    const auto word = t.text;
    if (auto why = refuse_name(word); !why.empty()) return fail(std::move(why), t.offset);
    if (!is_key_word(word)) return function(t);
    if (word == "if") return open(frame::kind::condition, top().now);
    if (word == "end") return close(t, {frame::kind::condition});
    if (word == "then" || word == "elif" || word == "else") return next_section(t, frame::kind::condition);
    if (word == "as" || word == "label") top().binding = true;
    if (word == "reduce" || word == "foreach") {
      top().folding = true;
      top().binding = false;
    }
    if (word == "try") excuse();
    if (word == "catch") shift(dot::unknown);
    if (word == "break" && peek(1) && peek(1)->kind == token_kind::variable) ++at_;
    if (word == "def") define();
  }

  void next_section(const token& t, frame::kind kind) {
    if (top().what != kind) return fail("`" + std::string(t.text) + "` stands alone", t.offset);
    top().now = top().base;
    top().assigned = false;
    top().binding = false;
    new_stretch();
  }

  /// `.` is another value until this stretch ends.
  void shift(dot to) {
    excuse();
    if (!top().assigned) top().before_assignment = top().now;
    top().assigned = true;
    if (top().now != dot::other) top().now = to;
  }

  void define() {
    open(frame::kind::definition, dot::unknown);
    while (at_ + 1 < tokens_.size() && !is_symbol(peek(1), ":")) {
      ++at_;
      if (tokens_[at_].kind != token_kind::name) continue;
      if (auto why = refuse_name(tokens_[at_].text); !why.empty()) fail(std::move(why), tokens_[at_].offset);
    }
    ++at_;
  }

  void function(const token& t) {
    const bool local = locals_.count(t.text) > 0;
    if (!local && !is_allowed_function(t.text)) {
      const bool dash = at_ > 0 && is_symbol(&tokens_[at_ - 1], "-");
      return fail("`" + std::string(t.text) + "` is not a function for expressions", t.offset,
                  dash ? "If `-` belongs to a name, write it in quotes: .steps[\"ship-it\"]." : "docs/expressions.md lists the functions.");
    }
    const bool arguments = is_symbol(peek(1), "(");
    const bool passes = !local && passes_input_on(t.text, arguments);
    if (!local && !passes) read_everything();
    if (!arguments) return;
    ++at_;
    const auto now = top().now;
    open(frame::kind::call, now == dot::document && !passes ? dot::unknown : now);
  }

  void variable(const token& t) {
    if (t.value == "ENV") return fail("`$ENV` is not allowed: the environment is not visible to expressions", t.offset);
    if (t.value.substr(0, 2) == "__") fail("`" + std::string(t.text) + "` is not allowed: it is jq's own", t.offset);
  }

  void format(const token& t) {
    static const std::set<std::string_view> known = {"text", "json", "html", "uri", "csv", "tsv", "sh", "base64", "base64d"};
    if (known.count(t.value) == 0) return fail("there is no format `" + std::string(t.text) + "`", t.offset);
    const auto* next = peek(1);
    if (!next || (next->kind != token_kind::string && next->kind != token_kind::string_open)) read_everything();
  }

  void number(const token& t) {
    if (!jq_keeps_number(t.text)) {
      fail("jq would change the number " + std::string(t.text), t.offset, "Write it as a string, or outside `${ }`.");
    }
  }

  void symbol(const token& t) {
    const auto s = t.text;
    auto& here = top();
    if (s == "(") {
      const bool fold = here.folding && here.binding;
      if (fold) here.folding = here.binding = false;
      return open(fold ? frame::kind::fold : frame::kind::group, here.now);
    }
    if (s == "[") return open(frame::kind::index, here.now);
    if (s == "{") return open(frame::kind::object, here.now);
    if (s == ")") return close(t, {frame::kind::group, frame::kind::call, frame::kind::fold});
    if (s == "]") return close(t, {frame::kind::index});
    if (s == "}") return close(t, {frame::kind::object});
    if (s == ";") return semicolon(t);
    if (s == "|" || s == ",") return separator(s == "|");
    if (s == ":" && here.what == frame::kind::object) here.key = false;
    if (s == "?") {
      if (here.last_path != frame::npos) excuse_path(here.last_path);
      if (ends_brackets()) stretches_[last_closed_].excused = true;
    }
    if (s == "//") {
      excuse();
      if (here.assigned) here.now = here.before_assignment;
      here.assigned = false;
    }
    if (s == "=" || (s.size() >= 2 && s.back() == '=' && s != "==" && s != "!=" && s != "<=" && s != ">=")) {
      read_everything();
      shift(dot::unknown);
    }
  }

  bool ends_brackets() const {
    if (at_ == 0) return false;
    const auto before = tokens_[at_ - 1].text;
    return before == ")" || before == "]" || before == "}" || before == "end";
  }

  void excuse_path(std::size_t index) {
    stretches_.push_back({paths_[index].where, true});
    paths_[index].where = stretches_.size() - 1;
  }

  void separator(bool pipe) {
    auto& here = top();
    if (here.assigned) here.now = here.before_assignment;
    here.assigned = false;
    if (pipe && !here.binding) here.now = dot::other;
    if (pipe) here.binding = false;
    if (!pipe && here.what == frame::kind::object) {
      here.key = true;
      here.now = here.base;
    }
    here.last_path = frame::npos;
    new_stretch();
  }

  void semicolon(const token& t) {
    switch (top().what) {
      case frame::kind::definition: return close(t, {frame::kind::definition});
      case frame::kind::fold: top().base = dot::other; return next_section(t, frame::kind::fold);
      case frame::kind::call: return next_section(t, frame::kind::call);
      default: return fail("`;` stands alone", t.offset);
    }
  }

  std::string_view text_;
  std::vector<token> tokens_;
  std::size_t at_ = 0;
  std::vector<frame> frames_;
  std::vector<stretch> stretches_;
  std::size_t last_closed_ = 0;
  std::vector<found_path> paths_;
  std::set<std::string_view> locals_;
  checked_expression out_;
  std::string what_;
  std::string remedy_;
};

// Of the innermost remembered_checks of this thread.
thread_local remembered_checks::map* remembered = nullptr;

}  // namespace

result<checked_expression> check_expression(std::string_view expression) {
  if (expression.size() > max_expression_bytes) {
    return error{v1::ERROR_CODE_EXPRESSION, "it is longer than 4096 bytes", "Split the expression over several fields or steps."};
  }
  if (remembered == nullptr) return analysis(expression).run();
  const auto known = remembered->find(std::string{expression});
  if (known != remembered->end()) return known->second;
  return remembered->emplace(expression, analysis(expression).run()).first->second;
}

remembered_checks::remembered_checks() : before_(std::exchange(remembered, &known_)) {}
remembered_checks::~remembered_checks() { remembered = before_; }

}  // namespace fairlead::core
