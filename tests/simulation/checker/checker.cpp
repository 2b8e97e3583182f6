// What leaves the Scheduler, judged at the door.

#include "tests/simulation/checker/checker.hpp"
#include "actors/core/task/record.hpp"
#include "tests/simulation/checker/own/joins.hpp"

#include <algorithm>
#include <utility>

#include "store/content_hash.hpp"
#include "store/rows/task_rows.hpp"

namespace fairlead::simulation {

namespace {

std::string name(const step_name& of) { return of.task + " step " + std::to_string(of.step); }

/// Its attempts have ended badly, or it waits for another one.
bool tried_in_vain(const v1::StepRecord& step) {
  return (step.state() == v1::STEP_STATE_FAILED || step.state() == v1::STEP_STATE_PENDING) && step.failure_count() != 0;
}

}  // namespace

std::string describe(const v1::Perform& what) {
  return std::string{word(what.direction())} + " of " + what.task_id() + "/" + what.step_path() + " attempt " +
         std::to_string(what.attempt());
}

checker::checker(world& in, const host_clock& of_shard, const ledger& book)
    : world_(in),
      clock_(of_shard),
      ledger_(book),
      jobs_(in, of_shard, bugs_),
      contents_(in, of_shard),
      pace_(in, of_shard),
      archives_(in, of_shard),
      alerts_(in),
      bugs_(in),
      restores_(in, book) {}

void checker::knows(const v1::WorkflowDefinition& version) { shapes_.emplace(store::definition_hash(version), shape{version}); }

const shape* checker::shape_of(const v1::TaskRecord& task) const {
  const auto found = shapes_.find(task.workflow_hash());
  if (found == shapes_.end() || found->second.definition().name() != task.workflow()) return nullptr;
  const auto call_of = task.parent().call_of();
  if (call_of == 0) return &found->second;
  if (call_of > found->second.size()) return nullptr;
  const std::pair name{task.workflow_hash(), call_of};
  const auto known = calls_.find(name);
  return known != calls_.end() ? &known->second : &calls_.emplace(name, found->second.of_item(call_of - 1)).first->second;
}

std::string checker::perform_key(const step_name& of) const {
  const auto found = steps_.find(of);
  if (found == steps_.end()) return {};
  for (auto at = found->second.all.rbegin(); at != found->second.all.rend(); ++at)
    if (at->direction == v1::DIRECTION_PERFORM) return at->key;
  return {};
}

bool checker::closed(const hand_over& one) const {
  // A clock that is set back between the decision and the hand-over may have shown the end of the lease by then.
  const auto since_us = one.decided_us == 0 ? one.at_us : one.decided_us;
  return one.arrived || clock_.has_shown(std::min(one.complete_by_ms, one.lease_ms), since_us) ||
         (one.abandoned && one.believed_us != 0 && world_.now_us() >= one.believed_us) || agents_->dead(one.instance, one.incarnation);
}

void checker::handed_over(const std::string& instance, std::uint64_t incarnation, std::uint64_t epoch, const v1::Perform& what) {
  const step_name of{what.task_id(), what.step()};
  const auto text = describe(what);
  const auto view = reads_->read();
  const auto stored = store::load_task(*view, what.task_number());
  // A former leader may be so late that the task has moved to an archive since. Its agent knows a later epoch.
  const bool existed = what.task_number() < view->get_progress().shard.next_task_number();
  if (stored.ok() && !*stored && existed && epoch < led_under_) return world_.count("hand-overs of a former leader of archived tasks");
  if (!stored.ok() || !*stored || (*stored)->id() != what.task_id() || static_cast<int>(what.step()) >= (*stored)->steps_size())
    world::broken("durable_before_effect", text + " was handed over, and the store does not have the task");
  const auto& record = **stored;
  if (core::attempt_of(record.steps(static_cast<int>(what.step())), what.direction()) < what.attempt())
    world::broken("durable_before_effect", text + " was handed over, and the store does not know the attempt");
  const auto number = numbers_.emplace(what.task_id(), what.task_number()).first->second;
  if (number != what.task_number()) world::broken("one_task", what.task_id() + " stands for two tasks");
  ids_[what.task_number()] = what.task_id();
  restores_.handed_over(what, shape_of(record), record);
  if (restores_.on()) return;
  if (const auto* known = shape_of(record)) contents_.of_callbacks().handed_over(what, shard_, *known);
  if (epoch < led_under_) return handed_over_late(instance, incarnation, epoch, what);

  auto& past = steps_[of];
  auto next = made_of(instance, incarnation, epoch, what);
  // What was not seen in time before is judged now. Its agent may have sent heartbeats since.
  std::erase_if(past.all, [&](hand_over& one) {
    const bool same = one.late && one.direction == what.direction() && one.attempt == what.attempt();
    if (same) next.beats.merge(one.beats);
    return same;
  });
  world_.judges("durable_before_effect");
  world_.judges("epoch_falls");
  world_.judges("attempt_falls");
  world_.judges("key");
  if (const auto decided = past.decided_us.find({next.direction, next.attempt, next.complete_by_ms}); decided != past.decided_us.end())
    next.decided_us = decided->second;
  // As its agent counts: from when the message leaves.
  if (next.decided_us != 0 && !clock_.set_since(next.decided_us))
    next.believed_us = next.at_us + (next.complete_by_ms - clock_.now_ms()) * millisecond;
  judge_order(of, past, next);
  judge_key(of, past, what, open_effects(record, of.step));
  const auto* plan = shape_of(record);
  if (plan == nullptr) world::broken("one_task", what.task_id() + " is of a workflow that nobody deployed");
  world_.judges("no_agent");
  if (plan->own(of.step)) world::broken("no_agent", text + " was handed over, and no agent carries that step out");
  if (what.direction() == v1::DIRECTION_PERFORM) {
    // Its outcome may have come in between: a message that is only sent again then begins nothing.
    const auto over = !past.all.empty() && past.all.back().direction == next.direction && past.all.back().attempt == next.attempt &&
                      past.all.back().arrived;
    if (!over && plan->of_end(of.step))
      judge_end_perform(of, next, *plan, record, past);
    else if (!over)
      judge_perform(of, *plan, record);
    judge_start(what.task_id());
    past.perform_keys.insert(next.key);
  } else if (what.direction() == v1::DIRECTION_UNDO) {
    judge_undo(of, *plan, record, past);
    judge_undo_of_failed(of, what, *plan, record);
    // Of a dropped step its task may go on.
    if (!record.steps(static_cast<int>(of.step)).dropped()) undo_began_.insert(what.task_id());
  }
  if (past.all.size() > 1) world_.judges("two_effects");
  if (open_effects(record, of.step) > 1) world::broken("two_effects", name(of) + " has two standing effects");
  const auto* site = agents_->site_of(instance);
  if (site == nullptr) world::broken("label", text + " was handed over to " + instance + ", which nobody has heard of");
  // A message that is only sent again keeps what is known of its attempt.
  if (!past.all.empty() && past.all.back().direction == next.direction && past.all.back().attempt == next.attempt) {
    past.all.back().epoch = epoch;
    past.all.back().sent_us = world_.now_us();
    auto& believed_us = past.all.back().believed_us;
    believed_us = believed_us == 0 ? 0 : std::max(believed_us, next.believed_us);
    world_.count("hand-overs sent again");
    past.all.back().lease_ms = std::max(past.all.back().lease_ms, next.lease_ms);
    judge_place(of, next, *site, plan->step(of.step));
    return;
  }
  const auto& definition = plan->step(of.step);
  next.decided_ms =
      next.complete_by_ms - (what.direction() == v1::DIRECTION_UNDO ? definition.undo().timeout_ms() : definition.timeout_ms());
  judge_place(of, next, *site, definition);
  judge_expiry(of, past, next, *site, record.steps(static_cast<int>(of.step)).doubtful());
  judge_checkpoint(of, past, what);
  judge_limits(of, next, *site);
  judge_order_of_waiting(of, next, *plan, record, past);
  if (what.direction() == v1::DIRECTION_PERFORM) past.keys_since_ms.emplace(next.key, next.decided_ms);
  past.all.push_back(std::move(next));
  contents_.handed_over(what, record, *plan);
  pace_.handed_over(what, record, *plan, past.all.back().decided_ms);
  world_.count("hand-overs");
}

checker::hand_over checker::made_of(const std::string& instance, std::uint64_t incarnation, std::uint64_t epoch,
                                    const v1::Perform& what) const {
  hand_over out;
  out.attempt = what.attempt();
  out.direction = what.direction();
  out.epoch = epoch;
  out.instance = instance;
  out.incarnation = incarnation;
  out.complete_by_ms = what.complete_by_unix_ms();
  out.heartbeat_ms = what.heartbeat_ms();
  out.lease_ms = what.heartbeat_ms() > 0 ? what.heartbeat_by_unix_ms() : what.complete_by_unix_ms();
  out.call = what.call();
  out.input = what.input();
  out.key = what.idempotency_key();
  out.at_us = out.sent_us = world_.now_us();
  return out;
}

/// By one that does not know yet that another leads. Its agent may get it, unless it has heard of the other.
void checker::handed_over_late(const std::string& instance, std::uint64_t incarnation, std::uint64_t epoch, const v1::Perform& what) {
  world_.count("hand-overs of a former leader");
  auto& all = steps_[{what.task_id(), what.step()}].all;
  const auto same = [&](const hand_over& one) { return one.direction == what.direction() && one.attempt == what.attempt(); };
  if (std::any_of(all.begin(), all.end(), same)) return;
  auto late = made_of(instance, incarnation, epoch, what);
  late.late = true;
  const auto later = std::find_if(all.begin(), all.end(), [&](const hand_over& one) { return one.epoch > epoch; });
  all.insert(later, std::move(late));
}

void checker::judge_order(const step_name& of, const history& past, const hand_over& next) const {
  const auto text = std::string{word(next.direction)} + " of " + name(of) + " attempt " + std::to_string(next.attempt);
  for (const auto& before : past.all) {
    if (before.epoch > next.epoch) world::broken("epoch_falls", text + " was handed over under an older epoch than one before");
    if (before.direction != next.direction) continue;
    if (before.attempt > next.attempt)
      world::broken("attempt_falls", text + " was handed over after attempt " + std::to_string(before.attempt));
  }
  if (past.all.empty()) return;
  const auto& last = past.all.back();
  for (const auto& before : past.all) {
    if (before.direction != next.direction || before.attempt != next.attempt) continue;
    world_.judges("attempt_reused");
    const auto again = &before == &last && before.instance == next.instance && before.incarnation == next.incarnation &&
                       before.key == next.key && (before.complete_by_ms == next.complete_by_ms || clock_.settings() != 0) &&
                       (before.epoch < next.epoch || may_be_sent_again(next));
    if (!again) world::broken("attempt_reused", text + " was handed over twice, and not as a message that is only sent again");
    return;
  }
  world_.judges("overlapping_leases");
  if (!closed(last))
    world::broken("overlapping_leases", text + " was handed over to " + next.instance + "#" + std::to_string(next.incarnation) + " while " +
                                            last.instance + "#" + std::to_string(last.incarnation) + " holds the step by attempt " +
                                            std::to_string(last.attempt) + " (" + word(last.direction) + ") for " +
                                            std::to_string(last.complete_by_ms - clock_.now_ms()) + " ms more");
}

void checker::judge_key(const step_name& of, const history& past, const v1::Perform& what, std::size_t open_effects) {
  const auto text = describe(what);
  if (what.idempotency_key().empty()) world::broken("key", text + " has no key");
  const auto known = keys_.emplace(what.idempotency_key(), std::pair{of, what.direction()}).first->second;
  if (known != std::pair{of, what.direction()})
    world::broken("key", text + " has the key of a " + word(known.second) + " of " + name(known.first));
  const auto last = perform_key(of);
  if (what.direction() != v1::DIRECTION_PERFORM) {
    // The newest perform may have died with the Scheduler before it left.
    const auto elsewhere = keys_.find(what.perform_key());
    const auto strange = elsewhere != keys_.end() && elsewhere->second != std::pair{of, v1::DIRECTION_PERFORM};
    const auto older = what.perform_key() != last && past.perform_keys.count(what.perform_key()) != 0;
    if (strange || older) world::broken("key", text + " is about key " + what.perform_key() + ", the perform had " + last);
    return;
  }
  if (last.empty() || last == what.idempotency_key()) return;
  if (past.perform_keys.count(what.idempotency_key()) != 0) world::broken("key", text + " goes back to an older key");
  if (open_effects != 0) world::broken("key", text + " has a new key while the effect under the old one stands");
}

void checker::judge_start(const std::string& id) const {
  const auto* wanted = contents_.submission_of(id);
  // A crashed decision parks the task, and whoever retries it starts it.
  if (wanted == nullptr || clock_.settings() != 0 || bugs_.about(id)) return;
  if (wanted->start_at_unix_ms() != 0) {
    world_.judges("started_early");
    if (clock_.now_ms() + whole_ms < wanted->start_at_unix_ms())
      world::broken("started_early", id + " is performed " + std::to_string(wanted->start_at_unix_ms() - clock_.now_ms()) +
                                         " ms before the moment of its submission");
  }
  if (wanted->delay_ms() != 0) {
    world_.judges("started_early");
    // By the shard's clock, which goes on by minutes in a long outage.
    const auto waited_ms = clock_.now_ms() - first_sent_ms_.at(id);
    if (waited_ms + whole_ms < wanted->delay_ms())
      world::broken("started_early", id + " is performed after " + std::to_string(waited_ms) + " ms, and asked for a delay of " +
                                         std::to_string(wanted->delay_ms()));
  }
}

void checker::judge_perform(const step_name& of, const shape& plan, const v1::TaskRecord& record) const {
  // One that was dropped has begun before, and so may its needs have been.
  if (plan.joins(of.step) && !record.steps(static_cast<int>(of.step)).dropped()) {
    world_.judges("join_early");
    if (!join_met(plan, record, of.step)) world::broken("join_early", name(of) + " was handed over before its join was met");
  }
  world_.judges("perform_after_undo");
  if (undo_began_.count(of.task) != 0)
    world::broken("perform_after_undo", name(of) + " was handed over to be performed though the task is being undone");
  for (std::uint32_t other = 0; other < plan.size(); ++other) {
    const auto& needed = record.steps(static_cast<int>(other));
    const auto state = needed.state();
    // The record may be further on than what leaves now: what it needed may be being undone already.
    const auto undone = state == v1::STEP_STATE_UNDOING || state == v1::STEP_STATE_UNDONE;
    const auto later = needed.dropped() ? state == v1::STEP_STATE_COMPLETED : undone;
    if (!plan.must_wait_for(of.step, other)) continue;
    world_.judges("needs");
    if (is_over(plan, record, other) || later) continue;
    world::broken("needs", name(of) + " was handed over before step " + std::to_string(other) + " was over");
  }
}

void checker::judge_undo(const step_name& of, const shape& plan, const v1::TaskRecord& record, const history& past) const {
  if (plan.step(of.step).pivot()) world::broken("pivot_undone", name(of) + " is a pivot, and was handed over to be undone");
  world_.judges("undo_twice");
  world_.judges("undo_of_nothing");
  world_.judges("pivot_undone");
  if (past.undone) world::broken("undo_twice", name(of) + " was handed over to be undone after its undo had succeeded");
  if (record.steps(static_cast<int>(of.step)).attempt() == 0)
    world::broken("undo_of_nothing", name(of) + " was handed over to be undone and never to be performed");
  const auto dropped = record.steps(static_cast<int>(of.step)).dropped();
  const auto has_child = [](const v1::StepRecord& step) {
    return step.kind() == v1::STEP_KIND_WORKFLOW && step.state() == v1::STEP_STATE_RUNNING;
  };
  if (!dropped && std::any_of(record.steps().begin(), record.steps().end(), has_child))
    world::broken("not_drained", name(of) + " was handed over to be undone while the task of another step is in progress");
  for (std::uint32_t other = 0; other < plan.size(); ++other) {
    const step_name later{of.task, other};
    const auto standing = ledger_.standing({of.task, record.steps(static_cast<int>(other)).path()});
    // Its task may go on meanwhile.
    if (dropped && (other != of.step && (!plan.after(other, of.step) || !record.steps(static_cast<int>(other)).dropped()))) continue;
    if (plan.step(other).pivot() && standing != 0)
      world::broken("pivot_undone", name(of) + " was handed over to be undone after the pivot had happened");
    const auto begun = steps_.find(later);
    // Nobody waits for a step of the end that was in progress when its task was terminated.
    const auto let_go = plan.step(other).finally() != v1::FINALLY_NO && record.steps(static_cast<int>(other)).complete_by_unix_ms() == 0;
    if (begun != steps_.end() && !let_go) {
      for (const auto& one : begun->second.all)
        if (one.direction == v1::DIRECTION_PERFORM && !closed(one))
          world::broken("not_drained", name(of) + " was handed over to be undone while step " + std::to_string(other) + " is performed");
    }
    if (begun != steps_.end()) world_.judges("not_drained");
    if (other == of.step || !plan.after(other, of.step) || !plan.undoable(other)) continue;
    world_.judges("wrong_order");
    if (passed_over_by_operator(of.task, plan.step(other).name())) continue;
    const auto& its = record.steps(static_cast<int>(other));
    const auto state = its.state();
    const auto stands = standing != 0 || state == v1::STEP_STATE_COMPLETED || state == v1::STEP_STATE_IN_DOUBT ||
                        state == v1::STEP_STATE_UNDOING || state == v1::STEP_STATE_RUNNING ||
                        (plan.undoes_failed(other) && tried_in_vain(its));
    if (stands)
      world::broken("wrong_order", name(of) + " was handed over to be undone before step " + std::to_string(other) + ", which needs it");
  }
}

/// Who has completed has an output, and who is in doubt says so.
void checker::judge_undo_of_failed(const step_name& of, const v1::Perform& what, const shape& plan, const v1::TaskRecord& record) const {
  const auto& step = record.steps(static_cast<int>(of.step));
  world_.judges("undo_of_failed");
  if (what.in_doubt() || step.has_output()) return;
  world_.count("undos of failed steps");
  if (!plan.undoes_failed(of.step))
    world::broken("undo_of_failed", name(of) + " has failed for certain and was handed over to be undone, and its undo does not say so");
  if (step.failure_count() == 0) world::broken("undo_of_nothing", name(of) + " was handed over to be undone, and no attempt has failed");
}

/// An undone task has left nothing of a step of which attempts were made, where its undo says so.
void checker::judge_failed_undone(const v1::TaskRecord& record, std::uint32_t index) const {
  const step_name of{record.id(), index};
  const auto& step = record.steps(static_cast<int>(index));
  if (settled_by_operator(record.id(), step.path())) return;
  world_.judges("failed_not_undone");
  if (tried_in_vain(step)) world::broken("failed_not_undone", name(of) + " has failed, and its task is undone without its undo");
  const auto known = steps_.find(of);
  if (restores_.on() || known == steps_.end()) return;
  const auto& all = known->second.all;
  const auto in_vain = [](const hand_over& one) {
    return one.direction == v1::DIRECTION_PERFORM && one.arrived && !one.succeeded && !one.given_back;
  };
  const auto taken_back = [](const hand_over& one) { return one.direction == v1::DIRECTION_UNDO && one.arrived && one.succeeded; };
  if (std::any_of(all.begin(), all.end(), in_vain) && std::none_of(all.begin(), all.end(), taken_back))
    world::broken("failed_not_undone",
                  name(of) + " was tried in vain, and its task is undone though its service was not asked for the undo");
}

/// Under the same epoch only to who has registered since.
bool checker::may_be_sent_again(const hand_over& one) const {
  const auto known = processes_.find(one.instance);
  return known != processes_.end() && known->second.incarnation == one.incarnation && known->second.epoch == one.epoch &&
         known->second.again;
}

checker::hand_over* checker::find(std::uint64_t number, std::uint32_t step, v1::Direction direction, std::uint32_t attempt) {
  const auto id = ids_.find(number);
  if (id == ids_.end()) return nullptr;
  const auto known = steps_.find({id->second, step});
  if (known == steps_.end()) return nullptr;
  for (auto& one : known->second.all)
    if (one.direction == direction && one.attempt == attempt) return &one;
  return nullptr;
}

void checker::outcome_arrived(std::uint64_t epoch, const v1::Outcome& what) {
  // What a former leader hears counts for nothing.
  auto* one = restores_.on() || epoch < led_under_ ? nullptr : find(what.task_number(), what.step(), what.direction(), what.attempt());
  if (one == nullptr) return;
  one->arrived = true;
  if (what.not_begun() && !std::exchange(one->given_back, true)) forget_rates(*one);
  one->succeeded = !what.has_fault();
  pace_.outcome_arrived({ids_.at(what.task_number()), what.step()}, what);
}

void checker::acknowledged(const std::string& instance, std::uint64_t epoch, const v1::OutcomeAck& what) {
  if (!what.accepted()) return judge_refused(instance, what);
  // What a former leader has accepted had counted by then.
  if (epoch < led_under_) return world_.count("acknowledgements of a former leader");
  if (restores_.on()) return restores_.accepted(what);
  auto* one = find(what.task_number(), what.step(), what.direction(), what.attempt());
  if (one == nullptr) world::broken("fence", "an outcome was accepted for an attempt that was never handed over");
  const step_name of{ids_.at(what.task_number()), what.step()};
  pace_.accepted(of, what);
  const auto text = std::string{word(what.direction())} + " of " + name(of) + " attempt " + std::to_string(what.attempt());
  auto& past = steps_.at(of);
  if (past.all.size() > 1) world_.judges("fence");
  if (&past.all.back() != one && past.all.back().at_us < world_.now_us())
    world::broken("fence", "the outcome of " + text + " was accepted after the step had been handed over again");
  world_.judges("accepted_twice");
  if (std::exchange(one->accepted, true)) world::broken("accepted_twice", "the outcome of " + text + " was accepted twice");
  const auto view = reads_->read();
  const auto stored = store::load_task(*view, what.task_number());
  if (archives_.has(of.task)) return;
  if (!stored.ok() || !*stored)
    world::broken("durable_before_effect", "the outcome of " + text + " was accepted, and the task is not there");
  const auto& step = (*stored)->steps(static_cast<int>(what.step()));
  if (step.complete_by_unix_ms() != 0 && step.direction() == what.direction() && core::attempt_of(step, what.direction()) <= what.attempt())
    world::broken("durable_before_effect", "the outcome of " + text + " was accepted, and the store does not know it");
  if (what.direction() != v1::DIRECTION_UNDO || !one->succeeded) return;
  past.undone = true;
  // Hand-overs leave before acknowledgements of the same batch.
  if (&past.all.back() != one) world::broken("undo_twice", name(of) + " was handed over to be undone after its undo had succeeded");
}

void checker::submission_acknowledged(const v1::SubmitResult& what, const store::snapshot& durable) {
  if (what.error().code() != v1::ERROR_CODE_OK) return;
  const auto known = store::find_task(durable, what.id());
  if (!known.ok() || !*known) world::broken("durable_before_effect", "the submission " + what.id() + " was acknowledged and is not stored");
  world_.judges("one_task");
  if (what.created() && !created_.insert(what.id()).second) world::broken("one_task", what.id() + " was created twice");
  if (archives_.has(what.id())) return;
  const auto task = store::load_task(durable, (*known)->number());
  if (!task.ok() || !*task) world::broken("durable_before_effect", "the submission " + what.id() + " was acknowledged without its task");
}

void checker::noticed(const v1::TaskEnd& what, std::uint64_t epoch, const store::snapshot& durable) {
  note_end(what, epoch);
  if (archives_.has(what.id())) return;
  const auto known = store::find_task(durable, what.id());
  const auto task =
      known.ok() && *known ? store::load_task(durable, (*known)->number()) : result<std::optional<v1::TaskRecord>>{std::nullopt};
  if (!task.ok() || !*task) world::broken("durable_before_effect", "a client was told of the end of " + what.id() + ", which is not there");
  if (has_ended(what.state()) && !has_ended((*task)->state()) && (*task)->state() != v1::TASK_STATE_UNDOING)
    world::broken("durable_before_effect", "a client was told of the end of " + what.id() + " too early");
}

void checker::look_for_late(std::uint64_t epoch) {
  if (epoch != epoch_ || restores_.on()) return;
  for (const auto& [number, record] : seen_) {
    pace_.look_for_late(record, epoch_since_us_);
    if (const auto* plan = shape_of(record)) contents_.of_callbacks().look_for_late(record, *plan, epoch_since_us_);
  }
}

void checker::recovery_asked(const v1::Recover& what) {
  if (what.repair())
    world::broken("wake_up_lost", "the running check found that task " + std::to_string(what.task_number()) + " had lost its wake-up");
}

}  // namespace fairlead::simulation
