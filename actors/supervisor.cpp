#include "actors/supervisor.hpp"

#include <string>

#include "store/keys.hpp"
#include "store/task_rows.hpp"

namespace fairlead {

namespace {

constexpr std::size_t scan_limit = 2'000;    // tasks taken by one scan
constexpr std::size_t hint_limit = 200'000;  // hints kept; the index has what is dropped
constexpr duration hint_horizon = std::chrono::minutes{5};

}  // namespace

void supervisor::add_due_steps(const v1::TaskRecord& record, std::int64_t now_ms, v1::RecoverBatch& out) const {
  const auto before = out.items_size();
  for (int i = 0; i < record.steps_size(); ++i) {
    const auto& step = record.steps(i);
    const auto expired = step.state() == v1::STEP_STATE_RUNNING && step.complete_by_unix_ms() <= now_ms;
    const auto waited =
        (step.state() == v1::STEP_STATE_FAILED || step.state() == v1::STEP_STATE_IN_DOUBT) && step.not_before_unix_ms() <= now_ms;
    if (!expired && !waited) continue;
    auto* item = out.add_items();
    item->set_task_number(record.number());
    item->set_step(static_cast<std::uint32_t>(i) + 1);
    item->set_attempt(step.attempt());
    item->set_failure_count(step.failure_count());
  }
  // The entry is early (the index is lazy), or the task as a whole is due.
  if (out.items_size() == before) out.add_items()->set_task_number(record.number());
}

result<bool> supervisor::scan() {
  const auto now_ms = to_unix_ms(world_.time->now());
  const auto view = world_.reads->read();
  v1::RecoverBatch batch;
  std::size_t seen = 0;
  std::optional<error> failed;
  const auto to = store::keys::due(store::default_namespace, now_ms + 1, 0);
  const auto scanned = view->scan(store::table::due, {}, to, [&](std::string_view key, std::string_view) {
    const auto entry = store::keys::decode_due(key);
    if (!entry) return true;
    const auto record = store::load_task(*view, entry->number);
    if (!record) {
      failed = record.failure();
      return false;
    }
    if (*record) add_due_steps(**record, now_ms, batch);
    return ++seen < scan_limit;
  });
  if (!scanned.ok()) return scanned.failure();
  if (failed) return *failed;
  if (!batch.items().empty()) world_.out->recover(std::move(batch));
  return seen >= scan_limit;
}

void supervisor::hint(const v1::RecoveryHintBatch& what) {
  const auto horizon = to_unix_ms(world_.time->now() + hint_horizon);
  for (const auto& item : what.items())
    if (item.due_unix_ms() <= horizon && hints_.size() < hint_limit) hints_.push(item);
}

void supervisor::fire() {
  const auto now_ms = to_unix_ms(world_.time->now());
  v1::RecoverBatch batch;
  while (!hints_.empty() && hints_.top().due_unix_ms() <= now_ms) {
    *batch.add_items() = hints_.top().recover();
    hints_.pop();
  }
  if (!batch.items().empty()) world_.out->recover(std::move(batch));
}

std::optional<moment> supervisor::next_hint() const {
  if (hints_.empty()) return std::nullopt;
  return from_unix_ms(hints_.top().due_unix_ms());
}

}  // namespace fairlead
