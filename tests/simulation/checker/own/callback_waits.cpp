// How long steps wait for their callbacks: since when at the earliest, by what the Scheduler has decided.

#include <algorithm>

#include "actors/core/task/record.hpp"
#include "tests/simulation/checker/own/callback_book.hpp"

namespace fairlead::simulation {

namespace {

constexpr std::int64_t late_callback_ms = 15'000;

}  // namespace

void callback_book::decided(const v1::TaskRecord& record, const shape& plan) {
  for (std::uint32_t i = 0; i < plan.size(); ++i) {
    if (!plan.answered_later(i)) continue;
    const auto& step = record.steps(static_cast<int>(i));
    auto& its = waits_[{record.id(), i}];
    // Versions that were decided and never counted.
    const auto lost = record.version() <= its.version;
    judge_missed(record, i, its, plan);
    its.version = record.version();
    its.sequence = record.history_size();
    // What was accepted while its task was to fail is waited for once the task goes forward, if there is time left then.
    const auto awaits = step.awaits_callback() || step.fault().code() == core::callback_awaited_code;
    // What a crash has forgotten may be decided again, and the step goes on waiting as before.
    if (!awaits) continue;
    const auto begins = !its.since_us || its.attempt != step.attempt() || (lost && its.durable != step.attempt());
    if (begins) world_.count("steps that wait for a callback");
    if (begins) its.since_us = world_.now_us();
    if (begins) its.epoch = record.epoch();
    its.attempt = step.attempt();
  }
}

void callback_book::judge_missed(const v1::TaskRecord& record, std::uint32_t index, const waiting& its, const shape& plan) const {
  const auto missed = std::any_of(record.recent().begin(), record.recent().end(), [&](const v1::HistoryEvent& one) {
    return one.step() == index + 1 && one.sequence() > its.sequence && one.kind() == v1::EVENT_KIND_STEP_IN_DOUBT &&
           one.detail().starts_with("callback_timeout:");
  });
  if (!missed) return;
  world_.count("callbacks missed");
  const auto text = "step " + record.steps(static_cast<int>(index)).path() + " of " + record.id() + " waits for no callback any more";
  if (!its.since_us) world::broken("callback_early", text + ", and did not wait for one");
  world_.judges("callback_early");
  const auto longest_ms = clock_.latest_ms(*its.since_us) - clock_.earliest_ms(*its.since_us) + tolerance_ms();
  if (longest_ms < plan.step(index).callback_ms())
    world::broken("callback_early", text + " after " + std::to_string(longest_ms) + " ms at most, and its time is " +
                                        std::to_string(plan.step(index).callback_ms()) + " ms");
}

void callback_book::look_for_late(const v1::TaskRecord& record, const shape& plan, std::int64_t since_us) const {
  const auto stopped = record.parked() || record.paused() || record.undo_held() || record.failing();
  if (record.state() != v1::TASK_STATE_RUNNING || stopped || clock_.set_since(world_.now_us() - 4 * late_callback_ms * millisecond)) return;
  for (std::uint32_t i = 0; i < plan.size(); ++i) {
    const auto known = waits_.find({record.id(), i});
    // Of a dropped step nothing is awaited.
    if (record.steps(static_cast<int>(i)).dropped()) continue;
    if (known == waits_.end() || !known->second.since_us || known->second.durable != known->second.attempt) continue;
    const auto over_us = known->second.since_us.value() + plan.step(i).callback_ms() * millisecond;
    world_.judges("callback_late");
    if (world_.now_us() - std::max(over_us, since_us) > late_callback_ms * millisecond)
      world::broken("callback_late", "step " + record.steps(static_cast<int>(i)).path() + " of " + record.id() +
                                         " waits for a callback whose time is over, and nothing has come of it");
  }
}

}  // namespace fairlead::simulation
