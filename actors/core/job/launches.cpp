// Open launches: those that wait, and those whose task has not ended.

#include <algorithm>
#include <utility>

#include "actors/core/job/launch_input.hpp"
#include "actors/core/job/machine.hpp"
#include "actors/core/job/transitions.hpp"
#include "actors/core/planted_faults.hpp"

namespace fairlead::core {

namespace {

// Records removed at a time, if more are stored than are to be kept.
constexpr std::uint64_t most_trimmed = 64;

/// A skip of an open launch that needs attention; all other skips follow the job's policies.
bool is_bad(v1::SkipReason why) {
  switch (why) {
    case v1::SKIP_REASON_NO_AGENTS:
    case v1::SKIP_REASON_START_WINDOW:
    case v1::SKIP_REASON_DEADLINE:
    case v1::SKIP_REASON_NO_WORKFLOW:
    case v1::SKIP_REASON_ID_TAKEN:
    case v1::SKIP_REASON_INPUT: return true;
    default: return false;
  }
}

}  // namespace

v1::LaunchRecord job_machine::row_of(const v1::OpenLaunch& launch) const {
  v1::LaunchRecord row;
  row.set_job(record_.spec().name());
  row.set_nominal_unix_ms(launch.nominal_unix_ms());
  row.set_state(launch.state());
  row.set_trigger(launch.trigger());
  row.set_recorded_at_unix_ms(launch.recorded_at_unix_ms());
  row.set_task_number(launch.task_number());
  row.set_zone(record_.spec().zone());
  row.set_utc_offset_s(launch.utc_offset_s());
  row.set_who(launch.who());
  row.set_asked_because(launch.asked_because());
  row.set_token(launch.token());
  row.set_skipped_before(launch.skipped_before());
  if (launch.state() == v1::LAUNCH_STATE_WAITING) row.set_waits_for(launch.waits_for());
  return row;
}

void job_machine::write_row(v1::LaunchRecord row, bool is_new) {
  if (is_new) record_.set_kept_launches(record_.kept_launches() + 1);
  const auto end = [](const v1::LaunchRecord& one) { return std::max(one.nominal_unix_ms(), one.last_nominal_unix_ms()); };
  if (end(row) >= end(record_.last())) *record_.mutable_last() = row;
  rows_[row.nominal_unix_ms()] = std::move(row);
  out_.changed = true;
}

void job_machine::add_open(v1::OpenLaunch launch) {
  // Skips before this launch have their own row, which comes first.
  record_skips();
  auto& open = *record_.mutable_open();
  const auto nominal_ms = launch.nominal_unix_ms();
  const auto again = launch.skipped_before() != v1::SKIP_REASON_UNSPECIFIED;
  write_row(row_of(launch), !again);
  open.Add(std::move(launch));
  // Ordered by nominal time.
  for (int i = open.size() - 1; i > 0 && open[i - 1].nominal_unix_ms() > nominal_ms; --i) open.SwapElements(i - 1, i);
}

void job_machine::give_way(const std::string& later) {
  for (int i = record_.open_size() - 1; i >= 0; --i) {
    auto& launch = *record_.mutable_open(i);
    if (!counts(launch) && (ctx_.planted == nullptr || !ctx_.planted->replace_parked)) continue;
    if (launch.state() == v1::LAUNCH_STATE_WAITING) {
      skip_open(i, v1::SKIP_REASON_REPLACED, later + " replaced it");
    } else {
      // Also one that gave way before: an operator may have let it go on. One that is on its way out is left alone.
      out_.changed = out_.changed || !launch.cancelling();
      launch.set_cancelling(true);
      out_.cancels.push_back({launch.task_number(), "replaced by " + later});
    }
  }
}

std::int64_t job_machine::deadline_of(const v1::OpenLaunch& launch) const {
  const auto& spec = record_.spec();
  if (spec.deadline_ms() == 0) return 0;
  // A launch that an operator asks for has its time now.
  const auto from = launch.trigger() == v1::LAUNCH_TRIGGER_SCHEDULE ? launch.nominal_unix_ms() : launch.recorded_at_unix_ms();
  return from + spec.deadline_ms();
}

void job_machine::settle() {
  if (out_.fatal || out_.refused) return;
  const auto& open = record_.open();
  started_ = static_cast<std::uint32_t>(
      std::count_if(open.begin(), open.end(), [this](const auto& one) { return one.state() == v1::LAUNCH_STATE_STARTED && counts(one); }));
  waits_earlier_ = false;
  for (int i = 0; i < record_.open_size();) {
    const auto before = record_.open_size();
    if (record_.open(i).state() == v1::LAUNCH_STATE_WAITING) try_to_start(i);
    if (record_.open_size() != before) continue;
    if (record_.open(i).state() == v1::LAUNCH_STATE_WAITING) waits_earlier_ = true;
    ++i;
  }
}

void job_machine::try_to_start(int index) {
  auto& launch = *record_.mutable_open(index);
  const auto deadline_ms = deadline_of(launch);
  if (deadline_ms != 0 && now_ms_ >= deadline_ms) {
    skip_open(index, v1::SKIP_REASON_DEADLINE,
              launch.waits_for() == v1::LAUNCH_WAIT_PAUSE ? "its deadline passed while the job was paused"
                                                          : "its deadline passed before it could start");
    return;
  }
  const auto start_by_ms = launch.start_by_unix_ms();
  const auto window_is_over = [&] {
    if (launch.waits_for() == v1::LAUNCH_WAIT_AGENTS)
      skip_open(index, v1::SKIP_REASON_NO_AGENTS, "the agents that it needs were not free before the end of its start window");
    else
      skip_open(index, v1::SKIP_REASON_START_WINDOW,
                launch.waits_for() == v1::LAUNCH_WAIT_OVERLAP ? "an earlier launch had not ended before the end of its start window"
                : launch.waits_for() == v1::LAUNCH_WAIT_ROOM  ? "there was no room for it before the end of its start window"
                : launch.waits_for() == v1::LAUNCH_WAIT_PAUSE ? "the job was paused at the end of its start window"
                                                              : "it was not started before the end of its start window");
  };
  if (start_by_ms != 0 && now_ms_ > start_by_ms) {
    window_is_over();
    return;
  }
  auto waits_for = v1::LAUNCH_WAIT_UNSPECIFIED;
  // Also before its time: nothing has to be checked when that comes.
  if (held_by_pause(launch)) {
    waits_for = v1::LAUNCH_WAIT_PAUSE;
    // A launch by hand starts at once; its moment lies ahead only if the clock has been set back since.
  } else if (launch.trigger() != v1::LAUNCH_TRIGGER_OPERATOR && now_ms_ < launch.start_at_unix_ms()) {
    waits_for = v1::LAUNCH_WAIT_TIME;
  } else if (blocked(launch)) {
    waits_for = v1::LAUNCH_WAIT_OVERLAP;
  } else {
    auto verdict = ctx_.gate->admit(record_, launch);
    if (verdict.what == launch_verdict::kind::skip) {
      skip_open(index, verdict.skip, std::move(verdict.reason));
      return;
    }
    if (verdict.what == launch_verdict::kind::go) {
      if (auto why = start(launch)) skip_open(index, v1::SKIP_REASON_INPUT, std::move(*why));
      return;
    }
    waits_for = verdict.waits_for;
  }
  if (waits_for != launch.waits_for()) {
    launch.set_waits_for(waits_for);
    write_row(row_of(launch), false);
  }
  if (start_by_ms != 0 && now_ms_ >= start_by_ms) window_is_over();
}

bool job_machine::held_by_pause(const v1::OpenLaunch& launch) const {
  // A launch by hand starts whether the job is paused or not.
  if (ctx_.planted != nullptr && ctx_.planted->start_when_paused) return false;
  return record_.paused() && launch.trigger() != v1::LAUNCH_TRIGGER_OPERATOR;
}

std::vector<std::int64_t> job_machine::held() const {
  std::vector<std::int64_t> out;
  for (const auto& launch : record_.open())
    if (launch.state() == v1::LAUNCH_STATE_WAITING && held_by_pause(launch)) out.push_back(launch.nominal_unix_ms());
  return out;
}

bool job_machine::blocked(const v1::OpenLaunch& launch) const {
  const auto most = record_.spec().max_in_flight();
  if (most != 0 && started_ >= most) return true;
  if (launch.overlap() == v1::OVERLAP_POLICY_ALLOW) return false;
  if (ctx_.planted != nullptr && ctx_.planted->ignore_overlap) return false;
  return started_ != 0 || waits_earlier_;
}

std::optional<std::string> job_machine::start(v1::OpenLaunch& launch) {
  launch_start out;
  out.nominal_unix_ms = launch.nominal_unix_ms();
  out.task_id = id_of(launch.nominal_unix_ms());
  out.deadline_unix_ms = deadline_of(launch);
  out.restored_from_unix_ms = launch.restored_from_unix_ms();
  out.launch.set_job(record_.spec().name());
  out.launch.set_nominal_unix_ms(launch.nominal_unix_ms());
  out.launch.set_zone(record_.spec().zone().empty() ? "UTC" : record_.spec().zone());
  out.launch.set_utc_offset_s(launch.utc_offset_s());
  out.launch.set_trigger(launch.trigger() == v1::LAUNCH_TRIGGER_OPERATOR   ? "operator"
                         : launch.trigger() == v1::LAUNCH_TRIGGER_BACKFILL ? "backfill"
                                                                           : "schedule");
  auto input = launch.has_input() ? result<std::string>{launch.input()} : render_job_input(record_.spec().input(), out.launch);
  if (!input) return "its input cannot be evaluated: " + input.failure().sentence;
  if (const auto why = ctx_.gate->refuse_input(record_.spec(), *input)) return why->sentence;
  out.input = std::move(*input);
  move_launch(launch, launch_moves::start);
  launch.clear_waits_for();
  launch.clear_input();
  record_.set_launched(record_.launched() + 1);
  ++started_;
  auto row = row_of(launch);
  row.set_started_at_unix_ms(now_ms_);
  write_row(std::move(row), false);
  out_.starts.push_back(std::move(out));
  return std::nullopt;
}

void job_machine::skip_open(int index, v1::SkipReason why, std::string reason) {
  // The launch's time ran out because an operator held it.
  const auto was_held = record_.open(index).waits_for() == v1::LAUNCH_WAIT_PAUSE;
  auto row = row_of(record_.open(index));
  move_launch(row, launch_moves::skip);
  row.clear_waits_for();
  row.set_skip(why);
  row.set_reason(std::move(reason));
  record_.mutable_open()->DeleteSubrange(index, 1);
  record_.set_skipped(record_.skipped() + 1);
  ++out_.skipped;
  // A backfill goes further back than records are kept: a time whose task exists had its launch, and nothing is wrong.
  const auto had_its_launch = why == v1::SKIP_REASON_ID_TAKEN && row.trigger() == v1::LAUNCH_TRIGGER_BACKFILL;
  if (is_bad(why) && !had_its_launch && !was_held)
    count_bad("its launch " + id_of(row.nominal_unix_ms()) + " was skipped: " + row.reason());
  if (ctx_.planted != nullptr && ctx_.planted->forget_skip) {
    rows_.erase(row.nominal_unix_ms());
    out_.erased_rows.push_back(row.nominal_unix_ms());
    out_.changed = true;
    return;
  }
  write_row(std::move(row), false);
}

void job_machine::ended(const launch_ended& what) {
  auto& open = *record_.mutable_open();
  const auto found = std::find_if(open.begin(), open.end(), [&](const auto& one) { return one.nominal_unix_ms() == what.nominal_unix_ms; });
  const auto was_open = found != open.end() && found->state() == v1::LAUNCH_STATE_STARTED;
  // The task belongs to an earlier job of this name: the launch of this job has not been started.
  const auto waits = found != open.end() && !was_open;
  const auto gave_way = was_open && found->cancelling();
  const auto counted = was_open && found->counted_bad();
  auto row = ctx_.rows->at(what.nominal_unix_ms);
  if (!row) {
    fail(row.failure());
    return;
  }
  // The record may have been trimmed, may belong to a deleted job of this name, or was closed when the job was given up.
  const auto& end = launch_moves::of_end(what.end);
  if (*row && !waits && (*row)->state() != v1::LAUNCH_STATE_SKIPPED && (*row)->state() != end.to) {
    move_launch(**row, end);
    (*row)->set_ended_at_unix_ms(now_ms_);
    write_row(std::move(**row), false);
  }
  if (was_open) {
    open.erase(found);
    out_.changed = true;
    count_end(record_, what.end);
    if (what.end == v1::TASK_STATE_COMPLETED)
      count_good();
    else if (!gave_way && !counted)
      count_bad("its launch " + id_of(what.nominal_unix_ms) + (what.end == v1::TASK_STATE_FAILED ? " failed" : " was undone"));
  }
  settle();
}

void job_machine::seen(const missed_seen& what) {
  if (!record_.has_missed() || record_.missed_alert() != what.alert) return;
  record_.clear_missed();
  out_.missed_changed = true;
  out_.changed = true;
}

void job_machine::held(const launch_held& what) {
  auto& open = *record_.mutable_open();
  const auto found = std::find_if(open.begin(), open.end(), [&](const auto& one) {
    return one.nominal_unix_ms() == what.nominal_unix_ms && one.state() == v1::LAUNCH_STATE_STARTED;
  });
  if (found == open.end() || found->parked() == what.parked) return;
  found->set_parked(what.parked);
  out_.changed = true;
  if (what.parked && !found->cancelling() && !found->counted_bad()) {
    found->set_counted_bad(true);
    count_bad("its launch " + id_of(what.nominal_unix_ms) + " is parked");
  }
  if (what.parked) pause_if_many_parked();
  settle();
}

/// Each of them waits for an operator, so launching more would only add to the heap.
void job_machine::pause_if_many_parked() {
  const auto parked = std::count_if(record_.open().begin(), record_.open().end(), [](const auto& one) { return one.parked(); });
  if (record_.paused() || parked < max_parked_launches) return;
  const auto& name = record_.spec().name();
  const auto why = std::to_string(parked) + " of its launches are parked";
  core::pause(record_, "scheduler", why, ctx_.now);
  out_.alert = failing_alert(
      record_.spec(), "job " + name + " has paused itself: " + why,
      "fairlead task list --parked --workflow " + record_.spec().workflow() + " lists them; then fairlead job resume " + name);
}

const v1::OpenLaunch* job_machine::first_counted() const {
  const auto& open = record_.open();
  const auto found = std::find_if(open.begin(), open.end(), [this](const auto& one) { return counts(one); });
  return found == open.end() ? nullptr : &*found;
}

int job_machine::count_open() const {
  return static_cast<int>(std::count_if(record_.open().begin(), record_.open().end(), [this](const auto& one) { return counts(one); }));
}

void count_end(v1::JobRecord& record, v1::TaskState end) {
  switch (end) {
    case v1::TASK_STATE_COMPLETED: return record.set_completed(record.completed() + 1);
    case v1::TASK_STATE_FAILED: return record.set_failed(record.failed() + 1);
    default: return record.set_undone(record.undone() + 1);
  }
}

void job_machine::count_bad(const std::string& sentence) {
  record_.set_bad_in_a_row(record_.bad_in_a_row() + 1);
  const auto& spec = record_.spec();
  const auto after = spec.has_alert_after() ? spec.alert_after() : 1;
  if (after == 0 || record_.bad_in_a_row() < after || out_.alert) return;
  const auto in_a_row =
      record_.bad_in_a_row() > 1 ? " (" + std::to_string(record_.bad_in_a_row()) + " launches in a row failed or could not start)" : "";
  // An alert that this very decision resolves is about earlier launches; one about the job's pause stays.
  const auto raised = record_.alert() != 0 && !out_.resolve_alert;
  if (raised && record_.paused()) return;
  (raised ? out_.restated : out_.alert) =
      failing_alert(spec, "job " + spec.name() + ": " + sentence + in_a_row,
                    "fairlead job show " + spec.name() + " shows its launches; the next launch that completes resolves this alert");
}

void job_machine::count_good() {
  if (record_.has_missed()) {
    auto& missed = *record_.mutable_missed();
    missed.set_completed_since(missed.completed_since() + 1);
    out_.changed = true;
    if (missed.completed_since() >= completed_after_missed) {
      record_.clear_missed();
      out_.missed_changed = true;
    }
  }
  if (record_.bad_in_a_row() != 0) out_.changed = true;
  record_.set_bad_in_a_row(0);
  out_.alert.reset();
  if (record_.alert() != 0) out_.resolve_alert = true;
}

void job_machine::trim() {
  const std::uint64_t keep = record_.spec().keep_launches() == 0 ? default_keep_launches : record_.spec().keep_launches();
  if (record_.kept_launches() <= keep) return;
  const auto excess = std::min(record_.kept_launches() - keep, most_trimmed);
  const auto oldest = ctx_.rows->oldest(excess + static_cast<std::size_t>(record_.open_size()));
  if (!oldest) {
    fail(oldest.failure());
    return;
  }
  std::uint64_t trimmed = 0;
  for (const auto& row : *oldest) {
    if (trimmed == excess) break;
    const auto nominal_ms = row.nominal_unix_ms();
    const auto is_open =
        std::any_of(record_.open().begin(), record_.open().end(), [&](const auto& one) { return one.nominal_unix_ms() == nominal_ms; });
    if (is_open || rows_.count(nominal_ms) != 0 ||
        std::find(out_.erased_rows.begin(), out_.erased_rows.end(), nominal_ms) != out_.erased_rows.end())
      continue;
    out_.erased_rows.push_back(nominal_ms);
    ++trimmed;
  }
  record_.set_kept_launches(record_.kept_launches() - trimmed);
}

}  // namespace fairlead::core
