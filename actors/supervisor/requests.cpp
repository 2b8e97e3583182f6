#include "actors/supervisor/requests.hpp"

#include <algorithm>
#include <functional>
#include <optional>

#include "actors/core/task/record.hpp"
#include "actors/core/waits.hpp"
#include "actors/supervisor/stall_check.hpp"
#include "store/keys.hpp"
#include "store/rows/task_rows.hpp"

namespace fairlead {

namespace {

// About what the Scheduler decides in 20 ms: enough to keep it busy, little for a submission that queues behind.
constexpr std::size_t most_out = 768;
// No faster than this during a burst, because each recovery brings further steps: 100,000 in less than five seconds, a good half of a
// Scheduler's capacity, so that submissions find it free.
constexpr std::int64_t allowed_per_ms = 22;
constexpr std::int64_t allowance_limit = 768;

/// Whether a task's wake-up still needs repair.
bool is_wrong(const store::snapshot& view, const std::optional<v1::TaskRecord>& record) {
  if (!record) return false;
  if (record->due_indexed_unix_ms() == 0) return needs_wake_up(*record);
  const auto entry =
      view.get(store::table::due, store::keys::due(store::default_namespace, record->due_indexed_unix_ms(), record->number()));
  return entry && !entry->has_value();
}

/// Whether the snapshot would still lead to this request. The scan reports rows that cannot be read.
bool still_wanted(const store::snapshot& view, const v1::Recover& what, std::int64_t now_ms) {
  const auto loaded = store::load_task(view, what.task_number());
  if (!loaded) return false;
  if (what.repair()) return is_wrong(view, *loaded);
  if (!*loaded) return false;
  const auto& record = **loaded;
  if (what.step() == 0) return record.due_indexed_unix_ms() != 0 && record.due_indexed_unix_ms() <= now_ms;
  if (what.step() > static_cast<std::uint32_t>(record.steps_size())) return false;
  const auto& step = record.steps(static_cast<int>(what.step()) - 1);
  return recovery_due(step, now_ms) && step.direction() == what.direction() && core::attempt_of(step, step.direction()) == what.attempt() &&
         core::failures_of(step, step.direction()) == what.failure_count();
}

}  // namespace

bool recovery_due(const v1::StepRecord& step, std::int64_t now_ms) {
  const auto passed = [now_ms](std::int64_t at_ms) { return at_ms != 0 && at_ms <= now_ms; };
  return passed(core::lease_end(step)) || passed(step.not_before_unix_ms());
}

std::size_t supervisor_requests::hash::operator()(const request& of) const {
  const auto mix = [](std::uint64_t seed, std::uint64_t value) { return (seed ^ value) * 0x9e3779b97f4a7c15ULL; };
  auto out = mix(of.task, of.step);
  out = mix(out ^ (out >> 29), std::uint64_t{of.attempt} << 32 | of.failures);
  return std::hash<std::uint64_t>{}(mix(out ^ (out >> 31), of.kind));
}

bool supervisor_requests::admit(const v1::Recover& what, std::int64_t now_ms) {
  // A little less than a period: the next scan comes a whole period later by another clock.
  const auto length = period_ - period_ / 10;
  while (!order_.empty() && !core::still_waits(order_.front().at_ms, length, now_ms)) {
    lately_.erase(order_.front().what);
    order_.pop_front();
  }
  // Frees the memory of a burst.
  if (lately_.empty() && lately_.bucket_count() > 1'024) lately_ = {};
  const request wanted{what.task_number(), what.step(), what.attempt(), what.failure_count(),
                       static_cast<std::uint32_t>(what.direction()) * 2 + (what.repair() ? 1 : 0)};
  if (!lately_.insert(wanted).second) return false;
  order_.push_back({now_ms, wanted});
  return true;
}

bool supervisor_requests::has_room(const store::snapshot& view, std::int64_t now_ms) {
  // A clock that was set back gives nothing and takes nothing.
  const auto passed = std::clamp<std::int64_t>(now_ms - counted_at_ms_, 0, allowance_limit);
  allowance_ = std::min(allowance_limit, allowance_ + passed * allowed_per_ms);
  counted_at_ms_ = now_ms;
  if (allowance_ <= 0) return false;
  if (out_ < most_out) return true;
  // A request that decides nothing leaves no trace in the store, so no request is awaited longer than this.
  const auto patience = period_ / 4;
  while (!sent_.empty()) {
    const auto& oldest = sent_.front();
    if (core::still_waits(oldest.at_ms, patience, now_ms) && still_wanted(view, oldest.last, now_ms)) break;
    out_ -= oldest.requests;
    sent_.pop_front();
  }
  return out_ < most_out;
}

void supervisor_requests::sent(const v1::RecoverBatch& what, std::int64_t now_ms) {
  const auto requests = static_cast<std::size_t>(what.items_size());
  sent_.push_back({now_ms, requests, what.items(what.items_size() - 1)});
  out_ += requests;
  allowance_ -= static_cast<std::int64_t>(requests);
}

}  // namespace fairlead
