#include "actors/shard/archiver.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "actors/core/retention_time.hpp"
#include "actors/core/waits.hpp"
#include "messages/payloads.hpp"
#include "store/keys.hpp"
#include "store/load.hpp"
#include "store/rows/alert_rows.hpp"
#include "store/rows/archive_rows.hpp"
#include "store/rows/deletion_rows.hpp"
#include "store/rows/task_rows.hpp"

namespace fairlead {

namespace {

namespace keys = store::keys;

constexpr std::size_t tasks_a_pass = 1'000;
constexpr std::size_t least_tasks_a_pass = 4;
constexpr std::uint64_t room_of_a_task = std::uint64_t{5} << 20;  // of the store's size
constexpr std::size_t bytes_a_pass = std::size_t{8} << 20;        // once the tasks have so many, no other is added
constexpr std::size_t alerts_a_pass = 1'000;
constexpr std::size_t cached_definitions = 1'000;
constexpr std::size_t cached_children = 100'000;
constexpr duration sweep_period{5'000};
constexpr duration time_period{60'000};  // how far stored retention time may be behind, about

result<bool> is_stored(const store::snapshot& view, std::uint64_t task) {
  const auto row = view.get(store::table::task, keys::task(store::default_namespace, task));
  if (!row) return row.failure();
  return row->has_value();
}

}  // namespace

result<archiver::pass_result> archiver::pass() {
  const auto view = reads_.read_settled();
  const auto last = look_at_last_pass(*view);
  if (!last) return last.failure();
  if (*last == last_pass::under_way) return pass_result{std::nullopt, true};
  moved_keys_.clear();
  auto tasks = next_tasks(*view);
  if (!tasks) return tasks.failure();
  if (tasks->empty()) return pass_result{};
  archive_rows out;
  out.read_at_sequence = view->get_progress().sequence;
  out.rows.epoch = told_epoch_ = view->get_progress().epoch;
  // The day on which the tasks became old enough. The day of their end may be wrong, by a clock that was years behind. Day 0 is none.
  const auto day = std::max<std::int64_t>(1, store::day_of(view->get_progress().shard.retention_unix_ms() - policy_.archive_after.count()));
  for (auto& task : *tasks) {
    const auto keep_days = keep_days_of(*view, task.record);
    if (!keep_days) return keep_days.failure();
    // Never into a day that was dropped already: the retention may be shorter than `archive_after`.
    const auto kept_from = store::dropped_before(*view, *keep_days);
    if (!kept_from) return kept_from.failure();
    store::put_move(out.rows, task.record, {std::max(day, *kept_from), *keep_days});
    out.numbers.push_back(task.record.number());
    ++out.ended[task.state];
    moved_keys_.push_back(std::move(task.key));
  }
  return pass_result{std::move(out), false};
}

// The tasks of a pass leave the index of finished tasks in one batch. If only some have left, tasks were reopened, and the Scheduler drops
// the message or has dropped it: it knows of the reopening before it can be read here. A message to a Scheduler that has been replaced
// since is lost: its successor ignores messages for another epoch.
result<archiver::last_pass> archiver::look_at_last_pass(const store::snapshot& view) {
  if (view.get_progress().epoch != told_epoch_) return last_pass::done;
  std::size_t there = 0;
  for (const auto& key : moved_keys_) {
    const auto entry = view.get(store::table::finished, key);
    if (!entry) return entry.failure();
    if (*entry) ++there;
  }
  if (there == 0) return last_pass::done;
  return there == moved_keys_.size() ? last_pass::under_way : last_pass::refused;
}

result<std::vector<archiver::finished_task>> archiver::next_tasks(const store::snapshot& view) {
  const auto before_ms = aged_until(view) - (faults_.archive_early ? 0 : policy_.archive_after.count());
  // Some ten erasures a task are one transaction with the rest of their batch: in a small store it has to find room.
  const auto most = std::clamp<std::uint64_t>(reads_.get_usage().max_bytes / room_of_a_task, least_tasks_a_pass, tasks_a_pass);
  std::vector<finished_task> out;
  if (before_ms < 0) return out;
  if (const auto forgotten = forget_left_parents(view); !forgotten.ok()) return forgotten.failure();
  std::size_t bytes = 0;
  // In turns, so that no state waits for ever while many tasks end in another.
  static constexpr std::array ends{v1::TASK_STATE_COMPLETED, v1::TASK_STATE_UNDONE, v1::TASK_STATE_FAILED};
  turn_ = (turn_ + 1) % ends.size();
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const auto state = ends[(turn_ + i) % ends.size()];
    const auto number = static_cast<std::uint8_t>(state);
    const auto from = keys::finished(store::default_namespace, number, 0, 0);
    const auto to = keys::finished(store::default_namespace, number, before_ms + 1, 0);
    std::optional<error> failed;
    const auto scanned = view.scan(store::table::finished, from, to, [&](std::string_view key, std::string_view) {
      const auto entry = keys::decode_finished(key);
      if (!entry || kept_.count(entry->number) != 0) return true;
      if (out.size() >= most || bytes >= bytes_a_pass) return false;
      auto record = store::load_task(view, entry->number);
      if (!record) failed = record.failure();
      if (failed) return false;
      // The store check reports an entry without an ended task.
      if (!*record || !has_ended((*record)->state())) return true;
      const auto kept = is_kept_for_parent(view, **record);
      if (!kept) failed = kept.failure();
      if (failed) return false;
      if (*kept) return true;
      bytes += (*record)->ByteSizeLong();
      for_each_payload(std::as_const(**record), [&](const v1::Payload& payload) { bytes += payload.size(); });
      out.push_back({std::string{key}, std::move(**record), state});
      return true;
    });
    if (!scanned.ok()) return scanned.failure();
    if (failed) return *failed;
  }
  return out;
}

/// The undo of its parent may have to undo a child.
result<bool> archiver::is_kept_for_parent(const store::snapshot& view, const v1::TaskRecord& task) {
  if (faults_.archive_before_parent || !task.has_parent()) return false;
  const auto parent = is_stored(view, task.parent().number());
  if (!parent) return parent.failure();
  if (*parent && kept_.size() < cached_children && kept_.insert(task.number()).second)
    kept_by_[task.parent().number()].push_back(task.number());
  return *parent;
}

/// From here on their children are looked at.
status archiver::forget_left_parents(const store::snapshot& view) {
  const auto epoch = view.get_progress().epoch;
  if (std::exchange(kept_epoch_, epoch) != epoch) {
    kept_.clear();
    kept_by_.clear();
  }
  for (auto it = kept_by_.begin(); it != kept_by_.end();) {
    const auto parent = is_stored(view, it->first);
    if (!parent) return parent.failure();
    if (*parent) {
      ++it;
      continue;
    }
    for (const auto child : it->second) kept_.erase(child);
    it = kept_by_.erase(it);
  }
  return nothing{};
}

std::int64_t archiver::aged_until(const store::snapshot& view) const {
  return core::aged_until(view.get_progress().shard.retention_unix_ms(), time_.now());
}

result<std::uint32_t> archiver::keep_days_of(const store::snapshot& view, const v1::TaskRecord& task) {
  auto name = std::pair{task.workflow(), task.workflow_hash()};
  if (const auto known = keep_days_.find(name); known != keep_days_.end()) return known->second;
  const auto key = keys::workflow_version(store::default_namespace, name.first, name.second);
  const auto deployed = store::load<v1::DeployedWorkflow>(view, store::table::workflow_version, key);
  if (!deployed) return deployed.failure();
  const auto keep_days = *deployed ? (*deployed)->definition().keep_days() : 0;
  if (keep_days_.size() >= cached_definitions) keep_days_.clear();
  keep_days_.emplace(std::move(name), keep_days);
  return keep_days;
}

// A copy that is written later cannot be of a deleted task: the deletion has taken it out of the index of finished tasks.
result<archiver::erase_result> archiver::erase_deleted() {
  const auto view = reads_.read_settled();
  const auto progress = view->get_progress();
  if (std::exchange(erased_epoch_, progress.epoch) != progress.epoch) erased_.clear();
  std::vector<std::uint64_t> numbers;
  std::set<std::uint64_t> told;
  const auto scanned = store::for_each_deletion(*view, [&](std::uint64_t number) {
    if (erased_.count(number) != 0)
      told.insert(number);
    else
      numbers.push_back(number);
    return numbers.size() < tasks_a_pass;
  });
  if (!scanned.ok()) return scanned.failure();
  // Rows that were not read this time may still be there.
  if (numbers.size() < tasks_a_pass) erased_ = std::move(told);
  erase_result out;
  if (numbers.empty()) return out;
  if (!faults_.keep_deleted_copies)
    if (const auto erased = archives_->erase(numbers); !erased.ok()) {
      out.problem = erased.failure();
      return out;
    }
  auto& done = out.done.emplace();
  done.read_at_sequence = progress.sequence;
  done.rows.epoch = progress.epoch;
  for (const auto number : numbers) store::erase_deletion(done.rows, number);
  erased_.insert(numbers.begin(), numbers.end());
  return out;
}

bool archiver::sweep_is_due() {
  const auto now = time_.steady();
  if (swept_at_ && core::still_waits(*swept_at_, sweep_period, now)) return false;
  swept_at_ = now;
  return true;
}

result<archiver::drop_result> archiver::drop_old() {
  // Of settled state: a day that is there although the tables have the row could not be dropped, and is named once more.
  const auto view = reads_.read_settled();
  const auto progress = view->get_progress();
  const auto now_ms = aged_until(*view);
  const auto archives = archives_->all();
  if (!archives) return archives.failure();
  drop_result out;
  archive_rows rows;
  rows.rows.epoch = progress.epoch;
  rows.read_at_sequence = progress.sequence;
  std::optional<std::uint32_t> seen;
  for (const auto& oldest : *archives) {
    const auto keep_days = oldest.keep_days;
    if (std::exchange(seen, keep_days) == keep_days) continue;
    const auto limit = keep_days == 0 ? store::day_of(now_ms - policy_.keep.count()) : store::day_of(now_ms) - std::int64_t{keep_days};
    if (oldest.day >= limit) continue;
    const auto told = store::dropped_before(*view, keep_days);
    if (!told) return told.failure();
    if (*told > oldest.day)
      out.problem = error{v1::ERROR_CODE_DISK, "The archive " + oldest.name() + " is kept no more, and its directory could not be removed.",
                          "Check the permissions of the directory, and the disk."};
    store::put_drop(rows.rows, keep_days, limit);
  }
  if (!rows.rows.empty()) out.told = std::move(rows);
  return out;
}

result<std::optional<archive_rows>> archiver::ask_for_time() {
  const auto view = reads_.read();
  const auto progress = view->get_progress();
  const auto retention_ms = progress.shard.retention_unix_ms();
  const auto now = time_.steady();
  const auto period = std::min(time_period, policy_.archive_after);
  if (std::exchange(retention_seen_ms_, retention_ms) != retention_ms) retention_seen_at_ = now;
  std::optional<archive_rows> out;
  if (asked_at_ && core::still_waits(*asked_at_, period, now)) return out;
  const auto behind = to_unix_ms(time_.now()) - retention_ms >= period.count();
  if (!behind && core::still_waits(retention_seen_at_, period, now)) return out;
  const auto ages = anything_ages(*view);
  if (!ages) return ages.failure();
  if (!*ages) return out;
  asked_at_ = now;
  out.emplace();
  out->rows.epoch = progress.epoch;
  out->read_at_sequence = progress.sequence;
  return out;
}

/// Data that is kept until it is old enough: ended tasks, status events, resolved alerts and archives.
result<bool> archiver::anything_ages(const store::snapshot& view) const {
  const auto shard = view.get_progress().shard;
  if (shard.completed() + shard.undone() + shard.failed() + shard.outbox_events() > 0) return true;
  if (view.count(store::table::alert) > view.count(store::table::unresolved_alert)) return true;
  const auto archives = archives_->all();
  if (!archives) return archives.failure();
  return !archives->empty();
}

result<std::optional<courier_rows>> archiver::old_alerts() {
  const auto view = reads_.read();
  const auto before_ms = aged_until(*view) - policy_.keep.count();
  courier_rows out;
  std::size_t seen = 0;
  std::optional<error> failed;
  const auto from = keys::alert(store::default_namespace, alerts_seen_ + 1);
  const auto scanned = view->scan(store::table::alert, from, {}, [&](std::string_view key, std::string_view row) {
    v1::AlertRecord alert;
    if (!alert.ParseFromArray(row.data(), static_cast<int>(row.size()))) {
      failed = store::unreadable_value(store::table::alert, key);
      return false;
    }
    alerts_seen_ = alert.number();
    if (!store::is_unresolved(alert) && alert.resolved_at_unix_ms() < before_ms) store::erase_alert(out.rows, alert.number());
    return ++seen < alerts_a_pass;
  });
  if (!scanned.ok()) return scanned.failure();
  if (failed) return *failed;
  // The end was reached: the next round begins at the oldest alert.
  if (seen < alerts_a_pass) alerts_seen_ = 0;
  if (out.rows.empty()) return std::optional<courier_rows>{};
  return std::optional<courier_rows>{std::move(out)};
}

}  // namespace fairlead
