#include "actors/queries/task_rows.hpp"

#include <algorithm>
#include <utility>

#include "actors/core/task/reason.hpp"
#include "messages/task_states.hpp"
#include "store/content_hash.hpp"
#include "store/keys.hpp"

namespace fairlead {

namespace {

/// Whether the list had the task at its moment, as far as the task says. A list of states is left by a task that goes on to another of them, and
/// that task was on it all the same.
bool was_there(const v1::TaskListRequest& what, const v1::TaskRecord& task) {
  const auto then = what.as_of_unix_ms();
  if (then == 0) return true;
  if (task.created_at_unix_ms() > then) return false;
  const auto& states = what.states();
  const auto lists_ended_states =
      !states.empty() && std::all_of(states.begin(), states.end(), [](int state) { return has_ended(static_cast<v1::TaskState>(state)); });
  const auto lists_only_ended = lists_ended_states || what.archived() || what.ended_since_unix_ms() > 0 || what.ended_until_unix_ms() > 0;
  if (lists_only_ended && task.finished_at_unix_ms() > then) return false;
  if (!lists_parked(what)) return true;
  const auto& events = task.recent();
  const auto parked =
      std::find_if(events.rbegin(), events.rend(), [](const v1::HistoryEvent& one) { return one.kind() == v1::EVENT_KIND_TASK_PARKED; });
  return parked == events.rend() || parked->at_unix_ms() <= then;
}

/// Whether the task waits for an operator because of this fault.
bool has_stopped_at(const v1::TaskRecord& task, const std::string& fault_code) {
  return std::any_of(task.steps().begin(), task.steps().end(), [&](const v1::StepRecord& step) {
    const auto stopped =
        step.given_up() || step.doubtful() || step.state() == v1::STEP_STATE_FAILED || step.state() == v1::STEP_STATE_IN_DOUBT;
    return stopped && !step.passed_over() && step.has_fault() && step.fault().code() == fault_code;
  });
}

}  // namespace

bool task_matches(const v1::TaskListRequest& what, const v1::TaskRecord& task, moment now) {
  if (what.states_size() > 0 && std::find(what.states().begin(), what.states().end(), task.state()) == what.states().end()) return false;
  if (lists_parked(what) && !task.parked()) return false;
  if (!what.fault_code().empty() && !has_stopped_at(task, what.fault_code())) return false;
  if (!what.job().empty() && task.launch().job() != what.job()) return false;
  if (!task.id().starts_with(what.id_prefix())) return false;
  if (what.top_level() && task.has_parent()) return false;
  if (!what.parent().empty() && task.parent().id() != what.parent()) return false;
  if (!what.workflow().empty() && task.workflow() != what.workflow()) return false;
  for (const auto& wanted : what.labels()) {
    const auto has = std::any_of(task.labels().begin(), task.labels().end(),
                                 [&](const v1::Label& label) { return label.key() == wanted.key() && label.value() == wanted.value(); });
    if (!has) return false;
  }
  if (task.finished_at_unix_ms() < what.ended_since_unix_ms()) return false;
  if (what.ended_until_unix_ms() > 0 && task.finished_at_unix_ms() >= what.ended_until_unix_ms()) return false;
  if (!what.submitted_by().empty() && task.submitted_by() != what.submitted_by()) return false;
  if (!was_there(what, task)) return false;
  const auto age_ms = (what.as_of_unix_ms() != 0 ? what.as_of_unix_ms() : to_unix_ms(now)) - task.created_at_unix_ms();
  if (what.older_than_ms() > 0 && age_ms < what.older_than_ms()) return false;
  return what.younger_than_ms() <= 0 || age_ms < what.younger_than_ms();
}

result<std::optional<v1::DeployedWorkflow>> load_definition(const store::snapshot& from, const std::string& workflow,
                                                            const std::string& hash) {
  const auto row = from.get(store::table::workflow_version, store::keys::workflow_version(store::default_namespace, workflow, hash));
  if (!row) return row.failure();
  if (!*row) return std::optional<v1::DeployedWorkflow>{};
  v1::DeployedWorkflow out;
  if (!out.ParseFromArray((*row)->data(), static_cast<int>((*row)->size())))
    return error{v1::ERROR_CODE_CORRUPT, "a definition of workflow " + workflow + " cannot be decoded", "run fairlead store check"};
  return std::optional<v1::DeployedWorkflow>{std::move(out)};
}

result<bool> agent_filter::takes(const v1::TaskRecord& task) {
  if (agent_.empty()) return true;
  const auto [found, is_new] = known_.emplace(task.workflow_hash(), false);
  if (!is_new) return found->second;
  const auto definition = load_definition(from_, task.workflow(), task.workflow_hash());
  if (!definition) return definition.failure();
  if (*definition) {
    const auto& steps = (*definition)->definition().steps();
    found->second = std::any_of(steps.begin(), steps.end(), [&](const v1::StepDefinition& step) { return step.agent() == agent_; });
  }
  return found->second;
}

v1::TaskSummary summary_of(const v1::TaskRecord& task) {
  v1::TaskSummary out;
  out.set_id(task.id());
  out.set_workflow(task.workflow());
  out.set_state(task.state());
  out.set_parked(task.parked());
  out.set_paused(task.paused());
  out.set_reason(core::why_of(task));
  const auto done = std::count_if(task.steps().begin(), task.steps().end(),
                                  [](const v1::StepRecord& step) { return step.dropped() || satisfies_needs(step); });
  out.set_steps_done(static_cast<std::uint32_t>(done));
  out.set_steps_total(static_cast<std::uint32_t>(task.steps_size()));
  out.set_created_at_unix_ms(task.created_at_unix_ms());
  out.set_finished_at_unix_ms(task.finished_at_unix_ms());
  *out.mutable_labels() = task.labels();
  out.set_priority(task.priority());
  out.set_start_at_unix_ms(task.start_at_unix_ms());
  out.set_submitted_by(task.submitted_by());
  return out;
}

std::optional<std::string> from_hex(const std::string& text) {
  if (text.size() > 2048) return std::nullopt;
  return store::from_hex(text);
}

error foreign_cursor() {
  return {v1::ERROR_CODE_INVALID_ARGUMENT, "the cursor does not belong to this list",
          "use the cursor of the previous page, with the same filters"};
}

}  // namespace fairlead
