#include "actors/scheduler/scheduler.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "actors/core/cluster/limit_part.hpp"
#include "actors/core/expression/expression.hpp"
#include "actors/core/task/reason.hpp"
#include "actors/core/task/task.hpp"
#include "actors/core/text/text.hpp"
#include "actors/registry/claim_journal.hpp"
#include "actors/replies/outbox.hpp"
#include "actors/scheduler/books/payload_reader.hpp"
#include "actors/system/time_zones.hpp"
#include "store/keys.hpp"
#include "store/rows/counters.hpp"
#include "store/rows/history_rows.hpp"
#include "store/rows/service_rows.hpp"

namespace fairlead {

namespace {

bool is_active(v1::TaskState state) { return state == v1::TASK_STATE_RUNNING || state == v1::TASK_STATE_UNDOING; }

registry_policy policy_of(const scheduler_limits& limits) {
  auto out = limits.registry;
  out.shard = limits.shard;
  out.shard_count = std::max(limits.shard_count, 1U);
  return out;
}

std::uint64_t input_bytes(const v1::TaskRecord& record) {
  return record.input().slot() != 0 ? record.input().size() : record.input().json().size();
}

}  // namespace

scheduler::scheduler(ports world, scheduler_limits limits, planted_faults faults)
    : world_(world),
      limits_(limits),
      faults_(faults),
      slots_(*world.time, policy_of(limits)),
      brake_(limits.brake),
      most_in_flight_(core::part_of_limit(limits.cron.in_flight, limits.shard, limits.shard_count)),
      launch_rate_(limits.cron.starts_per_second, limits.shard_count) {
  if (world_.zones == nullptr) world_.zones = &time_zones::of_system();
  slots_.plant(faults_);
}

scheduler::~scheduler() = default;

status scheduler::open(std::uint64_t epoch) {
  epoch_ = epoch;
  const auto& now_committed = committed();
  const auto progress = now_committed.get_progress();
  next_sequence_ = progress.sequence + 1;
  committed_sequence_ = progress.sequence;
  shard_ = progress.shard;
  // A store that an earlier release wrote last: it did not keep all of these.
  if (!store::counters_are_kept(progress)) {
    if (auto counted = store::recount(now_committed, shard_); !counted) return counted;
  }
  committed_shard_ = shard_;
  if (shard_.next_task_number() == 0) shard_.set_next_task_number(1);
  retention_at_ = world_.time->steady();
  sweep_before_ = shard_.next_task_number();
  // Also when nothing is due: the end of the sweep is what admits pending tasks.
  sweeping_ = true;
  look_at_usage();
  const auto services = store::for_each_service(now_committed, [this](const v1::ServiceRecord& record) {
    slots_.restore(record);
    return true;
  });
  if (!services.ok()) return services;
  if (const auto listed = strays_.open(now_committed); !listed.ok()) return listed;
  auto opened = catalog_.open(now_committed);
  // An attempt that was out is due before its step's timeout has passed, and a step that waited for a slot or an input before the task
  // would have been looked at again. What is due later waits for its moment and needs nothing now: the Supervisor will find it.
  // Leases were counted by a clock that may have been set back since.
  const auto latest = std::max(to_unix_ms(world_.time->now()), shard_.latest_write_unix_ms()) +
                      std::max(catalog_.longest_timeout_ms(), core::waiting_recheck_ms);
  // A release that did not keep that moment may have been set back by any time: then all of them are taken up.
  if (shard_.latest_write_unix_ms() != 0) sweep_to_ = store::keys::due(store::default_namespace, latest + 1, 0).str();
  if (!opened.ok()) return opened;
  // Agents may have gone on while there was no Scheduler. What they hold is known when the sweep has come to it; to hand over more before would
  // be more than they take.
  return now_committed.scan(store::table::due, {}, sweep_to_, [this](std::string_view, std::string_view) {
    slots_.hold_back(true);
    return false;
  });
}

const store::snapshot& scheduler::committed() {
  if (!snapshot_) snapshot_ = world_.reads->read();
  return *snapshot_;
}

bool scheduler::fail(const error& why) {
  if (!fatal_) {
    fatal_ = why;
    world_.log->on_note(note_level::error, "scheduler", why.sentence);
  }
  return false;
}

// ---- records ----

scheduler::live_task* scheduler::find(std::uint64_t number) {
  const auto found = live_.find(number);
  return found == live_.end() ? nullptr : found->second.get();
}

scheduler::live_task* scheduler::load(std::uint64_t number) {
  if (auto* there = find(number)) return there->poison.empty() ? there : nullptr;
  auto record = store::load_task(committed(), number);
  if (!record) {
    fail(record.failure());
    return nullptr;
  }
  if (!*record) return nullptr;
  auto task = std::make_unique<live_task>();
  task->record = std::move(**record);
  auto definition = faults_.follow_latest ? catalog_.current(task->record.workflow(), committed())
                                          : catalog_.pinned(task->record.workflow(), task->record.workflow_hash(), committed());
  if (!definition) {
    fail(definition.failure());
    return nullptr;
  }
  task->definition = std::move(*definition);
  auto& kept = *live_.emplace(number, std::move(task)).first->second;
  if (sweeping_ && number < sweep_before_ && is_active(kept.record.state()) && taken_up_.insert(number).second) {
    active_input_bytes_ += input_bytes(kept.record);
    apply(kept, core::task_resumed{});
  }
  return kept.poison.empty() ? &kept : nullptr;
}

void scheduler::forget_if_idle(std::uint64_t number) {
  const auto found = live_.find(number);
  if (found == live_.end()) return;
  auto& task = *found->second;
  if (task.last_sequence > committed_sequence_) return;
  task.fresh_payloads.clear();
  if (!task.poison.empty()) {
    const auto reason = task.poison;
    live_.erase(found);
    if (auto* again = load(number)) apply(*again, core::task_poisoned{reason});
    return;
  }
  if (!task.evaluating.empty() || core::any_attempt_out(task.record)) return;
  live_.erase(found);
}

// ---- decide ----

core::context scheduler::context_for(const live_task& task, const core::payload_source& payloads, core::agent_directory& slots) {
  core::context ctx;
  ctx.now = world_.time->now();
  ctx.epoch = epoch_;
  ctx.definition = task.definition.get();
  ctx.engine = world_.engine;
  ctx.agents = &slots;
  ctx.payloads = &payloads;
  ctx.evaluating = &task.evaluating;
  ctx.hold_undo = shard_.undo_brake_since_unix_ms() != 0;
  ctx.planted = &faults_;
  return ctx;
}

std::string scheduler::bug_sentence(const std::exception& bug) {
  const auto what = core::clean_text(bug.what(), 500);
  return dynamic_cast<const core::odd_record*>(&bug) != nullptr ? what : "internal error while deciding about this task: " + what;
}

/// The record may be half changed: it is thrown away and, once all its written versions are durable, read anew and parked.
void scheduler::poison(live_task& task, std::string why) {
  task.poison = std::move(why);
  world_.log->on_note(note_level::error, "scheduler", "task " + task.record.id() + ": " + task.poison);
  gathering_.changed.push_back(task.record.number());
  if (faults_.forget_poison) task.poison.clear();
}

scheduler::applied scheduler::apply(live_task& task, const core::event& what) {
  if (fatal_ || !task.poison.empty()) return {};
  const payload_reader payloads{task.fresh_payloads, *world_.reads};
  claim_journal slots{slots_};
  const auto ctx = context_for(task, payloads, slots);
  const auto before = store::index_state_of(task.record);
  const auto poisoned = [&](std::string why) {
    slots.undo();
    poison(task, std::move(why));
    return applied{};
  };
  core::decision made;
  try {
    made = core::decide(task.record, what, ctx);
  } catch (const std::exception& bug) {
    return poisoned(bug_sentence(bug));
  }
  if (made.fatal) {
    fail(*made.fatal);
    return {};
  }
  // An entry that has come up is moved on now: left as it is, it would come up again with the next scan.
  const auto come_up = std::holds_alternative<core::recovery_requested>(what) && before.due_indexed_unix_ms <= to_unix_ms(ctx.now);
  // What it waited for it waits for no more; where it still does in its new state, the decision says so. An operator may also have taken the
  // waiting step itself away.
  const auto& now = task.record;
  const auto by_operator = made.changed && std::holds_alternative<core::operated>(what);
  if (by_operator || now.state() != before.state || now.parked() != before.parked || now.paused() != before.paused ||
      now.undo_held() != before.undo_held)
    slots_.forget(now.number());
  if (made.changed) write(task, before, made, come_up || std::holds_alternative<core::task_due>(what));
  traffic_.count(what, made, task.record);
  // Else an outcome cannot come before its message has left.
  const auto sent_again = task.sent_again > committed_sequence_;
  if (made.leases_cut || made.expired > 0 || made.lost > 0 || sent_again) {
    for (auto& sent : sent_) sent.after.bring_up_to(task.record);
    gathering_.bring_up_to(task.record);
  }
  const auto once_more = std::holds_alternative<core::agent_returned>(what) || std::holds_alternative<core::task_resumed>(what);
  if (once_more && !made.performs.empty()) task.sent_again = next_sequence_;
  gather(task, made);
  return {made.accepted, std::move(made.refused)};
}

void scheduler::write(live_task& task, const store::task_index_state& before, core::decision& made, bool exact_due) {
  write_alerts(task.record, made);
  if (!faults_.lose_status_event)
    for (auto& status : made.statuses) put_status(open_, shard_, task.record.reply(), std::move(status));
  watch_brake(task.record, made);
  store_payloads(task, made);
  for (const auto slot : made.dropped_slots) {
    open_.erase(store::table::payload, store::keys::payload(store::default_namespace, task.record.number(), slot));
    task.fresh_payloads.erase(slot);
  }
  if (store::history_is_long(task.record)) fold_history(task);
  store::put_task(open_, before, task.record, exact_due);
  if (faults_.lose_timer)
    open_.erase(store::table::due, store::keys::due(store::default_namespace, task.record.due_indexed_unix_ms(), task.record.number()));
  task.last_sequence = next_sequence_;
  gathering_.changed.push_back(task.record.number());
  count(before, task.record);
  if (made.ended && task.record.has_launch()) launch_ended(task.record);
}

/// Only where the store holds all that has been written of it: what is folded must not be folded again from an older version.
void scheduler::fold_history(live_task& task) {
  if (task.last_sequence > committed_sequence_) return;
  const auto folded = store::fold_history(open_, task.record, committed());
  if (!folded.ok()) fail(folded.failure());
}

void scheduler::store_payloads(live_task& task, core::decision& made) {
  for (auto& payload : made.payloads) {
    store::put_payload(open_, task.record.number(), payload.slot, payload.json);
    task.fresh_payloads[payload.slot] = std::move(payload.json);
  }
  made.payloads.clear();
}

void scheduler::count(const store::task_index_state& before, const v1::TaskRecord& after) {
  store::move_counters(shard_, before, store::index_state_of(after));
  const auto was_active = before.exists && is_active(before.state);
  if (is_active(after.state()) && !was_active) active_input_bytes_ += input_bytes(after);
  if (!is_active(after.state()) && was_active) active_input_bytes_ -= std::min(active_input_bytes_, input_bytes(after));
}

// ---- alerts ----

alert_book::page scheduler::page() { return {shard_, open_, next_sequence_, world_.time->now()}; }

/// What was raised about a task before is over when it goes on or ends, and gives way to what is raised about it now.
void scheduler::write_alerts(v1::TaskRecord& record, core::decision& made) {
  if (faults_.lose_alert) return;
  const auto resolve = [&] {
    if (record.alert() == 0) return;
    const auto resolved = alerts_.resolve(record.alert(), page(), committed());
    if (!resolved.ok()) fail(resolved.failure());
    record.clear_alert();
  };
  if (made.unparked && !faults_.keep_task_alert) resolve();
  for (auto& draft : made.alerts) {
    resolve();
    record.set_alert(alerts_.raise(std::move(draft), page()));
  }
  // What was raised on the way to the end is over with it.
  if (made.ended) resolve();
}

void scheduler::watch_brake(const v1::TaskRecord& record, const core::decision& made) {
  const auto now = world_.time->now();
  if (made.ended && record.state() == v1::TASK_STATE_COMPLETED) brake_.completed(now);
  if (!made.failed || !brake_.failed(now) || shard_.undo_brake_since_unix_ms() != 0) return;
  shard_.set_undo_brake_since_unix_ms(to_unix_ms(now));
  v1::AlertRecord draft;
  draft.set_kind(v1::ALERT_KIND_UNDO_BRAKE);
  draft.set_workflow(record.workflow());
  draft.set_sentence(brake_.sentence() + ", so no task that fails is undone for now; the last was task " + record.id() + " of workflow " +
                     record.workflow());
  draft.set_remedy("find out why, then fairlead brake release undoes them; those that fairlead task retry saves before need no undo");
  shard_.set_undo_brake_alert(alerts_.raise(std::move(draft), page()));
  world_.log->on_note(note_level::warning, "scheduler", "the brake on mass undo is on: " + brake_.sentence());
}

void scheduler::gather(live_task& task, core::decision& made) {
  for (auto& out : made.performs) *gathering_.performs[out.instance].add_items() = std::move(out.message);
  for (auto& hint : made.hints) *gathering_.hints.add_items() = std::move(hint);
  for (auto& request : made.evaluations) {
    const auto key = core::evaluation_key(request.step(), request.direction());
    if (task.evaluating.count(key) != 0) continue;
    if (evaluating_bytes_ >= limits_.evaluating_bytes) {
      waiting_to_evaluate_.push_back(task.record.number());
      continue;
    }
    task.evaluating.insert(key);
    unevaluated_.erase(task.record.number());
    const auto ticket = next_ticket_++;
    request.set_ticket(ticket);
    auto& asked = evaluations_[ticket];
    asked.number = task.record.number();
    asked.step = request.step();
    asked.direction = request.direction();
    evaluating_bytes_ += asked.bytes = request.document().size();
    if (!faults_.lose_evaluation) asked.outstanding = world_.out->evaluate(std::move(request));
  }
  const auto undoing = task.record.state() == v1::TASK_STATE_UNDOING;
  const auto order = store::pending_order(task.record.created_at_unix_ms(), task.record.priority());
  if (!faults_.lose_slot_wait)
    for (const auto& wait : made.waiting) slots_.wait(wait.lane, task.record.number(), order, undoing);
  if (world_.log->wants_transitions()) {
    for (auto& noted : made.transitions) {
      auto& told = gathering_.transitions.emplace_back();
      told.task_id = task.record.id();
      if (noted.step > 0) told.step = task.record.steps(static_cast<int>(noted.step) - 1).path();
      told.what = std::move(noted);
    }
  }
  if (made.ended || made.parked) {
    unevaluated_.erase(task.record.number());
    const auto [first, last] = subscribers_.equal_range(task.record.number());
    for (auto one = first; one != last; ++one) {
      if (made.ended && faults_.lose_notice) continue;
      auto* end = gathering_.notices[one->second].add_items();
      end->set_id(task.record.id());
      end->set_state(task.record.state());
      end->set_parked(task.record.parked());
      end->set_reason(core::reason_of(task.record));
    }
    if (made.ended) subscribers_.erase(first, last);
  }
}

}  // namespace fairlead
