// What must be true when the faults have stopped: progress, ends, alerts, and what submitters were told.

#include <algorithm>
#include <set>
#include <tuple>

#include "actors/core/task/record.hpp"
#include "actors/core/task/task.hpp"
#include "actors/queries/alert_queries.hpp"
#include "actors/queries/task_queries.hpp"
#include "store/check/check.hpp"
#include "store/keys.hpp"
#include "store/rows/task_rows.hpp"
#include "tests/simulation/checker/checker.hpp"
#include "tests/simulation/checker/own/joins.hpp"

namespace fairlead::simulation {

namespace {

constexpr std::size_t crowd_tasks = 200;
constexpr std::int64_t progress_within_us = 60 * second;
constexpr std::int64_t worker_rests_ms = 500;  // about so long on average, between one request for attempts and the next: agents/hand.cpp

/// Whether the task is one of those that the alert is about.
bool fails_at(const v1::TaskRecord& record, const v1::AlertRecord& alert) {
  return record.workflow() == alert.workflow() &&
         std::any_of(record.steps().begin(), record.steps().end(),
                     [&](const v1::StepRecord& step) { return step.failing_counted() && step.path() == alert.step(); });
}

v1::StatusKind kind_of_end(v1::TaskState state) {
  return state == v1::TASK_STATE_COMPLETED ? v1::STATUS_KIND_COMPLETED
         : state == v1::TASK_STATE_FAILED  ? v1::STATUS_KIND_FAILED
                                           : v1::STATUS_KIND_UNDONE;
}

/// As far as its record says, an attempt of the step begins as soon as an agent has room for it.
bool wants_agent(const v1::TaskRecord& record, std::uint32_t index, const shape& plan) {
  const auto& step = record.steps(static_cast<int>(index));
  if (plan.own(index) || step.complete_by_unix_ms() != 0 || step.not_before_unix_ms() != 0) return false;
  const auto is_undone = record.state() == v1::TASK_STATE_UNDOING || step.dropped();
  if (!is_undone && step.state() == v1::STEP_STATE_PENDING) return is_ready(plan, record, index);
  if (step.state() == v1::STEP_STATE_UNDOING || step.state() == v1::STEP_STATE_IN_DOUBT) return true;
  return is_undone && plan.undoable(index) && step.state() != v1::STEP_STATE_UNDONE && step.state() != v1::STEP_STATE_SKIPPED;
}

}  // namespace

checker::place_in_line checker::place_of(const v1::TaskRecord& record) {
  return {record.state() != v1::TASK_STATE_UNDOING, store::pending_order(wanted_since_unix_ms(record), record.priority()), record.number()};
}

void checker::note_turns(const v1::TaskRecord* before, const v1::TaskRecord& record, const shape& plan) {
  for (std::uint32_t i = 0; i < plan.size(); ++i) {
    if (plan.own(i)) continue;
    const auto index = static_cast<int>(i);
    const auto& step = record.steps(index);
    // One that was begun and has ended within one group of commits counts as well.
    const auto known = before == nullptr ? 0 : core::attempt_of(before->steps(index), step.direction());
    if (core::attempt_of(step, step.direction()) > known) turns_[plan.step(i).agent()][place_of(record)] = world_.now_us();
  }
}

/// When the line in which the task waits for an agent moved last: an attempt of a task that comes before it began. What goes to tasks that
/// come after it is none of that, so the line in front of a task that was forgotten comes to an end.
std::int64_t checker::line_moved_us(const v1::TaskRecord& record) const {
  const auto* plan = shape_of(record);
  std::int64_t moved_us = 0;
  for (std::uint32_t i = 0; plan != nullptr && i < plan->size(); ++i) {
    const auto line = wants_agent(record, i, *plan) ? turns_.find(plan->step(i).agent()) : turns_.end();
    if (line == turns_.end()) continue;
    const auto own = line->second.lower_bound(place_of(record));
    for (auto at = line->second.begin(); at != own; ++at) moved_us = std::max(moved_us, at->second);
  }
  return moved_us;
}

/// How long a step may have to wait for its turn where a rate lets few go, or a worker over HTTP asks for few: each shard has its part of them.
std::int64_t checker::longest_turn_us() const {
  std::int64_t steps = 0;
  // Also of those that are over: others have waited behind them.
  for (const auto& [number, record] : seen_) steps += record.steps_size();
  std::int64_t rest_ms = 0;
  for (const auto& site : agents_->sites()) {
    if (site.is_worker) rest_ms = std::max(rest_ms, worker_rests_ms * agents_->shards());
    for (const auto& limit : site.profile->limits)
      if (limit.rate() > 0) rest_ms = std::max(rest_ms, limit.rate_per_ms() * agents_->shards() / limit.rate());
  }
  // After a restore a step is looked up under up to two keys before it is performed.
  return steps * rest_ms * millisecond * (restores_.on() ? 3 : 1);
}

bool checker::waits_for_start(const v1::TaskRecord& record) const {
  return record.state() == v1::TASK_STATE_PENDING && record.start_at_unix_ms() > clock_.now_ms();
}

void checker::progress(const store::snapshot& durable) {
  // What waits for a moment of the wall clock waits longer when that goes back.
  const auto within_us = progress_within_us + longest_turn_us() + clock_.fallen_us();
  const auto runs = [](const v1::TaskRecord& record) {
    return (record.state() == v1::TASK_STATE_RUNNING || record.state() == v1::TASK_STATE_UNDOING) && !record.parked();
  };
  std::uint64_t running = 0, counted = 0;
  for (const auto& [number, record] : seen_) {
    if (!runs(record)) continue;
    ++running;
    if (!record.paused() && !record.undo_held()) ++counted;
  }
  for (const auto& [number, id] : ids_) {
    const auto record = store::load_task(durable, number);
    if (!record.ok() || !*record) continue;
    // Where few may run at a time, tasks queue behind those that go their slow way; whether these get on is judged by itself.
    const auto is_full = counted >= most_running_ || (jobs_.any() && running > 0);
    // Its task is looked at by itself.
    const auto& steps_of = (*record)->steps();
    const auto has_child =
        std::any_of(steps_of.begin(), steps_of.end(), [&](const auto& step) { return child_lives(**record, step, durable); });
    const auto queues = is_full && (*record)->state() == v1::TASK_STATE_PENDING;
    const auto waits = queues || has_child || waits_for_start(**record) || has_ended((*record)->state()) || (*record)->parked() ||
                       (*record)->paused() || (*record)->undo_held();
    auto& last = progressed_[number];
    if (!waits && last.first != (*record)->history_size()) any_progress_us_ = world_.now_us();
    if (waits || last.first != (*record)->history_size() || last.second == 0) last = {(*record)->history_size(), world_.now_us()};
    if (!waits) world_.judges("stalled");
    // Of a crowd each waits its turn for as long as any gets on.
    auto since_us = ids_.size() > crowd_tasks ? std::max(last.second, any_progress_us_) : last.second;
    // Lists within sub-workflows fill the line of an agent with few slots for minutes.
    if (world_.now_us() - since_us > within_us) since_us = std::max(since_us, line_moved_us(**record));
    if (world_.now_us() - since_us <= within_us) continue;
    std::string steps;
    for (const auto& step : (*record)->steps()) steps += " " + step.path() + " " + core::state_word(step.state());
    world::broken("stalled", id + " (" + core::state_word((*record)->state()) + ") has not got on for " +
                                 std::to_string((world_.now_us() - last.second) / second) + " s without a fault:" + steps);
  }
}

void checker::status_event(const std::string& task, std::uint64_t sequence, v1::StatusKind kind, v1::TaskState state) {
  if (restores_.on()) return;
  auto& last = told_[task];
  if (sequence <= last.last) return;  // seen before: at least once is the promise
  world_.judges("status_order");
  if (sequence != last.last + 1)
    world::broken("status_order", "event " + std::to_string(sequence) + " of " + task + " came after event " + std::to_string(last.last));
  if (sequence == 1 && kind != v1::STATUS_KIND_RECEIVED)
    world::broken("status_wrong", "the first event of " + task + " is not its receipt");
  last = {sequence, kind, state};
}

void checker::at_end(const store::snapshot& durable) {
  const auto found = store::check(durable);
  if (!found.clean()) world::broken("store_check", found.findings.front());
  // Through the very pages that people look at.
  std::map<std::string, v1::TaskSummary> listed;
  v1::TaskListRequest ask;
  do {
    const auto page = list_tasks(ask, durable, clock_.now());
    if (page.error().code() != v1::ERROR_CODE_OK) world::broken("one_task", "tasks cannot be listed: " + page.error().sentence());
    for (const auto& one : page.items())
      if (!listed.emplace(one.id(), one).second) world::broken("one_task", one.id() + " is listed twice");
    ask.set_cursor(page.cursor());
  } while (!ask.cursor().empty());
  for (const auto& [id, workflow] : expected_) {
    const auto one = listed.find(id);
    if (one == listed.end() && archives_.has(id)) continue;
    if (one == listed.end()) world::broken("one_task", id + " was acknowledged and is not listed");
    if (one->second.workflow() != workflow) world::broken("one_task", id + " is of another workflow than was submitted");
  }
  for (const auto& [id, one] : listed) {
    const auto over = has_ended(one.state());
    if (!over && !one.parked() && !one.paused()) {
      const auto record = seen_.find(numbers_[id]);
      if (record != seen_.end() && waits_for_start(record->second)) continue;
      if (record == seen_.end() || !record->second.undo_held())
        world::broken("stalled", id + " is " + core::state_word(one.state()) + " at the end, neither parked nor paused");
    }
    world_.count(one.parked() ? "parked at the end" : core::state_word(one.state()));
  }
  for (const auto& [number, record] : seen_) {
    // Late requests may have changed a service since the end was durable.
    judge_end(record);
    if (!record.has_reply() || restores_.on()) continue;
    const auto told = told_.find(record.id());
    const auto last = told == told_.end() ? 0 : told->second.last;
    world_.judges("status_lost");
    if (last != record.status_sequence())
      world::broken("status_lost", "of the " + std::to_string(record.status_sequence()) + " status events of " + record.id() + " " +
                                       std::to_string(last) + " have come");
    const auto kind = record.parked()             ? v1::STATUS_KIND_PARKED
                      : has_ended(record.state()) ? kind_of_end(record.state())
                                                  : v1::STATUS_KIND_UNSPECIFIED;
    if (kind == v1::STATUS_KIND_UNSPECIFIED || record.reply().steps()) continue;
    world_.judges("status_wrong");
    if (last == 0 || told->second.kind != kind)
      world::broken("status_wrong", "the last status event of " + record.id() + " does not say how it stands");
  }
  judge_children_at_end(durable);
  judge_alerts_at_end(durable);
  archives_.at_end(durable);
  judge_lists(durable);
  jobs_.whole(durable);
}

void checker::judge_alerts_at_end(const store::snapshot& durable) const {
  v1::AlertListRequest ask;
  const auto page = list_alerts(ask, durable);
  std::set<std::tuple<v1::AlertKind, std::string, std::string, std::string>> shared;
  for (const auto& one : page.items()) {
    const auto is_shared = one.kind() == v1::ALERT_KIND_STEP_FAILING || one.kind() == v1::ALERT_KIND_FINALLY_FAILED;
    if (is_shared && !shared.insert({one.kind(), one.workflow(), one.step(), one.agent()}).second)
      world::broken("stale_alert", "two open alerts are about one step of one workflow: " + one.sentence());
    if (one.kind() == v1::ALERT_KIND_WAKE_UP_LOST) world::broken("wake_up_lost", one.sentence());
    // After a clock was set far back the due entries of a crashed shard are far ahead: its start takes nothing up, and the Supervisor's first
    // look asks for the task. An alert of that minute is true; a later one is not.
    // What a task was to be told may be lost by a crash of its decision.
    if (one.kind() == v1::ALERT_KIND_STALLED && !clock_.set_back_before(one.raised_at_unix_ms(), 60'000) && !bugs_.about(one.task_id()))
      world::broken("waited_in_vain", one.sentence());
    if (one.kind() == v1::ALERT_KIND_AGENT_ABSENT)
      world::broken("stale_alert", "alert " + std::to_string(one.number()) +
                                       " says that an agent is absent, and all of them are there: " + one.sentence());
    if (one.kind() == v1::ALERT_KIND_BREAKER_OPEN && !restores_.on()) {
      const auto about = std::any_of(services_.begin(), services_.end(), [&](const auto& known) {
        return known.second.record.breaker_alert() == one.number() && known.second.record.breaker() != v1::BREAKER_STATE_CLOSED;
      });
      if (!about) world::broken("stale_alert", "alert " + std::to_string(one.number()) + " is open, and no breaker is: " + one.sentence());
    }
    if (one.kind() == v1::ALERT_KIND_STEP_FAILING) {
      world_.judges("stale_alert");
      const auto about = std::any_of(seen_.begin(), seen_.end(), [&](const auto& known) { return fails_at(known.second, one); });
      if (!about)
        world::broken("stale_alert", "alert " + std::to_string(one.number()) + " is open, and no task fails there: " + one.sentence());
    }
    if (one.kind() != v1::ALERT_KIND_TASK_PARKED) continue;
    const auto number = numbers_.find(one.task_id());
    const auto record = number == numbers_.end() ? seen_.end() : seen_.find(number->second);
    if (record == seen_.end() || !record->second.parked())
      world::broken("stale_alert",
                    "alert " + std::to_string(one.number()) + " about " + one.task_id() + " is open, and the task is not parked");
  }
}

}  // namespace fairlead::simulation
