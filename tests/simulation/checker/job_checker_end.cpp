// Whether each nominal time has exactly one record: of what a decision has passed, and of everything there is.

#include <algorithm>

#include "actors/queries/alert_queries.hpp"
#include "store/rows/alert_rows.hpp"
#include "store/rows/job_rows.hpp"
#include "tests/simulation/checker/job_checker.hpp"

namespace fairlead::simulation {

namespace {

constexpr std::int64_t decided_within_ms = 5'000;
// The cron looks at the clock every second. It may be lost on the way, several times, for some tenths of one.
constexpr std::int64_t told_within_us = 6 * second;
constexpr std::int64_t left_alone_for_us = 8 * second;
constexpr std::int64_t clock_tolerance_ms = 1'000;

/// Rows as stretches of time, to be asked how many of them speak of a moment.
class coverage {
 public:
  explicit coverage(const std::map<std::int64_t, v1::LaunchRecord>& rows) : rows_(rows) {
    for (const auto& [nominal_ms, row] : rows)
      if (row.last_nominal_unix_ms() != 0) runs_.push_back(&row);
  }

  std::size_t of(std::int64_t at_ms) const {
    const auto found = rows_.find(at_ms);
    std::size_t out = found != rows_.end() && found->second.last_nominal_unix_ms() == 0 ? 1 : 0;
    for (const auto* run : runs_)
      if (run->nominal_unix_ms() <= at_ms && at_ms <= run->last_nominal_unix_ms()) ++out;
    return out;
  }

  void judge(const std::string& job, std::int64_t at_ms) const {
    const auto records = of(at_ms);
    if (records == 0) world::broken("job_missed", name_of_launch(job, at_ms) + " has neither a launch nor a recorded skip");
    if (records > 1) world::broken("job_surplus", name_of_launch(job, at_ms) + " has " + std::to_string(records) + " records");
  }

  const std::vector<const v1::LaunchRecord*>& runs() const { return runs_; }

 private:
  const std::map<std::int64_t, v1::LaunchRecord>& rows_;
  std::vector<const v1::LaunchRecord*> runs_;
};

template <class Stretches>
std::vector<std::int64_t> times_within(const Stretches& all, std::int64_t first_ms, std::int64_t last_ms) {
  std::vector<std::int64_t> out;
  for (const auto& one : all)
    for (const auto at_ms : nominal_times(one.spec, std::max(one.from_ms, first_ms - 1), std::min(one.to_ms, last_ms)))
      if (at_ms > one.from_ms && at_ms >= first_ms) out.push_back(at_ms);
  return out;
}

void judge_run(const std::string& job, const v1::LaunchRecord& run, std::size_t times) {
  if (run.count() != times)
    world::broken("job_surplus", "the skips from " + name_of_launch(job, run.nominal_unix_ms()) + " on are said to be " +
                                     std::to_string(run.count()) + ", and " + std::to_string(times) + " times of the job lie there");
}

}  // namespace

void job_checker::judge_coverage(const known_job& job, const judgement& of) const {
  const auto& name = of.made.job;
  const coverage records{job.rows};
  for (const auto at_ms : of.times) records.judge(name, at_ms);
  for (const auto erased_ms : of.made.erased) {
    const auto old = of.old.find(erased_ms);
    if (old == of.old.end()) continue;
    for (const auto at_ms : times_within(job.stretches, erased_ms, end_of(old->second))) records.judge(name, at_ms);
  }
  for (const auto& row : of.made.put)
    if (row.last_nominal_unix_ms() != 0) judge_run(name, row, times_within(job.stretches, row.nominal_unix_ms(), end_of(row)).size());
}

void job_checker::whole(const store::snapshot& durable) const {
  for (const auto& [name, job] : jobs_) {
    if (!job.record.has_missed()) continue;
    const auto alert = store::load_alert(durable, job.record.missed_alert());
    if (!alert.ok() || !*alert || (*alert)->kind() != v1::ALERT_KIND_JOB_MISSED)
      world::broken("missed_untold", "job " + name + " has missed times, and no alert is about them");
  }
  std::size_t stored_jobs = 0;
  const auto read_jobs = store::for_each_job(durable, {}, [&](const v1::JobRecord& record) {
    const auto known = jobs_.find(record.spec().name());
    if (known == jobs_.end() || known->second.record.SerializeAsString() != record.SerializeAsString())
      world::broken("job_surplus", "the store holds another job " + record.spec().name() + " than its batches said");
    ++stored_jobs;
    return true;
  });
  if (!read_jobs.ok() || stored_jobs != jobs_.size()) world::broken("job_missed", "jobs are missing in the store");
  for (const auto& [name, job] : jobs_) {
    std::map<std::int64_t, v1::LaunchRecord> rows;
    const auto read = store::for_each_launch(durable, name, 0, [&](const v1::LaunchRecord& row) {
      rows[row.nominal_unix_ms()] = row;
      return true;
    });
    if (!read.ok() || rows.size() != job.rows.size())
      world::broken("job_missed", "the store holds other launches of job " + name + " than its batches said");
    const coverage records{rows};
    std::set<std::int64_t> times;
    for (const auto& one : job.stretches)
      for (const auto at_ms : nominal_times(one.spec, one.from_ms, one.to_ms)) times.insert(at_ms);
    for (const auto at_ms : times) records.judge(name, at_ms);
    for (const auto& [at_ms, row] : rows)
      if (times.count(at_ms) == 0 && job.beside.count(at_ms) == 0)
        world::broken("job_surplus", name_of_launch(name, at_ms) + " has a record, and is no time of the job");
    for (const auto* run : records.runs()) {
      const auto from = times.lower_bound(run->nominal_unix_ms());
      const auto to = times.upper_bound(run->last_nominal_unix_ms());
      judge_run(name, *run, static_cast<std::size_t>(std::distance(from, to)));
    }
  }
  world_.count("times that all of a job's history was worked out");
}

void job_checker::in_time() const {
  for (const auto& [name, job] : jobs_) {
    if (stands_still(job.record)) continue;
    const auto next = nominal_time_after(job.record.spec(), job.record.mark_unix_ms());
    if (next && *next <= clock_.now_ms() - decided_within_ms)
      world::broken("job_late", name_of_launch(name, *next) + " is not decided " + std::to_string(clock_.now_ms() - *next) +
                                    " ms after its time, and nothing has been in its way for long");
    for (const auto& launch : job.record.open())
      if (launch.waits_for() == v1::LAUNCH_WAIT_PAUSE && launch.start_by_unix_ms() != 0 &&
          launch.start_by_unix_ms() <= clock_.now_ms() - decided_within_ms)
        world::broken("job_late", name_of_launch(name, launch.nominal_unix_ms()) + " is held still, and its start window is over");
  }
}

void job_checker::look_around(const store::snapshot& durable) {
  const auto ahead_ms = ahead_by_ms();
  if (ahead_ms > 0 || passed_since_us_ == 0) passed_since_us_ = world_.now_us();
  const auto left_alone_us = world_.now_us() - std::max(up_since_us_, clock_.set_at_us());
  if (left_alone_us >= left_alone_for_us) in_time();
  if (left_alone_us < told_within_us) return;
  v1::AlertListRequest ask;
  const auto page = list_alerts(ask, durable);
  const auto told =
      std::find_if(page.items().begin(), page.items().end(), [](const auto& one) { return one.kind() == v1::ALERT_KIND_CLOCK_BEHIND; });
  const auto open = told != page.items().end();
  if (ahead_ms > clock_tolerance_ms && !open)
    world::broken("clock_untold", "the clock is " + std::to_string(ahead_ms) + " ms behind the latest mark, and no alert says so");
  // Looks may be far apart, so the clock itself must have gone on for as long, too.
  if (open && world_.now_us() - passed_since_us_ >= told_within_us && -ahead_ms * millisecond >= told_within_us)
    world::broken("stale_alert", "alert " + std::to_string(told->number()) +
                                     " says that the clock is behind, and it has passed all marks: " + told->sentence());
  if (open) world_.count("looks at a clock that is said to be behind");
}

std::optional<std::string> job_checker::under_way() const {
  for (const auto& [name, job] : jobs_) {
    const auto held = std::any_of(job.rows.begin(), job.rows.end(), [&](const auto& one) {
      const auto task = tasks_.find(one.second.task_number());
      return one.second.state() == v1::LAUNCH_STATE_STARTED && task != tasks_.end() && task->second.parked;
    });
    // A paused job holds them; and those that somebody runs may wait for one of these.
    auto behind_held = false;
    for (const auto& [at_ms, row] : job.rows) {
      if (row.state() != v1::LAUNCH_STATE_WAITING || held) continue;
      behind_held = behind_held || row.waits_for() == v1::LAUNCH_WAIT_PAUSE;
      if (row.waits_for() == v1::LAUNCH_WAIT_PAUSE || (behind_held && row.waits_for() == v1::LAUNCH_WAIT_OVERLAP)) continue;
      return name_of_launch(name, at_ms) + " waits (" + v1::LaunchWait_Name(row.waits_for()) + ")";
    }
  }
  return std::nullopt;
}

}  // namespace fairlead::simulation
