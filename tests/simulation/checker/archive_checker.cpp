#include "tests/simulation/checker/archive_checker.hpp"

#include <optional>

#include "store/checksum.hpp"
#include "store/keys.hpp"
#include "store/meta_rows.hpp"
#include "store/rows/archive_rows.hpp"
#include "store/rows/task_rows.hpp"

namespace fairlead::simulation {

namespace {

constexpr std::int64_t day_ms = 86'400'000;
/// A message to the Scheduler and a commit lie between a look at the clock and what is seen here; the look itself was earlier.

}  // namespace

void archive_checker::watch(store::memory_archive& archives, const retention_plan& plan) {
  archives_.push_back(&archives);
  plan_ = plan;
  archives.on_drop = [this](const store::archive_day& which) { dropped(which); };
}

void archive_checker::committed(const std::vector<store::batch>& group, const std::map<std::uint64_t, v1::TaskRecord>& before) {
  std::map<std::uint64_t, v1::TaskRecord> now;
  for (const auto& one : group) {
    std::set<std::uint64_t> erased, moving;
    std::map<std::uint64_t, v1::TaskTombstone> tombstones;
    std::map<std::uint64_t, std::string> deleted;  // ids
    one.for_each([&](const store::operation& op) {
      const auto is_put = op.what == store::operation::kind::put;
      if (op.where == store::table::task_id && is_put) {
        v1::TaskTombstone tombstone;
        const auto payload = store::verified_payload(op.where, op.key, op.value);
        if (payload && tombstone.ParseFromArray(payload->data(), static_cast<int>(payload->size())) && has_ended(tombstone.final_state())) {
          tombstones[tombstone.number()] = tombstone;
          if (tombstone.deleted_at_unix_ms() != 0) deleted.emplace(tombstone.number(), store::keys::decode_task_id(op.key)->name);
        }
      }
      if (op.where == store::table::meta && is_put && op.key.starts_with(store::keys::meta(store::meta::move_rows)))
        moving.insert(store::meta::number_of_row(op.key).value_or(0));
      if (op.where != store::table::task) return;
      const auto key = store::keys::decode_task(op.key);
      if (!key) return;
      if (!is_put) {
        erased.insert(key->number);
        return;
      }
      if (moved_.count(key->number) != 0)
        world::broken("archive_alive", "task " + std::to_string(key->number) + " is written after it was said to move");
      const auto payload = store::verified_payload(op.where, op.key, op.value);
      if (payload) now[key->number].ParseFromArray(payload->data(), static_cast<int>(payload->size()));
    });
    const auto leaves = [&](std::uint64_t number) {
      const auto in_group = now.find(number);
      const auto in_store = before.find(number);
      if (in_group == now.end() && in_store == before.end())
        world::broken("archive_alive", "task " + std::to_string(number) + " is erased, and nobody has ever seen it");
      const auto& record = in_group != now.end() ? in_group->second : in_store->second;
      if (!has_ended(record.state())) world::broken("archive_alive", record.id() + " leaves the store, and it has not ended");
      if (record.has_parent()) {
        world_.judges("child_archived");
        const auto above = record.parent().number();
        if (gone_.count(record.parent().id()) == 0 && erased.count(above) == 0 && moving.count(above) == 0)
          world::broken("child_archived",
                        record.id() + " leaves the store before " + record.parent().id() + ", whose step it has carried out");
      }
      const auto tombstone = tombstones.find(number);
      if (tombstone == tombstones.end())
        world::broken("archive_lost", record.id() + " leaves the store, and its id does not say where it is");
      return std::pair{record, tombstone->second};
    };
    for (const auto number : erased) {
      const auto [record, tombstone] = leaves(number);
      if (tombstone.deleted_at_unix_ms() == 0) world::broken("archive_lost", record.id() + " is erased, and nobody has deleted it");
      gone_.emplace(record.id(), gone_task{record, {}});
    }
    for (const auto number : moving) {
      const auto [record, tombstone] = leaves(number);
      moved_.insert(number);
      take(record, tombstone);
    }
    for (const auto& [number, id] : deleted) removed(id);
  }
}

void archive_checker::take(const v1::TaskRecord& record, const v1::TaskTombstone& tombstone) {
  const store::archive_day day{tombstone.archived_day(), tombstone.archive_keep_days()};
  if (tombstone.final_state() != record.state())
    world::broken("archive_copy", "the tombstone of " + record.id() + " says that it ended otherwise than it did");
  const auto age_ms = clock_.now_ms() - record.finished_at_unix_ms();
  if (clock_.settings() == 0 && age_ms + whole_ms < plan_.policy.archive_after.count())
    world::broken("archive_early", record.id() + " leaves the store " + std::to_string(age_ms) + " ms after its end");
  if (!gone_.emplace(record.id(), gone_task{record, day}).second)
    world::broken("archive_alive", record.id() + " leaves the store a second time");
  world_.count("tasks in archives");
}

/// The archive has the task as it was when it left.
void archive_checker::judge_copy(store::memory_archive& in, const gone_task& one) const {
  const auto& record = one.record;
  const auto copy = in.load(one.day.day, task_number{record.number()}, one.day.keep_days);
  if (!copy.ok() || !*copy) world::broken("archive_lost", record.id() + " has left the store, and no archive has it");
  const auto& is = **copy;
  if (is.id() != record.id() || is.version() != record.version() || is.state() != record.state())
    world::broken("archive_copy", record.id() + " has left the store at version " + std::to_string(record.version()) +
                                      ", and its archive has version " + std::to_string(is.version()));
  if (static_cast<std::uint64_t>(is.recent_size()) != record.history_size())
    world::broken("archive_copy", "of the history of " + record.id() + " its archive has " + std::to_string(is.recent_size()) + " of " +
                                      std::to_string(record.history_size()) + " events");
}

void archive_checker::removed(const std::string& id) {
  world_.judges("deleted_unasked");
  if (deletion_asked_.count(id) == 0) world::broken("deleted_unasked", id + " was deleted, and nobody asked for it");
  const auto known = gone_.find(id);
  if (known == gone_.end()) world::broken("archive_alive", id + " is said to be deleted, and its record stays");
  known->second.deleted = true;
}

/// Whether any archive holds the task.
bool archive_checker::anywhere(store::memory_archive& in, std::uint64_t number) const {
  auto classes = *in.classes();
  classes.push_back(0);
  for (const auto keep_days : classes)
    for (const auto days = *in.days(keep_days); const auto day : days)
      if (const auto copy = in.load(day, task_number{number}, keep_days); copy.ok() && *copy) return true;
  return false;
}

std::vector<std::string> archive_checker::ids() const {
  std::vector<std::string> out;
  for (const auto& [id, one] : gone_) out.push_back(id);
  return out;
}

void archive_checker::dropped(const store::archive_day& which) {
  for (const auto& [id, one] : gone_)
    if (archives_.size() == 1 && !one.deleted && one.day == which && dropped_.count(which) == 0) judge_copy(*archives_[0], one);
  dropped_.insert(which);
  world_.count("archives dropped");
  if (clock_.settings() != 0) return;
  const auto keep_ms = which.keep_days == 0 ? plan_.policy.keep.count() : std::int64_t{which.keep_days} * day_ms;
  for (const auto& [id, one] : gone_) {
    const auto age_ms = clock_.now_ms() - one.record.finished_at_unix_ms();
    if (!one.deleted && one.day == which && age_ms + whole_ms < keep_ms)
      world::broken("kept_too_short", "the record of " + id + " is gone " + std::to_string(age_ms) + " ms after its end");
  }
}

void archive_checker::judge(const std::string& id, const store::snapshot& durable) const {
  const auto& one = gone_.at(id);
  const auto tombstone = store::find_task(durable, id);
  const auto known = tombstone.ok() && *tombstone && (*tombstone)->number() == one.record.number();
  if (one.deleted) {
    // A node that has been following may not have done the move of a task that the leader deleted from its archive.
    const auto there = store::load_task(durable, one.record.number());
    const auto moving = store::is_moving(durable, one.record.number());
    if (!known || (*tombstone)->deleted_at_unix_ms() == 0 || !there.ok() || !moving.ok() || there->has_value() != *moving)
      world::broken("archive_lost", id + " was deleted, and its id is forgotten or stands for a task");
    return;
  }
  if (!known || (*tombstone)->archived_day() != one.day.day)
    world::broken("archive_lost", id + " was archived, and its id is forgotten or stands for something else");
  const auto there = store::load_task(durable, one.record.number());
  const auto moving = store::is_moving(durable, one.record.number());
  if (!there.ok() || !moving.ok() || there->has_value() != *moving)
    world::broken("archive_alive", id + " was archived, and it is in the store though not moving, or moving and not there");
  if (!*moving && dropped_.count(one.day) == 0 && archives_.size() == 1) judge_copy(*archives_[0], one);
}

void archive_checker::at_end(const store::snapshot& durable) const {
  for (const auto& [id, one] : gone_) {
    judge(id, durable);
    const auto moving = store::is_moving(durable, one.record.number());
    if (one.deleted) world_.judges("deleted_copy");
    for (auto* archives : archives_) {
      if (one.deleted && anywhere(*archives, one.record.number()))
        world::broken("deleted_copy", id + " was deleted, and an archive still has it");
      if (!one.deleted && moving.ok() && !*moving && dropped_.count(one.day) == 0) judge_copy(*archives, one);
    }
  }
}

}  // namespace fairlead::simulation
