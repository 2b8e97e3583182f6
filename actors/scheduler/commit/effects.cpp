#include "actors/scheduler/commit/effects.hpp"

#include <algorithm>
#include <iterator>

#include "actors/core/task/record.hpp"

namespace fairlead {

namespace {

void end_by(v1::Perform& what, std::int64_t complete_by_unix_ms, std::int64_t heartbeat_by_unix_ms) {
  if (what.complete_by_unix_ms() > complete_by_unix_ms) what.set_complete_by_unix_ms(complete_by_unix_ms);
  if (what.heartbeat_by_unix_ms() > heartbeat_by_unix_ms) what.set_heartbeat_by_unix_ms(heartbeat_by_unix_ms);
}

}  // namespace

bool effects::empty() const {
  return performs.empty() && acknowledged.empty() && renewed.empty() && acknowledged_late.empty() && hints.items().empty() &&
         replies.empty() && !cron_due_unix_ms && notices.empty() && transitions.empty() && changed.empty() && new_ids.empty();
}

void effects::job_due(std::int64_t due_unix_ms) {
  if (!cron_due_unix_ms || due_unix_ms < *cron_due_unix_ms) cron_due_unix_ms = due_unix_ms;
}

void effects::append(effects&& later) {
  for (auto& [instance, batch] : later.performs) performs[instance].MergeFrom(batch);
  for (auto& [instance, batch] : later.acknowledged) acknowledged[instance].MergeFrom(batch);
  for (auto& [instance, batch] : later.renewed) renewed[instance].MergeFrom(batch);
  hints.MergeFrom(later.hints);
  for (auto& [subscriber, notice] : later.notices) notices[subscriber].MergeFrom(notice);
  const auto move_all = [](auto& to, auto& from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  };
  move_all(acknowledged_late, later.acknowledged_late);
  move_all(replies, later.replies);
  if (later.cron_due_unix_ms) job_due(*later.cron_due_unix_ms);
  move_all(transitions, later.transitions);
  move_all(changed, later.changed);
  move_all(new_ids, later.new_ids);
}

void effects::drop_messages() {
  performs.clear();
  acknowledged.clear();
  renewed.clear();
  acknowledged_late.clear();
  hints.Clear();
  replies.clear();
  cron_due_unix_ms.reset();
  notices.clear();
  transitions.clear();
}

void effects::bring_leases_near(std::int64_t now_unix_ms) {
  for (auto& [instance, batch] : performs)
    for (auto& one : *batch.mutable_items()) end_by(one, now_unix_ms + one.budget_ms(), now_unix_ms + one.heartbeat_ms());
}

void effects::bring_up_to(const v1::TaskRecord& task) {
  const auto has_ended = [&](v1::Perform& one) {
    if (one.task_number() != task.number()) return false;
    const auto& step = task.steps(static_cast<int>(one.step()));
    if (!core::is_out(step, one.direction(), one.attempt())) return true;
    end_by(one, step.complete_by_unix_ms(), step.heartbeat_by_unix_ms());
    return false;
  };
  for (auto& [instance, batch] : performs) {
    auto& items = *batch.mutable_items();
    items.erase(std::remove_if(items.begin(), items.end(), has_ended), items.end());
  }
  std::erase_if(performs, [](const auto& one) { return one.second.items().empty(); });
}

void effects::release(const leader& by, scheduler_outbox& to, observer& log) {
  for (const auto& told : transitions)
    log.on_transition({told.task_id, told.step, told.what.from, told.what.to, told.what.attempt, told.what.detail});
  for (auto& [instance, batch] : performs) {
    batch.set_epoch(by.epoch);
    batch.set_shard(by.shard);
    *batch.mutable_lineage() = by.lineage;
    to.perform(instance, std::move(batch));
  }
  for (auto& [instance, batch] : acknowledged) {
    batch.set_shard(by.shard);
    *batch.mutable_lineage() = by.lineage;
    to.acknowledge(instance, std::move(batch));
  }
  for (auto& [instance, batch] : renewed) {
    batch.set_shard(by.shard);
    *batch.mutable_lineage() = by.lineage;
    to.acknowledge(instance, std::move(batch));
  }
  for (auto& [instance, batch] : acknowledged_late) {
    batch.set_shard(by.shard);
    to.acknowledge(instance, std::move(batch));
  }
  if (!hints.items().empty()) to.hint(std::move(hints));
  if (cron_due_unix_ms) to.wake_cron(from_unix_ms(*cron_due_unix_ms));
  for (auto& [ticket, reply] : replies) to.reply(ticket, std::move(reply));
  for (auto& [subscriber, notice] : notices) to.notify(subscriber, std::move(notice));
}

}  // namespace fairlead
