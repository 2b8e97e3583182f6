#include "actors/core/expression/expression.hpp"

#include <algorithm>
#include <stdexcept>

#include "actors/core/expression/check.hpp"
#include "actors/core/expression/lexer.hpp"
#include "actors/core/expression/path.hpp"
#include "actors/core/expression/reads.hpp"
#include "actors/core/text/json.hpp"

namespace fairlead::core {
namespace {

/// Literal JSON text and the value after it: a plain path, or the next of the worker's results.
struct piece {
  std::string literal;
  bool from_worker = false;
  plain_path path;
  std::size_t expression = 0;
};

std::string_view trim(std::string_view text) { return trim_json(text); }

error at_fault(std::string_view expression, const std::string& sentence, const std::string& remedy = {}) {
  return {v1::ERROR_CODE_EXPRESSION, "expression ${ " + std::string(expression) + " }: " + sentence, remedy};
}

}  // namespace

struct input_template::state {
  std::vector<piece> pieces;
  std::string tail;
  std::size_t literal_bytes = 0;
  std::vector<std::string> expressions;
  std::vector<std::string> worker_expressions;
  std::vector<std::string> steps;
  bool reads_end = false;
  std::string item_root;
  read_tree reads;

  status parse(std::string_view json);
  status add_string(std::string_view raw, bool is_key);
  status add_expression(std::string_view text);
  void mention(std::string_view root, const std::string& name);
  void note_item(const std::string& root);
};

status input_template::state::parse(std::string_view json) {
  const char* const end = json.data() + json.size();
  for (const char* p = json.data(); p < end;) {
    if (*p != '"') {
      if (*p != ' ' && *p != '\n' && *p != '\t' && *p != '\r') tail += *p;
      ++p;
      continue;
    }
    const char* const start = p;
    p = skip_json_string(p, end);
    const char* after = p;
    while (after < end && (*after == ' ' || *after == '\n' || *after == '\t' || *after == '\r')) ++after;
    auto done = add_string(std::string_view(start, static_cast<std::size_t>(p - start)), after < end && *after == ':');
    if (!done.ok()) return done;
  }
  for (const auto& part : pieces) literal_bytes += part.literal.size();
  literal_bytes += tail.size();
  return nothing{};
}

status input_template::state::add_string(std::string_view raw, bool is_key) {
  // `$` and `{` may be hidden by escapes, so the decoded string counts.
  const auto text = decode_json_string(raw);
  if (text.find("${") == std::string::npos) {
    tail += raw;
    return nothing{};
  }
  if (is_key) {
    return error{v1::ERROR_CODE_EXPRESSION, "the key " + std::string(raw) + " has an expression, but keys are not evaluated",
                 "Build the object in jq: ${ {(.input.name): 1} }."};
  }
  const auto inner = trim(text);
  if (inner.substr(0, 2) != "${" || end_of_embedded(inner) != inner.size()) {
    const bool open = inner.substr(0, 2) == "${" && end_of_embedded(inner) == std::string_view::npos;
    return error{v1::ERROR_CODE_EXPRESSION,
                 "the string " + std::string(raw) + (open ? " begins an expression that does not end" : " mixes text and ${ }"),
                 open ? "End it with `}`." : R"-(Build the text in jq: ${ "order-\(.task.id)" }.)-"};
  }
  return add_expression(trim(inner.substr(2, inner.size() - 3)));
}

status input_template::state::add_expression(std::string_view text) {
  if (text.size() > max_expression_bytes) {
    return at_fault(text.substr(0, 60), "it is longer than 4096 bytes", "Split the expression over several fields or steps.");
  }
  piece next;
  next.literal = std::move(tail);
  tail.clear();
  next.expression = expressions.size();
  if (auto plain = parse_plain_path(text)) {
    if (auto why = refuse_root(plain->parts); !why.empty()) return at_fault(text, why);
    if (plain->parts.size() > 1) reads_end = reads_end || (plain->parts[0].key == "task" && plain->parts[1].key == "end");
    if (root_size(plain->parts[0].key) == 2) mention(plain->parts[0].key, plain->parts[1].key);
    note_item(plain->parts[0].key);
    next.path = std::move(*plain);
  } else {
    const auto checked = check_expression(text);
    if (!checked.ok()) return at_fault(text, checked.failure().sentence, checked.failure().remedy);
    note_item(checked->item_root);
    for (const auto& keys : checked->reads) {
      if (keys.size() < 2) continue;
      mention(keys[0], keys[1]);
      reads_end = reads_end || (keys[0] == "task" && keys[1] == "end");
    }
    next.from_worker = true;
    worker_expressions.emplace_back(text);
    reads.add(worker_expressions.back(), *checked);
  }
  expressions.emplace_back(text);
  pieces.push_back(std::move(next));
  return nothing{};
}

void input_template::state::mention(std::string_view root, const std::string& name) {
  if (root_size(root) == 2 && std::find(steps.begin(), steps.end(), name) == steps.end()) steps.push_back(name);
}

void input_template::state::note_item(const std::string& root) {
  if (item_root.empty() && is_root_of_item(root)) item_root = root;
}

result<input_template> input_template::compile(std::string_view with_json) {
  if (trim(with_json).empty()) with_json = R"("${ .input }")";
  if (auto valid = check_json(with_json); !valid.ok()) return valid.failure();
  auto state = std::make_unique<input_template::state>();
  if (auto parsed = state->parse(with_json); !parsed.ok()) return parsed.failure();
  return input_template(std::move(state));
}

input_template::input_template(std::unique_ptr<state> s) : state_(std::move(s)) {}
input_template::input_template(input_template&&) noexcept = default;
input_template& input_template::operator=(input_template&&) noexcept = default;
input_template::~input_template() = default;

bool input_template::plain() const { return state_->worker_expressions.empty(); }
const std::vector<std::string>& input_template::expressions() const { return state_->expressions; }
const std::vector<std::string>& input_template::worker_expressions() const { return state_->worker_expressions; }
const std::vector<std::string>& input_template::mentioned_steps() const { return state_->steps; }
bool input_template::reads_end() const { return state_->reads_end; }
std::string_view input_template::item_root() const { return state_->item_root; }

result<std::string> input_template::worker_document(const document& doc) const { return state_->reads.cut(doc); }

result<std::string> input_template::render(const document& doc, const std::vector<std::string>& worker_results) const {
  if (worker_results.size() != state_->worker_expressions.size()) {
    throw std::logic_error("a template with " + std::to_string(state_->worker_expressions.size()) + " jq expressions was given " +
                           std::to_string(worker_results.size()) + " results");
  }
  std::string out;
  out.reserve(state_->literal_bytes + state_->pieces.size() * 40);
  auto next = worker_results.begin();
  for (const auto& part : state_->pieces) {
    out += part.literal;
    if (part.from_worker) {
      out += *next++;
    } else if (const auto found = find_path(part.path, doc)) {
      out += *found;
    } else if (part.path.optional) {
      out += "null";
    } else {
      const auto path = spell_path(part.path.parts, part.path.parts.size());
      return at_fault(state_->expressions[part.expression], explain_missing(part.path, doc),
                      "Provide it, or write ${ " + path + "? } for null or ${ " + path + " // \"default\" }.");
    }
    if (out.size() > max_rendered_bytes)
      return error{v1::ERROR_CODE_EXPRESSION, "it has more than " + std::to_string(max_rendered_bytes) + " bytes with all values in it",
                   "Give a reference to what is that large."};
  }
  out += state_->tail;
  return out;
}

}  // namespace fairlead::core
