#include "app/json/waits.hpp"

#include <algorithm>
#include <set>

#include "actors/core/items/items.hpp"
#include "actors/core/task/decision.hpp"
#include "actors/core/workflow/check_kinds.hpp"
#include "actors/core/workflow/graph.hpp"
#include "app/json/remedies.hpp"
#include "messages/holds.hpp"
#include "messages/task_states.hpp"

namespace fairlead::app {

const v1::StepDefinition* definition_of(const v1::TaskShowReply& reply, const v1::StepRecord& step) {
  const auto index = static_cast<int>(step.definition());
  return index < reply.definition().steps_size() ? &reply.definition().steps(index) : nullptr;
}

namespace {

bool of_end(const v1::StepDefinition* step) { return step != nullptr && step->finally() != v1::FINALLY_NO; }

/// How many of the step's needs have to complete still, by its join.
std::uint32_t still_wanted(const v1::TaskShowReply& reply, const v1::StepDefinition& wanted) {
  std::uint32_t completed = 0, performed = 0;
  const std::set<std::string> named{wanted.needs().begin(), wanted.needs().end()};
  for (const auto& other : reply.task().steps()) {
    const auto* defined = definition_of(reply, other);
    if (defined == nullptr || named.count(defined->name()) == 0 || other.state() == v1::STEP_STATE_SKIPPED) continue;
    ++performed;
    if (other.state() == v1::STEP_STATE_COMPLETED && !other.dropped()) ++completed;
  }
  const auto needed = std::min(wanted.join(), performed);
  return needed > completed ? needed - completed : 0;
}

/// The steps that must be completed, skipped or passed over before this step starts. A pivot waits for all steps
/// that do not depend on it.
std::string missing_needs(const v1::TaskShowReply& reply, const v1::StepDefinition& wanted) {
  const auto& definition = reply.definition();
  std::set<std::string> needed{wanted.needs().begin(), wanted.needs().end()};
  if (wanted.pivot()) {
    const core::needs_graph graph{definition};
    const auto own = graph.index_of(wanted.name());
    for (int i = 0; i < definition.steps_size(); ++i)
      if (i != own && !graph.reaches(i, own) && !of_end(&definition.steps(i))) needed.insert(definition.steps(i).name());
  }
  std::string out;
  for (const auto& other : reply.task().steps()) {
    const auto* defined = definition_of(reply, other);
    if (defined != nullptr && !satisfies_needs(other) && needed.count(defined->name()) != 0)
      out += (out.empty() ? "" : ", ") + other.path();
  }
  if (wanted.join() == 0 || wanted.pivot() || out.empty()) return out;
  const auto more = still_wanted(reply, wanted);
  return more == 0 ? "" : std::to_string(more) + " of " + out;
}

/// The reasons why steps of the agent wait. The registry does not list them by step.
std::string reasons_of(const std::string& agent, const known_agents& agents) {
  const auto found = agents->find(agent);
  if (found == agents->end() || !found->second.there) return "no instance is registered";
  std::string out;
  for (const auto& reason : found->second.reasons) out += (out.empty() ? "" : "; ") + reason;
  return out;
}

std::string agent_text(const std::string& agent, const known_agents& agents) {
  if (!agents) return "";
  const auto why = reasons_of(agent, agents);
  return "waits for agent " + agent + (why.empty() ? "" : ": " + why);
}

/// Of a step that no agent carries out and whose needs have ended.
std::string moment_text(const v1::StepDefinition& of, const v1::StepRecord& step, moment_words by) {
  const auto until = " until " + by(step.not_before_unix_ms());
  return of.kind() == v1::STEP_KIND_SIGNAL ? "waits for signal " + of.signal() + until : "waits" + until;
}

const char* word_before(v1::Direction direction) {
  switch (direction) {
    case v1::DIRECTION_UNDO: return "undo ";
    case v1::DIRECTION_LOOKUP: return "lookup ";
    default: return "";
  }
}

/// In a live task: the step still has to be performed.
bool to_be_performed(const v1::TaskRecord& task, const v1::StepRecord& step, const v1::StepDefinition& definition) {
  return step.state() == v1::STEP_STATE_PENDING && (task.state() == v1::TASK_STATE_RUNNING || of_end(&definition));
}

/// What comes before a step of the end; empty: nothing.
std::string before_end(const v1::TaskShowReply& reply, const v1::StepDefinition& wanted) {
  if (!of_end(&wanted)) return "";
  const auto running = reply.task().state() == v1::TASK_STATE_RUNNING;
  if (wanted.finally() == v1::FINALLY_AFTER_FAILURE) return running ? "only after a failure" : "after the last undo";
  const auto open = [&](const v1::StepRecord& other) {
    if (of_end(definition_of(reply, other))) return false;
    return running ? !satisfies_needs(other) : other.state() == v1::STEP_STATE_RUNNING;
  };
  const auto& all = reply.task().steps();
  return std::any_of(all.begin(), all.end(), open) ? "when no other step is performed any more" : "";
}

bool to_be_looked_up(const v1::StepRecord& step) {
  return step.state() == v1::STEP_STATE_IN_DOUBT && step.direction() == v1::DIRECTION_LOOKUP && !step.given_up();
}

bool to_be_undone(const v1::TaskRecord& task, const v1::StepRecord& step, const v1::StepDefinition& definition) {
  const auto undone = step.dropped() || task.state() == v1::TASK_STATE_UNDOING;
  if (!undone || !core::says_how_it_is_undone(definition) || definition.undo().none()) return false;
  return step.state() == v1::STEP_STATE_COMPLETED || step.state() == v1::STEP_STATE_UNDOING || in_doubt(step) ||
         is_undone_though_failed(definition, step);
}

/// The task that carries the step out, or is undone for it; empty: there is none, or it has ended.
std::string child_text(const v1::StepRecord& step) {
  const auto awaited = step.state() == v1::STEP_STATE_RUNNING || step.state() == v1::STEP_STATE_UNDOING;
  if (!step.has_child() || !awaited || step.given_up()) return "";
  if (step.has_items()) {
    const auto parked = step.child().parked() ? "; task " + step.child().id() + " is parked" : std::string{};
    return "waits for its items: " + core::item_words(step.items()) + parked;
  }
  const auto* const undo = step.state() == v1::STEP_STATE_UNDOING ? "the undo of " : "";
  return std::string{"waits for "} + undo + "task " + step.child().id() + (step.child().parked() ? ", which is parked" : "");
}

}  // namespace

known_agents agents_of(const v1::StatusReply& status) {
  std::map<std::string, agent_wait> out;
  // The registry also lists agents without an instance, because steps wait for them.
  for (const auto& agent : status.agents())
    if (!agent.instance().empty()) out[agent.agent()].there = true;
  for (const auto& service : status.services())
    for (const auto& reason : service.reasons()) out[service.record().agent()].reasons.push_back(reason);
  return out;
}

std::string waits_for(const v1::TaskShowReply& reply, int index, const known_agents& agents, moment_words by) {
  const auto& task = reply.task();
  const auto& step = task.steps(index);
  if (has_ended(task.state())) return "";
  if (step.complete_by_unix_ms() != 0)
    return std::string{word_before(step.direction())} + "ends by " + by(step.complete_by_unix_ms()) +
           (step.has_early_answer() ? "; its callback has come" : "");
  if (auto text = child_text(step); !text.empty()) return text;
  // A step whose failure began the undo is also given up, but no operator needs to decide about it.
  const auto* definition = definition_of(reply, step);
  const bool undone = step.dropped() || (task.state() == v1::TASK_STATE_UNDOING && !of_end(definition));
  const bool looked_up_in_vain = undone && step.direction() == v1::DIRECTION_LOOKUP;  // its undo is next
  const bool decided = task.state() == v1::TASK_STATE_UNDOING && step.direction() == v1::DIRECTION_PERFORM && !in_doubt(step);
  if (step.given_up() && !looked_up_in_vain) return decided ? "" : task.parked() ? "given up: waits for an operator" : "given up";
  if (step.not_before_unix_ms() != 0 && undone && step.direction() == v1::DIRECTION_PERFORM)
    return "waits for the end of an abandoned attempt, by " + by(step.not_before_unix_ms());
  if (core::waits_for_callback(step)) return "waits for its callback until " + by(step.not_before_unix_ms());
  if (step.not_before_unix_ms() != 0 && definition != nullptr && definition->kind() != v1::STEP_KIND_CALL)
    return moment_text(*definition, step, by);
  if (step.not_before_unix_ms() != 0 && definition != nullptr && between_rounds(task, step, *definition))
    return "waits for its next round until " + by(step.not_before_unix_ms());
  if (step.not_before_unix_ms() != 0)
    return (cooling_off(task, index) ? "cooling off, " : "") + std::string{word_before(step.direction())} + "again at " +
           by(step.not_before_unix_ms());
  if (definition == nullptr || is_held(task)) return "";
  if (to_be_performed(task, step, *definition)) {
    if (auto before = before_end(reply, *definition); !before.empty()) return before;
    const auto missing = missing_needs(reply, *definition);
    if (!missing.empty()) return "needs " + missing;
    return definition->kind() == v1::STEP_KIND_CALL ? agent_text(definition->agent(), agents) : "";
  }
  const bool look_up = to_be_looked_up(step);
  if (!look_up && !to_be_undone(task, step, *definition)) return "";
  const bool calls = definition->kind() == v1::STEP_KIND_CALL;
  if (calls && agents && !reasons_of(definition->agent(), agents).empty()) return agent_text(definition->agent(), agents);
  return look_up ? "to be looked up" : "to be undone";
}

bool may_wait_for_agent(const v1::TaskShowReply& reply) {
  const auto& task = reply.task();
  if (is_held(task)) return false;
  for (const auto& step : task.steps()) {
    const auto* definition = definition_of(reply, step);
    if (definition == nullptr || definition->kind() != v1::STEP_KIND_CALL) continue;
    if (step.complete_by_unix_ms() != 0 || step.not_before_unix_ms() != 0) continue;
    if ((to_be_performed(task, step, *definition) && before_end(reply, *definition).empty()) || to_be_looked_up(step) ||
        to_be_undone(task, step, *definition))
      return true;
  }
  return false;
}

}  // namespace fairlead::app
