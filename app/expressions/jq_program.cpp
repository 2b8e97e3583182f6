#include "app/expressions/jq_program.hpp"

extern "C" {
#include <jq.h>
}

#include <unistd.h>

#include <optional>
#include <set>
#include <utility>

#include "actors/core/expression/check.hpp"
#include "actors/core/expression/together.hpp"
#include "actors/core/text/json.hpp"
#include "actors/expressions/pool.hpp"

namespace fairlead::app {
namespace {

constexpr std::size_t max_result_bytes = std::size_t{1} << 20;

error at_fault(const std::string& expression, const std::string& sentence, const std::string& remedy = {}) {
  return {v1::ERROR_CODE_EXPRESSION, "expression ${ " + expression + " }: " + sentence, remedy};
}

std::string take_string(jv text) {
  std::string out(jv_string_value(text), static_cast<std::size_t>(jv_string_length_bytes(jv_copy(text))));
  jv_free(text);
  return out;
}

std::string dump(jv value) { return take_string(jv_dump_string(value, 0)); }

/// jq's message without what only its command line needs: the prefix, a hint about shells, positions in lines and the program itself.
std::string readable(std::string message) {
  message = message.substr(0, message.find('\n'));
  for (const std::string noise : {"jq: error: ", "jq: error (at <unknown>): ", " (Unix shell quoting issues?)"}) {
    if (const auto at = message.find(noise); at != std::string::npos) message.erase(at, noise.size());
  }
  return message.substr(0, message.find(" at <top-level>"));
}

/// Collects the first message; the others follow from it.
void collect(void* out, jv message) {
  auto& text = *static_cast<std::string*>(out);
  jv formatted = jq_format_error(message);
  if (!text.empty()) return jv_free(formatted);
  text = readable(take_string(formatted));
}

/// The message of an error; nullopt when `invalid` only says that there are no more results. Takes `invalid`.
std::optional<std::string> failure_of(jv invalid) {
  const bool failed = jv_invalid_has_msg(jv_copy(invalid)) != 0;
  jv message = jv_invalid_get_msg(invalid);
  if (failed) return jv_get_kind(message) == JV_KIND_STRING ? take_string(message) : dump(message);
  jv_free(message);
  return std::nullopt;
}

/// jq has no way on from here.
void out_of_memory(void*) { _exit(expression_worker_out_of_memory); }

struct machine {
  jq_state* jq = jq_init();
  std::string message;

  machine() {
    jq_set_error_cb(jq, collect, &message);
    jq_set_nomem_handler(jq, out_of_memory, nullptr);
  }
  ~machine() { jq_teardown(&jq); }
  machine(const machine&) = delete;
  machine& operator=(const machine&) = delete;
};

}  // namespace

struct jq_document::value {
  jv content;
  ~value() { jv_free(content); }
};

struct jq_program::state {
  machine m;
  std::string expression;
};

jq_document::jq_document(std::unique_ptr<value> v) : value_(std::move(v)) {}
jq_document::jq_document(jq_document&&) noexcept = default;
jq_document& jq_document::operator=(jq_document&&) noexcept = default;
jq_document::~jq_document() = default;

result<jq_document> jq_document::parse(const std::string& json) {
  jv content = jv_parse_sized(json.data(), static_cast<int>(json.size()));
  if (!jv_is_valid(content)) {
    jv message = jv_invalid_get_msg(content);
    auto why = jv_get_kind(message) == JV_KIND_STRING ? take_string(jv_copy(message)) : std::string("no value");
    jv_free(message);
    return error{v1::ERROR_CODE_INVALID_ARGUMENT, "the document of an evaluation is not JSON: " + why, ""};
  }
  return jq_document(std::unique_ptr<value>(new value{content}));
}

jq_program::jq_program(std::unique_ptr<state> s) : state_(std::move(s)) {}
jq_program::~jq_program() = default;

result<std::unique_ptr<jq_program>> jq_program::compile(const std::string& expression) {
  if (const auto checked = core::check_expression(expression); !checked.ok()) {
    return at_fault(expression, checked.failure().sentence, checked.failure().remedy);
  }
  auto made = std::make_unique<state>();
  made->expression = expression;
  if (!made->m.jq) return error{v1::ERROR_CODE_INTERNAL, "jq could not be initialised", ""};
  if (jq_compile(made->m.jq, core::strict_expression(expression).c_str()) == 0) {
    // Asked about the expression as it was written, jq finds words that its author knows.
    machine plain;
    const bool only_strict = jq_compile(plain.jq, expression.c_str()) != 0;
    return at_fault(expression, "it does not compile: " + (only_strict ? made->m.message : plain.message));
  }
  return std::unique_ptr<jq_program>(new jq_program(std::move(made)));
}

bool jq_program::compile_together(const google::protobuf::RepeatedPtrField<std::string>& expressions) {
  // All begin with the same definitions. One copy is enough; each further one would take longer than its expression.
  std::string all{core::strict_definitions()}, used = "1";
  std::set<std::string> calls;
  for (const auto& expression : expressions) {
    const auto body = core::checked_body(expression);
    if (!body) return false;
    if (!core::binds_nothing(expression)) {
      used += ", (" + *body + ")";
      continue;
    }
    // jq looks for each of its functions in all of the program, but it only parses a function that nothing calls. The names that it would
    // have looked for are then asked for once.
    all += "def __unused: (" + *body + "); ";
    calls.merge(core::calls_of(expression));
  }
  for (const auto& call : calls) used += ", " + call;
  all += used;
  machine m;
  return m.jq != nullptr && jq_compile(m.jq, all.c_str()) != 0;
}

result<std::string> jq_program::run(const jq_document& document) {
  auto* const jq = state_->m.jq;
  const auto& expression = state_->expression;
  jq_start(jq, jv_copy(document.value_->content), 0);
  jv first = jq_next(jq);
  if (!jv_is_valid(first)) {
    if (auto why = failure_of(first)) return at_fault(expression, *why);
    return at_fault(expression, "it gave no result, and exactly one is wanted", "Add `// null`, or collect results with [ ].");
  }
  jv second = jq_next(jq);
  if (jv_is_valid(second)) {
    jv_free(first);
    jv_free(second);
    return at_fault(expression, "it gave more than one result, and exactly one is wanted", "Collect them with [ ], or take first(…).");
  }
  if (auto why = failure_of(second)) {
    jv_free(first);
    return at_fault(expression, *why);
  }
  auto text = dump(first);
  // In place of what is nested too deep, jq writes `<stripped: exceeds max depth>`, or other words in another version.
  if (text.find('<') != std::string::npos && !core::check_json(text).ok())
    return at_fault(expression, "its result is nested more than 256 levels deep");
  if (text.size() > max_result_bytes) return at_fault(expression, "its result is longer than 1 MiB");
  return text;
}

}  // namespace fairlead::app
