#include "store/rows/counters.hpp"

#include <algorithm>

#include "messages/holds.hpp"
#include "store/keys.hpp"
#include "store/load.hpp"
#include "store/rows/job_rows.hpp"

namespace fairlead::store {

namespace {

constexpr std::uint64_t less(std::uint64_t by) { return ~by + 1; }  // modulo 2^64

void count_state(v1::ShardState& shard, v1::TaskState state, std::uint64_t by) {
  if (const auto* row = state_row_of(state)) row->count(shard, row->count(shard) + by);
}

void count(v1::ShardState& shard, const task_index_state& task, std::uint64_t by) {
  if (!task.exists) return;
  count_state(shard, task.state, by);
  for_each_counted(task.held, [&](const hold& one) { one.count(shard, one.count(shard) + by); });
  if (task.scheduled) shard.set_scheduled(shard.scheduled() + by);
  if (task.due_indexed_unix_ms != 0) shard.set_due_entries(shard.due_entries() + by);
  if (task.launch && (task.held & parked_hold) == 0 && !has_ended(task.state))
    shard.set_launches_in_flight(shard.launches_in_flight() + by);
}

void clear_counters(v1::ShardState& shard) {
  for (const auto& one : task_states) one.count(shard, 0);
  for (const auto& one : holds) one.count(shard, 0);
  shard.clear_scheduled();
  shard.clear_due_entries();
  shard.clear_launches_in_flight();
  shard.clear_jobs();
  shard.clear_jobs_paused();
  shard.clear_launches_waiting_room();
  shard.clear_launches_waiting_agents();
}

status count_jobs(const snapshot& from, v1::ShardState& counted) {
  return for_each_job(from, {}, [&](const v1::JobRecord& record) {
    move_job_counters(counted, {}, index_state_of(record));
    counted.set_latest_mark_unix_ms(std::max(counted.latest_mark_unix_ms(), record.mark_unix_ms()));
    return true;
  });
}

}  // namespace

void move_counters(v1::ShardState& shard, const task_index_state& before, const task_index_state& after) {
  count(shard, before, less(1));
  count(shard, after, 1);
}

void move_to_archive(v1::ShardState& shard, v1::TaskState state, std::uint64_t tasks) {
  count_state(shard, state, less(tasks));
  shard.set_archived(shard.archived() + tasks);
}

void seal_counters(batch& out, v1::ShardState& shard) {
  shard.set_counted_sequence(out.sequence);
  shard.set_jobs_counted_sequence(out.sequence);
  out.shard_state = shard.SerializeAsString();
}

bool counters_are_kept(const progress& stored) {
  return stored.shard.counted_sequence() == stored.sequence && stored.shard.jobs_counted_sequence() == stored.sequence;
}

status recount(const snapshot& from, v1::ShardState& shard) {
  auto counted = shard;
  clear_counters(counted);
  std::uint64_t next_task = shard.next_task_number(), last_alert = shard.next_alert(), last_position = shard.next_position();
  status outcome = nothing{};
  v1::TaskRecord record;
  auto scanned = from.scan(table::task, {}, {}, [&](std::string_view key, std::string_view row) {
    if (!record.ParseFromArray(row.data(), static_cast<int>(row.size()))) {
      outcome = unreadable_value(table::task, key);
      return false;
    }
    move_counters(counted, {}, index_state_of(record));
    next_task = std::max(next_task, record.number() + 1);
    return true;
  });
  if (!outcome || !scanned) return outcome ? scanned : outcome;
  if (auto jobs = count_jobs(from, counted); !jobs) return jobs;
  scanned = from.scan_reverse(table::alert, {}, {}, [&](std::string_view key, std::string_view) {
    if (const auto last = keys::decode_alert(key)) last_alert = std::max(last_alert, last->number);
    return false;
  });
  if (!scanned) return scanned;
  scanned = from.scan(table::outbox, {}, {}, [&](std::string_view key, std::string_view) {
    if (const auto event = keys::decode_outbox(key)) last_position = std::max(last_position, event->position);
    return true;
  });
  if (!scanned) return scanned;
  counted.set_next_task_number(next_task);
  counted.set_next_alert(last_alert);
  counted.set_next_position(last_position);
  counted.set_unresolved_alerts(from.count(table::unresolved_alert));
  counted.set_outbox_events(from.count(table::outbox));
  shard = std::move(counted);
  return nothing{};
}

}  // namespace fairlead::store
