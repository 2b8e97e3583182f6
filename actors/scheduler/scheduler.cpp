#include "actors/scheduler/scheduler.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "actors/core/task/reason.hpp"
#include "actors/core/task/task.hpp"
#include "actors/core/text/text.hpp"
#include "actors/replies/outbox.hpp"
#include "actors/scheduler/books/payload_reader.hpp"
#include "actors/system/time_zones.hpp"
#include "messages/holds.hpp"
#include "store/content_hash.hpp"
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
      batches_({world.time, world.reads, world.commits, world.out, world.log, world.confirms}, limits_.shard, limits_.lineage, faults_),
      store_watch_(batches_, alerts_, *world.log, limits_.full_percent),
      replica_watch_(batches_, alerts_, *world.log, *world.time, limits_.replica_alert_after),
      certificate_watch_(batches_, alerts_, *world.time),
      slots_(*world.time, policy_of(limits)),
      workers_(*world.time, limits_.shard, limits_.lineage, world.work_key),
      brake_(limits.brake),
      evaluations_(limits.evaluating_bytes),
      launches_({world.time, world.zones != nullptr ? world.zones : &time_zones::of_system(), world.log, &batches_, &alerts_, &store_watch_,
                 &catalog_, &slots_, this},
                {limits.cron, limits.shard, limits.shard_count, limits.input_bytes}, faults_),
      families_({world.time, &batches_, &catalog_, &archive_, this}, limits_.family_tasks, faults_) {
  slots_.plant(faults_);
  workers_.plant(faults_);
}

scheduler::~scheduler() = default;

status scheduler::open(std::uint64_t epoch) {
  if (auto opened = batches_.open(epoch); !opened.ok()) return opened;
  auto services = store::for_each_service(committed(), [this](const v1::ServiceRecord& record) {
    slots_.restore(record);
    return true;
  });
  if (!services.ok()) return services;
  if (auto listed = strays_.open(committed()); !listed.ok()) return listed;
  if (auto listed = workers_.open(committed()); !listed.ok()) return listed;
  if (auto listed = failing_.open(committed()); !listed.ok()) return listed;
  if (auto listed = certificate_watch_.open(); !listed.ok()) return listed;
  if (auto opened = catalog_.open(committed()); !opened.ok()) return opened;
  families_.open();
  sweep_.begin(batches_.counts(), world_.time->now(), duration{catalog_.longest_timeout_ms()});
  // Agents may have worked on while there was no Scheduler. Their attempts are known only when the sweep is over; hand-overs before that
  // could exceed the agents' capacity.
  const auto running = sweep_.finds_any(committed());
  if (!running.ok()) return running.failure();
  if (*running) slots_.hold_back(true);
  return nothing{};
}

bool scheduler::fail(const error& why) {
  if (!fatal_) {
    fatal_ = why;
    world_.log->on_note(note_level::error, "scheduler", why.sentence);
  }
  return false;
}

// ---- commit, then act ----

void scheduler::flush_if_large() {
  if (batches_.is_large()) flush();
}

bool scheduler::wants_flush() const { return batches_.wants_flush() || slots_.changed(); }

void scheduler::flush() {
  if (fatal_) return;
  launches_.settle();
  // A launch that was written only in part must not leave.
  if (fatal_) return;
  write_services();
  if (auto at_once = batches_.flush()) act(std::move(*at_once));
}

void scheduler::act(effects after) {
  batches_.release(after);
  for (const auto& id : after.new_ids) recent_ids_.erase(id);
  std::vector<watches::answer> answers;
  for (const auto number : after.changed) {
    if (watches_.has(number)) watches_.look(number, committed(), answers);
    forget_if_idle(number);
  }
  for (auto& answer : answers) world_.out->reply(answer.ticket, std::move(answer.reply));
}

void scheduler::on_committed(std::uint64_t sequence) {
  alerts_.committed_up_to(sequence);
  archive_.committed_up_to(sequence);
  std::erase_if(erasing_strays_, [sequence](const auto& one) { return one.second <= sequence; });
  batches_.committed_up_to(sequence, [this](effects after) { act(std::move(after)); });
  watch_room();
  if (const auto looked = certificate_watch_.look_at_silent(); !looked.ok()) fail(looked.failure());
  launches_.committed_up_to(sequence);
  go_on();
  admit_pending();
  launches_.admit();
}

void scheduler::on_confirmed(std::uint64_t ticket, bool led) {
  batches_.confirmed(ticket, led, [this](effects after) { act(std::move(after)); });
  // What had counted before may have waited behind it.
  admit_pending();
  launches_.admit();
}

void scheduler::watch_room() {
  // Until the sweep is over the input bytes of running tasks are not known.
  if (sweep_.under_way()) return;
  if (const auto looked = store_watch_.look(); !looked.ok()) fail(looked.failure());
}

void scheduler::look_at_certificate(const v1::CertificateReport& what) {
  if (limits_.shard != 0) return misdirected();
  if (const auto looked = certificate_watch_.look(what); !looked.ok()) fail(looked.failure());
}

void scheduler::look_at_replicas() {
  if (!world_.replication || !replica_watch_.is_due()) return;
  if (const auto looked = replica_watch_.look(world_.replication()); !looked.ok()) fail(looked.failure());
}

std::uint64_t scheduler::active_tasks() const {
  const auto& counts = batches_.counts();
  const auto active = counts.running() + counts.undoing();
  // A task held by the brake may be parked or paused as well, so the result is rather too small than too large.
  std::uint64_t held = 0;
  for (const auto& one : holds) held += one.count(counts);
  return active - std::min(active, held);
}

bool scheduler::settled() const { return batches_.empty() && !slots_.changed(); }

void scheduler::drain() {
  draining_ = true;
  slots_.close();
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
  if (const auto call_of = task->record.parent().call_of(); call_of != 0) {
    auto part = catalog_.call_of(task->definition, call_of - 1);
    task->definition = std::move(part);
  }
  auto& kept = *live_.emplace(number, std::move(task)).first->second;
  if (workers_.has_signed()) note_handed(kept);  // others give nothing back
  if (is_active(kept.record.state())) store_watch_.runs(number, input_bytes(kept.record));
  if (is_active(kept.record.state()) && sweep_.takes_up(number)) apply(kept, core::task_resumed{});
  return kept.poison.empty() ? &kept : nullptr;
}

void scheduler::forget_if_idle(std::uint64_t number) {
  const auto found = live_.find(number);
  if (found == live_.end()) return;
  auto& task = *found->second;
  if (!batches_.durable(task.last_sequence)) return;
  task.fresh_payloads.clear();
  if (!task.poison.empty()) {
    const auto reason = task.poison;
    evaluations_.forget(number);  // nobody knows any more what was asked: no answer is to be taken for one to a later question
    live_.erase(found);
    auto* again = load(number);
    const auto was_parked = again != nullptr && again->record.parked();
    if (again != nullptr) apply(*again, core::task_poisoned{reason});
    families_.after_crash(number, was_parked);
    again = find(number);
    if (again == nullptr || !again->poison.empty() || !has_ended(again->record.state())) return;
    // Who asked meanwhile saw the half changed record, and the end has been told to all others already.
    std::vector<std::uint64_t> untold;
    const auto [first, last] = subscribers_.equal_range(number);
    for (auto one = first; one != last; ++one) untold.push_back(one->second);
    subscribers_.erase(first, last);
    for (const auto subscriber : untold) follow(again->record.id(), number, subscriber);
    return;
  }
  if (!task.evaluating.empty() || core::any_attempt_out(task.record)) return;
  live_.erase(found);
}

// ---- decide ----

core::context scheduler::context_for(const live_task& task, const core::payload_source& payloads) {
  core::context ctx;
  ctx.now = world_.time->now();
  ctx.epoch = epoch();
  ctx.definition = task.definition.get();
  ctx.engine = world_.engine;
  ctx.agents = &slots_;
  ctx.payloads = &payloads;
  ctx.evaluating = &task.evaluating;
  ctx.failing_alert_after_ms = limits_.failing_alert_after.count();
  ctx.hold_undo = batches_.counts().undo_brake_since_unix_ms() != 0;
  families_.limit(task.record, ctx);
  ctx.planted = &faults_;
  return ctx;
}

std::string scheduler::bug_sentence(const std::exception& bug) {
  const auto what = core::clean_text(bug.what(), 500);
  return dynamic_cast<const core::odd_record*>(&bug) != nullptr ? what : "internal error in this task: " + what;
}

/// The record may be half changed. It is discarded; once all its written versions are durable it is read anew and parked.
void scheduler::poison(live_task& task, std::string why) {
  task.poison = std::move(why);
  world_.log->on_note(note_level::error, "scheduler", "task " + task.record.id() + ": " + task.poison);
  batches_.after().changed.push_back(task.record.number());
  if (faults_.forget_poison) task.poison.clear();
}

scheduler::applied scheduler::apply(live_task& task, const core::event& what) {
  if (fatal_ || !task.poison.empty()) return {};
  const payload_reader payloads{task.fresh_payloads, *world_.reads};
  slots_.begin_claims();
  auto ctx = context_for(task, payloads);
  std::optional<parent_reader> parent;
  if (task.record.parent().call_of() != 0) {
    const auto* by = find(task.record.parent().number());
    parent.emplace(task.record.parent().number(), by == nullptr ? nullptr : &by->record, by == nullptr ? nullptr : &by->fresh_payloads,
                   *world_.reads);
    ctx.parent = &*parent;
  }
  const auto before = store::index_state_of(task.record);
  bool poisoned = false;
  auto made = [&] {
    try {
      return core::decide(task.record, what, ctx);
    } catch (const std::exception& bug) {
      slots_.undo_claims();
      poison(task, bug_sentence(bug));
      poisoned = true;
      return core::decision{};
    }
  }();
  if (poisoned) return {};
  if (made.fatal) {
    fail(*made.fatal);
    return {};
  }
  if (made.migrated) task.definition = std::get<core::operated>(what).target;
  // A due entry that has come up is moved now: otherwise it would come up again with the next scan.
  const auto come_up = std::holds_alternative<core::recovery_requested>(what) && before.due_indexed_unix_ms <= to_unix_ms(ctx.now);
  // The task leaves the wait queues; if it still waits in its new state, the decision says so. An operator may also have removed the
  // waiting step itself.
  const auto& now = task.record;
  const auto by_operator = made.changed && std::holds_alternative<core::operated>(what);
  if (by_operator || now.state() != before.state || holds_of(now) != before.held) slots_.forget(now.number());
  if (made.changed) write(task, before, made, come_up || std::holds_alternative<core::task_due>(what));
  traffic_.count(what, made, task.record);
  if (made.forget_asked && !task.evaluating.empty()) {
    evaluations_.forget(task.record.number());
    task.evaluating.clear();
  }
  // Otherwise no outcome can come before its message has left.
  const auto sent_again = !batches_.durable(task.sent_again);
  if (made.leases_cut || made.expired > 0 || made.lost > 0 || sent_again) batches_.bring_up_to(task.record);
  const auto once_more = std::holds_alternative<core::agent_returned>(what) || std::holds_alternative<core::task_resumed>(what);
  if (once_more && !made.performs.empty()) task.sent_again = batches_.sequence();
  gather(task, made);
  families_.settle(task.record.number());
  return {made.accepted, std::move(made.refused), made.repeated};
}

void scheduler::write(live_task& task, const store::task_index_state& before, core::decision& made, bool exact_due) {
  write_alerts(task.record, made);
  if (!faults_.lose_status_event)
    for (auto& status : made.statuses) put_status(batches_.rows(), batches_.counts(), task.record.reply(), std::move(status));
  watch_brake(task.record, made);
  for (const auto& one : made.failing)
    if (auto noted = failing_.changed(task.record, one, batches_.page(), committed()); !noted.ok()) fail(noted.failure());
  store_payloads(task, made);
  for (const auto slot : made.dropped_slots) {
    batches_.rows().erase(store::table::payload, store::keys::payload(store::default_namespace, task.record.number(), slot));
    task.fresh_payloads.erase(slot);
  }
  if (store::history_is_long(task.record)) fold_history(task);
  store::put_task(batches_.rows(), before, task.record, exact_due);
  if (faults_.lose_timer)
    batches_.rows().erase(store::table::due,
                          store::keys::due(store::default_namespace, task.record.due_indexed_unix_ms(), task.record.number()));
  task.last_sequence = batches_.sequence();
  batches_.after().changed.push_back(task.record.number());
  count(before, task.record);
  if (!task.record.has_launch()) return;
  if (made.ended)
    launches_.ended(task.record);
  else if (((before.held ^ holds_of(task.record)) & parked_hold) != 0)
    launches_.held(task.record);
}

/// Only if the store holds all versions written so far: folded events must not be folded again from an older version.
void scheduler::fold_history(live_task& task) {
  if (!batches_.durable(task.last_sequence)) return;
  const auto folded = store::fold_history(batches_.rows(), task.record, committed());
  if (!folded.ok()) fail(folded.failure());
}

void scheduler::store_payloads(live_task& task, core::decision& made) {
  for (auto& payload : made.payloads) {
    store::put_payload(batches_.rows(), task.record.number(), payload.slot, payload.json);
    task.fresh_payloads[payload.slot] = std::move(payload.json);
  }
  made.payloads.clear();
}

void scheduler::count(const store::task_index_state& before, const v1::TaskRecord& after) {
  store::move_counters(batches_.counts(), before, store::index_state_of(after));
  const auto was_active = before.exists && is_active(before.state);
  if (is_active(after.state()) && !was_active) store_watch_.runs(after.number(), input_bytes(after));
  if (!is_active(after.state()) && was_active) store_watch_.runs_no_more(after.number(), input_bytes(after));
}

// ---- the tasks of launches ----

std::uint64_t scheduler::create_launch(v1::Submission& item, std::string input, workflow_catalog::handle definition, v1::LaunchOf launch,
                                       std::int64_t deadline_unix_ms, std::int64_t restored_from_unix_ms) {
  auto hash = store::submission_hash(item.workflow(), input, item.labels(), item.priority(), nullptr);
  const auto number = create(item, std::move(input), std::move(hash), std::move(definition), 0,
                             {std::move(launch), deadline_unix_ms, std::nullopt, restored_from_unix_ms, {}});
  families_.settle(number);
  return number;
}

void scheduler::cancel_launch(std::uint64_t number, const std::string& reason) {
  auto* task = load(number);
  if (task == nullptr) return;
  // It is on its way out already.
  if (task->record.state() == v1::TASK_STATE_UNDOING || task->record.failing()) return forget_if_idle(number);
  v1::OperatorAction action;
  action.set_verb(v1::OPERATOR_VERB_CANCEL);
  action.set_who("cron");
  action.set_reason(reason);
  if (!families_.may_be_cancelled(task->record) || apply(*task, core::operated{action}).refused) {
    action.set_verb(v1::OPERATOR_VERB_TERMINATE);
    apply(*task, core::operated{action});
  }
  forget_if_idle(number);
}

result<bool> scheduler::has_task(const std::string& id) {
  const auto known = lookup(id);
  if (!known) return known.failure();
  return known->has_value();
}

v1::TaskState scheduler::final_state_of(std::uint64_t number, const std::string& id) {
  if (const auto* live = find(number); live != nullptr) return live->poison.empty() ? live->record.state() : v1::TASK_STATE_UNSPECIFIED;
  const auto stored = store::load_task(committed(), number);
  if (stored.ok() && *stored) return (*stored)->state();
  const auto gone = store::find_task(committed(), id);
  return gone.ok() && *gone ? (*gone)->final_state() : v1::TASK_STATE_UNSPECIFIED;
}

// ---- alerts ----

/// When the task goes on or ends, its alert is resolved. A new alert replaces the earlier one.
void scheduler::write_alerts(v1::TaskRecord& record, core::decision& made) {
  if (faults_.lose_alert) return;
  const auto resolve = [&] {
    if (record.alert() == 0) return;
    const auto resolved = alerts_.resolve(record.alert(), batches_.page(), committed());
    if (!resolved.ok()) fail(resolved.failure());
    record.clear_alert();
  };
  if (made.unparked && !faults_.keep_task_alert) resolve();
  for (auto& draft : made.alerts) {
    // It outlives the task: only an operator can say that what the step was to do is done.
    if (draft.kind() == v1::ALERT_KIND_FINALLY_FAILED) {
      if (auto told = failing_.ends_without(std::move(draft), batches_.page(), committed()); !told.ok()) fail(told.failure());
      continue;
    }
    resolve();
    record.set_alert(alerts_.raise(std::move(draft), batches_.page()));
  }
  for (const auto& draft : made.restated)
    if (const auto done = alerts_.restate(record.alert(), draft, batches_.page(), committed()); !done) fail(done.failure());
  // Alerts raised on the way to the end are resolved with the end.
  if (made.ended) resolve();
}

void scheduler::watch_brake(const v1::TaskRecord& record, const core::decision& made) {
  // The failure of a child is its parent's, too, and counts once.
  if (record.has_parent()) return;
  const auto now = world_.time->now();
  if (made.ended && record.state() == v1::TASK_STATE_COMPLETED) brake_.completed(now);
  if (!made.answered_undo || !brake_.failed(now) || batches_.counts().undo_brake_since_unix_ms() != 0) return;
  batches_.counts().set_undo_brake_since_unix_ms(to_unix_ms(now));
  v1::AlertRecord draft;
  draft.set_kind(v1::ALERT_KIND_UNDO_BRAKE);
  draft.set_workflow(record.workflow());
  draft.set_sentence(brake_.sentence() + ", so failed tasks are not undone for now; the latest of them was " + record.id() +
                     " of workflow " + record.workflow());
  draft.set_remedy(
      "find the cause, and retry tasks that can still succeed (fairlead task retry); then fairlead brake release undoes the rest");
  batches_.counts().set_undo_brake_alert(alerts_.raise(std::move(draft), batches_.page()));
  world_.log->on_note(note_level::warning, "scheduler", "the brake on mass undo is on: " + brake_.sentence());
}

void scheduler::gather(live_task& task, core::decision& made) {
  families_.note(task.record, made);
  for (auto& out : made.performs) {
    ticket(task, out.instance, out.message);
    *batches_.after().performs[out.instance].add_items() = std::move(out.message);
  }
  take_hints(made);
  for (auto& request : made.evaluations) {
    const auto key = core::evaluation_key(request.step(), request.part());
    if (task.evaluating.count(key) != 0) continue;
    if (!evaluations_.has_room()) {
      evaluations_.wait(task.record.number());
      continue;
    }
    task.evaluating.insert(key);
    const auto ticket = evaluations_.ask({task.record.number(), request.step(), request.part(), request.item()}, request.document().size());
    request.set_ticket(ticket);
    if (!faults_.lose_evaluation) evaluations_.outstanding(ticket, world_.out->evaluate(std::move(request)));
  }
  const auto undoing = task.record.state() == v1::TASK_STATE_UNDOING;
  const auto order = store::pending_order(wanted_since_unix_ms(task.record), task.record.priority());
  if (!faults_.lose_slot_wait)
    for (const auto& wait : made.waiting) slots_.wait(wait.queue, task.record.number(), order, undoing);
  if (world_.log->wants_transitions()) {
    for (auto& noted : made.transitions) {
      auto& told = batches_.after().transitions.emplace_back();
      told.task_id = task.record.id();
      if (noted.step > 0) told.step = task.record.steps(static_cast<int>(noted.step) - 1).path();
      told.what = std::move(noted);
    }
  }
  if (made.ended || made.parked) {
    evaluations_.available(task.record.number());
    const auto [first, last] = subscribers_.equal_range(task.record.number());
    for (auto one = first; one != last; ++one) {
      if (made.ended && faults_.lose_notice) continue;
      auto* end = batches_.after().notices[one->second].add_items();
      end->set_id(task.record.id());
      end->set_state(task.record.state());
      end->set_parked(task.record.parked());
      end->set_reason(core::reason_of(task.record));
      end->set_has_output(task.record.has_output());
    }
    if (made.ended) subscribers_.erase(first, last);
  }
}

}  // namespace fairlead
