#include "actors/core/task/task.hpp"

#include <algorithm>

#include "actors/core/task/machine.hpp"
#include "actors/core/task/restore.hpp"
#include "actors/core/text/json.hpp"
#include "messages/holds.hpp"
#include "messages/task_states.hpp"

namespace fairlead::core {

namespace {

/// What the end of an attempt says about the instance and its service.
slot_end end_of(const std::optional<v1::Fault>& fault) {
  if (!fault) return slot_end::succeeded;
  // The node of the agent has no address for callbacks: the service was not asked.
  if (fault->kind() == v1::FAULT_KIND_TRANSIENT && fault->code() == "no_callback_url") return slot_end::unused;
  return fault->kind() == v1::FAULT_KIND_PERMANENT ? slot_end::answered : slot_end::failed;
}

}  // namespace

// ---- events ----

void task_machine::on(const task_admitted&) {
  if (record_.state() != v1::TASK_STATE_PENDING || record_.scheduled()) return;
  begin();
  // The task may have waited beyond its timeout: then nothing of it is handed over.
  if (timed_out() && !stopped()) time_out();
  advance();
}

void task_machine::on(const attempt_ended& e) {
  auto* step = find(e.step);
  // The fence: exactly this attempt, in this direction, is in progress.
  const auto same_attempt = step != nullptr && (attempt_of(*step, e.direction) == e.attempt || planted(&planted_faults::forget_fence));
  const auto awaited =
      step != nullptr && (attempt_out(*step) || (planted(&planted_faults::accept_after_recovery) && awaits_recovery(*step)));
  if (!same_attempt || !awaited || step->direction() != e.direction) return;
  out_.accepted = true;
  if (attempt_out(*step)) {
    out_.took_ms = since_hand_over(*step);
    const auto code = e.fault ? std::string_view{e.fault->code()} : std::string_view{};
    ctx_.agents->release(holder_of(e.step), {end_of(e.fault), e.tries, e.busy_ms, code});
  }
  step->set_tries(step->tries() + e.tries);
  if (e.log) keep_log(*step, e);
  if (e.direction != v1::DIRECTION_UNDO && step->has_early_answer()) {
    end_lease(*step);
    take_early_answer(e.step);
    return advance();
  }
  const auto accepts =
      e.direction == v1::DIRECTION_PERFORM && definition_of(*step).callback_ms() != 0 && !planted(&planted_faults::complete_at_acceptance);
  const auto fault = e.fault || accepts ? e.fault : fault_of_type(*step, e);
  out_.misfit = fault && !e.fault;
  if (fault)
    end_badly(e.step, *fault, fault->kind() == v1::FAULT_KIND_IN_DOUBT ? v1::EVENT_KIND_STEP_IN_DOUBT : v1::EVENT_KIND_STEP_FAILED);
  else if (e.direction == v1::DIRECTION_LOOKUP)
    looked_up(e.step, e.verdict, e.output);
  else if (e.direction == v1::DIRECTION_UNDO)
    undo_done(e.step, {});
  else if (accepts)
    accept(e.step);
  else
    complete(e.step, e.output);
  advance();
}

/// A log takes the place of the one before: a step keeps that of its latest attempt.
void task_machine::keep_log(v1::StepRecord& step, const attempt_ended& e) {
  auto& log = *step.mutable_log();
  drop_payload(log.text(), out_);
  std::string json;
  append_json_string(json, planted(&planted_faults::lose_log) ? std::string_view{} : *e.log);
  set_payload(record_, *log.mutable_text(), std::move(json), out_);
  log.set_cut(e.log_cut);
  log.set_attempt(e.attempt);
  log.set_direction(e.direction);
}

void task_machine::on(const attempt_refused& e) {
  const auto* step = find(e.step);
  if (step == nullptr || !is_out(*step, e.direction, e.attempt)) return;
  out_.accepted = true;
  hand_back(e.step, "agent instance " + step->instance() +
                        (e.given_back ? " gave the step back: nobody has begun it"
                                      : " has not begun the step: it has seen a later lineage or start of the shard"));
  advance();
}

void task_machine::on(const slot_freed&) { advance(); }

void task_machine::on(const recovery_requested& e) {
  auto* step = find(e.step);
  if (step == nullptr || step->direction() != e.direction || attempt_of(*step, e.direction) != e.attempt ||
      failures_of(*step, e.direction) != e.failure_count)
    return;
  recover_if_due(e.step);
  // While a step waits, the Supervisor does not see that the task as a whole is due: another step may have waited for its service for long
  // enough, and the brake may have been released.
  for (std::uint32_t i = 0; i < steps() && !out_.fatal; ++i) give_up_if_blocked(i);
  if (out_.changed || (record_.undo_held() && !ctx_.hold_undo)) advance();
}

void task_machine::on(const task_due&) {
  if (record_.scheduled() && now_ms() >= record_.start_at_unix_ms()) {
    // From now on it waits for its turn as if it had been submitted now.
    record_.clear_scheduled();
    out_.changed = true;
  }
  if (timed_out() && !stopped() && record_.state() == v1::TASK_STATE_RUNNING) time_out();
  for (std::uint32_t i = 0; i < steps(); ++i) {
    recover_if_due(i);
    give_up_if_blocked(i);
  }
  advance();
}

void task_machine::on(const agent_replaced& e) {
  for (std::uint32_t i = 0; i < steps(); ++i) {
    const auto& step = at(i);
    if (attempt_out(step) && step.instance() == e.instance && step.incarnation() < e.incarnation) lose(i);
  }
  if (out_.changed) advance();
}

void task_machine::on(const agent_returned& e) {
  for (std::uint32_t i = 0; i < steps(); ++i) {
    const auto& step = at(i);
    if (!attempt_out(step) || step.instance() != e.instance || step.incarnation() > e.incarnation) continue;
    if (step.incarnation() < e.incarnation) {
      if (std::find(e.never_left.begin(), e.never_left.end(), i) != e.never_left.end())
        hand_back(i, "agent instance " + step.instance() + " was started again before the step was handed over");
      else
        lose(i);
    } else if (hold(i, true) && now_ms() < lease_end(step) && !planted(&planted_faults::forget_to_resend)) {
      hand_over(i);
    }
    if (out_.fatal) return;
  }
  if (out_.changed) advance();
}

void task_machine::on(const limits_changed& e) {
  for (std::uint32_t i = 0; i < steps() && !out_.fatal; ++i) {
    const auto& step = at(i);
    if (attempt_out(step) && definition_of(step).agent() == e.agent)
      hold(i, ctx_.agents->incarnation_of(step.instance()) == step.incarnation());
  }
}

void task_machine::on(const task_resumed&) {
  for (std::uint32_t i = 0; i < steps(); ++i) resume(i);
  advance();
}

void task_machine::on(const task_poisoned& e) {
  if (has_ended(record_)) return;
  // Only a running task can be parked.
  if (record_.state() == v1::TASK_STATE_PENDING) begin();
  // What is told of the child may be what the decision crashed on.
  if (record_.parked_for_child()) unpark(record_, ctx_.now, out_);
  park(record_, e.reason, ctx_.now, out_);
}

void task_machine::park_if_unusable() {
  if (usable() || (record_.state() != v1::TASK_STATE_RUNNING && record_.state() != v1::TASK_STATE_UNDOING)) return;
  if (record_.terminated()) return;
  park(record_, ctx_.definition->refusal().sentence, ctx_.now, out_);
}

// ---- questions ----

bool task_machine::stopped() const {
  if (is_held(record_) || !usable()) return true;
  return record_.state() != v1::TASK_STATE_RUNNING && record_.state() != v1::TASK_STATE_UNDOING;
}

v1::StepRecord* task_machine::find(std::uint32_t step) { return step < steps() ? &at(step) : nullptr; }

bool task_machine::timed_out() const {
  const auto limit = times_out_at(record_, ctx_.definition->definition());
  return limit > 0 && !record_.timed_out() && now_ms() >= limit;
}

void task_machine::begin() {
  move_task(record_, task_moves::admit, ctx_.now, out_);
  record_.set_started_at_unix_ms(now_ms());
  add_event(record_, v1::EVENT_KIND_TASK_STARTED, 0, 0, ctx_.now);
}

void task_machine::advance() {
  if (out_.fatal) return;
  if (record_.undo_held() && !ctx_.hold_undo && !sleeps(record_) && record_.state() == v1::TASK_STATE_RUNNING) {
    begin_undo(record_.undo_reason());
    catch_up_end();
  }
  if (gives_way()) give_way(record_.undo_reason());
  if (record_.failing()) return advance_fail();
  if (stopped()) return;
  if (record_.state() == v1::TASK_STATE_RUNNING) advance_perform();
  // Also after advance_perform, which may have failed a step.
  if (record_.state() == v1::TASK_STATE_UNDOING && !stopped() && !out_.fatal) advance_undo();
  if (record_.failing() && !out_.fatal) advance_fail();
}

void task_machine::advance_perform() {
  const auto goes_on = [this] { return !stopped() && !out_.fatal && record_.state() == v1::TASK_STATE_RUNNING; };
  // Again after a step was skipped, passed over, dropped or undone: others may be ready now. A list that has failed may have ended the way
  // forward, and with it the waits of other steps, which would seem ready.
  do {
    while (start_ready()) {
    }
  } while ((undo_dropped() || advance_all_items()) && goes_on());
  if (!goes_on()) return;
  for (std::uint32_t i = 0; i < steps(); ++i) {
    if (to_be_looked_up(at(i)) && !under_way(at(i))) start_lookup(i);
  }
}

/// True: a step is over, and others may be ready now.
bool task_machine::advance_all_items() {
  bool over = false;
  for (std::uint32_t i = 0; i < steps(); ++i) over = advance_items(i) || over;
  return over;
}

/// True: a step is over without an attempt, and others may be ready now.
bool task_machine::start_ready() {
  let_go_of_dropped();
  next_steps next;
  ctx_.engine->next(*ctx_.definition, record_, next);
  if (!next.dropped.empty()) {
    for (const auto step : next.dropped) drop(step);
    return true;
  }
  // Steps of the end begin once it is decided what the end is.
  if (ctx_.definition->has_end() && others_are_over() && fails_at_end()) {
    if (!any_out(record_)) end_performed();
    return false;
  }
  if (next.over || (planted(&planted_faults::end_before_dropped) && over_without_dropped())) {
    if (!any_out(record_)) end_performed();
    return false;
  }
  for (const auto step : next.unmet) {
    fail_join(step);
    if (stopped() || out_.fatal || record_.state() != v1::TASK_STATE_RUNNING) return false;
  }
  if (planted(&planted_faults::skip_needs)) {
    next.ready.clear();
    for (std::uint32_t i = 0; i < steps(); ++i)
      if (at(i).state() == v1::STEP_STATE_PENDING) next.ready.push_back(i);
  }
  if (planted(&planted_faults::join_starts_early)) start_joins_early(next);
  bool over = !next.unmet.empty();
  for (const auto step : next.ready) {
    start_perform(step);
    // The step may have given up instead, and the task is undone now.
    if (stopped() || out_.fatal || record_.state() != v1::TASK_STATE_RUNNING) return false;
    over = over || satisfies_needs(at(step));
  }
  return over;
}

// ---- entry points ----

namespace {

/// Sets the fields that every stored version carries.
void seal(v1::TaskRecord& record, const context& ctx, std::int64_t due) {
  record.set_version(record.version() + 1);
  record.set_epoch(ctx.epoch);
  record.set_due_unix_ms(due);
}

/// Some step is ready and could not be handed over.
bool waits(const decision& made) { return made.found_no_instance || !made.evaluations.empty() || made.awaits_input; }

}  // namespace

v1::TaskRecord create_task(new_task source, const context& ctx, decision& out) {
  v1::TaskRecord record;
  record.set_number(source.number);
  record.set_id(std::move(source.id));
  record.set_name_space(std::move(source.name_space));
  record.set_content_hash(std::move(source.content_hash));
  record.set_workflow(ctx.definition->definition().name());
  record.set_workflow_hash(ctx.definition->content_hash());
  const planted_faults none{};
  const auto& planted = ctx.planted != nullptr ? *ctx.planted : none;
  if (!planted.lose_label)
    for (auto& label : source.labels) *record.add_labels() = std::move(label);
  if (!planted.lose_priority) record.set_priority(source.priority);
  if (!source.submitted_by.empty()) record.set_submitted_by(std::move(source.submitted_by));
  if (source.origin) *record.mutable_origin() = std::move(*source.origin);
  if (source.reply) *record.mutable_reply() = std::move(*source.reply);
  record.set_state(v1::TASK_STATE_PENDING);
  record.set_created_at_unix_ms(to_unix_ms(ctx.now));
  if (source.launch) *record.mutable_launch() = std::move(*source.launch);
  if (source.parent) *record.mutable_parent() = std::move(*source.parent);
  record.set_deadline_unix_ms(source.deadline_unix_ms);
  record.set_delay_ms(source.delay_ms);
  record.set_start_at_unix_ms(source.delay_ms > 0 ? to_unix_ms(ctx.now) + source.delay_ms : source.start_at_unix_ms);
  record.set_scheduled(record.start_at_unix_ms() > to_unix_ms(ctx.now) && !planted.start_early);
  set_payload(record, *record.mutable_input(), std::move(source.input), out);
  if (!source.item.empty()) set_payload(record, *record.mutable_item(), std::move(source.item), out);
  ctx.engine->begin(*ctx.definition, record);
  record.set_first_restored_from_unix_ms(source.first_restored_from_unix_ms);
  if (source.restored_from_unix_ms != 0 && !planted.child_forgets_restore) may_have_begun(record, source.restored_from_unix_ms);
  add_event(record, v1::EVENT_KIND_TASK_SUBMITTED, 0, 0, ctx.now,
            record.scheduled() ? "starts at " + format_utc(record.start_at_unix_ms()) : std::string{});
  add_status(record, v1::STATUS_KIND_RECEIVED, ctx.now, out);
  out.transitions.push_back({0, "", "pending", 0, ""});
  out.changed = true;
  seal(record, ctx, next_due(record, ctx, false));
  return record;
}

void take_back_start(v1::TaskRecord& record, const context& ctx) {
  record.set_state(v1::TASK_STATE_PENDING);
  record.clear_started_at_unix_ms();
  record.clear_finished_at_unix_ms();
  record.clear_timed_out();
  record.clear_failing();
  record.clear_failed_reason();
  record.clear_undo_reason();
  record.clear_parked();
  record.clear_parked_reason();
  record.clear_undo_held();
  record.clear_steps();
  record.clear_output();
  ctx.engine->begin(*ctx.definition, record);
  if (record.restored_from_unix_ms() != 0) may_have_begun(record, record.restored_from_unix_ms());
  // Of its events and status events the first, of its submission, is written with the task.
  record.mutable_recent()->DeleteSubrange(1, record.recent_size() - 1);
  record.set_history_size(1);
  record.set_status_sequence(record.has_reply() ? 1 : 0);
}

decision decide(v1::TaskRecord& record, const event& what, const context& ctx) {
  decision out;
  // An operator's action may turn out not to fit when half of it is done.
  std::optional<v1::TaskRecord> as_it_was;
  if (std::holds_alternative<operated>(what)) as_it_was = record;
  task_machine m{record, ctx, out};
  std::visit([&m](const auto& e) { m.on(e); }, what);
  if (out.changed && !out.migrated) m.look_from_now_on();
  if (out.refused) {
    record = std::move(*as_it_was);
    decision nothing_else;
    nothing_else.refused = std::move(out.refused);
    out = std::move(nothing_else);
    return out;  // each return names the same variable, so that the decision is never moved on its way out
  }
  // From here on the other version counts.
  auto by = ctx;
  if (out.migrated) {
    by.definition = std::get<operated>(what).target.get();
    task_machine{record, by, out}.on(slot_freed{});
  }
  task_machine end{record, by, out};
  end.park_if_unusable();
  if (out.changed) end.count_failing();
  const auto due = next_due(record, by, waits(out));
  // An index entry that came up early moves to the moment when something is due.
  const auto looked = std::holds_alternative<task_due>(what) || (std::holds_alternative<recovery_requested>(what) && record.undo_held());
  if (looked && record.due_indexed_unix_ms() != due) out.changed = true;
  if (std::holds_alternative<clock_set_back>(what) && due < record.due_unix_ms()) out.changed = true;
  if (out.changed) seal(record, ctx, due);
  return out;
}

bool any_out(const v1::TaskRecord& record) {
  return std::any_of(record.steps().begin(), record.steps().end(), [](const v1::StepRecord& step) { return is_out(step); });
}

bool any_attempt_out(const v1::TaskRecord& record) { return std::any_of(record.steps().begin(), record.steps().end(), attempt_out); }

std::string idempotency_key(const v1::TaskRecord& record, const v1::StepRecord& step, v1::Direction direction) {
  std::string key;
  key.reserve(record.id().size() + step.path().size() + 16);
  key += record.id();
  key += '/';
  key += step.path();
  key += direction == v1::DIRECTION_UNDO ? "/undo/" : direction == v1::DIRECTION_LOOKUP ? "/lookup/" : "/perform/";
  key += std::to_string(step.generation());
  return key;
}

key_parts parts_of_key(std::string key) {
  key_parts out;
  for (auto* part : {static_cast<std::string*>(nullptr), static_cast<std::string*>(nullptr), &out.step}) {
    const auto at = key.rfind('/');
    if (at == std::string::npos) return {};
    if (part != nullptr) *part = key.substr(at + 1);
    key.resize(at);
  }
  out.task_id = std::move(key);
  return out;
}

void decision::append(decision&& later) {
  const auto move_all = [](auto& to, auto& from) {
    if (to.empty())
      to = std::move(from);
    else
      to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  };
  changed = changed || later.changed;
  accepted = accepted || later.accepted;
  ended = ended || later.ended;
  parked = parked || later.parked;
  unparked = unparked || later.unparked;
  answered_undo = answered_undo || later.answered_undo;
  leases_cut = leases_cut || later.leases_cut;
  expired += later.expired;
  lost += later.lost;
  took_ms = std::max(took_ms, later.took_ms);
  misfit = misfit || later.misfit;
  migrated = migrated || later.migrated;
  repeated = repeated || later.repeated;
  awaits_input = awaits_input || later.awaits_input;
  forget_asked = forget_asked || later.forget_asked;
  if (!refused) refused = std::move(later.refused);
  if (!fatal) fatal = std::move(later.fatal);
  move_all(payloads, later.payloads);
  move_all(dropped_slots, later.dropped_slots);
  move_all(performs, later.performs);
  move_all(evaluations, later.evaluations);
  move_all(hints, later.hints);
  move_all(waiting, later.waiting);
  found_no_instance = found_no_instance || later.found_no_instance;
  move_all(children, later.children);
  move_all(transitions, later.transitions);
  move_all(failing, later.failing);
  move_all(alerts, later.alerts);
  move_all(restated, later.restated);
  move_all(statuses, later.statuses);
}

}  // namespace fairlead::core
