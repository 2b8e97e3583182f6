// Operators' actions on times that have been decided: launch skipped times, and decide anew after the clock was wrong.

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "actors/core/job/machine.hpp"
#include "actors/core/planted_faults.hpp"

namespace fairlead::core {

namespace {

/// A run of skips, and its times.
struct known_run {
  const v1::LaunchRecord* row = nullptr;
  std::vector<std::int64_t> times;
};

std::int64_t end_of(const v1::LaunchRecord& row) { return std::max(row.nominal_unix_ms(), row.last_nominal_unix_ms()); }
bool is_run(const v1::LaunchRecord& row) { return row.last_nominal_unix_ms() != 0; }
/// Of a rewind to `to_ms`. Skipped times and waiting launches have had no effect yet; a waiting launch that stayed would be open for earlier times.
bool is_decided_anew(const v1::LaunchRecord& row, std::int64_t to_ms) {
  const auto waits = row.state() == v1::LAUNCH_STATE_WAITING && row.trigger() != v1::LAUNCH_TRIGGER_OPERATOR;
  return end_of(row) > to_ms && (waits || row.state() == v1::LAUNCH_STATE_SKIPPED);
}

bool holds(const std::vector<std::int64_t>& sorted, std::int64_t value) { return std::binary_search(sorted.begin(), sorted.end(), value); }

}  // namespace

std::optional<std::vector<std::int64_t>> job_machine::times_of(const v1::LaunchRecord& run) const {
  const auto then = run.schedule().empty() ? table_ : time_table::of(run.job(), run.schedule(), run.zone(), run.dst(), *ctx_.zones);
  if (!then) return std::nullopt;
  std::vector<std::int64_t> out;
  for (auto next = then->next_after(run.nominal_unix_ms() - 1); next && *next <= run.last_nominal_unix_ms() && out.size() <= run.count();
       next = then->next_after(*next))
    out.push_back(*next);
  if (out.empty() || out.size() != run.count() || out.front() != run.nominal_unix_ms() || out.back() != run.last_nominal_unix_ms())
    return std::nullopt;
  return out;
}

void job_machine::cut_run(const v1::LaunchRecord& run, const std::vector<std::int64_t>& times, const std::vector<std::int64_t>& launched) {
  const auto whole = run;
  // A run of this very decision has not been stored.
  if (rows_.erase(whole.nominal_unix_ms()) == 0) out_.erased_rows.push_back(whole.nominal_unix_ms());
  record_.set_kept_launches(record_.kept_launches() - std::min<std::uint64_t>(record_.kept_launches(), 1));
  out_.changed = true;
  std::vector<std::int64_t> part;
  const auto keep = [&] {
    if (part.empty()) return;
    auto row = whole;
    row.set_nominal_unix_ms(part.front());
    row.set_utc_offset_s(utc_offset_in(row.zone(), part.front()));
    if (part.size() == 1) {
      row.clear_last_nominal_unix_ms();
      row.clear_count();
      row.clear_schedule();
      row.clear_dst();
    } else {
      row.set_last_nominal_unix_ms(part.back());
      row.set_count(part.size());
    }
    write_row(std::move(row), true);
    part.clear();
  };
  auto launch = launched.begin();
  for (const auto at_ms : times) {
    for (; launch != launched.end() && *launch < at_ms; ++launch) keep();
    if (launch != launched.end() && *launch == at_ms)
      keep();
    else
      part.push_back(at_ms);
  }
  keep();
}

void job_machine::backfill(const v1::JobAction& what) {
  const auto& name = record_.spec().name();
  const auto from_ms = what.from_unix_ms();
  // Clocks of two machines differ: "until now" may be a moment ahead of this one.
  const auto to_ms = what.to_unix_ms() - now_ms_ < on_time_ms ? std::min(what.to_unix_ms(), now_ms_) : what.to_unix_ms();
  if (from_ms < 0) return refuse(v1::ERROR_CODE_INVALID_ARGUMENT, "the time range begins before 1970");
  if (from_ms > to_ms) return refuse(v1::ERROR_CODE_INVALID_ARGUMENT, "the time range ends before it begins");
  if (to_ms > now_ms_)
    return refuse(v1::ERROR_CODE_INVALID_ARGUMENT, "the time range ends at " + utc_text(to_ms) + ", which is in the future",
                  "give an end in the past; future times are launched by the schedule");
  if (!table_) return refuse(v1::ERROR_CODE_WRONG_STATE, "the time zone of job " + name + " is not known any more");
  if (!caught_up()) return;
  // Times just decided for catch-up count as well: the store has no row of them yet.
  record_skips();
  const auto stored = ctx_.rows->from(from_ms);
  if (!stored) {
    fail(stored.failure());
    return;
  }
  auto rows = rows_;
  for (const auto& row : *stored) rows.emplace(row.nominal_unix_ms(), row);
  std::vector<known_run> runs;
  for (const auto& [nominal_ms, row] : rows) {
    if (nominal_ms > to_ms || !is_run(row) || end_of(row) < from_ms) continue;
    auto times = times_of(row);
    if (!times)
      return refuse(v1::ERROR_CODE_WRONG_STATE,
                    "the time range has times from " + utc_text(nominal_ms) + " to " + utc_text(end_of(row)) + " that job " + name +
                        " skipped with a schedule or a time zone that does not exist any more",
                    "backfill the times before and after them");
    runs.push_back({&row, std::move(*times)});
  }
  std::vector<std::int64_t> times;
  std::uint64_t passed_over = 0;
  const auto room = static_cast<std::size_t>(max_open_launches - std::min(max_open_launches, count_open()));
  int looked_at = 0;
  const auto takes_waiting = ctx_.planted != nullptr && ctx_.planted->backfill_what_waits;
  const auto is_launched = [&](const v1::LaunchRecord& row) {
    return row.state() != v1::LAUNCH_STATE_SKIPPED && !(takes_waiting && row.state() == v1::LAUNCH_STATE_WAITING);
  };
  for (auto next = table_->next_after(from_ms - 1); next && *next <= to_ms; next = table_->next_after(*next)) {
    const auto found = rows.find(*next);
    if (found != rows.end() && is_launched(found->second))
      ++passed_over;
    else
      times.push_back(*next);
    if (times.size() > room || ++looked_at > 100 * max_times_a_decision)
      return refuse(v1::ERROR_CODE_INVALID_ARGUMENT,
                    "the time range has more than the " + std::to_string(room) + " times that can be launched at once",
                    "backfill a shorter time range first");
  }
  out_.answer.set_passed_over(passed_over);
  const auto passed_text = passed_over != 0 ? ", " + std::to_string(passed_over) + " times already had a launch" : std::string{};
  if (what.verb() == v1::JOB_VERB_BACKFILL_DRY_RUN) {
    for (const auto at_ms : times) out_.answer.add_times_unix_ms(at_ms);
    out_.answer.set_sentence(std::to_string(times.size()) + " times would be launched" + passed_text);
    return settle();
  }
  const auto run_of = [&](std::int64_t at_ms) -> const v1::LaunchRecord* {
    for (const auto& run : runs)
      if (holds(run.times, at_ms)) return run.row;
    return nullptr;
  };
  std::map<std::int64_t, v1::SkipReason> skipped_before;
  std::set<std::int64_t> in_runs;
  for (const auto at_ms : times) {
    if (const auto* run = run_of(at_ms)) {
      in_runs.insert(at_ms);
      skipped_before[at_ms] = run->skip();
    } else if (const auto found = rows.find(at_ms); found != rows.end()) {
      // The launch waits only if that is planted, and the fault is to look as much like a skip as possible.
      skipped_before[at_ms] = found->second.state() == v1::LAUNCH_STATE_SKIPPED ? found->second.skip() : v1::SKIP_REASON_REPLACED;
    }
  }
  for (const auto& run : runs) {
    // A run of another schedule may have no time of the present one, but must not reach over a launch either.
    const auto first = std::lower_bound(times.begin(), times.end(), run.times.front());
    if (first != times.end() && *first <= run.times.back()) cut_run(*run.row, run.times, times);
  }
  auto policy = what.overlap() == v1::OVERLAP_POLICY_UNSPECIFIED ? overlap_of(record_.spec()) : what.overlap();
  if (policy == v1::OVERLAP_POLICY_SKIP || policy == v1::OVERLAP_POLICY_REPLACE) policy = v1::OVERLAP_POLICY_QUEUE;
  for (const auto at_ms : times) {
    auto launch = opened(at_ms, v1::LAUNCH_TRIGGER_BACKFILL);
    launch.set_overlap(policy);
    launch.set_who(what.who());
    launch.set_asked_because(what.reason());
    launch.set_start_at_unix_ms(at_ms);
    launch.set_start_by_unix_ms(0);
    if (const auto found = skipped_before.find(at_ms); found != skipped_before.end()) launch.set_skipped_before(found->second);
    // The row was part of a run that is gone: it counts as a new row.
    if (in_runs.count(at_ms) != 0) record_.set_kept_launches(record_.kept_launches() + 1);
    add_open(std::move(launch));
  }
  std::uint64_t missed = 0;
  for (const auto& [at_ms, why] : skipped_before) missed += why == v1::SKIP_REASON_OUTSIDE_WINDOW ? 1 : 0;
  forget_missed(from_ms, to_ms, missed);
  settle();
  out_.answer.set_launches(times.size());
  out_.answer.set_sentence(std::to_string(times.size()) + " launches recorded" + passed_text +
                           (record_.paused() && !times.empty() ? "; the job is paused: its launches are held until it is resumed" : ""));
}

void job_machine::forget_missed(std::int64_t from_ms, std::int64_t to_ms, std::uint64_t launched) {
  if (!record_.has_missed()) return;
  auto& missed = *record_.mutable_missed();
  const auto all = from_ms <= missed.first_unix_ms() && to_ms >= missed.last_unix_ms();
  missed.set_count(missed.count() - std::min(missed.count(), launched));
  if (from_ms <= missed.first_unix_ms()) missed.set_first_unix_ms(table_->next_after(to_ms).value_or(missed.last_unix_ms()));
  if (all || missed.count() == 0) record_.clear_missed();
  out_.missed_changed = true;
}

void job_machine::rewind(const v1::JobAction& what) {
  if (record_.mark_unix_ms() <= now_ms_)
    return refuse(v1::ERROR_CODE_WRONG_STATE,
                  "job " + record_.spec().name() + " has only been launched for times until " + utc_text(record_.mark_unix_ms()) +
                      ", and none is in the future",
                  "nothing to rewind");
  const auto rows = ctx_.rows->from(now_ms_ + 1);
  if (!rows) {
    fail(rows.failure());
    return;
  }
  // A run whose times are unknown cannot be split: its times stay decided.
  auto to_ms = now_ms_;
  run_times times;
  for (const auto& row : *rows) {
    if (!is_run(row)) continue;
    if (auto known = times_of(row))
      times[row.nominal_unix_ms()] = std::move(*known);
    else
      to_ms = std::max(to_ms, end_of(row));
  }
  if (to_ms >= record_.mark_unix_ms())
    return refuse(v1::ERROR_CODE_WRONG_STATE,
                  "the times of job " + record_.spec().name() + " up to " + utc_text(to_ms) +
                      " were skipped with a schedule or a time zone that does not exist any more, and cannot be rewound",
                  "wait until that time has passed, or delete the job and deploy it again");
  if (what.verb() == v1::JOB_VERB_REWIND_DRY_RUN) return foresee_rewind(to_ms, *rows, times);
  auto& open = *record_.mutable_open();
  const v1::LaunchRecord* newest = nullptr;
  std::uint64_t not_missed = 0;  // times that are launched when they come
  for (const auto& row : *rows) {
    if (!is_decided_anew(row, to_ms)) {
      newest = &row;
      continue;
    }
    if (row.state() == v1::LAUNCH_STATE_WAITING)
      open.erase(std::remove_if(open.begin(), open.end(), [&](const auto& one) { return one.nominal_unix_ms() == row.nominal_unix_ms(); }),
                 open.end());
    if (is_run(row)) {
      auto stay = times.at(row.nominal_unix_ms());
      stay.erase(std::upper_bound(stay.begin(), stay.end(), to_ms), stay.end());
      if (row.skip() == v1::SKIP_REASON_OUTSIDE_WINDOW) not_missed += row.count() - stay.size();
      cut_run(row, stay, {});
    } else {
      if (row.skip() == v1::SKIP_REASON_OUTSIDE_WINDOW) ++not_missed;
      out_.erased_rows.push_back(row.nominal_unix_ms());
      record_.set_kept_launches(record_.kept_launches() - std::min<std::uint64_t>(record_.kept_launches(), 1));
    }
  }
  if (is_decided_anew(record_.last(), to_ms)) {
    record_.clear_last();
    if (newest != nullptr)
      *record_.mutable_last() = *newest;
    else if (!rows_.empty())
      *record_.mutable_last() = rows_.rbegin()->second;
  }
  const auto was_ms = record_.mark_unix_ms();
  record_.set_decided_until_unix_ms(std::max(record_.decided_until_unix_ms(), was_ms));
  record_.set_mark_unix_ms(to_ms);
  out_.changed = true;
  if (record_.has_missed() && record_.missed().last_unix_ms() > to_ms) {
    auto& missed = *record_.mutable_missed();
    missed.set_count(missed.count() - std::min(missed.count(), not_missed));
    missed.set_last_unix_ms(to_ms - to_ms % 1000);
    if (missed.count() == 0 || missed.first_unix_ms() > to_ms) record_.clear_missed();
    out_.missed_changed = true;
  }
  advance();
  settle();
  out_.answer.set_sentence("set back from " + utc_text(was_ms) + " to " + utc_text(to_ms));
}

void job_machine::foresee_rewind(std::int64_t to_ms, const std::vector<v1::LaunchRecord>& rows, const run_times& runs) {
  std::set<std::int64_t> stay;
  std::size_t skips = 0, waiting = 0;
  for (const auto& row : rows) {
    if (!is_decided_anew(row, to_ms))
      stay.insert(row.nominal_unix_ms());
    else if (row.state() == v1::LAUNCH_STATE_WAITING)
      ++waiting;
    else if (!is_run(row))
      ++skips;
    else
      for (const auto at_ms : runs.at(row.nominal_unix_ms())) skips += at_ms > to_ms ? 1 : 0;
  }
  const auto was_ms = record_.mark_unix_ms();
  std::uint64_t passed_over = 0;
  bool more = false;
  // Times between a backup and its restore stay skipped.
  auto next = table_ ? table_->next_after(std::max(to_ms, record_.restored_until_unix_ms())) : std::nullopt;
  for (; next && *next <= was_ms && !more; next = table_->next_after(*next)) {
    if (stay.count(*next) != 0)
      ++passed_over;
    else if (out_.answer.times_unix_ms_size() == max_times_a_decision)
      more = true;
    else
      out_.answer.add_times_unix_ms(*next);
  }
  const auto counted = [](std::uint64_t all, const char* one, const char* many) { return std::to_string(all) + (all == 1 ? one : many); };
  out_.answer.set_passed_over(passed_over);
  out_.answer.set_sentence(
      "would be set back from " + utc_text(was_ms) + " to " + utc_text(to_ms) + ": " + (more ? "more than " : "") +
      counted(static_cast<std::uint64_t>(out_.answer.times_unix_ms_size()), " time", " times") + " would be launched when due" +
      (passed_over == 0 ? "" : ", " + counted(passed_over, " time already has a launch", " times already have a launch")) + "; " +
      counted(skips, " skip", " skips") + " and " + counted(waiting, " waiting launch", " waiting launches") + " would be forgotten" +
      (record_.paused() ? "; the job is paused: its times are skipped until it is resumed" : ""));
}

}  // namespace fairlead::core
