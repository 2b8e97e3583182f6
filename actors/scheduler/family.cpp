// Tasks and their children (actors/core/task/steps/child.cpp). What a decision about one of them means for the other is decided in the same
// batch, so that both are durable or none. Such a decision may mean something for a third task; all of them are done before the batch can close.

#include <utility>

#include "actors/core/task/reason.hpp"
#include "actors/core/task/record.hpp"
#include "actors/core/task/standing.hpp"
#include "actors/core/task/task.hpp"
#include "actors/scheduler/books/payload_reader.hpp"
#include "actors/scheduler/scheduler.hpp"
#include "store/content_hash.hpp"

namespace fairlead {

/// What a decision about the task means for its parent and its children.
void scheduler::note_family(const v1::TaskRecord& record, core::decision& made) {
  for (auto& order : made.children) family_.push_back({record.number(), std::move(order)});
  if (record.has_parent() && (made.ended || made.parked || made.unparked) && !(made.ended && faults_.lose_child_end))
    family_.push_back({record.number(), std::nullopt});
}

/// `decided`: of the task whose decision began this. Its caller still holds it.
void scheduler::settle_family(std::uint64_t decided) {
  if (family_.empty() || settled_for_ != 0) return;
  settled_for_ = decided;
  while (!family_.empty() && !fatal_) {
    auto next = std::move(family_.front());
    family_.pop_front();
    next.order ? carry_out(next.task, *next.order) : tell_parent(next.task);
    if (next.task != decided) forget_if_idle(next.task);
  }
  settled_for_ = 0;
}

void scheduler::tell_parent(std::uint64_t child) {
  auto* task = load(child);
  if (task == nullptr) return;
  const auto parent = task->record.parent().number();
  auto* told = load(parent);
  if (told == nullptr) return;
  // One that has ended may be on its way to an archive: nothing in it depends on its children any more.
  const auto leaves = has_ended(told->record.state()) && is_leaving(parent);
  if (const auto news = leaves ? std::nullopt : news_of(*task)) apply(*told, *news);
  if (parent != settled_for_) forget_if_idle(parent);
}

/// nullopt: its output could not be read.
std::optional<core::child_changed> scheduler::news_of(const live_task& child) {
  const auto& record = child.record;
  core::child_changed out;
  out.step = record.parent().step();
  out.id = record.id();
  out.state = record.state();
  out.parked = record.parked();
  out.reason = core::reason_of(record);
  if (record.state() == v1::TASK_STATE_FAILED) {
    const auto left = core::standing_of(record);
    out.stands = !left.stands.empty() || !left.in_doubt.empty();
  }
  if (record.state() != v1::TASK_STATE_COMPLETED) return out;
  const auto& output = faults_.child_other_output ? record.input() : record.output();
  out.output = output.json();
  if (output.slot() == 0) return out;
  const payload_reader payloads{child.fresh_payloads, *world_.reads};
  const auto text = payloads.load(record, output.slot());
  if (!text) {
    fail(text.failure());
    return std::nullopt;
  }
  out.output = std::string{*text};
  return out;
}

void scheduler::carry_out(std::uint64_t parent, core::child_order& order) {
  if (order.begins) return begin_child(parent, order);
  const auto known = lookup(order.id);
  if (!known) return void(fail(known.failure()));
  auto* child = *known ? load((*known)->number) : nullptr;
  if (child == nullptr || (has_ended(child->record.state()) && is_leaving((*known)->number))) {
    // One whose decision has crashed tells its parent once that is dealt with.
    const auto crashed = child == nullptr && *known && find((*known)->number) != nullptr;
    if (!fatal_ && !crashed) refuse_child(parent, order, core::child_gone_code, "there is no task " + order.id + " any more");
    return;
  }
  const auto was_over = has_ended(child->record.state());
  const auto undo = order.action.verb() == v1::OPERATOR_VERB_UNDO;
  core::operated asked{order.action};
  asked.by_parent = true;
  const auto done = apply(*child, asked);
  if (was_over && !done.refused) archive_.reopened(child->record.number(), batches_.sequence());
  const auto undone = child->record.state() == v1::TASK_STATE_UNDOING || child->record.state() == v1::TASK_STATE_UNDONE;
  if (done.refused && undo && !undone) {
    refuse_child(parent, order, core::child_pivot_code, done.refused->sentence);
  } else if (done.refused) {
    // It may have ended, or wait for an operator, without its parent being told.
    family_.push_back({child->record.number(), std::nullopt});
  }
  forget_if_idle(child->record.number());
}

void scheduler::refuse_child(std::uint64_t parent, const core::child_order& order, std::string_view code, std::string why) {
  if (auto* task = load(parent)) apply(*task, core::child_refused{order.step, order.id, std::string{code}, std::move(why)});
}

void scheduler::begin_child(std::uint64_t parent, core::child_order& order) {
  const auto* by = load(parent);
  if (by == nullptr) return;
  const auto known = lookup(order.id);
  if (!known) return void(fail(known.failure()));
  if (*known) return refuse_child(parent, order, core::child_gone_code, "there has been a task " + order.id + " before");
  auto definition = catalog_.current(order.workflow, committed());
  if (!definition && !workflow_catalog::is_refusal(definition.failure())) return void(fail(definition.failure()));
  if (!definition) return refuse_child(parent, order, core::no_workflow_code, definition.failure().sentence);
  if (const auto why = (*definition)->refuse_input(order.input)) return refuse_child(parent, order, core::child_input_code, why->sentence);
  v1::Submission item;
  item.set_id(order.id);
  item.set_workflow(order.workflow);
  item.set_priority(by->record.priority());
  *item.mutable_labels() = by->record.labels();
  item.set_submitted_by(by->record.submitted_by());
  v1::ParentOf part;
  part.set_number(parent);
  part.set_id(by->record.id());
  part.set_step(order.step);
  part.set_depth(by->record.parent().depth() + 1);
  auto hash = store::submission_hash(order.workflow, order.input, item.labels(), item.priority(), nullptr);
  if (faults_.child_twice) {
    auto again = item;
    again.set_id(order.id + "1");
    create(again, order.input, hash, *definition, 0, {std::nullopt, order.deadline_unix_ms, part});
  }
  create(item, std::move(order.input), std::move(hash), std::move(*definition), 0,
         {std::nullopt, order.deadline_unix_ms, std::move(part), by->record.restored_from_unix_ms()});
}

bool scheduler::is_told_of(const v1::StepRecord& step) {
  const auto known = lookup(step.child().id());
  if (!known) return fail(known.failure());
  if (!*known) return false;
  const auto tells = [&](const v1::TaskRecord& child) {
    const auto undoes = step.state() != v1::STEP_STATE_UNDOING || child.state() == v1::TASK_STATE_UNDOING;
    return !has_ended(child.state()) && undoes && child.parked() == step.child().parked();
  };
  // One whose decision has crashed is dealt with otherwise.
  if (const auto* live = find((*known)->number); live != nullptr) return !live->poison.empty() || tells(live->record);
  const auto stored = store::load_task(committed(), (*known)->number);
  if (!stored) return fail(stored.failure());
  return *stored && tells(**stored);
}

/// The child of a step that has waited for its end in vain, as the store has it.
bool scheduler::tell_of_child(live_task& parent, std::uint32_t step) {
  const auto id = parent.record.steps(static_cast<int>(step)).child().id();
  const auto known = lookup(id);
  if (!known) return fail(known.failure());
  auto* child = *known ? load((*known)->number) : nullptr;
  if (fatal_) return false;
  core::child_order order;
  order.step = step;
  order.id = id;
  if (child == nullptr) {
    refuse_child(parent.record.number(), order, core::child_gone_code, "there is no task " + id + " any more");
    return true;
  }
  if (const auto news = news_of(*child)) apply(parent, *news);
  return !fatal_;
}

}  // namespace fairlead
