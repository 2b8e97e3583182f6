// Messages of agents to the Scheduler: registrations, losses and returns, outcomes, heartbeats. Also writes the registry's decisions.

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "actors/core/request_limits.hpp"
#include "actors/core/task/record.hpp"
#include "actors/core/task/task.hpp"
#include "actors/core/text/json.hpp"
#include "actors/core/text/text.hpp"
#include "actors/registry/answers.hpp"
#include "actors/scheduler/scheduler.hpp"
#include "messages/lineage.hpp"
#include "store/rows/service_rows.hpp"

namespace fairlead {

namespace {

error of_another_shard(std::uint32_t meant, std::uint32_t here) {
  return {v1::ERROR_CODE_UNAVAILABLE, "this is the Scheduler of shard " + std::to_string(here) + ", not of shard " + std::to_string(meant),
          "nothing to do: the agent looks for the shard's node and tries again"};
}

error stale(const std::string& instance, std::uint64_t said, std::uint64_t known) {
  return {v1::ERROR_CODE_CONFLICT,
          "agent instance " + instance + " is already registered with incarnation " + std::to_string(known) + ", and now registers with " +
              std::to_string(said) + ", which is older",
          "give its node another node.name, or restore the latest data folder of the node"};
}

/// Why the instance would refuse every hand-over of this Scheduler: it obeys a later lineage or start of the shard. nullopt: it would obey.
std::optional<error> outlived(const v1::RegisterAgent& said, const scheduler_limits& here, std::uint64_t epoch) {
  const auto shard = "shard " + std::to_string(here.shard);
  const auto remedy = "stop this node; if its store is the one to keep, run fairlead restore STORE on it and start the node again";
  switch (compare(said.lineage(), here.lineage)) {
    case lineage_order::later:
      return error{v1::ERROR_CODE_CONFLICT,
                   "agent instance " + said.instance() + " has seen a later lineage of " + shard + " (" + to_text(said.lineage()) +
                       ") than this store has (" + to_text(here.lineage) + "): the shard was restored or created again elsewhere",
                   remedy};
    case lineage_order::conflict:
      return error{v1::ERROR_CODE_CONFLICT,
                   "agent instance " + said.instance() + " has seen another lineage of " + shard + " (" + to_text(said.lineage()) +
                       ") than this store has (" + to_text(here.lineage) + "), and they began apart from each other",
                   remedy};
    case lineage_order::earlier: return std::nullopt;
    case lineage_order::same: break;
  }
  if (said.epoch() <= epoch) return std::nullopt;
  return error{v1::ERROR_CODE_CONFLICT,
               "agent instance " + said.instance() + " has already seen start " + std::to_string(said.epoch()) + " of " + shard +
                   ", and this store is at start " + std::to_string(epoch) + ": it is an older copy of the shard's store",
               remedy};
}

error name_of_another(const v1::RegisterAgent& said, std::string_view agent) {
  return {
      v1::ERROR_CODE_CONFLICT,
      "worker instance " + said.instance() + " of agent " + said.agent() + " has the name of an instance of agent " + std::string{agent},
      "register the worker under another instance name"};
}

error no_room() {
  return {v1::ERROR_CODE_OVERLOADED, std::to_string(max_instances) + " agent instances are known, which is the maximum",
          "restart the node: at its start the shard forgets instances that are not used any more"};
}

}  // namespace

v1::AgentWelcome scheduler::add_agent(const v1::RegisterAgent& what, bool reconnected) {
  v1::AgentWelcome welcome;
  welcome.set_shard(limits_.shard);
  welcome.set_epoch(epoch());
  welcome.set_revision(what.revision());
  *welcome.mutable_lineage() = limits_.lineage;
  const auto refuse = [&welcome](const error& why) {
    *welcome.mutable_error() = why.to_proto();
    return welcome;
  };
  if (what.shard() != limits_.shard && !faults_.mix_shards) {
    misdirected();
    return refuse(of_another_shard(what.shard(), limits_.shard));
  }
  if (const auto wrong = check_registration(what)) {
    misdirected();
    return refuse(*wrong);
  }
  if (const auto why = outlived(what, limits_, epoch())) {
    agent_away(what.instance(), what.incarnation(), why->sentence);
    return refuse(*why);
  }
  const auto before = slots_.find(what.instance());
  if (const auto why = workers_.refuse(what, batches_.rows())) {
    welcome.set_superseded(true);
    return refuse(*why);
  }
  // Shards give incarnations out by the agent's name: those of two agents say nothing about each other.
  if (what.kind() == worker_kind && before && before->agent != what.agent() && (!before->away || before->held > 0))
    return refuse(name_of_another(what, before->agent));
  const auto arrival = slots_.add(what);
  welcome.set_superseded(arrival == registry::arrival::stale || arrival == registry::arrival::outdated);
  if (arrival == registry::arrival::stale) return refuse(stale(what.instance(), what.incarnation(), before->incarnation));
  if (arrival == registry::arrival::refused) return refuse(no_room());
  if (arrival == registry::arrival::outdated) {
    welcome.set_revision(before->revision);
    welcome.set_held(before->held);
    return welcome;
  }
  const auto never_left = arrival == registry::arrival::replaced ? keep_back(what.instance()) : unsent_steps{};
  if (fatal_) return refuse(*fatal_);
  if (slots_.limits_changed()) count_limits_anew(what.agent());
  // A re-registration that only names this shard's part of the capacity has lost no messages; it comes every second. The part may also be
  // unchanged, while the shard holds more than that and others wait for it.
  const auto about_its_part = before && (before->capacity != what.capacity() || before->held > what.capacity());
  const auto nothing_lost = arrival == registry::arrival::same && !reconnected && !before->away && about_its_part;
  if (!nothing_lost) arrived(what.instance(), what.incarnation(), never_left, reconnected);
  serve_waiting();
  if (const auto now = slots_.find(what.instance())) welcome.set_held(now->held);
  return welcome;
}

/// Drops unsent hand-overs to the process that is gone: its successor must not take them up as well. Returns the steps that were never
/// handed over: an attempt leaves only once it is durable, so an attempt unknown to the store has not left. A repeated hand-over may have
/// left before.
scheduler::unsent_steps scheduler::keep_back(const std::string& instance) {
  unsent_steps out;
  for (const auto& item : batches_.keep_back(instance)) {
    const auto stored = store::load_task(committed(), item.task_number());
    if (!stored) {
      fail(stored.failure());
      return out;
    }
    const auto step = static_cast<int>(item.step());
    const auto known = *stored && step < (*stored)->steps_size() ? core::attempt_of((*stored)->steps(step), item.direction()) : 0;
    if (known < item.attempt()) out[item.task_number()].push_back(item.step());
  }
  return out;
}

/// Tells every task with an attempt at the instance. Records may name this process or an earlier one, also if this Scheduler does not know
/// the instance. `reconnected`: by another host of the instance than before.
void scheduler::arrived(const std::string& instance, std::uint64_t incarnation, const unsent_steps& never_left, bool reconnected) {
  std::vector<std::uint64_t> holders;
  for (const auto& [number, task] : live_) {
    const auto& steps = task->record.steps();
    if (std::any_of(steps.begin(), steps.end(), [&](const auto& one) { return core::attempt_out(one) && one.instance() == instance; }))
      holders.push_back(number);
  }
  std::sort(holders.begin(), holders.end());
  for (const auto number : holders) {
    const auto unsent = never_left.find(number);
    core::agent_returned returned{instance, incarnation, unsent != never_left.end() ? unsent->second : std::vector<std::uint32_t>{}};
    if (auto* task = load(number)) {
      if (reconnected) note_handed(*task);
      apply(*task, returned);
    }
    if (fatal_) return;
    flush_if_large();
  }
}

/// The attempts in progress: an earlier Scheduler has handed them over, or this one has to another host of the instance. That host may have
/// passed an attempt on to its worker.
void scheduler::note_handed(live_task& task) {
  for (int i = 0; i < task.record.steps_size(); ++i) {
    const auto& step = task.record.steps(i);
    if (core::attempt_out(step))
      task.handed_before[static_cast<std::uint32_t>(i)] = {step.direction(), core::attempt_of(step, step.direction())};
  }
}

void scheduler::count_limits_anew(const std::string& agent) {
  for (const auto& [number, task] : live_) {
    if (!core::any_attempt_out(task->record)) continue;
    apply(*task, core::limits_changed{agent});
    if (fatal_) return;
  }
}

void scheduler::agent_away(const std::string& instance, std::uint64_t incarnation, const std::string& why) {
  const auto is_worker = slots_.worker_at(instance).has_value();
  if (!slots_.set_away(instance, incarnation)) return;
  if (slots_.find(instance))
    world_.log->on_note(note_level::warning, "scheduler",
                        "agent instance " + instance + " is away (" + why + "): it gets no steps until it registers again");
  else if (is_worker)
    world_.log->on_note(note_level::info, "scheduler", "worker " + instance + " has left");
  else
    world_.log->on_note(note_level::warning, "scheduler",
                        "agent instance " + instance + " has left: its node file does not name it any more");
  if (!faults_.down_is_death) return;
  std::vector<std::uint64_t> holders;
  for (const auto& [number, task] : live_) holders.push_back(number);
  std::sort(holders.begin(), holders.end());
  for (const auto number : holders)
    if (auto* task = load(number)) apply(*task, core::agent_replaced{instance, incarnation + 1});
}

std::uint64_t scheduler::wanted_of(const std::string& instance) const {
  const auto found = slots_.find(instance);
  return found ? found->held + found->waiting : 0;
}

/// This Scheduler handed the attempts over, and the instance obeys another one: it gets nothing more until it registers again.
void scheduler::refused(const v1::OutcomeBatch& what) {
  if (what.refused_epoch() != epoch()) return;
  agent_away(what.instance(), what.incarnation(), "it refuses steps, because it has seen a later lineage or start of the shard");
  for (const auto& item : what.items()) {
    auto* task = load(item.task_number());
    if (task != nullptr && holds_step({what.instance(), what.incarnation()}, task->record, item.step()))
      apply(*task, core::attempt_refused{item.step(), item.direction(), item.attempt()});
    forget_if_idle(item.task_number());
    if (fatal_) return;
    flush_if_large();
  }
}

/// The attempt was given back by its holder: nobody has begun it. The step may go to another instance at once. If the attempt was handed over
/// more than once, its present host cannot know that nobody has: a worker may have got it from another host, which was cut off since.
bool scheduler::given_back(live_task& task, const v1::OutcomeBatch& by, const v1::Outcome& what) {
  if (!holds_step({by.instance(), by.incarnation()}, task.record, what.step())) return false;
  const auto before = task.handed_before.find(what.step());
  if (before != task.handed_before.end() && before->second == std::pair{what.direction(), what.attempt()}) return false;
  return apply(task, core::attempt_refused{what.step(), what.direction(), what.attempt(), true}).accepted;
}

/// Only workers over HTTP have tickets, and only steps that are answered later have callbacks.
void scheduler::ticket(const live_task& task, const std::string& instance, v1::Perform& what) {
  const auto& step = task.record.steps(static_cast<int>(what.step()));
  const auto& definition = task.definition->step_definition(step.definition());
  if (definition.callback_ms() != 0 && what.direction() == v1::DIRECTION_PERFORM)
    what.set_callback(workers_.callback_for({limits_.shard, what.step(), step.generation(), what.task_id()}, batches_.rows()));
  if (const auto incarnation = slots_.worker_at(instance))
    what.set_ticket(workers_.ticket_for({limits_.shard, what.task_number(), what.step(), what.direction(), what.attempt()}, instance,
                                        *incarnation, batches_.rows()));
}

/// Whether the task goes by a version with this step. One that only a version of the lost time had is not asked for again.
bool scheduler::has_step(std::uint64_t number, const std::string& path) {
  const auto has = [&path](const v1::TaskRecord& record) {
    return std::any_of(record.steps().begin(), record.steps().end(), [&](const v1::StepRecord& one) { return one.path() == path; });
  };
  if (const auto* live = find(number)) return has(live->record);
  const auto stored = store::load_task(committed(), number);
  // What has moved to the archive is not asked for again either; its record stays as it is.
  return !stored.ok() || !*stored || has(**stored);
}

/// Outcomes of attempts that an earlier lineage handed over after its backup. If this lineage has the task and the step, its attempts are in
/// doubt and will be asked for again. The others are listed as effects without a task, for an operator. Each is acknowledged once it is listed.
void scheduler::left_over(const v1::OutcomeBatch& what) {
  v1::OutcomeAckBatch taken;
  *taken.mutable_lineage() = what.lineage();
  for (const auto& item : what.items()) {
    auto& ack = *taken.add_items();
    ack.set_task_number(item.task_number());
    ack.set_step(item.step());
    ack.set_direction(item.direction());
    ack.set_attempt(item.attempt());
    auto effect = stray_effects::effect_of(what, item, world_.time->now());
    if (!effect) continue;
    const auto known = lookup(effect->task_id());
    if (!known) {
      fail(known.failure());
      return;
    }
    // A task with the same id and another number has been submitted again.
    const auto same = *known && (*known)->number == item.task_number();
    const auto expected = same ? has_step(item.task_number(), effect->step()) : *known && stray_effects::comes_again(*effect);
    if (expected || !strays_.add(std::move(*effect), batches_.counts(), batches_.rows())) continue;
    world_.log->on_note(note_level::warning, "scheduler",
                        "effect without a task: agent instance " + what.instance() + (item.has_fault() ? " may have" : " has") +
                            " carried out attempt " + std::to_string(item.attempt()) + " under the idempotency key " +
                            core::clean_text(item.idempotency_key(), 400) + " for the lineage " + to_text(what.lineage()) +
                            " of the shard, and the present lineage does not have this " + (same ? "step" : "task"));
  }
  if (!taken.items().empty()) batches_.after().acknowledged_late.emplace_back(what.instance(), std::move(taken));
}

/// A batch of another shard may name tasks of this shard; and only registered processes are answered.
bool scheduler::makes_sense(std::uint32_t shard, const std::string& instance, std::uint64_t incarnation) {
  if ((shard == limits_.shard || faults_.mix_shards) && slots_.incarnation_of(instance) == incarnation) return true;
  misdirected();
  return false;
}

void scheduler::outcomes(v1::OutcomeBatch what) {
  if (!makes_sense(what.shard(), what.instance(), what.incarnation())) return;
  if (what.refused_epoch() != 0) return refused(what);
  if (compare(what.lineage(), limits_.lineage) != lineage_order::same) return left_over(what);
  const agent_process who{what.instance(), what.incarnation()};
  for (auto& item : *what.mutable_items()) {
    auto e = event_of(item);
    auto* task = load(item.task_number());
    if (!e.fault && !(task != nullptr && drops_output(*task, item))) e.fault = fault_of_output(e.output);
    const auto theirs = task != nullptr && (may_speak_for(who, task->record, item.step()) || faults_.forget_fence);
    const auto unheard = faults_.refuse_awaited && e.fault && e.fault->kind() == v1::FAULT_KIND_IN_DOUBT;
    const auto counts =
        item.not_begun() ? task != nullptr && given_back(*task, what, item) : theirs && !unheard && apply(*task, e).accepted;
    const auto accepted = counts || faults_.accept_unknown;
    // A poisoned task is about to be parked: the outcome is neither recorded nor refused, so the agent sends it again.
    if (const auto* there = find(item.task_number()); there != nullptr && !there->poison.empty()) continue;
    if (task != nullptr && !accepted) forget_if_idle(item.task_number());
    auto* ack = batches_.after().acknowledged[what.instance()].add_items();
    ack->set_task_number(item.task_number());
    ack->set_step(item.step());
    ack->set_direction(item.direction());
    ack->set_attempt(item.attempt());
    ack->set_accepted(accepted);
    if (fatal_) return;
    flush_if_large();
  }
  serve_waiting();
  admit_pending();
}

/// The output of a step with a callback comes with the callback: what its attempt gives may be anything.
bool scheduler::drops_output(const live_task& task, const v1::Outcome& what) {
  if (what.direction() != v1::DIRECTION_PERFORM || what.step() >= static_cast<std::uint32_t>(task.record.steps_size())) return false;
  const auto& step = task.record.steps(static_cast<int>(what.step()));
  return task.definition->step_definition(step.definition()).callback_ms() != 0;
}

std::optional<v1::Fault> scheduler::fault_of_output(const std::string& output) const {
  v1::Fault fault;
  fault.set_kind(v1::FAULT_KIND_IN_DOUBT);
  if (output.size() > limits_.output_bytes) {
    fault.set_code("output_too_large");
    fault.set_message("the output has " + std::to_string(output.size()) + " bytes, the limit is " + std::to_string(limits_.output_bytes));
    return fault;
  }
  if (output.empty()) return std::nullopt;
  const auto checked = core::check_json(output);
  if (checked.ok()) return std::nullopt;
  fault.set_code("output_not_json");
  fault.set_message(checked.failure().sentence);
  return fault;
}

void scheduler::heartbeats(v1::HeartbeatBatch what) {
  if (!makes_sense(what.shard(), what.instance(), what.incarnation())) return;
  if (compare(what.lineage(), limits_.lineage) != lineage_order::same) return misdirected();
  const agent_process who{what.instance(), what.incarnation()};
  slots_.heard(who.instance);
  for (auto& item : *what.mutable_items()) {
    auto* task = load(item.task_number());
    const auto held = task != nullptr && holds_step(who, task->record, item.step()) && apply(*task, core::event{event_of(item)}).accepted;
    // A poisoned task is about to be parked; its agent works on until the end of its current lease.
    if (const auto* there = find(item.task_number()); there != nullptr && !there->poison.empty()) continue;
    if (task != nullptr && !held) forget_if_idle(item.task_number());
    v1::HeartbeatAckBatch early;
    auto* ack = (faults_.ack_heartbeat_before_commit ? early : batches_.after().renewed[who.instance]).add_items();
    ack->set_task_number(item.task_number());
    ack->set_step(item.step());
    ack->set_direction(item.direction());
    ack->set_attempt(item.attempt());
    ack->set_sequence(item.sequence());
    ack->set_held(held);
    early.set_shard(limits_.shard);
    *early.mutable_lineage() = limits_.lineage;
    if (!early.items().empty()) world_.out->acknowledge(who.instance, std::move(early));
    if (fatal_) return;
    flush_if_large();
  }
}

void scheduler::write_services() {
  for (const auto& [instance, incarnation] : slots_.take_left()) workers_.left(instance, incarnation, batches_.rows());
  for (auto& change : slots_.take_changes()) {
    auto& record = change.record;
    for (const auto number : change.resolved) {
      if (faults_.keep_breaker_alert) continue;
      const auto resolved = alerts_.resolve(number, batches_.page(), committed());
      if (!resolved.ok()) {
        fail(resolved.failure());
        return;
      }
    }
    if (change.breaker_alert) {
      world_.log->on_note(note_level::warning, "scheduler", change.breaker_alert->sentence());
      record.set_breaker_alert(alerts_.raise(std::move(*change.breaker_alert), batches_.page()));
    }
    if (change.absent_alert) {
      world_.log->on_note(note_level::warning, "scheduler", change.absent_alert->sentence());
      record.set_absent_alert(alerts_.raise(std::move(*change.absent_alert), batches_.page()));
    }
    for (const auto& [number, draft] : change.restated)
      if (const auto done = alerts_.restate(number, draft, batches_.page(), committed()); !done) fail(done.failure());
    slots_.alerts_raised(record.agent(), record.breaker_alert(), record.absent_alert());
    store::put_service(batches_.rows(), record);
  }
}

void scheduler::offer() {
  if (fatal_) return;
  slots_.wake();
  serve_waiting();
  write_services();
}

void scheduler::answer(const v1::WorkerSessionRequest& what, std::uint64_t ticket) {
  v1::WorkerSessionReply reply;
  if (draining_) {
    *reply.mutable_error() = node_is_stopping().to_proto();
  } else {
    const auto standing_of = [this](const std::string& instance) {
      const auto known = slots_.find(instance);
      if (!known) return worker_book::standing{};
      return worker_book::standing{true, !known->away && !known->silent, known->held > 0, known->worker, known->incarnation};
    };
    reply = workers_.answer(what, standing_of, batches_.rows());
    if (what.take_over() && reply.error().code() == v1::ERROR_CODE_OK)
      world_.log->on_note(note_level::warning, "scheduler",
                          core::clean_text(what.who(), who_limit) + ": a later process takes worker instance " +
                              core::clean_text(what.instance(), 256) + " over");
  }
  batches_.after().replies.emplace_back(ticket, std::move(reply));
}

void scheduler::answer(const v1::AgentOperateRequest& what, std::uint64_t ticket) {
  v1::AgentOperateReply reply;
  auto action = what;
  action.set_who(core::clean_text(action.who(), who_limit));
  action.set_reason(core::clean_text(action.reason(), reason_limit));
  if (draining_) {
    *reply.mutable_error() = node_is_stopping().to_proto();
  } else if (action.who().empty()) {
    *reply.mutable_error() = nobody_asks().to_proto();
  } else {
    reply = slots_.operate(action);
    if (reply.error().code() == v1::ERROR_CODE_OK)
      world_.log->on_note(note_level::info, "scheduler",
                          action.who() + ": " + v1::AgentVerb_Name(action.verb()) + " " +
                              core::clean_text(action.agent() + action.instance(), 200) +
                              (action.reason().empty() ? "" : ": " + action.reason()));
  }
  batches_.after().replies.emplace_back(ticket, std::move(reply));
  serve_waiting();
}

}  // namespace fairlead
