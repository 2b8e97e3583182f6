// The Scheduler's other side: what agents, the Supervisor, the expression worker and the archiver tell it.

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "actors/core/expression/expression.hpp"
#include "actors/core/task/task.hpp"
#include "actors/core/text/json.hpp"
#include "actors/core/text/text.hpp"
#include "actors/registry/answers.hpp"
#include "actors/scheduler/scheduler.hpp"
#include "messages/lineage.hpp"
#include "store/checksum.hpp"

namespace fairlead {

namespace {

constexpr std::size_t sentence_limit = 1024;  // bytes kept of what is said about a failure

}  // namespace

void scheduler::outcomes(v1::OutcomeBatch what) {
  if (!makes_sense(what.shard(), what.instance(), what.incarnation())) return;
  if (what.refused_epoch() != 0) return refused(what);
  if (compare(what.lineage(), limits_.lineage) != lineage_order::same) return left_over(what);
  const agent_process who{what.instance(), what.incarnation()};
  for (auto& item : *what.mutable_items()) {
    auto e = event_of(item);
    if (!e.fault) e.fault = fault_of_output(e.output);
    auto* task = load(item.task_number());
    const auto theirs = task != nullptr && (may_speak_for(who, task->record, item.step()) || faults_.forget_fence);
    const auto unheard = faults_.refuse_awaited && e.fault && e.fault->kind() == v1::FAULT_KIND_IN_DOUBT;
    const auto accepted = (theirs && !unheard && apply(*task, e).accepted) || faults_.accept_unknown;
    // A poisoned task is about to be parked: the outcome is neither recorded nor refused, so that the agent offers it again.
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

void scheduler::recover(const v1::RecoverBatch& what) {
  std::vector<std::uint64_t> repairs;
  for (const auto& item : what.items()) {
    if (item.repair()) {
      repairs.push_back(item.task_number());
      continue;
    }
    auto* task = load(item.task_number());
    if (task == nullptr) continue;
    if (item.step() == 0)
      apply(*task, core::task_due{});
    else
      apply(*task, core::recovery_requested{item.step() - 1, item.attempt(), item.failure_count(), item.direction()});
    forget_if_idle(item.task_number());
    if (fatal_) return;
    flush_if_large();
  }
  if (!repairs.empty()) repair(repairs);
  serve_waiting();
}

void scheduler::evaluated(v1::EvaluateReply what) {
  // Whose input it is follows from the ticket alone: the worker need not know.
  if (const auto whose = evaluations_.answered(what.ticket())) take_input(*whose, what);
  while (!fatal_) {
    const auto number = evaluations_.next_waiting();
    if (!number) break;
    if (auto* waiting = load(*number)) apply(*waiting, core::slot_freed{});
    forget_if_idle(*number);
  }
  serve_waiting();
}

void scheduler::take_input(const evaluations::input& whose, v1::EvaluateReply& what) {
  auto* task = find(whose.task);
  if (task == nullptr || task->evaluating.erase(core::evaluation_key(whose.step, whose.direction)) == 0) return;
  core::input_evaluated e;
  e.step = whose.step;
  e.direction = whose.direction;
  if (what.has_error() && what.error().code() != v1::ERROR_CODE_OK) e.failure = error::from_proto(what.error());
  if (e.failure) e.failure->sentence = core::clean_text(e.failure->sentence, sentence_limit);
  for (auto& text : *what.mutable_results()) e.results.push_back(std::move(text));
  apply(*task, e);
  if (e.failure && e.failure->code == v1::ERROR_CODE_UNAVAILABLE && evaluations_.unavailable(whose.task, world_.time->now()))
    world_.log->on_note(note_level::warning, "scheduler",
                        "steps wait because their expressions cannot be evaluated: " + e.failure->sentence);
  forget_if_idle(whose.task);
}

void scheduler::archive(const archived_tasks& what) {
  if (what.erasures.epoch != epoch()) return;
  if (what.erasures.empty()) return batches_.put_retention_forward();
  const archive_ledger::copied copied{what.numbers, what.read_at_sequence};
  if (archive_.out_of_date(copied) && !faults_.archive_reopened) return;
  const auto is_gone = [this](std::uint64_t number) {
    const auto record = store::load_task(committed(), number);
    return !record || !*record;
  };
  if (archive_.asked_twice(copied, is_gone)) return;
  archive_.erase(copied, batches_.sequence());
  for (const auto number : what.numbers) live_.erase(number);
  batches_.rows().append(what.erasures);
  auto& counts = batches_.counts();
  counts.set_completed(counts.completed() - std::min(what.completed, counts.completed()));
  counts.set_undone(counts.undone() - std::min(what.undone, counts.undone()));
  counts.set_archived(counts.archived() + what.completed + what.undone);
}

void scheduler::delivered(courier_rows what) {
  // Meant for a Scheduler before this one: what still stands in the outbox is taken off it again.
  if (what.delivered_events > 0 && what.rows.epoch != epoch() && !faults_.take_old_rows) {
    store::batch rest;
    what.rows.for_each([&](const store::operation& op) {
      if (op.where == store::table::outbox) return;
      const auto payload = store::verified_payload(op.where, op.key, op.value);
      if (op.what == store::operation::kind::erase)
        rest.erase(op.where, op.key);
      else if (payload)
        rest.put(op.where, op.key, *payload);
    });
    what.rows = std::move(rest);
    what.delivered_events = 0;
  }
  batches_.rows().append(what.rows);
  batches_.counts().set_outbox_events(batches_.counts().outbox_events() -
                                      std::min(what.delivered_events, batches_.counts().outbox_events()));
  for (auto& draft : what.alerts) alerts_.raise(std::move(draft), batches_.page());
}

}  // namespace fairlead
