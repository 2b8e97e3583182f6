#include "actors/core/workflow/check.hpp"

#include <algorithm>
#include <unordered_set>

#include "actors/core/expression/expression.hpp"
#include "actors/core/schema/keywords.hpp"
#include "actors/core/text/json.hpp"
#include "actors/core/text/labels.hpp"
#include "actors/core/text/nearest.hpp"
#include "actors/core/text/text.hpp"
#include "actors/core/workflow/check_kinds.hpp"
#include "actors/core/workflow/finally.hpp"
#include "actors/core/workflow/graph.hpp"
#include "actors/core/workflow/join.hpp"
#include "actors/core/workflow/retry_rules.hpp"
#include "actors/core/workflow/types.hpp"
#include "messages/time.hpp"

namespace fairlead::core {

namespace {

constexpr std::int64_t max_duration_ms = std::int64_t{10} * 366 * 86'400'000;
constexpr std::uint32_t max_keep_days = 3'660;
constexpr std::size_t max_name = 64;
constexpr std::size_t endless_name = 1'024;
// Each heartbeat is a commit: a shorter period would be load without news.
constexpr std::int64_t least_heartbeat_ms = 100;

bool lower(char c) { return c >= 'a' && c <= 'z'; }
bool letter(char c) { return lower(c) || (c >= 'A' && c <= 'Z'); }
bool digit(char c) { return c >= '0' && c <= '9'; }

bool never_cools_off(const v1::StepDefinition& step) { return step.kind() == v1::STEP_KIND_WORKFLOW || step.has_for_each(); }

// What helps an expression that reads an item where there is none.
constexpr const char* reads_list =
    "read the list itself here, as for_each does; to leave items out, filter the list: ${ [ … | select(…) ] }";
constexpr const char* begins_for_each = "add for_each to the step";
constexpr const char* reads_outputs = "read the outputs of the step with for_each: ${ .steps.NAME } is a list of them";

bool may_read_item(const v1::StepDefinition& step, std::string_view field) {
  return step.has_for_each() && (field == "with" || field == "undo.with");
}

std::string item_out_of_place(std::string_view root) {
  return "an expression reads ." + std::string{root} + ", which is known only in `with` and `undo.with` of a step with for_each";
}

class checker {
 public:
  checker(const v1::WorkflowDefinition& definition, const agent_catalog* agents) : definition_(definition), agents_(agents) {}

  std::vector<definition_problem> run() {
    const auto bytes = definition_.ByteSizeLong();
    if (bytes > max_definition_bytes) {
      add("", "",
          "the definition takes " + std::to_string(bytes) + " bytes; at most " + std::to_string(max_definition_bytes) + " are allowed", "");
      return std::move(found_);
    }
    if (has_endless_name(definition_)) {
      for (const auto& step : definition_.steps())
        if (step.name().size() > endless_name)
          add(shown_key(step.name()), "", shown_name(step.name()) + " is not a valid step name", name_rule);
      return std::move(found_);
    }
    if (!valid_name(definition_.name())) add("", "workflow", shown_name(definition_.name()) + " is not a valid workflow name", name_rule);
    if (definition_.timeout_ms() != 0) range("", "timeout", definition_.timeout_ms(), 1);
    if (definition_.keep_days() > max_keep_days)
      add("", "retention", std::to_string(definition_.keep_days()) + "d is not between 1d and " + std::to_string(max_keep_days) + "d", "");
    enums();
    if (definition_.steps_size() == 0) add("", "steps", "a workflow needs at least one step", "");
    if (definition_.steps_size() > max_steps) {
      add("", "steps", "there are " + std::to_string(definition_.steps_size()) + " steps; at most 1000 are allowed", "split the workflow");
      return std::move(found_);
    }
    const needs_graph graph{definition_};
    cycles_ = graph.cycles(max_problems);
    for (const auto& step : definition_.steps()) names_.push_back(step.name());
    std::unordered_set<std::string> seen;
    for (int i = 0; i < definition_.steps_size() && !full(); ++i) {
      if (!seen.insert(definition_.steps(i).name()).second) add(definition_.steps(i).name(), "", "two steps have this name", "");
      check_step(i, graph);
    }
    check_cycles();
    if (!definition_.output_json().empty()) check_output(graph);
    if (!definition_.input_schema_json().empty())
      for (auto& found : check_schema(definition_.input_schema_json(), "input"))
        add("", std::move(found.place), std::move(found.sentence), std::move(found.remedy));
    if (cycles_.empty())
      for (auto& found : check_joins(definition_, graph))
        if (!full()) found_.push_back(std::move(found));
    if (!full()) check_undo_rules(graph);
    for (auto& found : check_types(definition_))
      if (!full()) found_.push_back(std::move(found));
    return std::move(found_);
  }

 private:
  bool full() const { return found_.size() >= max_problems; }

  void add(std::string step, std::string field, std::string sentence, std::string remedy) {
    if (!full()) found_.push_back({std::move(step), std::move(field), std::move(sentence), std::move(remedy)});
  }

  void range(const std::string& step, const std::string& field, std::int64_t ms, std::int64_t least_ms) {
    if (ms >= least_ms && ms <= max_duration_ms) return;
    add(step, field, std::to_string(ms) + "ms is not between " + format_duration(least_ms) + " and " + format_duration(max_duration_ms),
        "");
  }

  static v1::OnFailure effective(const v1::WorkflowDefinition& definition, const v1::StepDefinition& step) {
    return step.on_failure() == v1::ON_FAILURE_UNSPECIFIED ? definition.on_failure() : step.on_failure();
  }

  void enums() {
    if (!v1::OnFailure_IsValid(definition_.on_failure())) add("", "on_failure", "this release does not know this value", "");
    bool used = definition_.on_failure() == v1::ON_FAILURE_COOL_OFF;
    for (const auto& step : definition_.steps()) used = used || step.on_failure() == v1::ON_FAILURE_COOL_OFF;
    const auto goes_on = [&](const v1::StepDefinition& step) {
      return may_fail(step) && !is_of_end(step) && effective(definition_, step) == v1::ON_FAILURE_CONTINUE;
    };
    if (definition_.ends_failed() && std::none_of(definition_.steps().begin(), definition_.steps().end(), goes_on))
      add("", "end", "no on_failure here is continue, so end: failed has no effect", "");
    if (definition_.cool_off_ms() != 0) {
      range("", "cool_off", definition_.cool_off_ms(), 1);
      if (!used) add("", "cool_off", "no on_failure here is cool_off, so cool_off has no effect", "");
    }
  }

  void check_step(int index, const needs_graph& graph) {
    const auto& step = definition_.steps(index);
    const auto& name = step.name();
    if (!valid_name(name)) add(name, "", shown_name(name) + " is not a valid step name", name_rule);
    check_needs(step, graph);
    for (auto& found : check_kind(step))
      if (!full()) found_.push_back(std::move(found));
    for (auto& found : check_finally(definition_, step))
      if (!full()) found_.push_back(std::move(found));
    if (step.kind() == v1::STEP_KIND_CALL) check_perform(index, graph);
    if (step.kind() == v1::STEP_KIND_VALUE || step.kind() == v1::STEP_KIND_WORKFLOW)
      check_template(index, "with", step.with_json(), graph, false);
    if (step.kind() == v1::STEP_KIND_WAIT) check_wait(index, graph);
    if (step.has_for_each() && !why_not(step.kind(), "for_each")) check_list(index, graph);
    if (!step.when_json().empty())
      check_expression(index, "when", step.when_json(), graph, R"(write it as "${ … }", which gives true or false)");
    if (!v1::OnFailure_IsValid(step.on_failure())) add(name, "on_failure", "this release does not know this value", "");
    if (!may_fail(step) || is_of_end(step)) return;
    if (never_cools_off(step)) {
      // check_kind knows what the step itself says.
      if (step.on_failure() == v1::ON_FAILURE_UNSPECIFIED && definition_.on_failure() == v1::ON_FAILURE_COOL_OFF)
        add(name, "on_failure",
            std::string{"the workflow has on_failure: cool_off, and a step with "} + (step.has_for_each() ? "for_each" : "a sub-workflow") +
                " does not cool off",
            "set on_failure: undo, park, fail or continue on this step");
    } else if (effective(definition_, step) == v1::ON_FAILURE_COOL_OFF) {
      if (step.cool_off_ms() == 0 && definition_.cool_off_ms() == 0)
        add(name, "cool_off", "on_failure: cool_off needs a duration", "add cool_off: 10m to the step or the workflow");
      else if (step.cool_off_ms() != 0)
        range(name, "cool_off", step.cool_off_ms(), 1);
    } else if (step.cool_off_ms() != 0) {
      add(name, "cool_off", "on_failure of the step is not cool_off, so cool_off has no effect", "");
    }
  }

  // What an agent is told to do, and to undo.
  void check_perform(int index, const needs_graph& graph) {
    const auto& step = definition_.steps(index);
    const auto& name = step.name();
    check_agent(step);
    range(name, "timeout", step.timeout_ms(), 1);
    check_heartbeat(step);
    check_labels(step);
    check_retry(name, "", step);
    check_rules(step);
    // A round may read what the one before gave.
    check_template(index, "with", step.with_json(), graph, step.has_repeat());
    if (!trim_json(step.repeat().until_json()).empty())  // else check_kind has said so
      check_expression(index, "repeat.until", step.repeat().until_json(), graph, R"(write it as "${ … }", which gives true or false)",
                       true);
    if (!v1::InDoubt_IsValid(step.in_doubt())) add(name, "in_doubt", "this release does not know this value", "");
    const auto& undo = step.undo();
    if (undo.none() && undo.also_if_failed())
      add(name, "undo.also_if_failed", "undo: none says that there is nothing to undo, so also_if_failed has no effect",
          "remove also_if_failed, or give the undo a call");
    if (!step.has_undo() || undo.none()) return;
    check_call(name, "undo.call", step.agent(), undo.call());
    range(name, "undo.timeout", undo.timeout_ms(), 1);
    check_retry(name, "undo.", undo);
    check_template(index, "undo.with", undo.with_json(), graph, true);
    if (undo.also_if_failed()) check_undo_of_failed(step);
  }

  void check_undo_of_failed(const v1::StepDefinition& step) {
    const auto with = input_template::compile(step.undo().with_json());
    if (!with) return;  // check_template has said so
    const auto& reads = with->mentioned_steps();
    if (std::find(reads.begin(), reads.end(), step.name()) == reads.end()) return;
    add(step.name(), "undo.with", "with also_if_failed the undo cannot read its own step: a step that has failed has no output",
        "read only what is known before the step, such as ${ .task.id }, or remove also_if_failed");
  }

  void check_needs(const v1::StepDefinition& step, const needs_graph& graph) {
    std::unordered_set<std::string> seen;
    for (const auto& need : step.needs()) {
      if (full()) return;
      if (need == step.name()) {
        add(step.name(), "needs", "a step cannot need itself", "");
      } else if (graph.index_of(need) < 0) {
        add(step.name(), "needs", shown_name(need) + " is not a step of this workflow", did_you_mean(need, names_));
      } else if (!seen.insert(need).second) {
        add(step.name(), "needs", shown_name(need) + " is given twice", "");
      }
    }
  }

  void check_agent(const v1::StepDefinition& step) {
    if (step.agent().empty()) {
      add(step.name(), "agent", "the step has no agent", "");
    } else if (!valid_agent_name(step.agent())) {
      add(step.name(), "agent", shown_name(step.agent()) + " is not a valid agent name", "");
    } else if (agents_ != nullptr && agents_->count(step.agent()) == 0) {
      std::vector<std::string> known;
      for (const auto& entry : *agents_) known.push_back(entry.first);
      add(step.name(), "agent", "there is no agent " + shown_name(step.agent()), did_you_mean(step.agent(), known));
    }
    check_call(step.name(), "call", step.agent(), step.call());
  }

  void check_call(const std::string& step, const std::string& field, const std::string& agent, const std::string& call) {
    if (call.empty()) return add(step, field, "the call of the agent is missing", "");
    if (!valid_agent_name(call)) return add(step, field, shown_name(call) + " is not a valid call name", "");
    if (agents_ == nullptr) return;
    const auto found = agents_->find(agent);
    if (found == agents_->end() || !found->second || found->second->count(call) != 0) return;
    add(step, field, "agent " + agent + " has no call " + shown_name(call),
        did_you_mean(call, std::vector<std::string>(found->second->begin(), found->second->end())));
  }

  void check_heartbeat(const v1::StepDefinition& step) {
    const auto ms = step.heartbeat_ms();
    if (ms == 0) return;
    if (ms < least_heartbeat_ms || ms > max_duration_ms) {
      range(step.name(), "heartbeat", ms, least_heartbeat_ms);
    } else if (ms >= step.timeout_ms()) {
      add(step.name(), "heartbeat",
          format_duration(ms) + " is not shorter than the step's timeout, " + format_duration(step.timeout_ms()) +
              ", so it would have no effect",
          "shorten heartbeat, or raise timeout");
    }
  }

  void check_labels(const v1::StepDefinition& step) {
    if (step.labels_size() > max_labels) add(step.name(), "labels", "there are more than " + std::to_string(max_labels) + " labels", "");
    std::unordered_set<std::string> seen;
    for (const auto& label : step.labels()) {
      if (full()) return;
      if (!valid_label(label)) {
        add(step.name(), "labels", shown_name(label.key()) + " is not " + label_rule, "");
      } else if (!seen.insert(label.key()).second) {
        add(step.name(), "labels", "the label " + shown_name(label.key()) + " is given twice", "");
      }
    }
  }

  template <class Definition>
  void check_retry(const std::string& step, const std::string& prefix, const Definition& of) {
    check_limits(step, prefix, of);
    if (!of.has_backoff()) return add(step, prefix + "backoff", "the backoff is missing", "");
    check_backoff(step, prefix, of.backoff());
  }

  template <class Definition>
  void check_limits(const std::string& step, const std::string& prefix, const Definition& of) {
    if (of.retry_for_ms() != 0) range(step, prefix + "retry_for", of.retry_for_ms(), 1);
    if ((of.attempts() < 1 && of.retry_for_ms() == 0) || of.attempts() > 1000)
      add(step, prefix + "attempts", std::to_string(of.attempts()) + " is not between 1 and 1000", "");
  }

  void check_backoff(const std::string& step, const std::string& prefix, const v1::Backoff& backoff) {
    range(step, prefix + "backoff.first", backoff.first_ms(), 1);
    range(step, prefix + "backoff.max", backoff.max_ms(), 1);
    if (!(backoff.factor() >= 1 && backoff.factor() <= 100))
      add(step, prefix + "backoff.factor", "the factor is not between 1 and 100", "");
    if (backoff.first_ms() > backoff.max_ms())
      add(step, prefix + "backoff.first", format_duration(backoff.first_ms()) + " is longer than max, " + format_duration(backoff.max_ms()),
          "");
  }

  void check_rules(const v1::StepDefinition& step) {
    for (auto& found : check_retry_rules(step))
      if (!full()) found_.push_back(std::move(found));
    for (int i = 0; i < step.retry_size() && !full(); ++i) {
      const auto prefix = "retry[" + std::to_string(i) + "].";
      check_limits(step.name(), prefix, step.retry(i));
      if (step.retry(i).has_backoff()) check_backoff(step.name(), prefix, step.retry(i).backoff());
    }
  }

  // An expression may only read data that is certain to exist: the steps it needs, and for an undo the step's own output.
  void check_template(int index, const std::string& field, const std::string& text, const needs_graph& graph, bool own_output) {
    const auto& step = definition_.steps(index).name();
    const auto compiled = input_template::compile(text);
    if (!compiled) return add(step, field, compiled.failure().sentence, compiled.failure().remedy);
    if (const auto root = compiled->item_root(); !root.empty() && !may_read_item(definition_.steps(index), field))
      add(step, field, item_out_of_place(root), definition_.steps(index).has_for_each() ? reads_list : begins_for_each);
    if (compiled->reads_end() && !is_of_end(definition_.steps(index)))
      add(step, field, "an expression reads .task.end, which is known only at the end of a task", "read it in a step with finally: true");
    for (const auto& mentioned : compiled->mentioned_steps()) {
      const int other = graph.index_of(mentioned);
      if (other < 0) {
        add(step, field, "an expression reads step " + shown_name(mentioned) + ", which is not in this workflow",
            did_you_mean(mentioned, names_));
      } else if (definition_.steps(index).name() == mentioned) {
        if (!own_output) add(step, field, "an expression reads the output of its own step, which does not exist yet", "");
      } else if (is_of_end(definition_.steps(other)) && !is_of_end(definition_.steps(index))) {
        add(step, field, "an expression reads step " + shown_name(mentioned) + ", which is performed at the end of the task", "");
      } else if (cycles_.empty() && !graph.reaches(index, other) && !comes_at_end(definition_.steps(index), definition_.steps(other))) {
        add(step, field, "an expression reads step " + shown_name(mentioned) + ", which may not have ended when this step starts",
            "add " + mentioned + " to the step's needs");
      }
    }
  }

  // A text that is one expression, with nothing around it.
  void check_expression(int index, const std::string& field, const std::string& json, const needs_graph& graph, const char* remedy,
                        bool own_output = false) {
    const auto compiled = input_template::compile(json);
    if (compiled && (compiled->expressions().size() != 1 || trim_json(json).front() != '"'))
      add(definition_.steps(index).name(), field, "this is not one expression", remedy);
    else
      check_template(index, field, json, graph, own_output);
  }

  void check_wait(int index, const needs_graph& graph) {
    const auto& step = definition_.steps(index);
    if (trim_json(step.with_json()).empty()) return;  // check_kind has said so
    const auto compiled = input_template::compile(step.with_json());
    if (!compiled || !compiled->expressions().empty())
      return check_expression(index, "wait", step.with_json(), graph, R"(write it as "${ … }", which gives a duration or a time)");
    if (auto why = check_literal_wait(step.with_json())) add(step.name(), "wait", std::move(why->sentence), std::move(why->remedy));
  }

  void check_list(int index, const needs_graph& graph) {
    const auto& step = definition_.steps(index);
    const auto& json = step.for_each().list_json();
    const auto text = trim_json(json);
    if (text.empty()) return;  // check_kind has said so
    const auto compiled = input_template::compile(json);
    if (compiled && (text.front() != '"' || compiled->expressions().empty()))
      if (auto why = check_literal_list(json)) return add(step.name(), "for_each.items", std::move(why->sentence), std::move(why->remedy));
    check_template(index, "for_each.items", json, graph, false);
  }

  /// It may read every step: all have ended by then.
  void check_output(const needs_graph& graph) {
    const auto compiled = input_template::compile(definition_.output_json());
    if (!compiled) return add("", "output", compiled.failure().sentence, compiled.failure().remedy);
    if (const auto root = compiled->item_root(); !root.empty()) add("", "output", item_out_of_place(root), reads_outputs);
    if (compiled->reads_end()) add("", "output", "an expression reads .task.end, but only a task that completes has an output", "");
    for (const auto& mentioned : compiled->mentioned_steps()) {
      const int other = graph.index_of(mentioned);
      if (other < 0)
        add("", "output", "an expression reads step " + shown_name(mentioned) + ", which is not in this workflow",
            did_you_mean(mentioned, names_));
      else if (definition_.steps(other).finally() == v1::FINALLY_AFTER_FAILURE)
        add("", "output", "an expression reads step " + shown_name(mentioned) + ", which is not performed in a task that completes", "");
    }
  }

  void check_cycles() {
    constexpr std::size_t most_shown = 100;
    for (const auto& cycle : cycles_) {
      std::string text;
      for (std::size_t i = 0; i < cycle.size() && i < most_shown; ++i) text += names_[static_cast<std::size_t>(cycle[i])] + " -> ";
      if (cycle.size() > most_shown) text += std::to_string(cycle.size() - most_shown) + " more -> ";
      const auto& first = names_[static_cast<std::size_t>(cycle.front())];
      add(first, "needs", "these steps wait for each other: " + text + first, "remove one of these needs");
    }
  }

  void check_undo_rules(const needs_graph& graph) {
    std::vector<int> pivots;
    std::string undoer;
    bool undoes = definition_.on_failure() == v1::ON_FAILURE_UNDO;
    for (int i = 0; i < definition_.steps_size(); ++i) {
      const auto& step = definition_.steps(i);
      if (step.pivot()) pivots.push_back(i);
      if (!undoes && step.on_failure() == v1::ON_FAILURE_UNDO) {
        undoes = true;
        undoer = step.name();
      }
    }
    const std::string who = undoer.empty() ? "the workflow" : "step " + undoer;
    for (int i = 0; i < definition_.steps_size() && !full(); ++i) {
      const auto& step = definition_.steps(i);
      if (is_of_end(step)) continue;
      if (step.pivot() && step.has_undo() && !step.undo().none())
        add(step.name(), "undo", "a pivot is never undone", "set undo: none");
      else if (undoes && !says_how_it_is_undone(step))
        add(step.name(), "undo", who + " has on_failure: undo, so each step needs an undo", "add undo: { call: … }, or undo: none");
      bool behind = false;
      for (const int pivot : pivots) {
        if (full()) return;
        if (pivot == i) continue;
        if (graph.reaches(i, pivot)) {
          if (!behind && may_fail(step) && effective(definition_, step) == v1::ON_FAILURE_UNDO) {
            add(step.name(), "on_failure",
                "this step comes after the pivot " + names_[static_cast<std::size_t>(pivot)] + ", so it can never be undone",
                never_cools_off(step) ? "set on_failure: park, fail or continue on this step"
                                      : "set on_failure: park, fail, continue or cool_off on this step");
          }
          behind = true;
          continue;
        }
        // A pivot waits for all steps that are not its descendants; two pivots side by side would wait for each other for ever, behind
        // another pivot as well.
        if (step.pivot() && pivot < i && !graph.reaches(pivot, i))
          add(step.name(), "pivot",
              "the pivots " + names_[static_cast<std::size_t>(pivot)] + " and " + step.name() + " would wait for each other",
              "make one of them need the other");
      }
    }
  }

  const v1::WorkflowDefinition& definition_;
  const agent_catalog* agents_;
  std::vector<std::string> names_;
  std::vector<std::vector<int>> cycles_;
  std::vector<definition_problem> found_;
};

}  // namespace

std::string shown_name(std::string_view name) {
  std::string out = "\"";
  for (const char c : name.substr(0, max_name)) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  // Never ends in the middle of a UTF-8 sequence.
  if (name.size() > max_name) {
    while (out.size() > 1 && (static_cast<unsigned char>(out.back()) & 0xc0U) == 0x80U) out.pop_back();
    if (static_cast<unsigned char>(out.back()) >= 0xc0U) out.pop_back();
    out += "…";
  }
  return out + "\"";
}

bool has_endless_name(const v1::WorkflowDefinition& definition) {
  return std::any_of(definition.steps().begin(), definition.steps().end(),
                     [](const v1::StepDefinition& step) { return step.name().size() > endless_name; });
}

bool valid_name(std::string_view name) {
  return !name.empty() && name.size() <= max_name && lower(name.front()) &&
         std::all_of(name.begin(), name.end(), [](char c) { return lower(c) || digit(c) || c == '_' || c == '-'; });
}

bool valid_agent_name(std::string_view name) {
  return !name.empty() && name.size() <= max_name && letter(name.front()) &&
         std::all_of(name.begin(), name.end(), [](char c) { return letter(c) || digit(c) || c == '_' || c == '.' || c == '-'; });
}

std::vector<definition_problem> check_definition(const v1::WorkflowDefinition& definition, const agent_catalog* agents) {
  return checker{definition, agents}.run();
}

}  // namespace fairlead::core
