#include "store/rows/job_rows.hpp"

#include <algorithm>

#include "store/load.hpp"

namespace fairlead::store {

namespace {

void count(v1::ShardState& shard, const job_index_state& job, std::uint64_t by) {
  if (!job.exists) return;
  shard.set_jobs(shard.jobs() + by);
  if (job.paused) shard.set_jobs_paused(shard.jobs_paused() + by);
  for (const auto& [what, nominal_unix_ms] : job.ready) {
    if (what == ready_for::room)
      shard.set_launches_waiting_room(shard.launches_waiting_room() + by);
    else
      shard.set_launches_waiting_agents(shard.launches_waiting_agents() + by);
  }
}

// A new priority moves every entry; the sets of ready launches are compared only if the priority stays.
void move_entries(batch& out, const job_index_state& before, const job_index_state& now, std::string_view name) {
  const bool same_order = before.order == now.order;
  if (!same_order || before.due_indexed_unix_ms != now.due_indexed_unix_ms) {
    if (before.due_indexed_unix_ms != 0)
      out.erase(table::job_due, keys::job_due(default_namespace, before.due_indexed_unix_ms, before.order, name));
    if (now.due_indexed_unix_ms != 0)
      out.put(table::job_due, keys::job_due(default_namespace, now.due_indexed_unix_ms, now.order, name), {});
  }
  for (const auto& entry : before.ready) {
    if (same_order && now.ready.count(entry) != 0) continue;
    out.erase(table::launch_ready, keys::launch_ready(default_namespace, entry.first, before.order, entry.second, name));
  }
  for (const auto& entry : now.ready) {
    if (same_order && before.ready.count(entry) != 0) continue;
    out.put(table::launch_ready, keys::launch_ready(default_namespace, entry.first, now.order, entry.second, name), {});
  }
}

// Visits the rows of a table as messages; a row that is no message ends the scan.
template <class Message, class Visitor>
status for_each(const snapshot& view, table where, std::string_view from, std::string_view to, Visitor&& visit) {
  status outcome = nothing{};
  Message record;
  auto scanned = view.scan(where, from, to, [&](std::string_view key, std::string_view payload) {
    if (!keys::decodes(where, key)) {
      outcome = damaged_value(where, key);
      return false;
    }
    if (!record.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) {
      outcome = unreadable_value(where, key);
      return false;
    }
    return visit(record);
  });
  return outcome ? scanned : outcome;
}

}  // namespace

job_index_state index_state_of(const v1::JobRecord& record) {
  job_index_state out;
  out.exists = true;
  out.paused = record.paused();
  out.due_indexed_unix_ms = record.due_indexed_unix_ms();
  out.order = launch_order(record.spec().priority());
  for (const auto& launch : record.open()) {
    if (launch.state() != v1::LAUNCH_STATE_WAITING) continue;
    if (launch.waits_for() == v1::LAUNCH_WAIT_ROOM) out.ready.emplace(ready_for::room, launch.nominal_unix_ms());
    if (launch.waits_for() == v1::LAUNCH_WAIT_AGENTS) out.ready.emplace(ready_for::agents, launch.nominal_unix_ms());
  }
  return out;
}

void put_job(batch& out, const job_index_state& before, const v1::JobRecord& record) {
  thread_local std::string row;  // keeps its capacity from job to job
  row.clear();
  record.AppendToString(&row);
  out.put(table::job, keys::job(default_namespace, record.spec().name()), row);
  move_entries(out, before, index_state_of(record), record.spec().name());
}

void erase_job(batch& out, const job_index_state& before, std::string_view name) {
  out.erase(table::job, keys::job(default_namespace, name));
  move_entries(out, before, {}, name);
}

void move_job_counters(v1::ShardState& shard, const job_index_state& before, const job_index_state& after) {
  count(shard, before, ~std::uint64_t{0});  // one less, modulo 2^64
  count(shard, after, 1);
}

void put_launch(batch& out, const v1::LaunchRecord& record) {
  out.put(table::launch, keys::launch(default_namespace, record.job(), record.nominal_unix_ms()), record.SerializeAsString());
}

void erase_launch(batch& out, std::string_view job, std::int64_t nominal_unix_ms) {
  out.erase(table::launch, keys::launch(default_namespace, job, nominal_unix_ms));
}

result<std::optional<v1::JobRecord>> load_job(const snapshot& view, std::string_view name) {
  // No job ever has such a name, and the store takes no such key.
  if (name.empty() || name.size() > max_job_name_bytes) return std::optional<v1::JobRecord>{};
  return load<v1::JobRecord>(view, table::job, keys::job(default_namespace, name));
}

result<std::optional<v1::LaunchRecord>> load_launch(const snapshot& view, std::string_view job, std::int64_t nominal_unix_ms) {
  if (job.empty() || job.size() > max_job_name_bytes) return std::optional<v1::LaunchRecord>{};
  return load<v1::LaunchRecord>(view, table::launch, keys::launch(default_namespace, job, nominal_unix_ms));
}

status for_each_job(const snapshot& view, std::string_view after, const std::function<bool(const v1::JobRecord&)>& visit) {
  // The least key after a name is that name with a zero byte. No job's name is longer, and the store's keys have a maximum length.
  auto from = keys::job(default_namespace, after.substr(0, max_job_name_bytes));
  if (!after.empty()) from += '\0';
  return for_each<v1::JobRecord>(view, table::job, from, keys::after(keys::of_namespace(default_namespace)), visit);
}

status for_each_launch(const snapshot& view, std::string_view job, std::int64_t from_unix_ms,
                       const std::function<bool(const v1::LaunchRecord&)>& visit) {
  // Times are unsigned in keys: a time before 1970 would come after all others.
  const auto from = keys::launch(default_namespace, job, std::max<std::int64_t>(from_unix_ms, 0));
  return for_each<v1::LaunchRecord>(view, table::launch, from, keys::after(keys::launch_prefix(default_namespace, job)), visit);
}

}  // namespace fairlead::store
