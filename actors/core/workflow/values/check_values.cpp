#include "actors/core/workflow/values/check_values.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "actors/core/expression/check.hpp"
#include "actors/core/expression/expression.hpp"
#include "actors/core/expression/path.hpp"
#include "actors/core/text/json.hpp"
#include "actors/core/text/nearest.hpp"
#include "actors/core/types/message_types.hpp"
#include "actors/core/workflow/check_kinds.hpp"
#include "actors/core/workflow/graph.hpp"
#include "actors/core/workflow/templates.hpp"
#include "actors/core/workflow/values/known_values.hpp"
#include "actors/core/workflow/wait.hpp"
#include "messages/time.hpp"

namespace fairlead::core {

namespace {

std::string_view without_space_before(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  return begin == std::string_view::npos ? std::string_view{} : text.substr(begin);
}

bool is_literal(const std::string& expression) { return check_json(expression).ok(); }

bool is_goes_on(const v1::WorkflowDefinition& definition, const v1::StepDefinition& step) {
  const auto effective = step.on_failure() == v1::ON_FAILURE_UNSPECIFIED ? definition.on_failure() : step.on_failure();
  return may_fail(step) && effective == v1::ON_FAILURE_CONTINUE;
}

/// The word of a comparison such as `.status.charge == "completed"`, whose path ends at `end`; nullopt: it is none, or more is computed there.
std::optional<std::string> compared_word(std::string_view expression, std::size_t begin, std::size_t end) {
  constexpr std::string_view computes = "+-*/%.[?";
  const auto before = expression.substr(0, begin).find_last_not_of(" \t\r\n");
  if (before != std::string_view::npos && computes.find(expression[before]) != std::string_view::npos) return std::nullopt;
  auto rest = without_space_before(expression.substr(end));
  if (!rest.starts_with("==") && !rest.starts_with("!=")) return std::nullopt;
  rest = without_space_before(rest.substr(2));
  if (rest.empty() || rest.front() != '"') return std::nullopt;
  const auto* stop = skip_json_string(rest.data(), rest.data() + rest.size());
  const auto raw = rest.substr(0, static_cast<std::size_t>(stop - rest.data()));
  if (!check_json(raw).ok()) return std::nullopt;
  const auto after = without_space_before(rest.substr(raw.size()));
  if (!after.empty() && computes.find(after.front()) != std::string_view::npos) return std::nullopt;
  return decode_json_string(raw);
}

class values_checker {
 public:
  explicit values_checker(const v1::WorkflowDefinition& definition)
      : definition_(definition),
        graph_(definition),
        joins_(std::any_of(definition.steps().begin(), definition.steps().end(), [](const auto& step) { return step.join() != 0; })) {}

  std::vector<definition_problem> run() {
    if (!definition_.input_schema_json().empty() && check_json(definition_.input_schema_json()).ok())
      schema_.emplace(definition_.input_schema_json());
    if (auto types = message_types::read(definition_.types())) types_ = std::move(*types);
    for (const auto& step : definition_.steps()) {
      for (const auto& [key, text] : templates_of(step)) check_template(step, key, *text);
      if (step.has_for_each()) check_length(step);
    }
    check_template(v1::StepDefinition::default_instance(), "output", definition_.output_json());
    check_waits();
    return std::move(found_);
  }

 private:
  void add(std::string sentence, std::string remedy) { add_at(step_->name(), field_, std::move(sentence), std::move(remedy)); }

  void add_at(const std::string& step, const std::string& field, std::string sentence, std::string remedy) {
    if (found_.size() < max_problems) found_.push_back({step, field, std::move(sentence), std::move(remedy)});
  }

  void check_template(const v1::StepDefinition& step, const std::string& field, const std::string& json) {
    if (found_.size() >= max_problems || trim_json(json).empty()) return;
    const auto compiled = input_template::compile(json);
    if (!compiled) return;
    step_ = &step;
    field_ = field;
    read_.clear();
    for (const auto& expression : compiled->expressions()) {
      if (const auto plain = parse_plain_path(expression)) {
        check_path(plain->parts, !plain->optional);
      } else if (const auto checked = check_expression(expression)) {
        for (const auto& path : checked->required) {
          check_path(path.parts, true);
          check_word(expression, path);
        }
      }
    }
    if (compiled->expressions().size() != 1) return;
    const auto& only = compiled->expressions().front();
    if (field == "when" || field == "repeat.until") check_condition(only);
    if (field == "wait") check_wait(only);
    if (field == "for_each.items" && trim_json(json).front() == '"') check_list(only);
  }

  // ---- paths that can never be there ----

  void check_path(const std::vector<path_part>& parts, bool required) {
    const auto whole = spell_path(parts, parts.size());
    // Of a list in the file only the first item is looked at, and another one may have what is optional.
    if (!required && parts[0].key == "item" && trim_json(step_->for_each().list_json()).starts_with('[')) return;
    if (!read_.insert(whole).second) return;
    if (parts[0].key == "errors" && !check_error(parts, whole, required)) return;
    const auto known = look_up(parts);
    if (!known.refusal.empty()) add("an expression reads " + whole + ", " + known.refusal, known.remedy);
  }

  known_value look_up(const std::vector<path_part>& parts) {
    const auto& root = parts[0].key;
    if (root == "input") return schema_ ? schema_->look_up(parts) : known_value{};
    if (root == "index") return {"number", "", ""};
    if (root == "item") return step_->has_for_each() ? look_up_item(parts) : known_value{};
    if (root == "steps") {
      const auto* of = find(parts[1].key);
      if (of == nullptr) return {};
      // The undo of an item reads the output of the item.
      if (of->has_for_each() && (of != step_ || field_ != "undo.with")) return look_up_outputs(*of, parts);
      if (of->kind() == v1::STEP_KIND_WAIT) return look_up_literal("null", parts, 2);
      if (const auto* type = types_ && !of->output_type().empty() ? types_->find(of->output_type()) : nullptr)
        return look_up_typed(*type, parts, 2);
      return of->kind() == v1::STEP_KIND_VALUE && check_json(of->with_json()).ok() ? look_up_literal(of->with_json(), parts, 2)
                                                                                   : known_value{};
    }
    const auto scalar = root == "errors" || (root == "task" && parts.size() > 1 && parts[1].key == "labels") ? 3U : 2U;
    if (parts.size() < scalar) return {};
    const auto is_number = (root == "task" && parts[1].key == "priority") || (root == "launch" && parts[1].key == "nominal_unix_s");
    const auto* type = is_number ? "number" : "string";
    if (parts.size() == scalar) return {type, "", ""};
    return {"", "but " + spell_path(parts, scalar) + " is " + json_type_words(type), "read " + spell_path(parts, scalar)};
  }

  /// In any element of the list, as far as its schema or its type says what these are; of a list in the file, in the first one.
  known_value look_up_item(const std::vector<path_part>& parts) {
    const std::string_view list = trim_json(step_->for_each().list_json());
    if (!check_json(list).ok()) return {};
    if (list.front() == '[') {
      const auto first = json_element(list, 0);
      if (!first) return {};
      auto known = look_up_literal(*first, parts, 1);
      if (known.refusal.starts_with("which")) known.refusal = "which the first item of the list does not have";
      if (!known.refusal.empty() && !known.remedy.starts_with("did you")) known.remedy = "change the items, or read another path";
      return known;
    }
    const auto compiled = input_template::compile(list);
    if (!compiled || compiled->expressions().size() != 1) return {};
    const auto plain = parse_plain_path(compiled->expressions().front());
    if (!plain || is_root_of_item(plain->parts[0].key)) return {};
    // What is no list is said of the list.
    if (const auto type = look_up(plain->parts).type; !type.empty() && type != "array") return {};
    auto whole = plain->parts;
    whole.push_back({false, {}, 0});
    whole.insert(whole.end(), parts.begin() + 1, parts.end());
    return look_up(whole);
  }

  /// In the output of a step with `for_each`, as other steps read it.
  known_value look_up_outputs(const v1::StepDefinition& of, const std::vector<path_part>& parts) {
    const auto list = spell_path(parts, 2);
    if (parts.size() == 2) return {"array", "", ""};
    if (parts[2].is_key)
      return {"", "but " + list + " is a list with an entry for each item", "read an entry, such as " + list + "[0], or use jq's map"};
    if (!of.for_each().collect()) {
      const auto* type = types_ && !of.output_type().empty() ? types_->find(of.output_type()) : nullptr;
      return type == nullptr ? known_value{} : look_up_typed(*type, parts, 3);
    }
    const auto entry = spell_path(parts, 3);
    if (parts.size() == 3) return {"object", "", ""};
    const std::vector<std::string> keys{"status", "output", "error"};
    if (!parts[3].is_key || std::find(keys.begin(), keys.end(), parts[3].key) == keys.end()) {
      const auto close = parts[3].is_key ? nearest(parts[3].key, keys) : std::string{};
      return {"", "but " + entry + " has only status, output and error", close.empty() ? "" : "did you mean " + close + "?"};
    }
    return parts.size() == 4 && parts[3].key == "status" ? known_value{"string", "", ""} : known_value{};
  }

  /// Nothing goes on once the step has failed. A step of the end, and one that a join no longer needs, may have failed whatever its
  /// on_failure says.
  bool ends_by_failure(const v1::StepDefinition& of) const { return !joins_ && !ends(of) && !ends(*step_) && !is_goes_on(definition_, of); }

  /// False: said what is wrong.
  bool check_error(const std::vector<path_part>& parts, const std::string& whole, bool required) {
    if (parts.size() > 2 && parts[2].key != "code" && parts[2].key != "message") {
      const auto close = nearest(parts[2].key, {"code", "message"});
      add("an expression reads " + whole + ", but an error has only code and message", close.empty() ? "" : "did you mean " + close + "?");
      return false;
    }
    const auto* of = find(parts[1].key);
    if (!required || of == nullptr || !ends_by_failure(*of)) return true;
    add("an expression reads " + whole + ", but " + of->name() + " has no on_failure: continue, so nothing goes on once it has failed",
        "set on_failure: continue on " + of->name() + ", or write a ? behind the path");
    return false;
  }

  static bool ends(const v1::StepDefinition& step) { return step.finally() != v1::FINALLY_NO; }

  const v1::StepDefinition* find(const std::string& name) const {
    const auto index = graph_.index_of(name);
    return index < 0 ? nullptr : &definition_.steps(index);
  }

  void check_word(const std::string& expression, const required_path& path) {
    if (spell_path(path.parts, path.parts.size()) == ".task.end") {
      static const std::vector<std::string> ends{"completed", "failed", "undone"};
      const auto word = compared_word(expression, path.begin, path.end);
      if (!word || std::find(ends.begin(), ends.end(), *word) != ends.end()) return;
      const auto close = nearest(*word, ends);
      return add("the end of a task is never " + shown_name(*word),
                 close.empty() ? "it is completed, failed or undone" : "did you mean " + close + "?");
    }
    if (path.parts[0].key != "status" || path.parts.size() != 2) return;
    const auto* of = find(path.parts[1].key);
    const auto word = compared_word(expression, path.begin, path.end);
    if (!word || of == nullptr) return;
    static const std::vector<std::string> words{"completed", "failed", "skipped", "timed_out", "dropped"};
    if (std::find(words.begin(), words.end(), *word) == words.end()) {
      const auto close = nearest(*word, words);
      add("a status is never " + shown_name(*word),
          close.empty() ? "it is completed, failed, skipped, timed_out or dropped" : "did you mean " + close + "?");
    } else if (*word == "timed_out" && !of->goes_on_untimely()) {
      add("the status of " + of->name() + " is never timed_out, because the step has no on_timeout: continue",
          "set on_timeout: continue on a step that waits for a signal, or compare with another status");
    } else if (*word == "failed" && field_ != "undo.with" && ends_by_failure(*of)) {
      if (may_fail(*of))
        add("the status of " + of->name() + " is never failed here, because the step has no on_failure: continue",
            "set on_failure: continue on " + of->name() + ", or compare with another status");
      else
        add("the status of " + of->name() + " is never failed", "compare with another status");
    } else if (*word == "dropped" && !joins_) {
      add("the status of " + of->name() + " is never dropped, because no step has a join", "compare with another status");
    }
  }

  // ---- conditions ----

  void check_condition(const std::string& expression) {
    const auto repeats = field_ == "repeat.until";
    const auto text = std::string{trim_json(expression)};
    if (is_literal(expression)) {
      if (text == "true")
        add(repeats ? "this is always true, so the step has one round" : "this is always true, so it has no effect",
            repeats ? "remove repeat" : "remove when");
      else if (text == "false")
        add(repeats ? "this is always false, so the step fails after its last round" : "this is always false, so the step can never run",
            repeats ? "give an expression that becomes true" : "remove the step, or give an expression that may be true");
      else
        add("this is " + std::string{json_kind(text)} + ", but only true or false is an answer", "compare it with something");
      return;
    }
    const auto plain = parse_plain_path(expression);
    if (!plain) return;
    const auto known = look_up(plain->parts);
    if (known.type.empty() || known.type == "boolean" || !known.refusal.empty()) return;
    add(spell_path(plain->parts, plain->parts.size()) + " is " + json_type_words(known.type) + ", but only true or false is an answer",
        "compare it with something");
  }

  void check_wait(const std::string& expression) {
    constexpr auto remedy = "give text with a duration such as 10m, or a time such as 2026-12-24T18:00:00Z";
    if (is_literal(expression)) {
      const auto text = trim_json(expression);
      if (text.front() != '"' || !wait_end(decode_json_string(text), 0)) add("this is neither a duration nor a time", remedy);
      return;
    }
    const auto plain = parse_plain_path(expression);
    if (!plain) return;
    const auto known = look_up(plain->parts);
    if (known.refusal.empty() && !known.type.empty() && known.type != "string")
      add(spell_path(plain->parts, plain->parts.size()) + " is " + json_type_words(known.type) + ", so it is neither a duration nor a time",
          remedy);
  }

  // ---- lists ----

  void check_list(const std::string& expression) {
    constexpr auto remedy = "give an expression whose result is a list";
    if (is_literal(expression)) {
      const auto text = trim_json(expression);
      if (text.front() != '[') add("this is " + std::string{json_kind(text)} + ", and no list", remedy);
      return;
    }
    const auto plain = parse_plain_path(expression);
    if (!plain) {
      // A pipe binds least of all, so what stands behind the last one gives the result.
      const auto last = trim_json(std::string_view{expression}.substr(expression.rfind('|') + 1));
      if (last == "length") add("length gives a number, and no list", remedy);
      return;
    }
    const auto known = look_up(plain->parts);
    if (!known.refusal.empty() || known.type == "array") return;
    const auto whole = spell_path(plain->parts, plain->parts.size());
    if (!known.type.empty()) return add(whole + " is " + json_type_words(known.type) + ", and no list", remedy);
    // It may be of several types, or of one that JSON writes in more than one form: none of them may have elements.
    auto element = plain->parts;
    element.push_back({false, {}, 0});
    if (!look_up(element).refusal.empty()) add(whole + " is no list", remedy);
  }

  void check_length(const v1::StepDefinition& step) {
    const auto list = trim_json(step.for_each().list_json());
    if (list.starts_with('[') && check_json(list).ok() && !json_element(list, 0))
      add_at(step.name(), "for_each.items", "the list is empty, so nothing is ever carried out", "add items, or remove the step");
  }

  // ---- waits and the timeout of the task ----

  /// A wait that is certain to take place.
  static std::int64_t least_wait(const v1::StepDefinition& step) {
    std::int64_t ms = 0;
    const auto text = trim_json(step.with_json());
    if (step.kind() != v1::STEP_KIND_WAIT || !step.when_json().empty() || text.empty() || text.front() != '"') return 0;
    return parse_duration(decode_json_string(text), ms) ? ms : 0;
  }

  bool comes_after_a_pivot(int step) const {
    for (int i = 0; i < definition_.steps_size(); ++i)
      if (definition_.steps(i).pivot() && graph_.reaches(step, i)) return true;
    return false;
  }

  /// A task whose pivot has happened goes on without its timeout.
  void check_waits() {
    const auto limit = definition_.timeout_ms();
    if (limit <= 0 || !graph_.cycles(1).empty()) return;
    std::vector<std::int64_t> ends_at(static_cast<std::size_t>(definition_.steps_size()), 0);
    for (const int i : in_order()) {
      const auto& step = definition_.steps(i);
      std::optional<std::int64_t> begins_at;
      for (const int need : graph_.needs(i)) {
        const auto one = ends_at[static_cast<std::size_t>(need)];
        begins_at = !begins_at ? one : step.join() == 0 ? std::max(*begins_at, one) : std::min(*begins_at, one);
      }
      const auto begins = begins_at.value_or(0);
      const auto over = begins + (ends(step) ? 0 : least_wait(step));
      ends_at[static_cast<std::size_t>(i)] = over;
      if (over < limit || begins >= limit || comes_after_a_pivot(i)) continue;
      add_at(step.name(), "wait",
             "the task waits for " + format_duration(over) + " until this step is over, but its timeout is " + format_duration(limit),
             "raise timeout of the workflow, or shorten the waits");
    }
  }

  std::vector<int> in_order() const {
    const auto size = static_cast<std::size_t>(definition_.steps_size());
    std::vector<std::vector<int>> needed_by(size);
    std::vector<std::size_t> open(size);
    std::vector<int> out;
    for (int i = 0; i < definition_.steps_size(); ++i) {
      open[static_cast<std::size_t>(i)] = graph_.needs(i).size();
      for (const int need : graph_.needs(i)) needed_by[static_cast<std::size_t>(need)].push_back(i);
      if (graph_.needs(i).empty()) out.push_back(i);
    }
    for (std::size_t at = 0; at < out.size(); ++at)
      for (const int next : needed_by[static_cast<std::size_t>(out[at])])
        if (--open[static_cast<std::size_t>(next)] == 0) out.push_back(next);
    return out;
  }

  const v1::WorkflowDefinition& definition_;
  needs_graph graph_;
  bool joins_;
  std::optional<schema_reader> schema_;
  std::shared_ptr<const message_types> types_;
  std::vector<definition_problem> found_;
  // Of the template that is looked at:
  const v1::StepDefinition* step_ = nullptr;
  std::string field_;
  std::set<std::string> read_;
};

}  // namespace

std::vector<definition_problem> check_values(const v1::WorkflowDefinition& definition) {
  if (definition.steps_size() > max_steps || definition.ByteSizeLong() > max_definition_bytes || has_endless_name(definition)) return {};
  return values_checker{definition}.run();
}

std::vector<definition_problem> check_source(const v1::WorkflowDefinition& definition, const agent_catalog* agents) {
  auto out = check_definition(definition, agents);
  for (auto& found : check_values(definition))
    if (out.size() < max_problems) out.push_back(std::move(found));
  return out;
}

}  // namespace fairlead::core
