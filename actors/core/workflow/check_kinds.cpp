#include "actors/core/workflow/check_kinds.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "actors/core/text/json.hpp"
#include "actors/core/text/json_cursor.hpp"
#include "actors/core/workflow/wait.hpp"
#include "messages/task_states.hpp"
#include "messages/time.hpp"

namespace fairlead::core {

namespace {

constexpr std::uint32_t most_rounds = 10'000;

std::string words_of(v1::StepKind kind) {
  switch (kind) {
    case v1::STEP_KIND_VALUE: return "a step that computes a value";
    case v1::STEP_KIND_WAIT: return "a step that waits";
    case v1::STEP_KIND_SIGNAL: return "a step that waits for a signal";
    case v1::STEP_KIND_WORKFLOW: return "a step with a sub-workflow";
    default: return "a step that an agent carries out";
  }
}

bool one_of(std::string_view key, std::initializer_list<std::string_view> keys) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

bool may_have(v1::StepKind kind, std::string_view key, bool joined) {
  if (one_of(key, {"needs", "join", "when", "undo"})) return true;
  if (kind == v1::STEP_KIND_WORKFLOW) return one_of(key, {"workflow", "for_each", "with", "timeout", "on_failure", "pivot"});
  if (key == "finally") return true;
  // Whoever carries it out: its join may be one that can never be met.
  if (joined && one_of(key, {"on_failure", "cool_off"})) return true;
  switch (kind) {
    case v1::STEP_KIND_VALUE: return key == "with";
    case v1::STEP_KIND_WAIT: return key == "wait";
    case v1::STEP_KIND_SIGNAL: return one_of(key, {"signal", "timeout", "on_timeout", "on_failure", "cool_off"});
    default: return !one_of(key, {"wait", "signal", "on_timeout", "workflow"});
  }
}

/// The fields of a message that are set, as keys of the file. `with`, `wait` and `undo` are looked at by themselves.
std::vector<std::string_view> keys_set(const v1::StepDefinition& step) {
  const std::array<std::pair<std::string_view, bool>, 22> all{{{"agent", !step.agent().empty()},
                                                               {"call", !step.call().empty()},
                                                               {"signal", !step.signal().empty()},
                                                               {"workflow", !step.workflow().empty()},
                                                               {"finally", step.finally() != v1::FINALLY_NO},
                                                               {"input_type", !step.input_type().empty()},
                                                               {"output_type", !step.output_type().empty()},
                                                               {"timeout", step.timeout_ms() != 0},
                                                               {"on_timeout", step.goes_on_untimely()},
                                                               {"heartbeat", step.heartbeat_ms() != 0},
                                                               {"labels", step.labels_size() != 0},
                                                               {"retry_for", step.retry_for_ms() != 0},
                                                               {"attempts", step.attempts() != 0},
                                                               {"backoff", step.has_backoff()},
                                                               {"retry", step.retry_size() != 0},
                                                               {"in_doubt", step.in_doubt() != v1::IN_DOUBT_UNSPECIFIED},
                                                               {"on_failure", step.on_failure() != v1::ON_FAILURE_UNSPECIFIED},
                                                               {"cool_off", step.cool_off_ms() != 0},
                                                               {"pivot", step.pivot()},
                                                               {"callback", step.callback_ms() != 0},
                                                               {"repeat", step.has_repeat()},
                                                               {"for_each", step.has_for_each()}}};
  std::vector<std::string_view> out;
  for (const auto& [key, set] : all)
    if (set) out.push_back(key);
  return out;
}

/// Keys that its sub-workflow may have in its own steps.
refused_key why_not_of_child(const std::string& key) {
  const auto words = words_of(v1::STEP_KIND_WORKFLOW);
  if (key == "finally") return {words + " cannot be a step of the end", "remove finally, or call an agent at the end"};
  if (one_of(key, {"input_type", "output_type"}))
    return {words + " has no types of its own: `" + key + "` has no effect here",
            "remove " + key + "; `input` of the sub-workflow says what its tasks can be given"};
  return {words + " has no attempts: `" + key + "` has no effect here", "remove " + key + ", or set it on a step of the sub-workflow"};
}

class kind_checker {
 public:
  explicit kind_checker(const v1::StepDefinition& step) : step_(step) {}

  std::vector<definition_problem> run() {
    if (!v1::StepKind_IsValid(step_.kind())) {
      add("", {"this release does not know this kind of step", ""});
      return std::move(found_);
    }
    for (const auto key : keys_set(step_))
      if (auto why = why_not(step_.kind(), key, step_.join() > 0)) add(std::string{key}, std::move(*why));
    if (step_.has_repeat()) check_repeat();
    if (step_.has_for_each() && !why_not(step_.kind(), "for_each")) check_for_each();
    if (step_.callback_ms() < 0 || step_.callback_ms() > longest_wait_ms)
      add("callback.timeout", {std::to_string(step_.callback_ms()) + "ms is not between 1ms and " + format_duration(longest_wait_ms), ""});
    if (step_.kind() == v1::STEP_KIND_CALL) return std::move(found_);
    const bool has_child = step_.kind() == v1::STEP_KIND_WORKFLOW;
    if (!step_.has_undo() && !has_child)
      add("undo", {words_of(step_.kind()) + " says that there is nothing to undo", "set undo: none"});
    else if (v1::UndoDefinition none; none.set_none(true), step_.has_undo() && step_.undo().SerializeAsString() != none.SerializeAsString())
      add("undo", why_no_undo(step_.kind()));
    if (has_child) check_workflow();
    if (step_.kind() == v1::STEP_KIND_VALUE && trim_json(step_.with_json()).empty())
      add("with", {"the value of the step is missing", "set with: null"});
    if (step_.kind() == v1::STEP_KIND_WAIT && trim_json(step_.with_json()).empty())
      add("wait", {"the duration or the time of the wait is missing", "add wait: 10m"});
    if (step_.kind() == v1::STEP_KIND_SIGNAL) check_signal();
    return std::move(found_);
  }

 private:
  void add(std::string key, refused_key why) {
    found_.push_back({step_.name(), std::move(key), std::move(why.sentence), std::move(why.remedy)});
  }

  void check_repeat() {
    const auto& repeat = step_.repeat();
    if (trim_json(repeat.until_json()).empty())
      add("repeat.until", {"the expression that ends the rounds is missing", R"(add until: "${ … }", which gives true or false)"});
    if (repeat.every_ms() < 0 || repeat.every_ms() > longest_wait_ms)
      add("repeat.every", {std::to_string(repeat.every_ms()) + "ms is not between 0 and " + format_duration(longest_wait_ms), ""});
    if (repeat.most() < 1 || repeat.most() > most_rounds)
      add("repeat.max", {std::to_string(repeat.most()) + " is not between 1 and " + std::to_string(most_rounds), ""});
    if (step_.pivot()) add("pivot", {"each round would be a pivot of its own", "put the pivot into a step that is not repeated"});
    if (step_.has_undo() && !step_.undo().none())
      add("undo", {"what the rounds of a repeated step have done is not undone", "set undo: none, and undo it in a step of its own"});
  }

  void check_for_each() {
    const auto& each = step_.for_each();
    if (trim_json(each.list_json()).empty())
      add("for_each.items", {"the list of the items is missing", R"(add items: "${ … }", which gives a list)"});
    if (each.at_once() < 1 || each.at_once() > max_items_at_once)
      add("for_each.at_once", {std::to_string(each.at_once()) + " is not between 1 and " + std::to_string(max_items_at_once), ""});
    if (step_.has_repeat())
      add("repeat", {"a step with for_each is not repeated", "remove repeat, or put the repeated step into a sub-workflow"});
    if (step_.pivot()) add("pivot", {"each item would be a pivot of its own", "put the pivot into a step of its own"});
    if (step_.kind() != v1::STEP_KIND_CALL) return;  // what follows is refused of a sub-workflow, or has been
    const std::string who = "a step with for_each";
    if (step_.finally() != v1::FINALLY_NO)
      add("finally", {who + " cannot be a step of the end", "remove finally, or let one call at the end do it for the whole list"});
    if (step_.on_failure() == v1::ON_FAILURE_COOL_OFF)
      add("on_failure", {who + " does not cool off", "set on_failure: undo, park, fail or continue; retry_for is for each item"});
    if (step_.cool_off_ms() != 0) add("cool_off", {who + " does not cool off", "remove cool_off; retry_for is for each item"});
  }

  void check_timeout() {
    if (step_.timeout_ms() < 0 || step_.timeout_ms() > longest_wait_ms)
      add("timeout", {std::to_string(step_.timeout_ms()) + "ms is not between 1ms and " + format_duration(longest_wait_ms), ""});
  }

  void check_workflow() {
    if (step_.workflow().empty())
      add("workflow", {"the name of the sub-workflow is missing", "add workflow: NAME"});
    else if (!valid_name(step_.workflow()))
      add("workflow", {shown_name(step_.workflow()) + " is not a valid name of a workflow", name_rule});
    if (step_.on_failure() == v1::ON_FAILURE_COOL_OFF)
      add("on_failure", {"a step with a sub-workflow does not cool off", "set on_failure: undo, park, fail or continue"});
    check_timeout();
  }

  void check_signal() {
    if (step_.signal().empty())
      add("signal", {"the name of the signal is missing", "add signal: NAME"});
    else if (!valid_name(step_.signal()))
      add("signal", {shown_name(step_.signal()) + " is not a valid name of a signal", name_rule});
    if (step_.with_json() != "null")
      if (auto why = why_not(step_.kind(), "with")) add("with", std::move(*why));
    if (step_.timeout_ms() == 0) add("timeout", {"a step that waits for a signal needs a timeout", "add timeout: 7d"});
    check_timeout();
    if (!step_.goes_on_untimely() || step_.join() > 0) return;
    const auto no_effect = [&](const std::string& key) {
      add(key, {"with on_timeout: continue the step cannot fail: `" + key + "` has no effect here",
                "remove " + key + ", or set on_timeout: fail"});
    };
    if (step_.on_failure() != v1::ON_FAILURE_UNSPECIFIED) no_effect("on_failure");
    if (step_.cool_off_ms() != 0) no_effect("cool_off");
  }

  const v1::StepDefinition& step_;
  std::vector<definition_problem> found_;
};

}  // namespace

v1::StepKind kind_of_keys(bool waits, bool awaits_signal, bool names_workflow, bool calls) {
  if (waits) return v1::STEP_KIND_WAIT;
  if (awaits_signal) return v1::STEP_KIND_SIGNAL;
  if (names_workflow) return v1::STEP_KIND_WORKFLOW;
  return calls ? v1::STEP_KIND_CALL : v1::STEP_KIND_VALUE;
}

std::optional<refused_key> why_not(v1::StepKind kind, std::string_view key, bool joined) {
  if (may_have(kind, key, joined)) return std::nullopt;
  const auto name = std::string{key};
  if (key == "for_each")
    return kind == v1::STEP_KIND_VALUE ? refused_key{"for_each needs a call or a sub-workflow",
                                                     "add agent and call, or workflow; jq's map computes a list of values"}
                                       : refused_key{words_of(kind) + " does so once: for_each needs a call or a sub-workflow",
                                                     "remove for_each, or put the step into a sub-workflow that for_each carries out"};
  const auto no_effect = "`" + name + "` has no effect here";
  const bool waits = kind == v1::STEP_KIND_WAIT || kind == v1::STEP_KIND_SIGNAL;
  const bool has_child = kind == v1::STEP_KIND_WORKFLOW;
  if ((waits || has_child) && one_of(key, {"agent", "call", "wait", "signal", "workflow"}))
    return refused_key{std::string{has_child                    ? "`workflow`"
                                   : kind == v1::STEP_KIND_WAIT ? "`wait`"
                                                                : "`signal`"} +
                           " and `" + name + "` exclude one another",
                       kind == v1::STEP_KIND_WAIT && key == "signal" ? "remove wait; timeout says how long the step waits for its signal"
                                                                     : "make two steps of it"};
  if (key == "workflow") return refused_key{"only a step with a sub-workflow has `workflow`", "remove workflow"};
  if (kind == v1::STEP_KIND_CALL || one_of(key, {"signal", "on_timeout"}))
    return refused_key{
        "only a step that waits for a signal has `" + name + "`",
        "remove " + name +
            ((kind == v1::STEP_KIND_CALL || has_child) && key == "on_timeout" ? "; on_failure says what follows a step that has failed"
                                                                              : "")};
  if (has_child) return why_not_of_child(name);
  if (one_of(key, {"with", "input_type"})) return refused_key{words_of(kind) + " has no input: " + no_effect, "remove " + name};
  if (one_of(key, {"on_failure", "cool_off"})) return refused_key{words_of(kind) + " cannot fail: " + no_effect, "remove " + name};
  if (key == "pivot") return refused_key{words_of(kind) + " changes nothing: " + no_effect, "remove pivot"};
  if (key == "output_type" && waits) return refused_key{words_of(kind) + " has no typed output: " + no_effect, "remove output_type"};
  return refused_key{words_of(kind) + " has no agent: " + no_effect,
                     "remove " + name + (kind == v1::STEP_KIND_VALUE ? ", or give the step an agent and a call" : "")};
}

refused_key why_no_undo(v1::StepKind kind) {
  if (kind == v1::STEP_KIND_WORKFLOW)
    return {"a step with a sub-workflow has no call that undoes it: its task is undone as the sub-workflow says",
            "remove undo, or set undo: none to keep what the sub-workflow has done"};
  return {words_of(kind) + " has nothing to undo", "remove undo, or set undo: none"};
}

bool may_fail(const v1::StepDefinition& step) {
  if (step.join() > 0) return true;
  return carried_out_elsewhere(step.kind()) || (step.kind() == v1::STEP_KIND_SIGNAL && !step.goes_on_untimely());
}

bool says_how_it_is_undone(const v1::StepDefinition& step) { return step.has_undo() || step.kind() == v1::STEP_KIND_WORKFLOW; }

std::vector<definition_problem> check_kind(const v1::StepDefinition& step) { return kind_checker{step}.run(); }

std::optional<refused_key> check_literal_list(std::string_view json) {
  const auto list = trim_json(json);
  if (list.front() != '[')
    return refused_key{std::string{json_kind(list)} + " is no list", R"(give a list, or one expression "${ … }" that gives a list)"};
  std::size_t count = 0;
  std::string_view item;
  for (json_cursor all{list}; all.next_element(item);) ++count;
  if (count <= max_list_items) return std::nullopt;
  return refused_key{"the list has " + std::to_string(count) + " items; at most " + std::to_string(max_list_items) + " are allowed",
                     "split the list over several steps, or let each item stand for several things"};
}

std::optional<refused_key> check_literal_wait(std::string_view json) {
  constexpr auto remedy = "give a duration such as 10m, or a time such as 2026-12-24T18:00:00Z";
  if (trim_json(json).front() != '"') return refused_key{"this is no text with a duration or a time", remedy};
  const auto text = decode_json_string(trim_json(json));
  const auto canonical = canonical_wait(text);
  if (!canonical) {
    const auto why = wait_end(text, 0).failure();
    return refused_key{why.sentence, why.remedy};
  }
  if (is_wait_duration(text) && *canonical == format_duration(0))
    return refused_key{text + " is not between 1ms and " + format_duration(longest_wait_ms), ""};
  // One text for one wait: equal definitions have one content hash.
  std::string stored;
  append_json_string(stored, *canonical);
  if (json != stored) return refused_key{"the wait is not in the form in which it is stored", "write it as " + *canonical};
  return std::nullopt;
}

}  // namespace fairlead::core
