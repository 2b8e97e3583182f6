#include "store/check/jobs.hpp"

#include <algorithm>

#include "messages/api.pb.h"
#include "store/rows/alert_rows.hpp"
#include "store/rows/job_rows.hpp"
#include "store/rows/task_rows.hpp"

namespace fairlead::store {

namespace {

template <class Message>
bool parse(Message& out, std::string_view payload) {
  return out.ParseFromArray(payload.data(), static_cast<int>(payload.size()));
}

bool is_open(v1::LaunchState state) { return state == v1::LAUNCH_STATE_WAITING || state == v1::LAUNCH_STATE_STARTED; }

bool known_state(v1::LaunchState state) { return state >= v1::LAUNCH_STATE_WAITING && state <= v1::LAUNCH_STATE_FAILED; }

std::string launch_at(std::int64_t nominal_unix_ms) { return "its launch of " + std::to_string(nominal_unix_ms); }

}  // namespace

void job_check::run() {
  check_launches();
  check_jobs();
  check_due_index();
  check_ready_index();
}

// Null also if the job's row is damaged: the row's own scan reports that. `last_is_there_` distinguishes the two.
const v1::JobRecord* job_check::job_named(std::string_view name) {
  if (last_name_ != name) {
    last_name_ = name;
    auto found = load_job(all_.of(), name);
    last_is_there_ = !found || found->has_value();
    last_job_ = found ? std::move(*found) : std::nullopt;
  }
  return last_job_ ? &*last_job_ : nullptr;
}

void job_check::check_launches() {
  all_.scan(table::launch, [&](std::string_view key, std::string_view payload) { check_launch(key, payload); });
}

void job_check::check_launch(std::string_view key, std::string_view payload) {
  const auto at = *keys::decode_launch(key);
  ++launches_[std::string(at.job)];
  const auto add = [&](std::string_view what) { all_.add(table::launch, key, what); };
  v1::LaunchRecord row;
  if (!parse(row, payload)) return add("the value does not parse");
  if (at.ns != default_namespace || row.job() != at.job || row.nominal_unix_ms() != at.nominal_unix_ms) {
    return add("the row says it is " + std::to_string(row.nominal_unix_ms()) + " of job `" + row.job() + "`");
  }
  if (!known_state(row.state())) return add("it has no known state");
  const bool skipped = row.state() == v1::LAUNCH_STATE_SKIPPED;
  if (skipped && row.skip() == v1::SKIP_REASON_UNSPECIFIED) add("it was skipped for no reason");
  if (!skipped && row.skip() != v1::SKIP_REASON_UNSPECIFIED) add("it has a reason to be skipped and is not");
  if (row.last_nominal_unix_ms() != 0 || row.count() != 0) {
    if (!skipped || row.last_nominal_unix_ms() < row.nominal_unix_ms() || row.count() == 0) {
      add("it is no run of skips: " + std::to_string(row.count()) + " up to " + std::to_string(row.last_nominal_unix_ms()));
    }
  }
  check_against_job(key, row);
}

void job_check::check_against_job(std::string_view key, const v1::LaunchRecord& row) {
  const auto* job = job_named(row.job());
  if (!last_is_there_) return all_.add(table::launch, key, "there is no such job");
  if (job == nullptr || !is_open(row.state())) return;
  const bool held = std::any_of(job->open().begin(), job->open().end(),
                                [&](const v1::OpenLaunch& launch) { return launch.nominal_unix_ms() == row.nominal_unix_ms(); });
  if (!held) all_.add(table::launch, key, "it is open, and its job does not hold it");
}

void job_check::check_jobs() {
  all_.scan(table::job, [&](std::string_view key, std::string_view payload) {
    const auto at = *keys::decode_job(key);
    v1::JobRecord job;
    if (!parse(job, payload)) return all_.add(table::job, key, "the value does not parse");
    if (at.ns != default_namespace || job.spec().name() != at.name) {
      return all_.add(table::job, key, "the row says it is job `" + job.spec().name() + "`");
    }
    move_job_counters(counted_, {}, index_state_of(job));
    counted_.set_latest_mark_unix_ms(std::max(counted_.latest_mark_unix_ms(), job.mark_unix_ms()));
    check_marks(key, job);
    check_wake_up(key, job);
    check_entries(key, job);
    check_open(key, job);
    check_alert(key, job);
    check_kept(key, job);
  });
}

void job_check::check_marks(std::string_view key, const v1::JobRecord& job) {
  const auto next = job.next_unix_ms();
  if (job.mark_unix_ms() > job.decided_until_unix_ms()) all_.add(table::job, key, "its mark is later than any mark there ever was");
  if (next != 0 && next <= job.mark_unix_ms()) all_.add(table::job, key, "its next time is not after its mark");
}

// The index of due jobs must have the job not later than its next event; otherwise the job would stall for ever, unnoticed.
void job_check::check_wake_up(std::string_view key, const v1::JobRecord& job) {
  const auto due = job.due_indexed_unix_ms();
  // A job that was given up stands still until an operator resumes it, whatever its launches wait for.
  if (job.paused() && job.paused_by() == "scheduler" && due == 0 && job.next_unix_ms() == 0) return;
  const auto needs = [&](std::int64_t by, const std::string& what) {
    if (by == 0 || (due != 0 && due <= by)) return;
    all_.add(
        table::job, key,
        (due == 0 ? "it is never due, but " : "it is due at " + std::to_string(due) + ", but ") + what + " comes at " + std::to_string(by));
  };
  needs(job.next_unix_ms(), "its next time");
  for (const auto& launch : job.open()) {
    if (launch.state() != v1::LAUNCH_STATE_WAITING) continue;
    const auto which = launch_at(launch.nominal_unix_ms());
    if (launch.waits_for() == v1::LAUNCH_WAIT_TIME) needs(launch.start_at_unix_ms(), "the start of " + which);
    needs(launch.start_by_unix_ms(), "the end of the start window of " + which);
    if (launch.waits_for() == v1::LAUNCH_WAIT_OVERLAP && job.open_size() == 1)
      all_.add(table::job, key, which + " waits for an earlier one, and none is open");
    if (launch.waits_for() == v1::LAUNCH_WAIT_PAUSE && !job.paused())
      all_.add(table::job, key, which + " waits until the job is resumed, and it is not paused");
  }
}

void job_check::check_entries(std::string_view key, const v1::JobRecord& job) {
  const auto state = index_state_of(job);
  const auto lacks = [&](table where, const std::string& entry) {
    auto found = all_.of().get(where, entry);
    if (found && !found->has_value())
      all_.add(table::job, key, "it lacks its entry " + keys::describe(where, entry) + " in table " + table_name(where));
  };
  if (state.due_indexed_unix_ms != 0) {
    ++due_entries_;
    lacks(table::job_due, keys::job_due(default_namespace, state.due_indexed_unix_ms, state.order, job.spec().name()));
  }
  for (const auto& [what, nominal] : state.ready)
    lacks(table::launch_ready, keys::launch_ready(default_namespace, what, state.order, nominal, job.spec().name()));
}

void job_check::check_open(std::string_view key, const v1::JobRecord& job) {
  std::optional<std::int64_t> before;
  for (const auto& launch : job.open()) {
    const auto which = launch_at(launch.nominal_unix_ms());
    if (before && *before >= launch.nominal_unix_ms()) all_.add(table::job, key, which + " is after a later one");
    before = launch.nominal_unix_ms();
    if (!is_open(launch.state())) {
      all_.add(table::job, key, which + " is held as open and is neither waiting nor started");
      continue;
    }
    check_row_of(key, job, launch);
    if (launch.state() == v1::LAUNCH_STATE_STARTED) check_task_of(key, job, launch);
  }
}

void job_check::check_row_of(std::string_view key, const v1::JobRecord& job, const v1::OpenLaunch& launch) {
  auto row = load_launch(all_.of(), job.spec().name(), launch.nominal_unix_ms());
  if (!row) return;
  const auto which = launch_at(launch.nominal_unix_ms());
  if (!row->has_value()) {
    all_.add(table::job, key, which + " is not in table launch");
  } else if ((*row)->state() != launch.state() || (*row)->waits_for() != launch.waits_for()) {
    all_.add(table::job, key, which + " is in another state in table launch");
  } else if ((*row)->task_number() != launch.task_number()) {
    all_.add(table::job, key,
             which + " is task " + std::to_string(launch.task_number()) + ", in table launch it is task " +
                 std::to_string((*row)->task_number()));
  }
}

void job_check::check_task_of(std::string_view key, const v1::JobRecord& job, const v1::OpenLaunch& launch) {
  auto task = load_task(all_.of(), launch.task_number());
  if (!task) return;
  const auto which = launch_at(launch.nominal_unix_ms());
  const auto name = "task " + std::to_string(launch.task_number());
  if (!task->has_value()) {
    all_.add(table::job, key, which + " is " + name + ", which is not there");
  } else if ((*task)->launch().job() != job.spec().name() || (*task)->launch().nominal_unix_ms() != launch.nominal_unix_ms()) {
    all_.add(table::job, key, which + " is " + name + ", which is no task of it");
  }
}

void job_check::check_alert(std::string_view key, const v1::JobRecord& job) {
  if (job.alert() == 0) return;
  const auto alert = load_alert(all_.of(), job.alert());
  if (!alert) return;
  const auto name = "it names alert " + std::to_string(job.alert());
  if (!alert->has_value()) {
    all_.add(table::job, key, name + ", which is not in table alert");
  } else if (!is_unresolved(**alert)) {
    all_.add(table::job, key, name + ", which is resolved");
  } else if ((*alert)->job() != job.spec().name()) {
    all_.add(table::job, key, name + ", which is about another job");
  }
}

void job_check::check_kept(std::string_view key, const v1::JobRecord& job) {
  const auto found = launches_.find(job.spec().name());
  const auto counted = found == launches_.end() ? 0 : found->second;
  if (counted == job.kept_launches()) return;
  all_.add(table::job, key,
           "it has " + std::to_string(job.kept_launches()) + " records of launches, counted were " + std::to_string(counted));
}

// As with the indexes of tasks, entries are compared one by one only if the numbers show a surplus.
void job_check::check_due_index() {
  const bool surplus = all_.of().count(table::job_due) != due_entries_;
  all_.scan(table::job_due, [&](std::string_view key, std::string_view payload) {
    const auto add = [&](std::string_view what) { all_.add(table::job_due, key, what); };
    if (!payload.empty()) add("the value has " + std::to_string(payload.size()) + " bytes");
    if (!surplus) return;
    const auto at = *keys::decode_job_due(key);
    const auto* job = job_named(at.name);
    if (!last_is_there_) return add("there is no such job");
    if (job == nullptr) return;
    const auto state = index_state_of(*job);
    if (at.ns != default_namespace || at.due_unix_ms != state.due_indexed_unix_ms || at.order != state.order)
      add("the job's row does not say so");
  });
}

void job_check::check_ready_index() {
  const bool surplus = all_.of().count(table::launch_ready) != counted_.launches_waiting_room() + counted_.launches_waiting_agents();
  all_.scan(table::launch_ready, [&](std::string_view key, std::string_view payload) {
    const auto add = [&](std::string_view what) { all_.add(table::launch_ready, key, what); };
    if (!payload.empty()) add("the value has " + std::to_string(payload.size()) + " bytes");
    if (!surplus) return;
    const auto at = *keys::decode_launch_ready(key);
    const auto* job = job_named(at.job);
    if (!last_is_there_) return add("there is no such job");
    if (job == nullptr) return;
    const auto state = index_state_of(*job);
    if (at.ns != default_namespace || at.order != state.order || state.ready.count({at.what, at.nominal_unix_ms}) == 0)
      add("the job's row does not say so");
  });
}

}  // namespace fairlead::store
