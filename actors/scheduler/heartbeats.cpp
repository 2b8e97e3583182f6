// How the Scheduler renews leases: each renewal is durable before its agent is told.

#include <utility>

#include "actors/core/task/task.hpp"
#include "actors/registry/answers.hpp"
#include "actors/scheduler/scheduler.hpp"
#include "messages/lineage.hpp"

namespace fairlead {

void scheduler::heartbeats(v1::HeartbeatBatch what) {
  if (!makes_sense(what.shard(), what.instance(), what.incarnation())) return;
  if (compare(what.lineage(), limits_.lineage) != lineage_order::same) return misdirected();
  const agent_process who{what.instance(), what.incarnation()};
  slots_.heard(who.instance);
  for (auto& item : *what.mutable_items()) {
    auto* task = load(item.task_number());
    const auto held = task != nullptr && holds_step(who, task->record, item.step()) && apply(*task, core::event{event_of(item)}).accepted;
    // A poisoned task is about to be parked; its agent goes on by the lease that it has.
    if (const auto* there = find(item.task_number()); there != nullptr && !there->poison.empty()) continue;
    if (task != nullptr && !held) forget_if_idle(item.task_number());
    v1::HeartbeatAckBatch early;
    auto* ack = (faults_.ack_heartbeat_before_commit ? early : batches_.after().renewed[who.instance]).add_items();
    ack->set_task_number(item.task_number());
    ack->set_step(item.step());
    ack->set_direction(item.direction());
    ack->set_attempt(item.attempt());
    ack->set_sequence(item.sequence());
    ack->set_held(held);
    early.set_shard(limits_.shard);
    *early.mutable_lineage() = limits_.lineage;
    if (!early.items().empty()) world_.out->acknowledge(who.instance, std::move(early));
    if (fatal_) return;
    flush_if_large();
  }
}

}  // namespace fairlead
