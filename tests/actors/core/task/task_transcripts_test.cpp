// Golden transcripts of whole tasks (tests/golden.hpp says how a file is written). The commands in transcripts/, of which steps/ is about
// the constructs of the workflow language, and items/ about steps with `for_each` in holds, ends and restores:
//
//   workflow [timeout=MS] [on_failure=undo|park|cool_off] [output=JSON]     then for each step a line
//     NAME [value|wait|signal=NAME [on_timeout=continue]|workflow=NAME] [needs=A,B [join=N]] [agent=X] [attempts=N] [timeout=MS] [in_doubt=park] [undo=none|CALL [also_if_failed]] [pivot] [finally=true|after_failure] [cool_off=MS]
//       [for_each=PATH [at_once=N] [collect]] [every=MS max=N] [callback=MS] [rule=CODE,…[/attempts=N][/retry_for=MS][/backoff=MS]]…
//       [when=JSON] [until=JSON] [with=JSON]
//   agent NAME of=X [slots=N] [incarnation=N]     an instance is there; `gone NAME` takes it away
//   submit JSON | admit | outcome STEP ATTEMPT JSON | fault STEP ATTEMPT KIND CODE [RETRY_AFTER_MS] | evaluated STEP JSON... | evaluation_failed STEP SENTENCE
//   decided STEP JSON (the worker's answer for its when) | judged STEP JSON (its until) | listed STEP JSON (its for_each) | computed JSON
//   (the same for the task's output)
//   recover STEP | due | freed | replaced INSTANCE INCARNATION | resume | poison REASON | tick MS | row
//   undone STEP | undo_fault STEP KIND CODE | looked_up STEP done|never_happened|unknown [JSON] | lookup_fault STEP KIND CODE
//   lookups CALL... | brake on|off | reply client|steps (before submit) | deadline MS (after the start; before submit)
//   signal NAME [JSON] | callback STEP GENERATION [JSON] | callback_fault STEP GENERATION KIND CODE | clock_set_back MS
//   migrate [dry_run] and the rest as behind `workflow`: the task goes on by this version of its workflow
//   child STEP[~N | .ITEM] completed [JSON] | undone REASON | failed [stands] REASON | parked REASON | goes_on | undoing
//   child_refused STEP[~N | .ITEM] CODE SENTENCE | gathered STEP FIRST JSON (outputs of so many items) | gathered_bytes STEP FIRST BYTES (one so long) | restored MS (from a backup that old)
//   operator VERB [STEP] [JSON]      retry skip completed never_happened undo cancel pause resume

#include <algorithm>
#include <memory>
#include <sstream>

#include "actors/core/task/restore.hpp"
#include "tests/actors/core/task/task_world.hpp"
#include "tests/golden.hpp"

namespace fairlead::core::testing {
namespace {

std::vector<std::string> words(const std::string& line) {
  std::istringstream in{line};
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

/// What stands behind the first `count` words.
std::string rest_after(const std::string& line, int count) {
  std::istringstream in{line};
  std::string word, rest;
  for (int i = 0; i < count; ++i) in >> word;
  std::getline(in >> std::ws, rest);
  return rest;
}

class interpreter {
 public:
  std::string run(const std::vector<std::string>& lines) {
    const auto given = words(lines.front());
    const auto& verb = given.front();
    if (verb == "workflow") return define(lines);
    if (!world_) return "no workflow yet\n";
    auto& w = *world_;
    const auto number = [&given](std::size_t at) { return static_cast<std::uint32_t>(std::stoul(given.at(at))); };
    if (verb == "agent") {
      auto& one = w.agents.instances[given.at(1)];
      for (std::size_t i = 2; i < given.size(); ++i) {
        if (given[i].rfind("of=", 0) == 0) one.agent = given[i].substr(3);
        if (given[i].rfind("slots=", 0) == 0) one.capacity = std::stoi(given[i].substr(6));
        if (given[i].rfind("incarnation=", 0) == 0) one.incarnation = std::stoull(given[i].substr(12));
      }
      return "ok\n";
    }
    if (verb == "gone") return w.agents.instances.erase(given.at(1)) == 1 ? "ok\n" : "not there\n";
    if (verb == "tick") return w.advance_ms(number(1)), time_text(w.now_ms) + "\n";
    if (verb == "row") return text_of(w.record);
    if (verb == "submit") return shown(w.submit(rest_after(lines.front(), 1)));
    if (verb == "admit") return shown(w.apply(task_admitted{}));
    if (verb == "outcome") return shown(w.outcome(step_of(given.at(1)), number(2), rest_after(lines.front(), 3)));
    if (verb == "fault")
      return shown(w.fault(step_of(given.at(1)), number(2), kind_of(given.at(3)), given.at(4), given.size() > 5 ? number(5) : 0));
    if (verb == "recover") return shown(w.recover(step_of(given.at(1))));
    if (verb == "due") return shown(w.apply(task_due{}));
    if (verb == "freed") return shown(w.apply(slot_freed{}));
    if (verb == "resume") return shown(w.apply(task_resumed{}));
    if (verb == "poison") return shown(w.apply(task_poisoned{rest_after(lines.front(), 1)}));
    if (verb == "replaced") return shown(w.apply(agent_replaced{given.at(1), number(2)}));
    if (verb == "evaluated") {
      expressions_evaluated e{step_of(given.at(1)), {given.begin() + 2, given.end()}, std::nullopt};
      if (const auto& step = w.at(e.step); step.has_items())
        e.item = first_item(step.items(), item_state::to_begin).value_or(begun_items(step.items())) + 1;
      return shown(w.apply(e));
    }
    if (verb == "decided")
      return shown(
          w.apply(expressions_evaluated{step_of(given.at(1)), {rest_after(lines.front(), 2)}, std::nullopt, v1::EXPRESSION_PART_WHEN}));
    if (verb == "judged")
      return shown(
          w.apply(expressions_evaluated{step_of(given.at(1)), {rest_after(lines.front(), 2)}, std::nullopt, v1::EXPRESSION_PART_UNTIL}));
    if (verb == "listed")
      return shown(
          w.apply(expressions_evaluated{step_of(given.at(1)), {rest_after(lines.front(), 2)}, std::nullopt, v1::EXPRESSION_PART_LIST}));
    if (verb == "computed")
      return shown(w.apply(expressions_evaluated{0, {rest_after(lines.front(), 1)}, std::nullopt, v1::EXPRESSION_PART_OUTPUT}));
    if (verb == "undone") return shown(w.undone(step_of(given.at(1))));
    if (verb == "undo_fault") return shown(w.fault_of(step_of(given.at(1)), v1::DIRECTION_UNDO, kind_of(given.at(2)), given.at(3)));
    if (verb == "lookup_fault") return shown(w.fault_of(step_of(given.at(1)), v1::DIRECTION_LOOKUP, kind_of(given.at(2)), given.at(3)));
    if (verb == "looked_up") {
      const auto verdict = given.at(2) == "done"             ? v1::LOOKUP_VERDICT_DONE
                           : given.at(2) == "never_happened" ? v1::LOOKUP_VERDICT_NEVER_HAPPENED
                                                             : v1::LOOKUP_VERDICT_UNKNOWN;
      return shown(w.outcome_of(step_of(given.at(1)), v1::DIRECTION_LOOKUP, verdict, rest_after(lines.front(), 3)));
    }
    if (verb == "lookups") return w.agents.lookups = {given.begin() + 1, given.end()}, "ok\n";
    if (verb == "terminate_now") return shown(w.terminate_now());
    if (verb == "blocked") return w.agents.blocked[given.at(1)] = number(2), "ok\n";
    if (verb == "brake") return w.hold_undo = given.at(1) == "on", "ok\n";
    if (verb == "reply") {
      w.reply.emplace().set_client("shop");
      w.reply->set_steps(given.at(1) == "steps");
      return "ok\n";
    }
    if (verb == "deadline") return w.deadline_unix_ms = start_ms + number(1), "ok\n";
    if (verb == "signal")
      return shown(w.signal(given.at(1), given.size() > 2 ? std::optional{rest_after(lines.front(), 2)} : std::nullopt));
    if (verb == "callback")
      return shown(
          w.callback(step_of(given.at(1)), number(2), given.size() > 3 ? std::optional{rest_after(lines.front(), 3)} : std::nullopt));
    if (verb == "callback_fault") {
      v1::Fault fault;
      fault.set_kind(kind_of(given.at(3)));
      fault.set_code(given.at(4));
      return shown(w.callback(step_of(given.at(1)), number(2), std::nullopt, fault));
    }
    if (verb == "child") return shown(child(given, lines.front()));
    if (verb == "child_refused") {
      const auto e = w.of_child(step_of(name_of(given.at(1))), v1::TASK_STATE_UNSPECIFIED, id_of(given.at(1)));
      return shown(w.apply(child_refused{e.step, e.id, given.at(2), rest_after(lines.front(), 3), 0, e.item}));
    }
    if (verb == "gathered" || verb == "gathered_bytes") {
      const auto json = verb == "gathered" ? rest_after(lines.front(), 3) : "[\"" + std::string(number(3) - 4, 'x') + "\"]";
      return shown(w.apply(items_gathered{step_of(given.at(1)), number(2), static_cast<std::uint32_t>(list_size(json).value()), json}));
    }
    if (verb == "restored") {
      // The Scheduler that held slots is gone.
      for (auto& [name, one] : w.agents.instances) one.held = 0;
      w.agents.holders.clear();
      return restore_task(w.record, w.now_ms - number(1), from_unix_ms(w.now_ms)) ? text_of(w.record) : "unchanged\n";
    }
    if (verb == "migrate") return shown(w.migrate(definition_of(lines), given.size() > 1 && given[1] == "dry_run"));
    if (verb == "clock_set_back") return w.now_ms -= number(1), shown(w.apply(clock_set_back{}));
    if (verb == "operator") {
      const auto json = given.size() > 3 ? std::optional<std::string>{rest_after(lines.front(), 3)} : std::nullopt;
      return shown(w.operate(verb_of(given.at(1)), given.size() > 2 && given[2] != "-" ? given[2] : "", json));
    }
    if (verb == "evaluation_failed")
      return shown(
          w.apply(expressions_evaluated{step_of(given.at(1)), {}, error{v1::ERROR_CODE_EXPRESSION, rest_after(lines.front(), 2), ""}}));
    return "unknown command\n";
  }

 private:
  static std::string name_of(const std::string& child) { return child.substr(0, child.find_first_of("~.")); }
  /// Empty: the latest child of the step.
  std::string id_of(const std::string& child) const {
    if (const auto dot = child.find('.'); dot != std::string::npos) {
      const auto item = static_cast<std::uint32_t>(std::stoul(child.substr(dot + 1))) - 1;
      return item_id(world_->record, world_->at(step_of(name_of(child))), item);
    }
    return child.find('~') == std::string::npos ? "" : world_->record.id() + "/" + child;
  }

  decision child(const std::vector<std::string>& given, const std::string& line) {
    static const std::map<std::string, v1::TaskState> states{{"completed", v1::TASK_STATE_COMPLETED}, {"undone", v1::TASK_STATE_UNDONE},
                                                             {"failed", v1::TASK_STATE_FAILED},       {"parked", v1::TASK_STATE_RUNNING},
                                                             {"goes_on", v1::TASK_STATE_RUNNING},     {"undoing", v1::TASK_STATE_UNDOING}};
    const auto& what = given.at(2);
    auto e = world_->of_child(step_of(name_of(given.at(1))), states.at(what), id_of(given.at(1)));
    e.parked = what == "parked";
    e.stands = what == "failed" && given.size() > 3 && given[3] == "stands";
    if (what == "completed")
      e.output = rest_after(line, 3);
    else
      e.reason = rest_after(line, e.stands ? 4 : 3);
    return world_->apply(e);
  }

  /// No agent carries it out. `wait` and `value` stand before `with`, `signal=NAME` before its timeout.
  static v1::StepDefinition own(v1::StepDefinition from, v1::StepKind kind) {
    v1::StepDefinition out;
    out.set_name(from.name());
    out.set_kind(kind);
    *out.mutable_needs() = from.needs();
    out.set_join(from.join());
    out.set_with_json(from.with_json().empty() || kind == v1::STEP_KIND_SIGNAL ? "null" : from.with_json());
    out.set_when_json(from.when_json());
    out.mutable_undo()->set_none(true);
    return out;
  }

  static v1::StepDefinition sub_workflow(const v1::StepDefinition& from, const std::string& name) {
    auto out = own(from, v1::STEP_KIND_WORKFLOW);
    out.clear_undo();
    out.set_with_json(from.with_json());
    out.set_workflow(name);
    return out;
  }

  /// Such as `http_502,http_5*/attempts=3`.
  static void add_rule(v1::StepDefinition& to, const std::string& text) {
    auto& rule = *to.add_retry();
    std::istringstream parts{text};
    std::string part;
    std::getline(parts, part, '/');
    std::istringstream codes{part};
    for (std::string code; std::getline(codes, code, ',');) rule.add_on(code);
    while (std::getline(parts, part, '/')) {
      const auto value = std::stol(part.substr(part.find('=') + 1));
      if (part.rfind("attempts=", 0) == 0) rule.set_attempts(static_cast<std::uint32_t>(value));
      if (part.rfind("retry_for=", 0) == 0) rule.set_retry_for_ms(value);
      if (part.rfind("backoff=", 0) != 0) continue;
      rule.mutable_backoff()->set_first_ms(value);
      rule.mutable_backoff()->set_factor(1);
      rule.mutable_backoff()->set_max_ms(value);
    }
  }

  static v1::WorkflowDefinition definition_of(const std::vector<std::string>& lines) {
    std::vector<v1::StepDefinition> steps;
    for (std::size_t i = 1; i < lines.size(); ++i) {
      auto one = step(words(lines[i]).front());
      const auto with = lines[i].find("with=");
      if (with != std::string::npos) one.set_with_json(lines[i].substr(with + 5));
      const auto until = lines[i].substr(0, with).find("until=");
      if (until != std::string::npos) one.mutable_repeat()->set_until_json(lines[i].substr(0, with).substr(until + 6));
      const auto when = lines[i].substr(0, std::min(until, with)).find("when=");
      if (when != std::string::npos) one.set_when_json(lines[i].substr(0, std::min(until, with)).substr(when + 5));
      for (const auto& word : words(lines[i].substr(0, std::min({when, until, with})))) {
        const auto value = word.substr(word.find('=') + 1);
        if (word.rfind("agent=", 0) == 0) one.set_agent(value);
        if (word.rfind("attempts=", 0) == 0) one.set_attempts(static_cast<std::uint32_t>(std::stoul(value)));
        if (word.rfind("timeout=", 0) == 0) one.set_timeout_ms(std::stol(value));
        if (word == "in_doubt=park") one.set_in_doubt(v1::IN_DOUBT_PARK);
        if (word == "in_doubt=fail") one.set_in_doubt(v1::IN_DOUBT_FAIL);
        if (word == "on_failure=fail") one.set_on_failure(v1::ON_FAILURE_FAIL);
        if (word == "on_failure=continue") one.set_on_failure(v1::ON_FAILURE_CONTINUE);
        if (word == "on_failure=park") one.set_on_failure(v1::ON_FAILURE_PARK);
        if (word == "on_failure=undo") one.set_on_failure(v1::ON_FAILURE_UNDO);
        if (word.rfind("retry_for=", 0) == 0) {
          one.set_attempts(0);
          one.set_retry_for_ms(std::stol(value));
        }
        if (word == "pivot") one.set_pivot(true);
        if (word == "finally=true") one.set_finally(v1::FINALLY_ALWAYS);
        if (word == "finally=after_failure") one.set_finally(v1::FINALLY_AFTER_FAILURE);
        if (word.rfind("join=", 0) == 0) one.set_join(static_cast<std::uint32_t>(std::stoul(value)));
        if (word.rfind("rule=", 0) == 0) add_rule(one, value);
        if (word.rfind("for_each=", 0) == 0) one.mutable_for_each()->set_list_json("\"${ " + value + " }\"");
        if (word.rfind("at_once=", 0) == 0) one.mutable_for_each()->set_at_once(static_cast<std::uint32_t>(std::stoul(value)));
        if (word == "collect") one.mutable_for_each()->set_collect(true);
        if (word.rfind("every=", 0) == 0) one.mutable_repeat()->set_every_ms(std::stol(value));
        if (word.rfind("max=", 0) == 0) one.mutable_repeat()->set_most(static_cast<std::uint32_t>(std::stoul(value)));
        if (word.rfind("callback=", 0) == 0) one.set_callback_ms(std::stol(value));
        if (word == "value") one = own(one, v1::STEP_KIND_VALUE);
        if (word == "wait") one = own(one, v1::STEP_KIND_WAIT);
        if (word.rfind("signal=", 0) == 0) {
          one = own(one, v1::STEP_KIND_SIGNAL);
          one.set_signal(value);
        }
        if (word.rfind("workflow=", 0) == 0) one = sub_workflow(one, value);
        if (word == "on_timeout=continue") one.set_goes_on_untimely(true);
        if (word == "undo=none")
          one = with_undo_none(one);
        else if (word.rfind("undo=", 0) == 0)
          one = undoable(one);
        if (word == "also_if_failed") one.mutable_undo()->set_also_if_failed(true);
        if (word.rfind("cool_off=", 0) == 0) {
          one.set_on_failure(v1::ON_FAILURE_COOL_OFF);
          one.set_cool_off_ms(std::stol(value));
        }
        if (word.rfind("needs=", 0) == 0) {
          std::istringstream list{value};
          for (std::string need; std::getline(list, need, ',');) one.add_needs(need);
        }
      }
      steps.push_back(one);
    }
    auto definition = graph(steps);
    for (const auto& word : words(lines.front())) {
      if (word.rfind("timeout=", 0) == 0) definition.set_timeout_ms(std::stol(word.substr(8)));
      if (word == "on_failure=undo") definition.set_on_failure(v1::ON_FAILURE_UNDO);
      if (word == "on_failure=fail") definition.set_on_failure(v1::ON_FAILURE_FAIL);
      if (word == "end=failed") definition.set_ends_failed(true);
    }
    if (const auto at = lines.front().find("output="); at != std::string::npos) definition.set_output_json(lines.front().substr(at + 7));
    return definition;
  }

  std::string define(const std::vector<std::string>& lines) {
    world_.emplace(definition_of(lines));
    world_->agents.instances.clear();
    return "ok\n";
  }

  static v1::OperatorVerb verb_of(const std::string& word) {
    static const std::map<std::string, v1::OperatorVerb> verbs{{"retry", v1::OPERATOR_VERB_RETRY},
                                                               {"skip", v1::OPERATOR_VERB_SKIP},
                                                               {"completed", v1::OPERATOR_VERB_SETTLE_COMPLETED},
                                                               {"never_happened", v1::OPERATOR_VERB_SETTLE_NEVER_HAPPENED},
                                                               {"undo", v1::OPERATOR_VERB_UNDO},
                                                               {"cancel", v1::OPERATOR_VERB_CANCEL},
                                                               {"terminate", v1::OPERATOR_VERB_TERMINATE},
                                                               {"pause", v1::OPERATOR_VERB_PAUSE},
                                                               {"resume", v1::OPERATOR_VERB_RESUME}};
    return verbs.at(word);
  }

  std::uint32_t step_of(const std::string& path) const {
    for (int i = 0; i < world_->record.steps_size(); ++i)
      if (world_->record.steps(i).path() == path) return static_cast<std::uint32_t>(i);
    return 999;
  }

  static v1::FaultKind kind_of(const std::string& word) {
    return word == "permanent" ? v1::FAULT_KIND_PERMANENT : word == "transient" ? v1::FAULT_KIND_TRANSIENT : v1::FAULT_KIND_IN_DOUBT;
  }

  std::string shown(const decision& made) const {
    if (!made.changed) return "unchanged\n" + text_of(made);
    return text_of(made) + text_of(world_->record);
  }

  std::optional<world> world_;
};

TEST(task, behaves_as_its_transcripts_say) {
  const std::string folder = "tests/actors/core/task/transcripts";
  for (const auto& [of, least] : {std::pair{"", 5}, {"/steps", 5}, {"/items", 2}})
    compare_with_golden(folder + of, least, [] {
      return [run = std::make_shared<interpreter>()](const std::vector<std::string>& lines) { return run->run(lines); };
    });
}

}  // namespace
}  // namespace fairlead::core::testing
