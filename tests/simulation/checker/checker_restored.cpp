// What is still asked of a shard of which an earlier moment has been put back: what holds of any history that begins with the store as it
// stands then.

#include <utility>

#include "store/rows/task_rows.hpp"
#include "tests/simulation/checker/checker.hpp"

namespace fairlead::simulation {

void checker::restored(const v1::Lineage& to, const store::snapshot& durable) {
  restores_.restored(to, durable);
  seen_.clear();
  ids_.clear();
  numbers_.clear();
  created_.clear();
  progressed_.clear();
  turns_.clear();
  parked_alerts_.clear();
  subscribing_.clear();
  following_.clear();
  told_ends_.clear();
  told_parked_.clear();
  const auto undone_again = std::exchange(children_, {}).undone_again;
  note_deployments(durable);
  brake_alert_ = durable.get_progress().shard.undo_brake_alert();
  const auto scanned = durable.scan(store::table::task, {}, {}, [&](std::string_view, std::string_view row) {
    v1::TaskRecord record;
    if (!record.ParseFromArray(row.data(), static_cast<int>(row.size()))) return false;
    ids_[record.number()] = record.id();
    numbers_[record.id()] = record.number();
    if (const auto name = read_child_id(record.id()); name && record.has_parent())
      children_.of_step[{name->parent, name->step}].push_back(record.id());
    if (record.parent().item() != 0 && (record.state() == v1::TASK_STATE_FAILED || record.state() == v1::TASK_STATE_UNDONE))
      children_.failed.insert(record.id());
    const auto undone_before = restores_.was_undone(record.id()) || undone_again.count(record.id()) != 0;
    if (record.has_parent() && record.state() == v1::TASK_STATE_UNDOING && undone_before) children_.undone_again.insert(record.id());
    if (record.parked()) parked_alerts_[record.number()] = record.alert();
    seen_[record.number()] = std::move(record);
    return true;
  });
  if (!scanned.ok()) world::broken("store_check", "a restored store cannot be read: " + scanned.failure().sentence);
}

void checker::observe_restored(const v1::TaskRecord& record, const store::snapshot& durable) {
  ids_[record.number()] = record.id();
  if (numbers_.emplace(record.id(), record.number()).first->second != record.number())
    world::broken("one_task", record.id() + " stands for two tasks");
  const auto before = seen_.find(record.number());
  if (before != seen_.end()) {
    follow_version(before->second, record);
    judge_moves(before->second, record);
  }
  const auto* was = before == seen_.end() ? nullptr : &before->second;
  if (const auto* plan = shape_of(record)) {
    judge_leases(was, record, *plan);
    note_turns(was, record, *plan);
  }
  judge_children(was, record, durable);
  judge_wake_up(record, durable);
  judge_alert(record, durable);
  judge_alerts_of(record, durable);
  if (!record.parked_for_child() && record.parked_reason().find("internal error") != std::string::npos)
    throw rule_broken{"internal_error", record.id() + " is parked: " + record.parked_reason(), false};
  judge_end(record);
  seen_[record.number()] = record;
}

}  // namespace fairlead::simulation
