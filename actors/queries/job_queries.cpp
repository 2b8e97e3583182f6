#include "actors/queries/job_queries.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "actors/core/request_limits.hpp"
#include "actors/core/text/text.hpp"
#include "store/keys.hpp"
#include "store/load.hpp"
#include "store/rows/job_rows.hpp"
#include "store/rows/task_rows.hpp"

namespace fairlead {

namespace {

namespace keys = store::keys;
using store::default_namespace;

constexpr std::size_t job_rows_a_page = 5'000;
constexpr std::uint32_t default_coming = 5;
constexpr std::uint32_t max_coming = 100;
constexpr int latest_launches = 10;
constexpr std::uint32_t most_looked_up = 16;  // started launches checked for each job of a list

error no_such_job(const std::string& name) {
  return {v1::ERROR_CODE_NOT_FOUND, "there is no job " + core::clean_text(name, store::max_job_name_bytes),
          "fairlead job list shows all jobs"};
}

/// Whether a key may have such a name.
bool can_be_there(const std::string& name) {
  return !name.empty() && name.size() <= store::max_job_name_bytes && name.find('\0') == std::string::npos;
}

result<v1::JobRecord> find(const store::snapshot& from, const std::string& name) {
  if (!can_be_there(name)) return no_such_job(name);
  auto job = store::load_job(from, name);
  if (!job) return job.failure();
  if (!*job) return no_such_job(name);
  return std::move(**job);
}

/// All filters except `failing`, which needs more than the record.
bool matches(const v1::JobListRequest& what, const v1::JobRecord& job) {
  if (!what.workflow().empty() && job.spec().workflow() != what.workflow()) return false;
  if (what.has_paused() && job.paused() != what.paused()) return false;
  if (job.spec().name().find(what.name_contains()) == std::string::npos) return false;
  const auto& labels = job.spec().labels();
  return std::all_of(what.labels().begin(), what.labels().end(), [&](const v1::Label& wanted) {
    return std::any_of(labels.begin(), labels.end(),
                       [&](const v1::Label& one) { return one.key() == wanted.key() && one.value() == wanted.value(); });
  });
}

/// How many of the job's first started launches have parked tasks. Reads the index of held tasks: the tasks' own rows may be large, and a
/// list reads thousands of jobs.
result<std::uint32_t> count_parked(const store::snapshot& from, const v1::JobRecord& job) {
  std::uint32_t out = 0;
  std::uint32_t looked_up = 0;
  for (const auto& launch : job.open()) {
    if (launch.state() != v1::LAUNCH_STATE_STARTED) continue;
    if (++looked_up > most_looked_up) break;
    const auto held = from.get(store::table::held, keys::held(default_namespace, store::held_why::parked, launch.task_number()));
    if (!held) return held.failure();
    if (*held) ++out;
  }
  return out;
}

v1::JobSummary summary_of(const v1::JobRecord& job, std::uint32_t parked) {
  v1::JobSummary out;
  const auto& spec = job.spec();
  out.set_name(spec.name());
  out.set_schedule(spec.schedule());
  out.set_zone(spec.zone());
  out.set_workflow(spec.workflow());
  out.set_paused(job.paused());
  if (!job.paused()) out.set_next_unix_ms(job.next_unix_ms());
  if (job.has_last()) *out.mutable_last() = job.last();
  const auto started = std::count_if(job.open().begin(), job.open().end(),
                                     [](const v1::OpenLaunch& one) { return one.state() == v1::LAUNCH_STATE_STARTED; });
  out.set_started(static_cast<std::uint32_t>(started));
  out.set_waiting(static_cast<std::uint32_t>(job.open_size()) - out.started());
  out.set_launched(job.launched());
  out.set_skipped(job.skipped());
  out.set_bad_in_a_row(job.bad_in_a_row());
  *out.mutable_labels() = spec.labels();
  out.set_priority(spec.priority());
  out.set_mark_unix_ms(job.mark_unix_ms());
  out.set_parked(parked);
  out.set_missed(job.missed().count());
  return out;
}

/// Visits a job's launches before `end_ms` (0: all), newest first; ends when `visit` returns false.
template <class Visit>
status each_launch(const store::snapshot& from, const std::string& job, std::int64_t end_ms, Visit&& visit) {
  const auto begin = keys::launch_prefix(default_namespace, job);
  const auto end = end_ms == 0 ? keys::after(begin) : keys::launch(default_namespace, job, end_ms);
  std::optional<error> failed;
  const auto scanned = from.scan_reverse(store::table::launch, begin, end, [&](std::string_view key, std::string_view row) {
    v1::LaunchRecord launch;
    if (!launch.ParseFromArray(row.data(), static_cast<int>(row.size()))) {
      failed = store::unreadable_value(store::table::launch, key);
      return false;
    }
    return visit(std::move(launch));
  });
  if (!scanned.ok()) return scanned.failure();
  if (failed) return *failed;
  return nothing{};
}

/// The state of an archived task by its launch's row.
v1::TaskState state_of_row(v1::LaunchState state) {
  switch (state) {
    case v1::LAUNCH_STATE_COMPLETED: return v1::TASK_STATE_COMPLETED;
    case v1::LAUNCH_STATE_UNDONE: return v1::TASK_STATE_UNDONE;
    case v1::LAUNCH_STATE_FAILED: return v1::TASK_STATE_FAILED;
    default: return v1::TASK_STATE_UNSPECIFIED;
  }
}

status add_task(const store::snapshot& from, v1::LaunchEntry& out) {
  out.set_id(core::launch_id(out.launch().job(), out.launch().nominal_unix_ms()));
  if (out.launch().task_number() == 0) return nothing{};
  const auto task = store::load_task(from, out.launch().task_number());
  if (!task) return task.failure();
  out.set_task_state(*task ? (*task)->state() : state_of_row(out.launch().state()));
  out.set_parked(*task && (*task)->parked());
  return nothing{};
}

}  // namespace

v1::JobListReply list_jobs(const v1::JobListRequest& what, const store::snapshot& from) {
  v1::JobListReply out;
  const auto page = page_size_of(what.page_size());
  std::string last;  // name read last
  std::optional<error> failed;
  const auto visited = store::for_each_job(from, what.after(), [&](const v1::JobRecord& job) {
    // Only now is it certain that there is another page.
    if (static_cast<std::uint32_t>(out.items_size()) >= page || out.looked_at() >= job_rows_a_page) {
      out.set_after(last);
      return false;
    }
    out.set_looked_at(out.looked_at() + 1);
    last = job.spec().name();
    if (!matches(what, job)) return true;
    const auto parked = count_parked(from, job);
    if (!parked) {
      failed = parked.failure();
      return false;
    }
    // With `overlap: skip` a parked launch blocks all later ones: none fails, and none is done.
    if (!what.failing() || job.bad_in_a_row() != 0 || *parked != 0 || job.has_missed()) *out.add_items() = summary_of(job, *parked);
    return true;
  });
  if (!visited.ok()) failed = visited.failure();
  if (failed) *out.mutable_error() = failed->to_proto();
  return out;
}

v1::JobShowReply show_job(const v1::JobShowRequest& what, const store::snapshot& from, const core::zone_source& zones, moment now) {
  v1::JobShowReply out;
  const auto refuse = [&out](const error& why) {
    out.Clear();
    *out.mutable_error() = why.to_proto();
    return out;
  };
  auto job = find(from, what.name());
  if (!job) return refuse(job.failure());
  const auto coming = std::min(what.coming() == 0 ? default_coming : what.coming(), max_coming);
  // A mark may be ahead of the clock: the times before it are decided.
  auto at = std::max(to_unix_ms(now), job->mark_unix_ms());
  for (std::uint32_t i = 0; i < coming; ++i) {
    const auto next = core::next_nominal(job->spec(), zones, at);
    if (!next) break;
    out.add_coming_unix_ms(at = *next);
  }
  *out.mutable_job() = std::move(*job);
  const auto visited = each_launch(from, what.name(), 0, [&](v1::LaunchRecord launch) {
    *out.add_latest() = std::move(launch);
    return out.latest_size() < latest_launches;
  });
  if (!visited.ok()) return refuse(visited.failure());
  return out;
}

v1::JobHistoryReply job_history(const v1::JobHistoryRequest& what, const store::snapshot& from) {
  v1::JobHistoryReply out;
  const auto refuse = [&out](const error& why) {
    out.Clear();
    *out.mutable_error() = why.to_proto();
    return out;
  };
  const auto job = find(from, what.name());
  if (!job) return refuse(job.failure());
  auto end_ms = what.to_unix_ms();
  if (what.before_unix_ms() != 0 && (end_ms == 0 || what.before_unix_ms() < end_ms)) end_ms = what.before_unix_ms();
  const auto page = page_size_of(what.page_size());
  std::size_t seen = 0;
  std::int64_t oldest_ms = 0;  // earliest time read so far
  std::optional<error> failed;
  const auto visited = each_launch(from, what.name(), end_ms, [&](v1::LaunchRecord launch) {
    // A run of skips is stored under its first time, and may reach into the requested range.
    const auto is_early = launch.nominal_unix_ms() < what.from_unix_ms();
    if (is_early && launch.last_nominal_unix_ms() < what.from_unix_ms()) return false;
    // Only now is it certain that there is another page.
    if (static_cast<std::uint32_t>(out.items_size()) >= page || seen >= job_rows_a_page) {
      out.set_before_unix_ms(oldest_ms);
      return false;
    }
    ++seen;
    oldest_ms = launch.nominal_unix_ms();
    if (what.launches_only() && launch.state() == v1::LAUNCH_STATE_SKIPPED) return !is_early;
    auto* entry = out.add_items();
    *entry->mutable_launch() = std::move(launch);
    const auto added = add_task(from, *entry);
    if (!added.ok()) failed = added.failure();
    return !failed && !is_early;
  });
  if (!visited.ok()) return refuse(visited.failure());
  if (failed) return refuse(*failed);
  return out;
}

}  // namespace fairlead
