// Nominal times: each time that has come gets its launch or its skip, and the mark moves past it.

#include <xxhash.h>

#include <algorithm>
#include <utility>

#include "actors/core/job/machine.hpp"
#include "actors/core/job/transitions.hpp"
#include "actors/core/planted_faults.hpp"

namespace fairlead::core {

bool job_machine::advance() {
  if (!table_) {
    // The database has lost the zone (schedules are checked before they are stored). The mark stays: once the zone is back its times are
    // caught up.
    if (record_.next_unix_ms() != 0) {
      record_.set_next_unix_ms(0);
      out_.changed = true;
    }
    const auto& spec = record_.spec();
    if (record_.alert() == 0)
      out_.alert = failing_alert(spec, "job " + spec.name() + " cannot be launched: the time zone database has no zone " + spec.zone(),
                                 "install a tzdata package with this time zone, or deploy the job with another time zone");
    return true;
  }
  auto next = table_->next_after(record_.mark_unix_ms());
  const auto waits = ctx_.planted != nullptr && ctx_.planted->wait_out_rewind && record_.decided_until_unix_ms() > now_ms_ + 60'000;
  for (int taken = 0; next && *next <= now_ms_ && !waits; ++taken) {
    if (taken == max_times_a_decision) {
      out_.more = true;
      break;
    }
    const auto successor = table_->next_after(*next);
    pass(*next, successor);
    if (out_.fatal) return false;
    record_.set_mark_unix_ms(*next);
    record_.set_decided_until_unix_ms(std::max(record_.decided_until_unix_ms(), *next));
    out_.changed = true;
    next = successor;
  }
  if (record_.next_unix_ms() != next.value_or(0)) {
    record_.set_next_unix_ms(next.value_or(0));
    out_.changed = true;
  }
  return !out_.more;
}

bool job_machine::caught_up() {
  if (advance()) return true;
  // The decisions so far are dropped: the caller does not write a refused decision.
  refuse(v1::ERROR_CODE_UNAVAILABLE, "job " + record_.spec().name() + " is still catching up with missed times", "try again in a moment");
  return false;
}

bool job_machine::decided_before(std::int64_t nominal_ms) {
  if (nominal_ms > record_.decided_until_unix_ms()) return false;
  if (ctx_.planted != nullptr && ctx_.planted->forget_decided) return false;
  const auto row = ctx_.rows->at(nominal_ms);
  if (!row) return !fail(row.failure());
  return row->has_value();
}

void job_machine::pass(std::int64_t nominal_ms, std::optional<std::int64_t> successor_ms) {
  if (decided_before(nominal_ms)) {
    // A run of skips does not reach over a time that has its record.
    record_skips();
    return;
  }
  if (out_.fatal) return;
  const core::planted_faults none{};
  const auto& planted = ctx_.planted != nullptr ? *ctx_.planted : none;
  if (planted.lose_launch) return;
  const auto& spec = record_.spec();
  if (nominal_ms <= record_.restored_until_unix_ms()) {
    skip_time(nominal_ms, v1::SKIP_REASON_RESTORED, "it was between a backup and its restore: it may have been launched already");
    return;
  }
  if (record_.paused() && !planted.launch_when_paused) {
    skip_time(nominal_ms, v1::SKIP_REASON_PAUSED, "the job was paused");
    return;
  }
  const auto late_ms = now_ms_ - nominal_ms;
  const auto on_time = std::max(on_time_ms, start_window_of(spec).value_or(0));
  if (late_ms >= on_time) {
    const auto policy = catch_up_of(spec);
    if (policy == v1::CATCH_UP_POLICY_NONE && !planted.launch_past_window) {
      skip_time(nominal_ms, v1::SKIP_REASON_OUTSIDE_WINDOW, "its time was missed, and catch_up is none");
      return;
    }
    if (late_ms > catch_up_window_of(spec) && !planted.launch_past_window) {
      skip_time(nominal_ms, v1::SKIP_REASON_OUTSIDE_WINDOW,
                "its time was missed by more than the catch-up window of " + format_duration(catch_up_window_of(spec)));
      note_missed(nominal_ms);
      return;
    }
    if (policy == v1::CATCH_UP_POLICY_LATEST && successor_ms && *successor_ms <= now_ms_ && !planted.launch_superseded) {
      skip_time(nominal_ms, v1::SKIP_REASON_SUPERSEDED, "a later time was missed as well, and only the latest is caught up");
      return;
    }
  }
  const auto policy = overlap_of(spec);
  const auto* first = planted.count_parked_launches && !record_.open().empty() ? &record_.open(0) : first_counted();
  if (policy == v1::OVERLAP_POLICY_SKIP && first != nullptr && !planted.ignore_overlap) {
    skip_time(nominal_ms, v1::SKIP_REASON_OVERLAP, id_of(first->nominal_unix_ms()) + " had not ended");
    return;
  }
  if (policy == v1::OVERLAP_POLICY_REPLACE) give_way(id_of(nominal_ms));
  if (count_open() >= max_open_launches) {
    const auto reason = std::to_string(max_open_launches) + " launches of the job are open, which is the maximum";
    skip_time(nominal_ms, v1::SKIP_REASON_TOO_MANY_OPEN, reason);
    count_bad("its launch " + id_of(nominal_ms) + " was skipped: " + reason);
    return;
  }
  auto launch = opened(nominal_ms, v1::LAUNCH_TRIGGER_SCHEDULE);
  launch.set_start_at_unix_ms(nominal_ms + jitter_of(nominal_ms));
  launch.set_start_by_unix_ms(start_by(launch.start_at_unix_ms(), nominal_ms));
  add_open(std::move(launch));
}

void job_machine::note_missed(std::int64_t nominal_ms) {
  if (ctx_.planted != nullptr && ctx_.planted->forget_missed) return;
  for (auto* missed : {record_.mutable_missed(), &out_.missed_now}) {
    if (missed->count() == 0) missed->set_first_unix_ms(nominal_ms);
    missed->set_count(missed->count() + 1);
    missed->set_last_unix_ms(nominal_ms);
    missed->clear_completed_since();
  }
  out_.missed_changed = true;
}

std::int64_t job_machine::jitter_of(std::int64_t nominal_ms) const {
  const auto most = record_.spec().jitter_ms();
  if (most <= 0) return 0;
  const auto id = id_of(nominal_ms);
  return static_cast<std::int64_t>(XXH3_64bits(id.data(), id.size()) % (static_cast<std::uint64_t>(most) + 1));
}

std::int64_t job_machine::start_by(std::int64_t start_at_ms, std::int64_t nominal_ms) const {
  const auto window = start_window_of(record_.spec());
  if (!window) return 0;
  const auto found_missing_ms = ctx_.planted != nullptr && ctx_.planted->window_from_nominal ? nominal_ms : now_ms_;
  return std::max(start_at_ms, std::max(nominal_ms, found_missing_ms) + *window);
}

v1::OpenLaunch job_machine::opened(std::int64_t nominal_ms, v1::LaunchTrigger trigger) const {
  v1::OpenLaunch launch;
  launch.set_nominal_unix_ms(nominal_ms);
  move_launch(launch, launch_moves::wait);
  launch.set_waits_for(v1::LAUNCH_WAIT_TIME);
  launch.set_overlap(overlap_of(record_.spec()));
  launch.set_trigger(trigger);
  launch.set_recorded_at_unix_ms(now_ms_);
  launch.set_utc_offset_s(utc_offset_at(nominal_ms));
  return launch;
}

std::int32_t job_machine::utc_offset_in(const std::string& zone, std::int64_t nominal_ms) const {
  const auto* known = ctx_.zones->find(zone);
  if (known == nullptr) return 0;
  return known->lookup(std::chrono::time_point_cast<cctz::seconds>(from_unix_ms(nominal_ms))).offset;
}

// ---- skips ----

void job_machine::skip_time(std::int64_t nominal_ms, v1::SkipReason why, std::string reason) {
  // Skips before a launch are recorded before it: a run never reaches over a launch.
  if (!skips_.empty() && (skips_.back().why != why || is_decided_between(skips_.back().nominal_ms, nominal_ms))) record_skips();
  skips_.push_back({nominal_ms, why, std::move(reason)});
}

bool job_machine::is_decided_between(std::int64_t after_ms, std::int64_t before_ms) {
  if (after_ms >= decided_until_ms_) return false;
  if (!decided_) {
    const auto rows = ctx_.rows->from(after_ms);
    if (!rows) return fail(rows.failure());
    decided_.emplace();
    for (const auto& row : *rows)
      if (row.nominal_unix_ms() % 1000 == 0) decided_->push_back(row.nominal_unix_ms());
  }
  const auto next = std::upper_bound(decided_->begin(), decided_->end(), after_ms);
  return next != decided_->end() && *next < before_ms;
}

void job_machine::record_skips() {
  if (skips_.empty()) return;
  const auto times = std::exchange(skips_, {});
  out_.skipped += times.size();
  record_.set_skipped(record_.skipped() + times.size());
  if (ctx_.planted != nullptr && ctx_.planted->forget_skip) return;
  const auto row_for = [&](const skipped_time& one) {
    v1::LaunchRecord row;
    row.set_job(record_.spec().name());
    row.set_nominal_unix_ms(one.nominal_ms);
    move_launch(row, launch_moves::skip);
    row.set_skip(one.why);
    row.set_reason(one.reason);
    row.set_recorded_at_unix_ms(now_ms_);
    row.set_zone(record_.spec().zone());
    row.set_utc_offset_s(utc_offset_at(one.nominal_ms));
    return row;
  };
  if (times.size() > static_cast<std::size_t>(max_single_skips)) {
    auto row = row_for(times.front());
    row.set_last_nominal_unix_ms(times.back().nominal_ms);
    row.set_count(times.size());
    row.set_schedule(record_.spec().schedule());
    row.set_dst(record_.spec().dst());
    write_row(std::move(row), true);
    return;
  }
  for (const auto& one : times) write_row(row_for(one), true);
}

}  // namespace fairlead::core
