// Each task as a reader sees it after each commit.

#include <algorithm>

#include "actors/core/task/standing.hpp"
#include "actors/core/task/task.hpp"
#include "store/keys.hpp"
#include "store/rows/alert_rows.hpp"
#include "store/rows/task_rows.hpp"
#include "tests/simulation/checker/checker.hpp"
#include "tests/simulation/checker/own/doubts.hpp"
#include "tests/simulation/checker/own/migration.hpp"

namespace fairlead::simulation {

namespace {

bool live(const v1::TaskRecord& record) {
  return (record.state() == v1::TASK_STATE_RUNNING || record.state() == v1::TASK_STATE_UNDOING) && !record.parked() && !record.paused();
}

std::int64_t end_of_lease(const v1::StepRecord& step) {
  return step.heartbeat_by_unix_ms() != 0 ? std::min(step.heartbeat_by_unix_ms(), step.complete_by_unix_ms()) : step.complete_by_unix_ms();
}

/// Whether a task may be seen in `to` by someone who has seen it in `from` before. Several commits may lie between.
bool reachable(v1::TaskState from, v1::TaskState to) {
  switch (from) {
    case v1::TASK_STATE_PENDING: return true;
    case v1::TASK_STATE_RUNNING: return to != v1::TASK_STATE_PENDING;
    case v1::TASK_STATE_COMPLETED:
    case v1::TASK_STATE_FAILED: return to == v1::TASK_STATE_UNDOING || to == v1::TASK_STATE_UNDONE || to == v1::TASK_STATE_FAILED;
    case v1::TASK_STATE_UNDOING: return to == v1::TASK_STATE_UNDONE || to == v1::TASK_STATE_FAILED;
    default: return false;
  }
}

bool names(const std::vector<std::string>& paths, const std::string& path) {
  return std::find(paths.begin(), paths.end(), path) != paths.end();
}

v1::OnFailure answer_of(const v1::StepDefinition& step, const shape& plan) {
  return step.on_failure() == v1::ON_FAILURE_UNSPECIFIED ? plan.definition().on_failure() : step.on_failure();
}

}  // namespace

void checker::committed(const std::vector<store::batch>& group, const store::snapshot& durable) {
  std::set<std::uint64_t> numbers;
  std::set<std::string> touched;
  bool deploys = false;
  for (const auto& one : group) {
    one.for_each([&](const store::operation& op) {
      if (op.where == store::table::service) {
        if (const auto key = store::keys::decode_service(op.key)) touched.emplace(key->name);
      }
      deploys = deploys || op.where == store::table::workflow;
      if (op.where != store::table::task) return;
      if (const auto key = store::keys::decode_task(op.key)) numbers.insert(key->number);
    });
  }
  world_.count("commits");
  jobs_.committed(group);
  archives_.committed(group, seen_);
  alerts_.committed(group);
  for (const auto number : numbers) {
    const auto record = store::load_task(durable, number);
    if (!record.ok()) world::broken("store_check", "task " + std::to_string(number) + " cannot be read: " + record.failure().sentence);
    if (*record) restores_.on() ? observe_restored(**record, durable) : observe(**record, durable);
  }
  for (const auto& one : group)
    if (restores_.on()) restores_.committed(one);
  children_.failed.merge(children_.failed_now);
  children_.failed_now.clear();
  children_.ended_now.clear();
  if (deploys) note_deployments(durable);
  if (!restores_.on()) judge_services(touched, durable);
  judge_shard(durable);
}

void checker::observe(const v1::TaskRecord& record, const store::snapshot& durable) {
  ids_.emplace(record.number(), record.id());
  if (numbers_.emplace(record.id(), record.number()).first->second != record.number())
    world::broken("one_task", record.id() + " stands for two tasks");
  const auto before = seen_.find(record.number());
  const auto* plan = shape_of(record);
  if (before != seen_.end()) follow_version(before->second, record);
  const auto* was = before == seen_.end() ? nullptr : &before->second;
  if (was != nullptr) judge_moves(*was, record);
  contents_.became_durable(was, record, durable, plan);
  if (plan != nullptr) {
    pace_.became_durable(was, record, *plan);
    judge_leases(was, record, *plan);
    judge_dropped(was, record, *plan);
    judge_repeated(world_, was, record, *plan);
    note_turns(was, record, *plan);
  }
  judge_children(was, record, durable);
  judge_wake_up(record, durable);
  judge_alert(record, durable);
  judge_alerts_of(record, durable);
  bugs_.committed(record);
  // Whoever is parked for a child says why that is.
  if (!record.parked_for_child() && record.parked_reason().find("internal error") != std::string::npos && !bugs_.about(record.id()))
    throw rule_broken{"internal_error", record.id() + " is parked: " + record.parked_reason(), false};
  if (record.parked() && (was == nullptr || !was->parked())) {
    // As for the alert about a wait: one soon after a clock was set far back is true.
    world_.judges("waited_in_vain");
    const auto is_vain = record.parked_reason().find("requesting it again did not help") != std::string::npos;
    if (is_vain && !clock_.set_back_before(record.recent().rbegin()->at_unix_ms(), 60'000))
      world::broken("waited_in_vain", record.id() + " is parked: " + record.parked_reason());
  }
  judge_end(record);
  if (record.state() == v1::TASK_STATE_FAILED) {
    for (int i = 0; i < record.steps_size(); ++i)
      if (auto& past = steps_[{record.id(), static_cast<std::uint32_t>(i)}]; !past.all.empty()) past.all.back().abandoned = true;
  }
  note_beginnings(record);
  note_waits(record);
  seen_[record.number()] = record;
}

/// An operator has let the task go on by another version: `before` becomes what it would have been by that one.
void checker::follow_version(v1::TaskRecord& before, const v1::TaskRecord& after) {
  if (before.workflow_hash() == after.workflow_hash()) return;
  const auto* from = shape_of(before);
  const auto* to = shape_of(after);
  const auto asked = orders_.find(after.id());
  const auto ordered = asked != orders_.end() && std::any_of(asked->second.begin(), asked->second.end(), [&](const auto& order) {
                         return order.verb() == v1::OPERATOR_VERB_MIGRATE && order.to_hash() == after.workflow_hash();
                       });
  if (from == nullptr || to == nullptr) world::broken("version_changed", after.id() + " goes on by a version that nobody has deployed");
  before = carried_over(world_, before, after, *from, *to, ordered);
  // A step that has not begun may stand elsewhere now.
  std::erase_if(waits_, [&](const auto& one) { return one.first.task == after.id(); });
}

void checker::judge_moves(const v1::TaskRecord& before, const v1::TaskRecord& after) const {
  world_.judges("register_goes_back");
  world_.judges("impossible_task");
  const auto& id = after.id();
  judge_failing(before, after);
  if (after.version() <= before.version()) world::broken("register_goes_back", id + " has an older version than before");
  if (after.workflow_hash() != before.workflow_hash() || after.steps_size() != before.steps_size())
    world::broken("version_changed", id + " goes on by another version of its workflow");
  if (after.epoch() < before.epoch()) world::broken("epoch_falls", id + " was written under an older epoch");
  if (after.history_size() < before.history_size() || after.status_sequence() < before.status_sequence())
    world::broken("register_goes_back", id + " has lost part of its history");
  if (after.state() != before.state() && !reachable(before.state(), after.state()))
    world::broken("impossible_task", id + " went from " + core::state_word(before.state()) + " to " + core::state_word(after.state()));
  if (before.state() == v1::TASK_STATE_COMPLETED && after.state() != before.state()) {
    const auto asked = orders_.find(id);
    const auto by_order = asked != orders_.end() && std::any_of(asked->second.begin(), asked->second.end(), [](const auto& order) {
                            return order.verb() == v1::OPERATOR_VERB_UNDO || order.verb() == v1::OPERATOR_VERB_CANCEL;
                          });
    // A child is undone with its parent's step: own/children.cpp.
    if (!by_order && !after.has_parent())
      world::broken("impossible_task", id + " is being undone after it was completed, and nobody asked for it");
  }
  for (int i = 0; i < before.steps_size(); ++i) {
    const auto& was = before.steps(i);
    const auto& is = after.steps(i);
    const auto name = id + "/" + is.path();
    // A child that did not begin, of which its parent was told late because it had crashed.
    const auto not_begun = is.kind() == v1::STEP_KIND_WORKFLOW && !is.has_child() && bugs_.about(id);
    if ((is.attempt() < was.attempt() && !not_begun) || is.undo().made() < was.undo().made() || is.lookup().made() < was.lookup().made())
      world::broken("attempt_falls", name + " has fewer attempts than before");
    const auto other_round = is.rounds() > was.rounds();
    if ((is.failure_count() < was.failure_count() && !other_round) || is.rounds() < was.rounds() || is.generation() < was.generation())
      world::broken("register_goes_back", name + " has forgotten failures or keys");
    if (is.state() == was.state()) continue;
    world_.judges("impossible_step");
    const auto undoing =
        after.state() == v1::TASK_STATE_UNDOING || after.state() == v1::TASK_STATE_UNDONE || after.state() == v1::TASK_STATE_FAILED;
    const auto ended =
        was.state() == v1::STEP_STATE_COMPLETED || was.state() == v1::STEP_STATE_UNDONE || was.state() == v1::STEP_STATE_SKIPPED;
    const auto lawful = was.state() == v1::STEP_STATE_COMPLETED && (undoing || is.dropped()) &&
                        (is.state() == v1::STEP_STATE_UNDOING || is.state() == v1::STEP_STATE_UNDONE);
    // A step of the end that had no turn has it when the task is undone after all.
    const auto* const known = shape_of(after);
    const auto brought_back = known != nullptr && known->of_end(static_cast<std::uint32_t>(i)) && undoing &&
                              was.state() == v1::STEP_STATE_SKIPPED && was.ended_at_unix_ms() == 0;
    if (ended && !lawful && !brought_back)
      world::broken("impossible_step", name + " went from " + core::state_word(was.state()) + " to " + core::state_word(is.state()));
    if (was.state() == v1::STEP_STATE_UNDOING && is.state() != v1::STEP_STATE_UNDONE)
      world::broken("impossible_step", name + " was being undone and is " + core::state_word(is.state()));
    // Only an outcome, a lookup, a callback or an operator says that a step is done.
    const auto was_out = was.complete_by_unix_ms() != 0;
    const auto index = static_cast<std::uint32_t>(i);
    const auto* const plan = shape_of(after);
    const auto is_called =
        plan != nullptr && plan->answered_later(index) && (restores_.on() || contents_.of_callbacks().is_called(perform_key({id, index})));
    if (is.state() == v1::STEP_STATE_COMPLETED && is.kind() == v1::STEP_KIND_CALL && !was_out && is.rounds() == 0 &&
        is.attempt() == was.attempt() && is.lookup().made() == was.lookup().made() && !is_called && !settled_by_operator(id, is.path()))
      world::broken("fence", name + " went from " + core::state_word(was.state()) + " to completed without another attempt");
  }
}

bool checker::settled_by_operator(const std::string& id, const std::string& step) const {
  const auto asked = orders_.find(id);
  if (asked == orders_.end()) return false;
  return std::any_of(asked->second.begin(), asked->second.end(), [&](const v1::OperatorAction& order) {
    return order.step() == step &&
           (order.verb() == v1::OPERATOR_VERB_SETTLE_COMPLETED || order.verb() == v1::OPERATOR_VERB_SETTLE_NEVER_HAPPENED);
  });
}

bool checker::passed_over_by_operator(const std::string& id, const std::string& step) const {
  const auto asked = orders_.find(id);
  return asked != orders_.end() && std::any_of(asked->second.begin(), asked->second.end(), [&](const v1::OperatorAction& order) {
           return order.step() == step && order.verb() == v1::OPERATOR_VERB_SKIP;
         });
}

void checker::judge_wake_up(const v1::TaskRecord& record, const store::snapshot& durable) const {
  bool out = false;
  for (const auto& step : record.steps()) out = out || step.complete_by_unix_ms() != 0;
  if (!live(record) && !out) return;
  if (record.state() == v1::TASK_STATE_PENDING && !record.scheduled()) return;
  const auto text = record.id() + " (" + core::state_word(record.state()) + ")";
  world_.judges("no_wake_up");
  if (record.due_unix_ms() == 0) world::broken("no_wake_up", text + " has no wake-up");
  for (const auto& step : record.steps())
    if (step.complete_by_unix_ms() != 0 && end_of_lease(step) < record.due_unix_ms())
      world::broken("no_wake_up", text + " wakes up after a lease of " + step.path() + " is over");
  const auto indexed = record.due_indexed_unix_ms();
  const auto entry = durable.get(store::table::due, store::keys::due(store::default_namespace, indexed, record.number()));
  if (indexed == 0 || indexed > record.due_unix_ms() || !entry.ok() || !*entry)
    world::broken("no_wake_up", text + " has no entry in the due index that is early enough");
}

void checker::judge_alert(const v1::TaskRecord& record, const store::snapshot& durable) const {
  judge_failing_alert(record, durable);
  // Whoever waits for a parked task has no alert of its own.
  if (!record.parked() || record.parked_for_child()) return;
  world_.judges("lost_alert");
  const auto alert =
      record.alert() == 0 ? result<std::optional<v1::AlertRecord>>{std::nullopt} : store::load_alert(durable, record.alert());
  if (!alert.ok() || !*alert || !store::is_unresolved(**alert) || (*alert)->task_id() != record.id() ||
      (*alert)->kind() != v1::ALERT_KIND_TASK_PARKED)
    world::broken("lost_alert", record.id() + " is parked without an alert: " + record.parked_reason());
}

/// A step that has been failing for long is what an alert is about, or its task is over, waits for people or is alerted of otherwise.
void checker::judge_failing_alert(const v1::TaskRecord& record, const store::snapshot& durable) const {
  for (const auto& step : record.steps()) {
    if (!step.failing_counted()) continue;
    world_.judges("failing_alert");
    if (!live(record) || step.given_up() || step.failing_since_unix_ms() == 0)
      world::broken("failing_alert", record.id() + "/" + step.path() + " counts as failing, and nobody tries it");
    bool told = false;
    const auto read = store::for_each_unresolved(durable, [&](const v1::AlertRecord& one) {
      told = told || (one.kind() == v1::ALERT_KIND_STEP_FAILING && one.workflow() == record.workflow() && one.step() == step.path());
      return !told;
    });
    if (!read.ok() || !told) world::broken("failing_alert", record.id() + "/" + step.path() + " has been failing, and no alert says so");
  }
}

std::size_t checker::open_effects(const v1::TaskRecord& record, std::uint32_t index) const {
  const auto& step = record.steps(static_cast<int>(index));
  const auto standing = ledger_.standing({record.id(), step.path()});
  const auto rounds = std::size_t{step.rounds()};
  return standing > rounds ? standing - rounds : 0;
}

void checker::judge_completed(const v1::TaskRecord& record) const {
  const auto* plan = shape_of(record);
  world_.judges("end_failed");
  const auto goes_on = std::any_of(record.steps().begin(), record.steps().end(), [&](const auto& one) {
    return one.state() == v1::STEP_STATE_FAILED && !one.dropped() && (plan == nullptr || !plan->of_end(one.definition()));
  });
  if (plan != nullptr && plan->definition().ends_failed() && goes_on)
    world::broken("end_failed", record.id() + " is completed with a failed step, and its workflow says end: failed");
  for (int i = 0; i < record.steps_size(); ++i) {
    const auto& step = record.steps(i);
    const auto name = record.id() + "/" + step.path();
    const step_name of{record.id(), static_cast<std::uint32_t>(i)};
    const effect_name effects{record.id(), step.path()};
    const auto standing = open_effects(record, of.step);
    if (step.complete_by_unix_ms() != 0)
      world::broken("completed_without_effect", name + " has an attempt in progress, and its task is completed");
    if (restores_.beyond(effects)) continue;
    if (standing > 1) world::broken("two_effects", name + " has two standing effects");
    if (step.dropped() && plan != nullptr) judge_dropped_end(record, of.step, *plan);
    if (step.dropped() && step.state() != v1::STEP_STATE_COMPLETED) continue;
    if (step.state() == v1::STEP_STATE_COMPLETED) {
      world_.judges("completed_without_effect");
      const auto lacks = step.rounds() == 0 ? standing == 0 : ledger_.standing(effects) < step.rounds();
      if (lacks && step.kind() == v1::STEP_KIND_CALL)
        world::broken("completed_without_effect", name + " is completed, and nothing stands in the service");
    } else if (step.state() == v1::STEP_STATE_SKIPPED) {
      world_.judges("skipped_with_effect");
      // A step of the end that the end of its task has left out is performed when the task is undone later, also in a lost time.
      const auto left_out = plan != nullptr && plan->of_end(of.step) && step.ended_at_unix_ms() == 0;
      if (standing != 0 && !(left_out && restores_.performed_after_end(effects)))
        world::broken("skipped_with_effect", name + " is skipped, and its effect stands in the service");
    } else if (step.state() == v1::STEP_STATE_FAILED && plan != nullptr &&
               (plan->of_end(of.step) || answer_of(plan->step(of.step), *plan) == v1::ON_FAILURE_CONTINUE)) {
      world_.judges("passed_over_with_effect");
      world_.count("steps passed over");
      if (standing != 0 && !step.doubtful())
        world::broken("passed_over_with_effect", name + " has failed for certain, and its effect stands in the service");
      const auto passes = plan->of_end(of.step) ? plan->step(of.step).in_doubt() != v1::IN_DOUBT_PARK : plan->says_undo_none(of.step);
      const auto since = restores_.passed_over_then(record.id(), step.path());
      if (step.doubtful() && plan->step(of.step).in_doubt() != v1::IN_DOUBT_FAIL && !passes && !since)
        world::broken("passed_over_doubt", name + " is in doubt, and its task has gone on without it");
    } else {
      world::broken("completed_without_effect", record.id() + " is completed with " + step.path() + " " + core::state_word(step.state()));
    }
  }
}

void checker::judge_undone(const v1::TaskRecord& record) const {
  const auto* plan = shape_of(record);
  for (int i = 0; i < record.steps_size(); ++i) {
    const auto index = static_cast<std::uint32_t>(i);
    const auto& step = record.steps(i);
    const auto name = record.id() + "/" + step.path();
    const effect_name effects{record.id(), step.path()};
    const auto standing = ledger_.standing(effects);
    if (restores_.beyond(effects) || restores_.moved_on_unseen(effects, step.generation())) continue;
    if (plan->step(index).pivot() && (standing != 0 || step.state() == v1::STEP_STATE_COMPLETED))
      world::broken("pivot_undone", record.id() + " is undone though its pivot " + step.path() + " has happened");
    if (plan->says_undo_none(index) || passed_over_by_operator(record.id(), step.path())) continue;
    if (plan->undoes_failed(index)) judge_failed_undone(record, index);
    world_.judges("undone_but_standing");
    world_.judges("passed_over_doubt");
    if (standing != 0) world::broken("undone_but_standing", name + " is undone with its task, and its effect stands in the service");
    if (step.state() == v1::STEP_STATE_IN_DOUBT || step.state() == v1::STEP_STATE_RUNNING || step.state() == v1::STEP_STATE_UNDOING ||
        step.state() == v1::STEP_STATE_COMPLETED)
      world::broken("passed_over_doubt", record.id() + " is undone with " + step.path() + " " + core::state_word(step.state()));
  }
}

// ---- ends ----

void checker::judge_end(const v1::TaskRecord& record) const {
  if (const auto* plan = shape_of(record); plan != nullptr && has_ended(record.state())) judge_ends_of(record, *plan);
  if (record.state() == v1::TASK_STATE_COMPLETED) judge_completed(record);
  if (record.state() == v1::TASK_STATE_UNDONE) judge_undone(record);
  if (record.state() == v1::TASK_STATE_FAILED) judge_failed(record);
}

void checker::judge_failed(const v1::TaskRecord& record) const {
  const auto* plan = shape_of(record);
  if (plan == nullptr) return;
  world_.judges("failed_unasked");
  const auto cron = launched_above(record);  // `overlap: replace` ends a launch that it cannot undo
  const auto terminated = cron || ordered_above(record.id(), [](const auto& one) { return one.verb() == v1::OPERATOR_VERB_TERMINATE; });
  if (record.terminated() && !terminated) world::broken("failed_unasked", record.id() + " says that it was terminated, and nobody has");
  bool says_fail = plan->definition().on_failure() == v1::ON_FAILURE_FAIL;
  for (std::uint32_t i = 0; i < plan->size(); ++i) says_fail = says_fail || answer_of(plan->step(i), *plan) == v1::ON_FAILURE_FAIL;
  const auto passed_over = [](const auto& one) { return one.state() == v1::STEP_STATE_FAILED || one.doubtful(); };
  says_fail = says_fail || (plan->definition().ends_failed() && std::any_of(record.steps().begin(), record.steps().end(), passed_over));
  if (!record.terminated() && !says_fail) world::broken("failed_unasked", record.id() + " has failed, and nobody has said that it may");
  const auto left = core::standing_of(record);
  for (int i = 0; i < record.steps_size(); ++i) {
    const auto index = static_cast<std::uint32_t>(i);
    const auto& step = record.steps(i);
    const auto name = record.id() + "/" + step.path();
    const effect_name effects{record.id(), step.path()};
    if (restores_.beyond(effects) || restores_.moved_on_unseen(effects, step.generation())) continue;
    if (step.complete_by_unix_ms() != 0) world::broken("failed_unasked", name + " is out, and its task has failed");
    // What its task has left: own/children.cpp.
    if (plan->is_child(index)) continue;
    if (names(left.in_doubt, step.path())) {
      world_.judges("failed_in_doubt");
      const auto passes = plan->of_end(index) && plan->step(index).in_doubt() != v1::IN_DOUBT_PARK;
      if (!record.terminated() && !restores_.had_ended(record.id()) && plan->step(index).in_doubt() != v1::IN_DOUBT_FAIL && !passes)
        world::broken("failed_in_doubt", name + " is in doubt, and its task has failed without an operator");
      continue;
    }
    if (passed_over_by_operator(record.id(), step.path())) continue;
    world_.judges("doubt_unnamed");
    const auto standing = open_effects(record, index);
    if (standing > 1) world::broken("two_effects", name + " has two standing effects");
    // An undo that has failed leaves the effect; one that says nothing of it may have been carried out before that.
    if (names(left.stands, step.path()) && standing == 0 && step.state() == v1::STEP_STATE_COMPLETED && !plan->own(index) &&
        step.rounds() == 0)
      world::broken("doubt_unnamed", name + " is said to stand, and nothing stands in the service");
    if (!names(left.stands, step.path()) && standing != 0 && !plan->says_undo_none(index))
      world::broken("doubt_unnamed", name + " is not named by its failed task, and its effect stands in the service");
  }
}

void checker::judge_failing(const v1::TaskRecord& before, const v1::TaskRecord& after) const {
  const auto ends = [](const v1::TaskRecord& one) { return one.failing() || one.state() == v1::TASK_STATE_FAILED; };
  if (!ends(before) || !ends(after) || (after.state() == v1::TASK_STATE_UNDOING) != (before.state() == v1::TASK_STATE_UNDOING)) return;
  // An operator may have taken it back in between.
  const auto taken_back = std::any_of(after.recent().begin(), after.recent().end(), [&](const v1::HistoryEvent& one) {
    return one.sequence() > before.history_size() && one.kind() >= v1::EVENT_KIND_OPERATOR_RETRY &&
           one.kind() != v1::EVENT_KIND_OPERATOR_TERMINATE;
  });
  if (taken_back) return;
  world_.judges("started_while_failing");
  const auto* plan = shape_of(after);
  for (int i = 0; i < after.steps_size(); ++i) {
    // Its commit may have several decisions: of the end a step may have begun before the task was terminated.
    if (plan != nullptr && plan->of_end(static_cast<std::uint32_t>(i)) && !before.terminated()) continue;
    if (after.steps(i).attempt() != before.steps(i).attempt() || after.steps(i).undo().made() != before.steps(i).undo().made())
      world::broken("started_while_failing", after.id() + " is to fail, and " + after.steps(i).path() + " was handed over");
  }
}

}  // namespace fairlead::simulation
