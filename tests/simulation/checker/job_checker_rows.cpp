// One decision about a job, row by row.

#include <algorithm>
#include <utility>

#include "tests/simulation/checker/job_checker.hpp"

namespace fairlead::simulation {

namespace {

constexpr std::int64_t on_time_ms = 10'000;

bool unlaunched(v1::SkipReason why) {
  return why == v1::SKIP_REASON_PAUSED || why == v1::SKIP_REASON_OUTSIDE_WINDOW || why == v1::SKIP_REASON_SUPERSEDED ||
         why == v1::SKIP_REASON_OVERLAP || why == v1::SKIP_REASON_TOO_MANY_OPEN;
}

bool was_opened(const v1::LaunchRecord& row) { return row.state() != v1::LAUNCH_STATE_SKIPPED || !unlaunched(row.skip()); }

std::string name(const v1::LaunchRecord& row) { return name_of_launch(row.job(), row.nominal_unix_ms()); }

bool skips_overlaps(const v1::JobSpec& spec) {
  return spec.overlap() == v1::OVERLAP_POLICY_SKIP || spec.overlap() == v1::OVERLAP_POLICY_UNSPECIFIED;
}

bool only_latest(const v1::JobSpec& spec) {
  return spec.catch_up() == v1::CATCH_UP_POLICY_LATEST || spec.catch_up() == v1::CATCH_UP_POLICY_UNSPECIFIED;
}

std::int64_t catch_up_window(const v1::JobSpec& spec) { return spec.catch_up_window_ms() == 0 ? 3'600'000 : spec.catch_up_window_ms(); }

}  // namespace

const v1::OpenLaunch* open_of(const v1::JobRecord& job, std::int64_t nominal_ms) {
  for (const auto& one : job.open())
    if (one.nominal_unix_ms() == nominal_ms) return &one;
  return nullptr;
}

/// Whether an open launch keeps others from running: parked ones only do where the job says so.
bool job_checker::counts(const v1::JobRecord& job, std::int64_t nominal_ms) const {
  const auto* open = open_of(job, nominal_ms);
  return open == nullptr || !open->parked() || job.spec().count_parked();
}

/// Whether a launch that is decided in this decision finds another one open.
bool job_checker::opens_before(const judgement& of, std::int64_t nominal_ms) const {
  for (const auto& [at_ms, row] : of.old)
    if (at_ms != nominal_ms && is_open(row) && !(is_undecided(row) && at_ms > nominal_ms) && counts(of.before, at_ms)) return true;
  return std::any_of(of.made.put.begin(), of.made.put.end(), [&](const v1::LaunchRecord& row) {
    // What fills a stretch is opened once the job has caught up.
    return row.trigger() == v1::LAUNCH_TRIGGER_SCHEDULE && row.nominal_unix_ms() < nominal_ms && of.old.count(row.nominal_unix_ms()) == 0 &&
           was_opened(row);
  });
}

void job_checker::judge_erased(const judgement& of, std::int64_t nominal_ms) const {
  const auto old = of.old.find(nominal_ms);
  if (old == of.old.end()) return;
  const auto& row = old->second;
  const auto goes_back = of.after.mark_unix_ms() < of.before.mark_unix_ms() && end_of(row) > of.after.mark_unix_ms();
  const auto is_cut = row.last_nominal_unix_ms() != 0 && !asked(row.job()).fills.empty();
  if (!(row.state() == v1::LAUNCH_STATE_SKIPPED && (goes_back || is_cut)) && !(is_undecided(row) && goes_back))
    world::broken("job_missed", "the record of " + name(row) + " is erased");
}

void job_checker::judge_new(known_job& job, const judgement& of, const v1::LaunchRecord& row) {
  const auto nominal_ms = row.nominal_unix_ms();
  if (!was_opened(row)) {
    const auto is_part = std::any_of(of.made.erased.begin(), of.made.erased.end(), [&](std::int64_t at_ms) {
      const auto run = of.old.find(at_ms);
      return run != of.old.end() && run->second.skip() == row.skip() && at_ms <= nominal_ms && end_of(row) <= end_of(run->second);
    });
    if (!is_part) judge_new_skip(of, row);
    return;
  }
  if (row.recorded_at_unix_ms() > clock_.latest_ms(world_.now_us() - longest_to_disk_us))
    world::broken("job_early", name(row) + " was recorded at a time that no clock has shown");
  job.openings[nominal_ms] = {of.before.spec(), row.recorded_at_unix_ms(), world_.now_us()};
  if (row.trigger() == v1::LAUNCH_TRIGGER_SCHEDULE)
    judge_scheduled(of, row);
  else
    judge_asked(of, row);
  if (row.trigger() != v1::LAUNCH_TRIGGER_SCHEDULE) job.beside.insert(nominal_ms);
  if (row.state() == v1::LAUNCH_STATE_STARTED)
    judge_start(job, of, row);
  else if (row.state() == v1::LAUNCH_STATE_SKIPPED)
    judge_late_skip(job, of, row);
  else if (row.state() != v1::LAUNCH_STATE_WAITING)
    world::broken("job_surplus", name(row) + " has ended before it began");
}

void job_checker::judge_new_skip(const judgement& of, const v1::LaunchRecord& row) const {
  const auto& spec = of.before.spec();
  const auto first_ms = row.nominal_unix_ms();
  const auto last_ms = end_of(row);
  const auto recorded_ms = row.recorded_at_unix_ms();
  if (of.times.count(first_ms) == 0 || of.times.count(last_ms) == 0)
    world::broken("job_surplus", name(row) + " is skipped, and is no time of the job that has come up");
  const auto late_ms = recorded_ms - last_ms;
  const auto late = late_ms >= std::max(on_time_ms, window_of(spec).value_or(0));
  bool holds = false;
  world_.judges("job_skip");
  switch (row.skip()) {
    case v1::SKIP_REASON_PAUSED: holds = of.before.paused(); break;
    case v1::SKIP_REASON_OUTSIDE_WINDOW:
      holds = late && (spec.catch_up() == v1::CATCH_UP_POLICY_NONE || late_ms > catch_up_window(spec));
      if (spec.catch_up() == v1::CATCH_UP_POLICY_NONE) break;
      world_.judges("missed_untold");
      // What is backfilled by the same decision is not missed.
      if ((!of.after.has_missed() || of.after.missed_alert() == 0) && asked(row.job()).fills.empty())
        world::broken("missed_untold", name(row) + " is missed for good, and no alert says so");
      break;
    case v1::SKIP_REASON_SUPERSEDED: {
      const auto next = nominal_time_after(spec, last_ms);
      holds = late && only_latest(spec) && next && *next <= recorded_ms;
      break;
    }
    case v1::SKIP_REASON_OVERLAP: holds = skips_overlaps(spec) && opens_before(of, first_ms); break;
    default: break;
  }
  if (!holds || recorded_ms > clock_.latest_ms(world_.now_us() - longest_to_disk_us))
    world::broken("job_skip", name(row) + " is skipped (" + v1::SkipReason_Name(row.skip()) + "), and that does not hold");
  world_.count("times skipped", row.last_nominal_unix_ms() != 0 ? row.count() : 1);
  if (row.last_nominal_unix_ms() != 0) world_.count("runs of skips");
}

void job_checker::judge_scheduled(const judgement& of, const v1::LaunchRecord& row) const {
  const auto& spec = of.before.spec();
  const auto nominal_ms = row.nominal_unix_ms();
  if (of.times.count(nominal_ms) == 0) world::broken("job_surplus", name(row) + " is launched, and is no time of the job that has come up");
  const auto late_ms = row.recorded_at_unix_ms() - nominal_ms;
  world_.judges("job_early");
  world_.judges("job_paused");
  if (skips_overlaps(spec)) world_.judges("job_overlap");
  if (late_ms < 0) world::broken("job_early", name(row) + " was launched " + std::to_string(-late_ms) + " ms before its time");
  if (of.before.paused()) world::broken("job_paused", name(row) + " was launched while the job was paused");
  if (skips_overlaps(spec) && opens_before(of, nominal_ms))
    world::broken("job_overlap", name(row) + " was launched while an earlier one was open");
  if (late_ms < std::max(on_time_ms, window_of(spec).value_or(0))) return;
  world_.judges("job_catch_up");
  if (spec.catch_up() == v1::CATCH_UP_POLICY_NONE || late_ms > catch_up_window(spec))
    world::broken("job_catch_up",
                  name(row) + " was launched " + std::to_string(late_ms) + " ms after its time, which is outside the window");
  const auto next = nominal_time_after(spec, nominal_ms);
  if (only_latest(spec) && next && *next <= row.recorded_at_unix_ms())
    world::broken("job_catch_up", name(row) + " was launched late, and a later time had come by then");
  world_.count("launches caught up");
}

void job_checker::judge_asked(const judgement& of, const v1::LaunchRecord& row) const {
  const auto nominal_ms = row.nominal_unix_ms();
  const auto& wanted = asked(row.job());
  if (row.trigger() == v1::LAUNCH_TRIGGER_OPERATOR) {
    const auto by_order = std::any_of(wanted.runs.begin(), wanted.runs.end(), [&](const v1::JobAction& one) {
      return one.nominal_unix_ms() == 0 || one.nominal_unix_ms() == nominal_ms;
    });
    if (!by_order || nominal_ms % 1000 == 0) world::broken("job_surplus", name(row) + " was launched by hand, and nobody asked for it");
    world_.count("launches by hand");
    return;
  }
  const auto by_order = std::any_of(wanted.fills.begin(), wanted.fills.end(), [&](const v1::JobAction& one) {
    return one.from_unix_ms() <= nominal_ms && nominal_ms <= one.to_unix_ms();
  });
  const auto next = nominal_time_after(of.before.spec(), nominal_ms - 1000);
  if (!by_order || nominal_ms % 1000 != 0 || next != nominal_ms)
    world::broken("job_surplus", name(row) + " was launched to fill a stretch, and is no such time");
  world_.count("launches backfilled");
}

void job_checker::judge_move(known_job& job, const judgement& of, const v1::LaunchRecord& old, const v1::LaunchRecord& row) {
  const auto from = old.state();
  const auto to = row.state();
  const auto goes_back = [&] {
    world::broken("job_surplus",
                  "the launch " + name(row) + " went from " + v1::LaunchState_Name(from) + " to " + v1::LaunchState_Name(to));
  };
  if (from == v1::LAUNCH_STATE_SKIPPED) {
    if (row.trigger() == v1::LAUNCH_TRIGGER_BACKFILL) {
      if (row.skipped_before() != old.skip()) goes_back();
      judge_asked(of, row);
      job.beside.insert(row.nominal_unix_ms());
      job.openings[row.nominal_unix_ms()] = {of.before.spec(), row.recorded_at_unix_ms(), world_.now_us()};
      if (to == v1::LAUNCH_STATE_STARTED) return judge_start(job, of, row);
      if (to == v1::LAUNCH_STATE_SKIPPED) return judge_late_skip(job, of, row);
      if (to != v1::LAUNCH_STATE_WAITING) goes_back();
      return;
    }
    // What is left of a run that is cut may begin where the run did.
    const auto is_cut = std::find(of.made.erased.begin(), of.made.erased.end(), row.nominal_unix_ms()) != of.made.erased.end() &&
                        to == from && row.skip() == old.skip() && end_of(row) <= end_of(old);
    if (!is_cut) goes_back();
    return;
  }
  const auto anew = row.trigger() != old.trigger() || row.recorded_at_unix_ms() != old.recorded_at_unix_ms();
  if (from == v1::LAUNCH_STATE_WAITING && anew && row.trigger() == v1::LAUNCH_TRIGGER_BACKFILL &&
      row.skipped_before() != v1::SKIP_REASON_UNSPECIFIED) {
    // A backfill decides first what has come by then. A launch that gave way to a later time in that is a skipped time like any other, and is
    // filled by the same decision.
    auto between = old;
    between.set_state(v1::LAUNCH_STATE_SKIPPED);
    between.set_skip(row.skipped_before());
    judge_move(job, of, old, between);
    world_.count("launches that gave way and were backfilled at once");
    return judge_move(job, of, between, row);
  }
  if (row.trigger() != old.trigger()) goes_back();
  switch (to) {
    case v1::LAUNCH_STATE_WAITING:
      if (from != to) goes_back();
      return;
    case v1::LAUNCH_STATE_STARTED:
      if (from != v1::LAUNCH_STATE_WAITING) goes_back();
      return judge_start(job, of, row);
    case v1::LAUNCH_STATE_SKIPPED:
      if (from != v1::LAUNCH_STATE_WAITING) goes_back();
      return judge_late_skip(job, of, row);
    case v1::LAUNCH_STATE_COMPLETED:
      if (from != v1::LAUNCH_STATE_STARTED) goes_back();
      break;
    case v1::LAUNCH_STATE_UNDONE:
      if (from != v1::LAUNCH_STATE_STARTED && from != v1::LAUNCH_STATE_COMPLETED && from != v1::LAUNCH_STATE_FAILED) goes_back();
      break;
    case v1::LAUNCH_STATE_FAILED:
      if (from != v1::LAUNCH_STATE_STARTED && from != v1::LAUNCH_STATE_COMPLETED && from != v1::LAUNCH_STATE_UNDONE) goes_back();
      break;
    default: goes_back();
  }
  const auto task = tasks_.find(row.task_number());
  if (task == tasks_.end() || row.task_number() != old.task_number() || task->second.state == v1::TASK_STATE_PENDING ||
      task->second.state == v1::TASK_STATE_RUNNING)
    world::broken("job_batch", name(row) + " is said to have ended, and its task has not");
}

void job_checker::judge_late_skip(const known_job& job, const judgement& of, const v1::LaunchRecord& row) const {
  const auto found = job.openings.find(row.nominal_unix_ms());
  if (found == job.openings.end()) world::broken("job_skip", name(row) + " is skipped, and was never open");
  const auto& open = found->second;
  const auto scheduled = row.trigger() == v1::LAUNCH_TRIGGER_SCHEDULE;
  const auto from_ms = scheduled ? row.nominal_unix_ms() : open.recorded_ms;
  const auto shown_ms = clock_.latest_ms(std::min(open.at_us, world_.now_us() - longest_to_disk_us));
  const auto window = window_of(open.spec);
  // Of what is caught up it begins when the launch was found to be missing.
  const auto on_time = open.recorded_ms - row.nominal_unix_ms() < std::max(on_time_ms, window.value_or(0));
  const auto window_from_ms = scheduled && on_time ? row.nominal_unix_ms() : open.recorded_ms;
  const auto window_is_over = window && row.trigger() != v1::LAUNCH_TRIGGER_BACKFILL && shown_ms >= window_from_ms + *window;
  world_.judges("job_skip");
  const auto deadline_is_over = [&](const v1::JobSpec& spec) {
    return spec.deadline_ms() != 0 && shown_ms >= from_ms + spec.deadline_ms();
  };
  bool holds = false;
  switch (row.skip()) {
    case v1::SKIP_REASON_START_WINDOW: holds = window_is_over; break;
    case v1::SKIP_REASON_NO_AGENTS:
      holds = window_is_over && (!open.spec.needs().empty() || !of.before.spec().needs().empty() || !of.after.spec().needs().empty());
      break;
    case v1::SKIP_REASON_DEADLINE: holds = deadline_is_over(of.before.spec()) || deadline_is_over(of.after.spec()); break;
    case v1::SKIP_REASON_REPLACED:
      holds = std::any_of(of.made.put.begin(), of.made.put.end(), [&](const v1::LaunchRecord& other) {
        // What is backfilled takes nobody's place.
        return other.nominal_unix_ms() != row.nominal_unix_ms() && of.old.count(other.nominal_unix_ms()) == 0 && was_opened(other) &&
               other.trigger() != v1::LAUNCH_TRIGGER_BACKFILL;
      });
      break;
    case v1::SKIP_REASON_CANCELLED: holds = asked(row.job()).skip && row.reason() == "skipped by ops: because"; break;
    case v1::SKIP_REASON_ID_TAKEN: holds = task_ids_.count(name(row)) != 0; break;
    default: break;
  }
  if (!holds)
    world::broken("job_skip", name(row) + " waited and is skipped (" + v1::SkipReason_Name(row.skip()) + "), and that does not hold");
  world_.count(row.skip() == v1::SKIP_REASON_CANCELLED ? "launches skipped by operators" : "launches skipped after a wait");
}

void job_checker::judge_held(const v1::JobRecord& before, const v1::JobRecord& after) {
  for (const auto& launch : after.open()) {
    const auto* old = open_of(before, launch.nominal_unix_ms());
    if (launch.cancelling() && old != nullptr && !old->cancelling() && old->parked() && !before.spec().count_parked() &&
        !after.spec().count_parked())
      world::broken("job_parked", name_of_launch(after.spec().name(), launch.nominal_unix_ms()) + " is parked, and has to give way");
  }
  if (stands_still(after)) return;
  for (const auto& launch : after.open()) {
    if (launch.state() != v1::LAUNCH_STATE_WAITING) continue;
    const auto which = name_of_launch(after.spec().name(), launch.nominal_unix_ms());
    const auto is_held = after.paused() && launch.trigger() != v1::LAUNCH_TRIGGER_OPERATOR;
    if (is_held && launch.waits_for() != v1::LAUNCH_WAIT_PAUSE)
      world::broken("job_paused", which + " waits (" + v1::LaunchWait_Name(launch.waits_for()) + "), and its job is paused");
    if (!is_held && launch.waits_for() == v1::LAUNCH_WAIT_PAUSE)
      world::broken("job_stalled", which + " waits for a job to be resumed that does not hold it");
  }
}

void job_checker::judge_start(const known_job& job, const judgement& of, const v1::LaunchRecord& row) {
  const auto nominal_ms = row.nominal_unix_ms();
  world_.judges("job_batch");
  const auto claimed = unclaimed_.find(row.task_number());
  if (claimed == unclaimed_.end() || claimed->second != nominal_ms || tasks_.at(row.task_number()).job != row.job())
    world::broken("job_batch", name(row) + " is started, and its task is not in the same batch");
  unclaimed_.erase(claimed);
  tasks_.at(row.task_number()).generation = job.generation;
  const auto& spec = job.openings.at(nominal_ms).spec;
  const auto* open = open_of(of.after, nominal_ms);
  const auto scheduled = row.trigger() == v1::LAUNCH_TRIGGER_SCHEDULE;
  if (of.after.paused() && row.trigger() != v1::LAUNCH_TRIGGER_OPERATOR)
    world::broken("job_paused", name(row) + " was started while the job was paused");
  const auto start_ms = open == nullptr ? nominal_ms : open->start_at_unix_ms();
  const auto shown_ms = clock_.latest_ms(world_.now_us() - longest_to_disk_us);
  if (scheduled && (shown_ms < nominal_ms || shown_ms < start_ms || row.started_at_unix_ms() < start_ms))
    world::broken("job_early", name(row) + " was started before its time");
  if (scheduled && (start_ms < nominal_ms || start_ms > nominal_ms + spec.jitter_ms()))
    world::broken("job_early", name(row) + " starts at another moment than its jitter allows");
  if (row.started_at_unix_ms() > shown_ms) world::broken("job_early", name(row) + " was started at a time that no clock has shown");
  auto overlap = spec.overlap();
  if (!scheduled && open != nullptr) overlap = open->overlap();
  std::uint64_t started = 0;
  std::optional<std::int64_t> earlier;
  for (const auto& [at_ms, other] : job.rows) {
    if (at_ms == nominal_ms) continue;
    if (other.state() == v1::LAUNCH_STATE_STARTED && counts(of.after, at_ms)) ++started;
    if (other.state() == v1::LAUNCH_STATE_WAITING && at_ms < nominal_ms) earlier = at_ms;
  }
  if (overlap != v1::OVERLAP_POLICY_ALLOW && (started != 0 || earlier)) world_.judges("job_overlap");
  if (spec.max_in_flight() != 0) world_.judges("job_cap");
  if (overlap != v1::OVERLAP_POLICY_ALLOW && started != 0)
    world::broken("job_overlap", name(row) + " was started while another launch of its job was running");
  if (overlap != v1::OVERLAP_POLICY_ALLOW && earlier)
    world::broken("job_overlap", name(row) + " was started before " + name_of_launch(row.job(), *earlier) + ", which waits");
  const auto most = [&](const v1::JobSpec& of_spec) { return of_spec.max_in_flight() == 0 || started < of_spec.max_in_flight(); };
  if (!most(of.before.spec()) && !most(of.after.spec()))
    world::broken("job_cap",
                  name(row) + " was started beside " + std::to_string(started) + " others of its job, which are as many as may be");
  if (of.old.count(nominal_ms) != 0 && of.old.at(nominal_ms).waits_for() == v1::LAUNCH_WAIT_PAUSE)
    world_.count("launches that were held and have started");
  judge_rate(row);
}

void job_checker::judge_rate(const v1::LaunchRecord& row) {
  // A clock that is set lives through a second twice.
  if (std::exchange(clock_settings_, clock_.settings()) != clock_.settings()) started_.clear();
  if (most_a_second_ == 0 || clock_.set_since(world_.now_us() - 10 * second)) return;
  const auto now_ms = row.started_at_unix_ms();
  started_.push_back(now_ms);
  while (started_.front() <= now_ms - 1'000) started_.pop_front();
  // The rate of that second, and what a tenth of one had saved up.
  if (started_.size() > most_a_second_ + std::max<std::size_t>(1, most_a_second_ / 10))
    world::broken("job_cap",
                  std::to_string(started_.size()) + " launches were started within a second, of " + std::to_string(most_a_second_));
}

}  // namespace fairlead::simulation
