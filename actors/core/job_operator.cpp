// What operators ask of a job.

#include <algorithm>
#include <set>
#include <utility>

#include "actors/core/expression.hpp"
#include "actors/core/job_machine.hpp"

namespace fairlead::core {

namespace {

constexpr std::int64_t end_of_times_ms = 253'402'300'800'000;  // the year 10000
// Inputs given by hand to launches that wait, in one job's record, which is written anew with each decision about it.
constexpr std::size_t most_open_input_bytes = 4U << 20;

std::string utc(std::int64_t unix_ms) { return launch_id("", unix_ms).substr(1); }

}  // namespace

void job_machine::operate(const job_operated& what) {
  switch (what.action.verb()) {
    case v1::JOB_VERB_PAUSE: return pause(what.action);
    case v1::JOB_VERB_RESUME: return resume(what.action);
    case v1::JOB_VERB_RUN: return run(what.action);
    case v1::JOB_VERB_BACKFILL: return backfill(what.action);
    case v1::JOB_VERB_REWIND: return rewind();
    default: refuse(v1::ERROR_CODE_INVALID_ARGUMENT, "the request does not say what is to be done with job " + record_.spec().name());
  }
}

void job_machine::pause(const v1::JobAction& what) {
  if (record_.paused()) {
    out_.answer.set_sentence("it was paused already");
    return;
  }
  if (!caught_up()) return;
  core::pause(record_, what.who(), what.reason(), ctx_.now);
  out_.changed = true;
  out_.answer.set_sentence("paused: its times are skipped until it is resumed");
  settle();
}

void job_machine::resume(const v1::JobAction&) {
  if (!record_.paused()) {
    out_.answer.set_sentence("it was not paused");
    return;
  }
  // The times until now came while it was paused.
  if (!caught_up()) return;
  unpause(record_);
  out_.changed = true;
  out_.answer.set_sentence(record_.next_unix_ms() == 0 ? "resumed" : "resumed: its next time is " + utc(record_.next_unix_ms()));
  settle();
}

void job_machine::run(const v1::JobAction& what) {
  const auto& spec = record_.spec();
  const auto policy = what.overlap() == v1::OVERLAP_POLICY_UNSPECIFIED ? overlap_of(spec) : what.overlap();
  if (what.has_input()) {
    if (const auto checked = check_json(what.input()); !checked.ok()) {
      refuse(v1::ERROR_CODE_INVALID_ARGUMENT, "the input is not JSON: " + checked.failure().sentence);
      return;
    }
  }
  if (what.nominal_unix_ms() != 0) {
    if (what.nominal_unix_ms() < 0 || what.nominal_unix_ms() >= end_of_times_ms)
      return refuse(v1::ERROR_CODE_INVALID_ARGUMENT, "the time of the launch lies before 1970 or after the year 9999",
                    "set the clock of whoever asks right");
    if (what.nominal_unix_ms() % 1000 == 0)
      return refuse(v1::ERROR_CODE_INVALID_ARGUMENT, "the time of the launch is a whole second, which only the schedule gives");
    const auto asked_before = ctx_.rows->at(what.nominal_unix_ms());
    if (!asked_before) {
      fail(asked_before.failure());
      return;
    }
    if (*asked_before) return answer_run(**asked_before);
  }
  if (policy == v1::OVERLAP_POLICY_SKIP && !record_.open().empty()) {
    refuse(v1::ERROR_CODE_WRONG_STATE, id_of(record_.open(0).nominal_unix_ms()) + " has not ended, and the job's launches do not overlap",
           "wait for it, or say --overlap queue, replace or allow");
    return;
  }
  if (record_.open_size() >= max_open_launches) {
    refuse(v1::ERROR_CODE_OVERLOADED, std::to_string(max_open_launches) + " launches of job " + spec.name() + " are open",
           "try again later");
    return;
  }
  std::size_t input_bytes = what.input().size();
  for (const auto& launch : record_.open()) input_bytes += launch.input().size();
  if (what.has_input() && input_bytes > most_open_input_bytes) {
    refuse(v1::ERROR_CODE_OVERLOADED, "the launches of job " + spec.name() + " that wait hold more than 4 MiB of inputs of their own",
           "try again when some of them have started");
    return;
  }
  // Never a whole second, so never a time of the schedule.
  auto nominal_ms = what.nominal_unix_ms() != 0 ? what.nominal_unix_ms() : now_ms_;
  const auto taken = [&](std::int64_t at_ms) {
    if (at_ms % 1000 == 0) return true;
    const auto row = ctx_.rows->at(at_ms);
    if (!row) fail(row.failure());
    return row && row->has_value();
  };
  while (!out_.fatal && taken(nominal_ms)) ++nominal_ms;
  if (out_.fatal) return;
  if (policy == v1::OVERLAP_POLICY_REPLACE) give_way(id_of(nominal_ms));
  auto launch = opened(nominal_ms, v1::LAUNCH_TRIGGER_OPERATOR);
  launch.set_overlap(policy);
  launch.set_who(what.who());
  if (what.has_input()) launch.set_input(minify_json(what.input()));
  launch.set_start_at_unix_ms(now_ms_);
  launch.set_start_by_unix_ms(start_by(now_ms_, now_ms_));
  add_open(std::move(launch));
  settle();
  answer_run(rows_.at(nominal_ms));
}

void job_machine::answer_run(const v1::LaunchRecord& row) {
  out_.answer.set_launch(id_of(row.nominal_unix_ms()));
  out_.answer.set_state(row.state());
  switch (row.state()) {
    case v1::LAUNCH_STATE_STARTED: out_.answer.set_sentence("started"); break;
    case v1::LAUNCH_STATE_SKIPPED: out_.answer.set_sentence("skipped: " + row.reason()); break;
    case v1::LAUNCH_STATE_COMPLETED:
    case v1::LAUNCH_STATE_UNDONE: out_.answer.set_sentence("has ended"); break;
    default:
      out_.answer.set_sentence(row.waits_for() == v1::LAUNCH_WAIT_OVERLAP  ? "waits for an earlier launch to end"
                               : row.waits_for() == v1::LAUNCH_WAIT_AGENTS ? "waits for the agents that it needs"
                                                                           : "waits for room");
  }
}

std::vector<std::int64_t> job_machine::times_between(std::int64_t first_ms, std::int64_t last_ms) const {
  std::vector<std::int64_t> out;
  for (auto next = next_after(first_ms - 1000); next && *next <= last_ms && out.size() <= static_cast<std::size_t>(max_times_a_decision);
       next = next_after(*next))
    out.push_back(*next);
  return out;
}

bool job_machine::of_this_schedule(const v1::LaunchRecord& run) const {
  if (!schedule_ || zone_ == nullptr) return false;
  const auto times = times_between(run.nominal_unix_ms(), run.last_nominal_unix_ms());
  return times.size() == run.count() && times.front() == run.nominal_unix_ms() && times.back() == run.last_nominal_unix_ms();
}

void job_machine::cut_run(const v1::LaunchRecord& run, std::int64_t from_ms, std::int64_t to_ms) {
  // One of this very decision has not been stored.
  if (rows_.erase(run.nominal_unix_ms()) == 0) out_.erased_rows.push_back(run.nominal_unix_ms());
  record_.set_kept_launches(record_.kept_launches() - std::min<std::uint64_t>(record_.kept_launches(), 1));
  out_.changed = true;
  const auto keep = [&](const std::vector<std::int64_t>& times) {
    if (times.empty()) return;
    auto part = run;
    part.set_nominal_unix_ms(times.front());
    part.set_last_nominal_unix_ms(times.size() > 1 ? times.back() : 0);
    part.set_count(times.size() > 1 ? times.size() : 0);
    write_row(std::move(part), true);
  };
  keep(times_between(run.nominal_unix_ms(), std::min(from_ms - 1, run.last_nominal_unix_ms())));
  if (to_ms < run.last_nominal_unix_ms()) keep(times_between(to_ms + 1000, run.last_nominal_unix_ms()));
}

void job_machine::backfill(const v1::JobAction& what) {
  const auto& name = record_.spec().name();
  const auto from_ms = what.from_unix_ms();
  const auto to_ms = what.to_unix_ms();
  if (from_ms > to_ms) return refuse(v1::ERROR_CODE_INVALID_ARGUMENT, "the stretch to fill ends before it begins");
  if (to_ms > now_ms_)
    return refuse(v1::ERROR_CODE_INVALID_ARGUMENT, "the stretch to fill ends at " + utc(to_ms) + ", which has not come yet",
                  "times to come are launched by themselves");
  if (!schedule_ || zone_ == nullptr) return refuse(v1::ERROR_CODE_WRONG_STATE, "the time zone of job " + name + " is not known any more");
  if (!caught_up()) return;
  // What has just been decided to catch up counts as well: it is in no row of the store yet.
  record_skips();
  const auto stored = ctx_.rows->from(from_ms);
  if (!stored) {
    fail(stored.failure());
    return;
  }
  auto rows = rows_;
  for (const auto& row : *stored) rows.emplace(row.nominal_unix_ms(), row);
  std::map<std::int64_t, const v1::LaunchRecord*> single;
  std::vector<const v1::LaunchRecord*> runs;
  for (const auto& [nominal_ms, row] : rows) {
    if (nominal_ms > to_ms) break;
    if (std::max(nominal_ms, row.last_nominal_unix_ms()) < from_ms) continue;
    if (row.last_nominal_unix_ms() != 0)
      runs.push_back(&row);
    else
      single[row.nominal_unix_ms()] = &row;
  }
  for (const auto* run : runs)
    if (!of_this_schedule(*run))
      return refuse(v1::ERROR_CODE_WRONG_STATE,
                    "the stretch holds times from " + utc(run->nominal_unix_ms()) + " to " + utc(run->last_nominal_unix_ms()) +
                        " that were skipped under another schedule of job " + name,
                    "fill what lies before or behind them");
  std::vector<std::int64_t> times;
  std::uint64_t passed_over = 0;
  const auto room = static_cast<std::size_t>(max_open_launches - std::min(max_open_launches, record_.open_size()));
  int looked_at = 0;
  for (auto next = next_after(from_ms - 1); next && *next <= to_ms; next = next_after(*next)) {
    const auto found = single.find(*next);
    if (found != single.end() && found->second->state() != v1::LAUNCH_STATE_SKIPPED)
      ++passed_over;
    else
      times.push_back(*next);
    if (times.size() > room || ++looked_at > 100 * max_times_a_decision)
      return refuse(v1::ERROR_CODE_INVALID_ARGUMENT,
                    "the stretch holds more than the " + std::to_string(room) + " times that can be launched at a time",
                    "fill a shorter stretch first");
  }
  const auto run_of = [&](std::int64_t at_ms) -> const v1::LaunchRecord* {
    for (const auto* run : runs)
      if (run->nominal_unix_ms() <= at_ms && at_ms <= run->last_nominal_unix_ms()) return run;
    return nullptr;
  };
  std::map<std::int64_t, v1::SkipReason> skipped_before;
  std::set<std::int64_t> in_runs;
  for (const auto at_ms : times) {
    const auto found = single.find(at_ms);
    const auto* run = found == single.end() ? run_of(at_ms) : nullptr;
    if (run != nullptr) in_runs.insert(at_ms);
    if (found != single.end() || run != nullptr) skipped_before[at_ms] = run != nullptr ? run->skip() : found->second->skip();
  }
  for (const auto* run : runs) cut_run(*run, from_ms, to_ms);
  auto policy = what.overlap() == v1::OVERLAP_POLICY_UNSPECIFIED ? overlap_of(record_.spec()) : what.overlap();
  if (policy == v1::OVERLAP_POLICY_SKIP || policy == v1::OVERLAP_POLICY_REPLACE) policy = v1::OVERLAP_POLICY_QUEUE;
  for (const auto at_ms : times) {
    auto launch = opened(at_ms, v1::LAUNCH_TRIGGER_BACKFILL);
    launch.set_overlap(policy);
    launch.set_who(what.who());
    launch.set_start_at_unix_ms(now_ms_);
    launch.set_start_by_unix_ms(0);
    if (const auto found = skipped_before.find(at_ms); found != skipped_before.end()) launch.set_skipped_before(found->second);
    // Its row was part of a run that is gone: it is counted as a new one.
    if (in_runs.count(at_ms) != 0) record_.set_kept_launches(record_.kept_launches() + 1);
    add_open(std::move(launch));
  }
  settle();
  out_.answer.set_launches(times.size());
  out_.answer.set_passed_over(passed_over);
  out_.answer.set_sentence(std::to_string(times.size()) + " launches recorded" +
                           (passed_over != 0 ? ", " + std::to_string(passed_over) + " times had theirs already" : ""));
}

void job_machine::rewind() {
  if (record_.mark_unix_ms() <= now_ms_)
    return refuse(v1::ERROR_CODE_WRONG_STATE,
                  "the mark of job " + record_.spec().name() + " is " + utc(record_.mark_unix_ms()) + ", which the clock has passed",
                  "there is nothing to mend");
  const auto rows = ctx_.rows->from(now_ms_ + 1);
  if (!rows) {
    fail(rows.failure());
    return;
  }
  // What was skipped in a run under another schedule stays decided: it cannot be taken apart.
  auto to_ms = now_ms_;
  for (const auto& row : *rows)
    if (row.last_nominal_unix_ms() != 0 && !of_this_schedule(row)) to_ms = std::max(to_ms, row.last_nominal_unix_ms());
  if (to_ms >= record_.mark_unix_ms())
    return refuse(
        v1::ERROR_CODE_WRONG_STATE,
        "the times of job " + record_.spec().name() + " up to " + utc(to_ms) + " were skipped under another schedule, and stay so",
        "wait until the clock has passed that, or delete the job and deploy it anew");
  for (const auto& row : *rows) {
    if (row.state() != v1::LAUNCH_STATE_SKIPPED || std::max(row.nominal_unix_ms(), row.last_nominal_unix_ms()) <= to_ms) continue;
    if (row.last_nominal_unix_ms() != 0) {
      cut_run(row, to_ms + 1, row.last_nominal_unix_ms());
    } else {
      out_.erased_rows.push_back(row.nominal_unix_ms());
      record_.set_kept_launches(record_.kept_launches() - std::min<std::uint64_t>(record_.kept_launches(), 1));
    }
  }
  if (record_.last().nominal_unix_ms() > to_ms && record_.last().state() == v1::LAUNCH_STATE_SKIPPED) record_.clear_last();
  const auto was_ms = record_.mark_unix_ms();
  record_.set_decided_until_unix_ms(std::max(record_.decided_until_unix_ms(), was_ms));
  record_.set_mark_unix_ms(to_ms);
  out_.changed = true;
  advance();
  settle();
  out_.answer.set_sentence("its mark went back from " + utc(was_ms) + " to " + utc(to_ms));
}

}  // namespace fairlead::core
