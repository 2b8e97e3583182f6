#include "app/files/workflow_file.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_map>

#include "actors/core/text/text.hpp"
#include "actors/core/workflow/check_kinds.hpp"
#include "actors/core/workflow/values/check_values.hpp"
#include "app/files/step_values.hpp"
#include "app/files/workflow_types_file.hpp"
#include "app/yaml/labels.hpp"
#include "app/yaml/reader.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

namespace {

constexpr std::int64_t day_ms = 86'400'000;
constexpr std::int64_t longest_ms = 10 * 366 * day_ms;
constexpr std::int64_t most_rounds = 10'000;

const std::vector<std::pair<std::string, v1::OnFailure>> on_failure_words{{"undo", v1::ON_FAILURE_UNDO},
                                                                          {"park", v1::ON_FAILURE_PARK},
                                                                          {"cool_off", v1::ON_FAILURE_COOL_OFF},
                                                                          {"fail", v1::ON_FAILURE_FAIL},
                                                                          {"continue", v1::ON_FAILURE_CONTINUE}};
const std::vector<std::pair<std::string, v1::InDoubt>> in_doubt_words{
    {"retry", v1::IN_DOUBT_RETRY}, {"park", v1::IN_DOUBT_PARK}, {"fail", v1::IN_DOUBT_FAIL}};

const std::vector<std::pair<std::string, v1::Finally>> finally_words{{"true", v1::FINALLY_ALWAYS},
                                                                     {"after_failure", v1::FINALLY_AFTER_FAILURE}};

const std::vector<std::pair<std::string, bool>> end_words{{"completed", false}, {"failed", true}};
const std::vector<std::pair<std::string, bool>> on_timeout_words{{"fail", false}, {"continue", true}};

// Each may be wrong for some kind of step.
const std::vector<std::string> step_keys{"agent",       "call",     "wait",       "signal",    "with",       "input_type",
                                         "output_type", "timeout",  "on_timeout", "heartbeat", "labels",     "retry_for",
                                         "attempts",    "backoff",  "retry",      "in_doubt",  "on_failure", "cool_off",
                                         "pivot",       "callback", "repeat",     "for_each",  "workflow",   "finally"};

// Words of later releases, refused by name.
const std::vector<std::string> later_in_workflow{"labels", "lock", "retry"};
const std::vector<std::string> later_in_step{"lock"};
const std::vector<std::string> later_in_undo{"retry"};

class workflow_reader {
 public:
  explicit workflow_reader(workflow_file& out) : out_(out) {}

  void run(yaml_document& document, const core::agent_catalog* agents) {
    first_own_ = static_cast<std::ptrdiff_t>(document.problems.size());
    const auto root = yaml_node::root(document);
    place("", root);
    auto& definition = out_.definition;
    yaml_section section{root};
    if (const auto name = section.require("workflow", "the name of the workflow")) {
      place("workflow", *name);
      if (const auto text = name->text()) definition.set_name(*text);
    }
    if (const auto timeout = found(section, "timeout", "")) {
      if (const auto ms = timeout->duration_ms(1, longest_ms)) definition.set_timeout_ms(*ms);
    }
    if (const auto retention = found(section, "retention", "")) read_retention(*retention, definition);
    const auto types = found(section, "types", "");
    definition.set_on_failure(v1::ON_FAILURE_PARK);
    read_failure(section, "", definition);
    if (found(section, "end", "")) {
      bool failed = false;
      if (section.word("end", failed, end_words)) definition.set_ends_failed(failed);
    }
    if (const auto input = found(section, "input", "")) read_input(*input, definition);
    if (const auto output = found(section, "output", "")) {
      if (const auto json = output->json()) definition.set_output_json(*json);
    }
    const auto steps = section.require("steps", "a map of steps by name");
    section.not_yet(later_in_workflow);
    section.finish();
    if (steps) {
      place("steps", *steps);
      for (const auto& [name, node] : steps->entries()) read_step(name, node);
    }
    if (types) read_types(*types, out_.file, definition);
    add_core_problems(document, agents);
  }

 private:
  void place(const std::string& where, const yaml_node& node) { out_.places.add(where, node); }

  std::optional<yaml_node> found(yaml_section& section, const std::string& key, const std::string& parent) {
    auto node = section.find(key);
    if (node) place(dotted(parent, key), *node);
    return node;
  }

  template <class Definition>
  void read_failure(yaml_section& section, const std::string& where, Definition& definition) {
    if (found(section, "on_failure", where)) {
      v1::OnFailure value{};
      if (section.word("on_failure", value, on_failure_words)) definition.set_on_failure(value);
    }
    if (const auto node = found(section, "cool_off", where)) {
      if (const auto ms = node->duration_ms(1, longest_ms)) definition.set_cool_off_ms(*ms);
    }
  }

  // Archives are let go of a day at a time, so less than a day would promise what cannot be kept.
  static void read_retention(const yaml_node& node, v1::WorkflowDefinition& definition) {
    const auto ms = node.duration_ms(day_ms, longest_ms);
    if (!ms) return;
    if (*ms % day_ms != 0) return node.expected("a number of whole days, such as 7d or 90d");
    definition.set_keep_days(static_cast<std::uint32_t>(*ms / day_ms));
  }

  void read_input(const yaml_node& node, v1::WorkflowDefinition& definition) {
    if (!node.is_map()) return node.expected("a JSON Schema, such as { type: object }");
    if (const auto json = node.json()) definition.set_input_schema_json(*json);
  }

  // timeout, attempts, retry_for and backoff: the same for performing and for undoing.
  template <class Definition>
  void read_patience(yaml_section& section, const std::string& where, Definition& definition) {
    definition.set_timeout_ms(default_timeout_ms);
    if (const auto node = found(section, "timeout", where)) {
      if (const auto ms = node->duration_ms(1, longest_ms)) definition.set_timeout_ms(*ms);
    }
    read_limits(section, where, definition);
    auto& backoff = *definition.mutable_backoff();
    const auto node = found(section, "backoff", where);
    node ? read_backoff(*node, backoff) : set_defaults(backoff);
  }

  template <class Definition>
  void read_limits(yaml_section& section, const std::string& where, Definition& definition) {
    if (const auto node = found(section, "attempts", where)) {
      if (const auto count = node->integer(1, 1000)) definition.set_attempts(static_cast<std::uint32_t>(*count));
    } else {
      definition.set_retry_for_ms(default_retry_for_ms);
    }
    if (const auto node = found(section, "retry_for", where)) {
      if (const auto ms = node->duration_ms(1, longest_ms)) definition.set_retry_for_ms(*ms);
    }
  }

  static void set_defaults(v1::Backoff& backoff) {
    backoff.set_first_ms(default_backoff_first_ms);
    backoff.set_factor(default_backoff_factor);
    backoff.set_max_ms(default_backoff_max_ms);
  }

  void read_backoff(const yaml_node& node, v1::Backoff& backoff) {
    set_defaults(backoff);
    yaml_section section{node};
    const auto& here = node.where();
    bool has_max = false;
    if (const auto first = found(section, "first", here)) {
      if (const auto ms = first->duration_ms(1, longest_ms)) backoff.set_first_ms(*ms);
    }
    if (const auto factor = found(section, "factor", here)) {
      if (const auto value = factor->number(1, 100)) backoff.set_factor(*value);
    }
    if (const auto max = found(section, "max", here)) {
      has_max = true;
      if (const auto ms = max->duration_ms(1, longest_ms)) backoff.set_max_ms(*ms);
    }
    // Who only says `first: 5m` means at least that.
    if (!has_max) backoff.set_max_ms(std::max(backoff.max_ms(), backoff.first_ms()));
    section.finish();
  }

  void read_rules(const yaml_node& node, v1::StepDefinition& step) {
    if (!node.is_list()) return node.expected("a list of rules, such as [{ on: http_502, attempts: 3 }]");
    for (const auto& item : node.items()) {
      place(item.where(), item);
      auto& rule = *step.add_retry();
      yaml_section section{item};
      const auto& here = item.where();
      if (const auto on = section.require("on", "the code of a fault, or a list of codes")) {
        place(dotted(here, "on"), *on);
        for (const auto& code : texts_in(*on, "the code of a fault, or a list of codes")) {
          if (const auto text = code.text()) rule.add_on(*text);
        }
      }
      read_limits(section, here, rule);
      if (const auto backoff = found(section, "backoff", here)) read_backoff(*backoff, *rule.mutable_backoff());
      section.finish();
    }
  }

  /// A single text is a list of one.
  static std::vector<yaml_node> texts_in(const yaml_node& node, const char* expected) {
    if (node.value().kind == yaml_value::kind_type::scalar) return {node};
    if (node.is_list()) return node.items();
    node.expected(expected);
    return {};
  }

  void read_step(const std::string& name, const yaml_node& node) {
    const auto here = node.where();
    place(here, node);
    auto& step = *out_.definition.add_steps();
    step.set_name(name);
    yaml_section section{node};
    if (const auto needs = found(section, "needs", here)) {
      for (const auto& item : texts_in(*needs, "the name of a step, or a list of names")) {
        place(item.where(), item);
        if (const auto need = item.text()) step.add_needs(*need);
      }
    }
    if (const auto join = found(section, "join", here)) read_join(*join, step);
    if (const auto when = found(section, "when", here)) {
      if (const auto json = when->json()) step.set_when_json(*json);
    }
    if (found(section, "finally", here)) {
      v1::Finally value{};
      if (section.word("finally", value, finally_words)) step.set_finally(value);
    }
    const auto agent = found(section, "agent", here);
    const auto call = found(section, "call", here);
    const auto wait = found(section, "wait", here);
    const auto signal = found(section, "signal", here);
    const auto child = found(section, "workflow", here);
    step.set_kind(core::kind_of_keys(wait.has_value(), signal.has_value(), child.has_value(), agent || call));
    for (const auto& key : step_keys)
      if (auto why = core::why_not(step.kind(), key, step.join() > 0))
        section.refuse(key, std::move(why->sentence), std::move(why->remedy));
    if (step.kind() == v1::STEP_KIND_CALL) {
      if (agent) {
        if (const auto text = agent->text()) step.set_agent(*text);
      }
      if (call) {
        if (const auto text = call->text()) step.set_call(*text);
      }
      read_perform(section, here, step);
    } else if (step.kind() == v1::STEP_KIND_WORKFLOW) {
      read_child(section, here, *child, step);
    } else {
      if (step.kind() == v1::STEP_KIND_VALUE) read_value(section, here, step);
      if (step.kind() == v1::STEP_KIND_WAIT) read_wait(*wait, step);
      if (step.join() > 0 && step.kind() != v1::STEP_KIND_SIGNAL) read_failure(section, here, step);
      if (step.kind() == v1::STEP_KIND_SIGNAL) read_signal(section, here, *signal, step);
      const auto undo = found(section, "undo", here);
      step.mutable_undo()->set_none(true);
      if (undo && !undo->is_word("none")) {
        auto why = core::why_no_undo(step.kind());
        section.refuse("undo", std::move(why.sentence), std::move(why.remedy));
      }
    }
    if (!core::why_not(step.kind(), "for_each"))
      if (const auto each = found(section, "for_each", here))
        read_for_each(*each, *step.mutable_for_each(), [this](const std::string& where, const yaml_node& one) { place(where, one); });
    section.not_yet(later_in_step);
    section.finish();
  }

  // What an agent is told, beside its call.
  void read_perform(yaml_section& section, const std::string& here, v1::StepDefinition& step) {
    step.set_in_doubt(v1::IN_DOUBT_RETRY);
    if (const auto with = found(section, "with", here)) {
      if (const auto json = with->json()) step.set_with_json(*json);
    }
    read_patience(section, here, step);
    if (const auto rules = found(section, "retry", here)) read_rules(*rules, step);
    if (const auto pivot = found(section, "pivot", here)) {
      if (const auto value = pivot->boolean()) step.set_pivot(*value);
    }
    if (found(section, "in_doubt", here)) {
      v1::InDoubt value{};
      if (section.word("in_doubt", value, in_doubt_words)) step.set_in_doubt(value);
    }
    read_failure(section, here, step);
    if (const auto heartbeat = found(section, "heartbeat", here)) {
      if (const auto ms = heartbeat->duration_ms(1, longest_ms)) step.set_heartbeat_ms(*ms);
    }
    if (const auto labels = found(section, "labels", here)) {
      for (auto& label : read_labels(*labels)) *step.add_labels() = std::move(label);
    }
    if (const auto type = found(section, "input_type", here)) {
      if (const auto text = type->text()) step.set_input_type(*text);
    }
    if (const auto type = found(section, "output_type", here)) {
      if (const auto text = type->text()) step.set_output_type(*text);
    }
    if (const auto callback = found(section, "callback", here)) read_callback(*callback, step);
    if (const auto repeat = found(section, "repeat", here)) read_repeat(*repeat, *step.mutable_repeat());
    if (const auto undo = found(section, "undo", here))
      read_undo(*undo, *step.mutable_undo());
    else if (step.finally() != v1::FINALLY_NO)
      step.mutable_undo()->set_none(true);
  }

  void read_callback(const yaml_node& node, v1::StepDefinition& step) {
    yaml_section section{node};
    if (const auto timeout = section.require("timeout", "how long the callback may take, such as 7d")) {
      place(dotted(node.where(), "timeout"), *timeout);
      if (const auto ms = timeout->duration_ms(1, longest_ms)) step.set_callback_ms(*ms);
    }
    section.finish();
  }

  void read_repeat(const yaml_node& node, v1::RepeatDefinition& repeat) {
    repeat.set_most(default_most_rounds);
    yaml_section section{node};
    const auto& here = node.where();
    if (const auto until = section.require("until", "an expression that gives true or false")) {
      place(dotted(here, "until"), *until);
      if (const auto json = until->json()) repeat.set_until_json(*json);
    }
    if (const auto every = found(section, "every", here)) {
      if (const auto ms = every->duration_ms(0, longest_ms)) repeat.set_every_ms(*ms);
    }
    if (const auto max = found(section, "max", here)) {
      if (const auto count = max->integer(1, most_rounds)) repeat.set_most(static_cast<std::uint32_t>(*count));
    }
    section.finish();
  }

  void read_value(yaml_section& section, const std::string& here, v1::StepDefinition& step) {
    step.set_with_json("null");
    if (const auto with = found(section, "with", here)) {
      if (const auto json = with->json()) step.set_with_json(*json);
    }
  }

  void read_signal(yaml_section& section, const std::string& here, const yaml_node& signal, v1::StepDefinition& step) {
    step.set_with_json("null");
    if (const auto name = signal.text()) step.set_signal(*name);
    if (const auto timeout = found(section, "timeout", here)) {
      if (const auto ms = timeout->duration_ms(1, longest_ms)) step.set_timeout_ms(*ms);
    }
    if (found(section, "on_timeout", here)) {
      bool goes_on = false;
      if (section.word("on_timeout", goes_on, on_timeout_words)) step.set_goes_on_untimely(goes_on);
    }
    read_failure(section, here, step);
  }

  void read_child(yaml_section& section, const std::string& here, const yaml_node& child, v1::StepDefinition& step) {
    if (const auto name = child.text()) step.set_workflow(*name);
    if (const auto with = found(section, "with", here)) {
      if (const auto json = with->json()) step.set_with_json(*json);
    }
    if (const auto timeout = found(section, "timeout", here)) {
      if (const auto ms = timeout->duration_ms(1, longest_ms)) step.set_timeout_ms(*ms);
    }
    read_failure(section, here, step);
    if (const auto pivot = found(section, "pivot", here)) {
      if (const auto value = pivot->boolean()) step.set_pivot(*value);
    }
    const auto undo = found(section, "undo", here);
    if (!undo) return;
    step.mutable_undo()->set_none(true);
    if (undo->is_word("none")) return;
    auto why = core::why_no_undo(step.kind());
    section.refuse("undo", std::move(why.sentence), std::move(why.remedy));
  }

  void read_undo(const yaml_node& node, v1::UndoDefinition& undo) {
    if (node.is_word("none")) {
      undo.set_none(true);
      return;
    }
    if (!node.is_map()) {
      node.expected("none or a map with call");
      return;
    }
    yaml_section section{node};
    const auto& here = node.where();
    if (const auto call = found(section, "call", here)) {
      if (const auto text = call->text()) undo.set_call(*text);
    }
    if (const auto with = found(section, "with", here)) {
      if (const auto json = with->json()) undo.set_with_json(*json);
    }
    read_patience(section, here, undo);
    if (const auto also = found(section, "also_if_failed", here)) {
      if (const auto value = also->boolean()) undo.set_also_if_failed(*value);
    }
    section.not_yet(later_in_undo);
    section.finish();
  }

  // What core finds is shown at the key it is about, or at the nearest one around it.
  void add_core_problems(yaml_document& document, const core::agent_catalog* agents) {
    const std::vector<problem> known{document.problems.begin() + first_own_, document.problems.end()};
    const auto unsure = with_needs_unread(known);
    for (const auto& found : core::check_source(out_.definition, agents)) {
      // As yaml_path has it.
      auto where = found.step.empty() ? found.field : dotted("steps", core::shown_key(found.step));
      if (!found.step.empty() && !found.field.empty()) where = dotted(where, found.field);
      const bool follows = std::any_of(known.begin(), known.end(), [&](const problem& p) { return follows_from(p, where, found.field); });
      if (follows || (unsure.count(found.step) != 0 && reads_outputs(found.field))) continue;
      const auto at = out_.place_of(where);
      document.problems.push_back({out_.file, at.first, at.second, where, found.sentence, found.remedy});
    }
  }

  static bool reads_outputs(const std::string& field) {
    return field == "with" || field == "when" || field == "wait" || field == "repeat.until" || field == "for_each.items" ||
           field == "undo.with";
  }

  // True when `known` already says what is wrong at `where`, or when what core believes there rests on a key that could not be read.
  static bool follows_from(const problem& known, const std::string& where, const std::string& field) {
    const auto& outer = known.where;
    if (outer.empty()) return true;
    if (where.compare(0, outer.size(), outer) == 0 && (where.size() == outer.size() || where[outer.size()] == '.')) return true;
    if (field.ends_with(".on") && outer.starts_with(where + "[")) return true;
    if (outer.rfind("types", 0) == 0 && (field == "input_type" || field == "output_type")) return true;
    const bool needs_unread = outer.find(".need") != std::string::npos;
    return needs_unread && (field == "on_failure" || field == "pivot");
  }

  /// The steps whose needs could not be read, and those that need them, however many steps lie between: what has run before them is not known.
  std::set<std::string> with_needs_unread(const std::vector<problem>& known) const {
    std::set<std::string> out;
    std::vector<std::string> fresh;
    for (const auto& one : known) {
      const auto end = one.where.find(".need");  // a misspelt key begins so too
      if (end == std::string::npos || !one.where.starts_with("steps.")) continue;
      if (auto name = one.where.substr(6, end - 6); out.insert(name).second) fresh.push_back(std::move(name));
    }
    if (fresh.empty()) return out;
    std::unordered_multimap<std::string, const std::string*> needed_by;
    for (const auto& step : out_.definition.steps())
      for (const auto& need : step.needs()) needed_by.emplace(need, &step.name());
    while (!fresh.empty()) {
      const auto [begin, end] = needed_by.equal_range(fresh.back());
      fresh.pop_back();
      for (auto at = begin; at != end; ++at)
        if (out.insert(*at->second).second) fresh.push_back(*at->second);
    }
    return out;
  }

  workflow_file& out_;
  std::ptrdiff_t first_own_ = 0;  // the problems before it are yaml's, and say nothing of what was read
};

}  // namespace

workflow_file parse_workflow(const std::string& file, const std::string& text, const core::agent_catalog* agents) {
  workflow_file out;
  out.file = file;
  out.source = text;
  auto document = parse_yaml(file, text);
  if (document.root) workflow_reader{out}.run(document, agents);
  out.problems = std::move(document.problems);
  std::stable_sort(out.problems.begin(), out.problems.end(),
                   [](const problem& a, const problem& b) { return std::tie(a.line, a.column) < std::tie(b.line, b.column); });
  if (const auto found = out.problems.size() + document.more_problems; found > core::max_problems) {
    out.problems.resize(core::max_problems);
    out.problems.push_back({file, 0, 0, "", "there are " + std::to_string(found - core::max_problems) + " more problems",
                            "correct these first, and check the file again"});
  }
  return out;
}

workflow_file read_workflow(const std::string& path, const core::agent_catalog* agents) {
  std::vector<problem> problems;
  const auto text = read_text_file(path, problems);
  if (text) return parse_workflow(path, *text, agents);
  workflow_file out;
  out.file = path;
  out.problems = std::move(problems);
  return out;
}

}  // namespace fairlead::app
