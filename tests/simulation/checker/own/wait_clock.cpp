#include "tests/simulation/checker/own/wait_clock.hpp"

#include "tests/simulation/checker/own/joins.hpp"

namespace fairlead::simulation {

wait_clock::phase wait_clock::phase_of(const v1::TaskRecord& record, std::uint32_t index, const shape& plan) {
  const auto& step = record.steps(static_cast<int>(index));
  if (step.state() == v1::STEP_STATE_FAILED && !step.passed_over()) return phase::failed;
  if (step.state() != v1::STEP_STATE_PENDING) return phase::over;
  if (record.state() != v1::TASK_STATE_RUNNING) return phase::unready;
  return is_ready(plan, record, index) ? phase::ready : phase::unready;
}

void wait_clock::decided(const v1::TaskRecord& record, const shape& plan) {
  for (std::uint32_t i = 0; i < plan.size(); ++i) {
    if (!plan.own(i)) continue;
    const auto& step = record.steps(static_cast<int>(i));
    auto& its = steps_[{record.id(), i}];
    const auto now = phase_of(record, i, plan);
    if (its.last == phase::unknown)
      if (const auto sent = sent_us_.find(record.id()); sent != sent_us_.end()) its.unready_us = sent->second;
    // Versions were decided that never counted, by a leader before: nobody knows since when the step has waited.
    const auto lost = record.version() <= its.version;
    its.version = record.version();
    if (lost) its.began_us.reset();
    // What a crash has forgotten had been decided: the step goes on waiting as before.
    const auto forgotten = its.last == phase::failed && now == phase::ready && step.failure_count() < its.failures;
    const auto stays = now == its.last && (now == phase::failed || now == phase::over);
    const auto begins = !lost && its.last != phase::ready && !stays && !forgotten;
    if (now != phase::unready && begins) its.began_us = its.unready_us;
    if (now == phase::unready || now == phase::failed) its.unready_us = world_.now_us();
    // An order may begin the wait again before a reader sees the failure.
    if (lost)
      its.vain_us.reset();
    else if (step.failure_count() > its.failures)
      its.vain_us = its.began_us;
    its.failures = step.failure_count();
    its.last = now;
  }
}

std::optional<std::int64_t> wait_clock::longest_ms(const step_name& of) const {
  const auto found = steps_.find(of);
  return found == steps_.end() ? std::nullopt : shown_ms(found->second.began_us);
}

std::optional<std::int64_t> wait_clock::longest_in_vain_ms(const step_name& of) const {
  const auto found = steps_.find(of);
  return found == steps_.end() ? std::nullopt : shown_ms(found->second.vain_us);
}

std::optional<std::int64_t> wait_clock::shown_ms(const std::optional<std::int64_t>& since_us) const {
  if (!since_us) return std::nullopt;
  return clock_.latest_ms(*since_us) - clock_.earliest_ms(*since_us) + tolerance_ms();
}

}  // namespace fairlead::simulation
