#include "actors/supervisor/stall_check.hpp"

#include <algorithm>
#include <utility>

#include "actors/core/task/record.hpp"
#include "actors/core/waits.hpp"
#include "messages/holds.hpp"
#include "store/keys.hpp"
#include "store/load.hpp"
#include "store/rows/task_rows.hpp"

namespace fairlead {

namespace {

constexpr auto ns = store::default_namespace;
constexpr std::size_t sweep_rows = 2'000;
// If a whole sweep found no cause, the next one will not find it either: look again only now and then.
constexpr duration unexplained_rest = std::chrono::minutes{10};

/// The key that follows directly on `key`.
std::string next_key(std::string_view key) { return std::string{key} + '\0'; }

/// The fault of a task's wake-up, by its row and the entry named there; nullopt: none.
result<std::optional<std::string>> fault_of_task(const store::snapshot& view, const v1::TaskRecord& record) {
  const auto due = record.due_unix_ms();
  const auto indexed = record.due_indexed_unix_ms();
  if (needs_wake_up(record) && due == 0) return std::optional<std::string>{"the task needs a wake-up but has none"};
  if (due != 0 && indexed == 0) return std::optional<std::string>{"the wake-up of the task is missing in the due index"};
  if (due == 0 && indexed != 0) return std::optional<std::string>{"the task needs no wake-up but is in the due index"};
  if (indexed > due) return std::optional<std::string>{"the entry of the task in the due index is later than its wake-up"};
  if (indexed == 0) return std::optional<std::string>{};
  const auto entry = view.get(store::table::due, store::keys::due(ns, indexed, record.number()));
  if (!entry) return entry.failure();
  if (!entry->has_value()) return std::optional<std::string>{"the entry of the task in the due index is missing"};
  return std::optional<std::string>{};
}

/// The fault of an entry, by the row that it leads to; null: none.
const char* fault_of_entry(const store::due_key& entry, const std::optional<v1::TaskRecord>& record) {
  if (!record) return "the due index has an entry for a task that does not exist";
  if (record->due_indexed_unix_ms() != entry.due_unix_ms) return "the due index has an entry that does not match the task's row";
  return nullptr;
}

}  // namespace

bool is_live(const v1::TaskRecord& record) {
  return (record.state() == v1::TASK_STATE_RUNNING || record.state() == v1::TASK_STATE_UNDOING) && !sleeps(record);
}

bool needs_wake_up(const v1::TaskRecord& record) {
  return is_live(record) || record.scheduled() || std::any_of(record.steps().begin(), record.steps().end(), core::attempt_out);
}

std::int64_t last_progress_unix_ms(const v1::TaskRecord& record) {
  return record.recent().empty() ? record.created_at_unix_ms() : record.recent(record.recent_size() - 1).at_unix_ms();
}

bool may_wait_in_vain(const v1::TaskRecord& record, std::int64_t quiet_since_unix_ms, std::int64_t now_unix_ms) {
  if (needs_wake_up(record) && core::noted_ahead(record, now_unix_ms)) return true;
  if (!is_live(record) || record.undo_held()) return false;
  return std::none_of(record.steps().begin(), record.steps().end(), core::under_way) || last_progress_unix_ms(record) < quiet_since_unix_ms;
}

// ---- the sweep ----

result<bool> wake_up_sweep::step(const store::snapshot& view, std::size_t rows, std::vector<wake_up_finding>& found,
                                 const std::function<void(const v1::TaskRecord&)>& each_task) {
  if (tasks_done_) return step_entries(view, rows, found);
  auto more = step_tasks(view, rows, found, each_task);
  if (!more || *more) return more;
  tasks_done_ = true;
  from_.clear();
  // A store that is small enough is finished in this call.
  return step_entries(view, rows, found);
}

result<bool> wake_up_sweep::step_tasks(const store::snapshot& view, std::size_t rows, std::vector<wake_up_finding>& found,
                                       const std::function<void(const v1::TaskRecord&)>& each_task) {
  std::size_t seen = 0;
  std::optional<error> failed;
  v1::TaskRecord record;
  const auto scanned = view.scan(store::table::task, from_, {}, [&](std::string_view key, std::string_view row) {
    if (!record.ParseFromArray(row.data(), static_cast<int>(row.size()))) {
      failed = store::unreadable_value(store::table::task, key);
      return false;
    }
    auto fault = fault_of_task(view, record);
    if (!fault) {
      failed = fault.failure();
      return false;
    }
    if (*fault) found.push_back({record.number(), record.id(), std::move(**fault)});
    if (each_task) each_task(record);
    if (++seen < rows) return true;
    from_ = next_key(key);
    return false;
  });
  if (!scanned) return scanned.failure();
  if (failed) return *failed;
  return seen >= rows;
}

result<bool> wake_up_sweep::step_entries(const store::snapshot& view, std::size_t rows, std::vector<wake_up_finding>& found) {
  std::size_t seen = 0;
  std::optional<error> failed;
  const auto scanned = view.scan(store::table::due, from_, {}, [&](std::string_view key, std::string_view) {
    if (const auto entry = store::keys::decode_due(key)) {
      const auto record = store::load_task(view, entry->number);
      if (!record) {
        failed = record.failure();
        return false;
      }
      if (const auto* fault = fault_of_entry(*entry, *record)) found.push_back({entry->number, *record ? (*record)->id() : "", fault});
    }
    if (++seen < rows) return true;
    from_ = next_key(key);
    return false;
  });
  if (!scanned) return scanned.failure();
  if (failed) return *failed;
  return seen >= rows;
}

// ---- the check ----

stall_check::disagreement stall_check::compare(const store::snapshot& view) {
  const auto counters = view.get_progress().shard;
  const auto number = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  disagreement out;
  out.entries = number(view.count(store::table::due)) - number(counters.due_entries());
  // A held task may have a wake-up or not; every other task in progress must have one, and every task that waits for its start.
  auto live = number(counters.running()) + number(counters.undoing()) + number(counters.scheduled());
  for (const auto& one : holds)
    if (one.sleeps) live -= number(one.count(counters));
  out.sleepless = std::max<std::int64_t>(0, live - number(counters.due_entries()));
  return out;
}

bool stall_check::rests(const disagreement& now_seen, moment now) const {
  if (!swept_at_) return false;
  const auto rest = not_explained_ == now_seen ? unexplained_rest : scan_period_ - scan_period_ / 10;
  return core::still_waits(*swept_at_, rest, now);
}

result<stall_check::answer> stall_check::look(const store::snapshot& view, moment now, std::vector<wake_up_finding>& found) {
  const auto seen = compare(view);
  if (!sweep_) {
    if (seen == disagreement{}) {
      not_explained_.reset();
      return answer{};
    }
    if (rests(seen, now)) return answer{};
    sweep_.emplace();
    found_ = 0;
  }
  const auto before = found.size();
  const auto more = sweep_->step(view, sweep_rows, found);
  if (!more) return more.failure();
  found_ += found.size() - before;
  answer out;
  out.more = *more;
  if (*more) return out;
  sweep_.reset();
  swept_at_ = now;
  if (found_ == 0 && seen != disagreement{} && not_explained_ != seen) {
    out.unexplained = "the due index holds " + std::to_string(view.count(store::table::due)) + " entries where " +
                      std::to_string(view.get_progress().shard.due_entries()) +
                      " are counted, but every task has the wake-up that it needs: only the counters are wrong";
    not_explained_ = seen;
  }
  return out;
}

// ---- the round ----

result<std::optional<stalest_task>> progress_round::step(const store::snapshot& view, std::size_t entries, std::int64_t now_unix_ms,
                                                         std::int64_t quiet_ms, std::vector<wake_up_finding>& found,
                                                         std::vector<std::uint64_t>& waiting) {
  if (!std::exchange(under_way_, true)) {
    from_.clear();
    to_.clear();
    stalest_ = {};
    const auto last = view.scan_reverse(store::table::due, {}, {}, [this](std::string_view key, std::string_view) {
      to_ = next_key(key);
      return false;
    });
    if (!last) return last.failure();
  }
  std::size_t seen = 0;
  std::optional<error> failed;
  const auto look = [&](std::string_view key, std::string_view) {
    if (const auto entry = store::keys::decode_due(key)) {
      const auto record = store::load_task(view, entry->number);
      if (!record) {
        failed = record.failure();
        return false;
      }
      if (const auto* fault = fault_of_entry(*entry, *record)) found.push_back({entry->number, *record ? (*record)->id() : "", fault});
      if (*record && is_live(**record)) {
        const auto since = last_progress_unix_ms(**record);
        if (stalest_.id.empty() || since < stalest_.since_unix_ms) stalest_ = {(*record)->id(), since};
      }
      if (*record && may_wait_in_vain(**record, now_unix_ms - quiet_ms, now_unix_ms)) waiting.push_back(entry->number);
    }
    if (++seen < entries) return true;
    from_ = next_key(key);
    return false;
  };
  // An empty bound would mean the whole table; here it means an empty index.
  const auto scanned = to_.empty() ? status{nothing{}} : view.scan(store::table::due, from_, to_, look);
  if (!scanned) return scanned.failure();
  if (failed) return *failed;
  if (seen >= entries) return std::optional<stalest_task>{};
  under_way_ = false;
  return std::optional{stalest_};
}

}  // namespace fairlead
