#include "actors/scheduler/family.hpp"

#include <utility>

#include "actors/core/task/reason.hpp"
#include "actors/core/task/record.hpp"
#include "actors/core/task/standing.hpp"
#include "actors/core/task/task.hpp"

namespace fairlead {

namespace {

constexpr std::uint32_t most_begun_at_once = 64;

/// null also of one about which a decision has crashed.
const v1::TaskRecord* sound(family_tasks& tasks, std::uint64_t number) {
  return tasks.has_crashed(number) ? nullptr : tasks.newest(number);
}

}  // namespace

void families::note(const v1::TaskRecord& record, core::decision& made) {
  for (auto& order : made.children) noted_.push_back({record.number(), std::move(order)});
  if (record.has_parent() && (made.ended || made.parked || made.unparked) && !(made.ended && faults_.lose_child_end))
    noted_.push_back({record.number(), std::nullopt});
}

void families::tell_of(const v1::TaskRecord& record) {
  if (!record.has_parent()) return;
  noted_.push_back({record.number(), std::nullopt});
  settle(record.number());
}

void families::settle(std::uint64_t decided) {
  if (noted_.empty() || settled_for_ != 0) return;
  settled_for_ = decided;
  begun_ = 0;
  while (!noted_.empty() && !world_.tasks->failed()) {
    auto next = std::move(noted_.front());
    noted_.pop_front();
    next.order ? carry_out(next.task, *next.order) : tell_parent(next.task);
    if (next.task != decided) world_.tasks->forget_if_idle(next.task);
  }
  settled_for_ = 0;
}

/// 0: there is none, and never was.
std::uint64_t families::number_of(const std::string& id) {
  const auto known = world_.tasks->number_of(id);
  if (!known) world_.tasks->fail(known.failure());
  return known ? known->value_or(0) : 0;
}

void families::tell_parent(std::uint64_t child) {
  const auto* record = sound(*world_.tasks, child);
  if (record == nullptr) return;
  const auto parent = record->parent().number();
  const auto told = news_of(*record);
  const auto* by = sound(*world_.tasks, parent);
  // One that has ended may be on its way to an archive: nothing in it depends on its children any more.
  if (by != nullptr && told && !(has_ended(by->state()) && world_.tasks->is_leaving(parent))) world_.tasks->decide_about(parent, *told);
  if (parent != settled_for_) world_.tasks->forget_if_idle(parent);
}

/// nullopt: its output could not be read.
std::optional<core::child_changed> families::news_of(const v1::TaskRecord& child) {
  core::child_changed out;
  out.step = child.parent().step();
  out.id = child.id();
  out.state = child.state();
  out.parked = child.parked();
  out.reason = core::reason_of(child);
  // Also of one that an operator has undone since, until that is done.
  if (child.state() == v1::TASK_STATE_FAILED || child.state() == v1::TASK_STATE_UNDOING) {
    const auto left = core::standing_of(child);
    out.stands = !left.stands.empty() || !left.in_doubt.empty();
  }
  if (child.state() != v1::TASK_STATE_COMPLETED) return out;
  auto text = world_.tasks->text_of(child.number(), faults_.child_other_output ? child.input() : child.output());
  if (!text) {
    // A missing payload concerns these tasks alone.
    if (text.failure().code == v1::ERROR_CODE_NOT_FOUND)
      world_.tasks->decide_about(child.parent().number(), core::task_poisoned{text.failure().sentence});
    else
      world_.tasks->fail(text.failure());
    return std::nullopt;
  }
  out.output = std::move(*text);
  return out;
}

void families::carry_out(std::uint64_t parent, core::child_order& order) {
  if (order.begins) return begin_child(parent, order);
  const auto number = number_of(order.id);
  if (world_.tasks->failed()) return;
  const auto* child = number != 0 ? sound(*world_.tasks, number) : nullptr;
  if (child == nullptr || (has_ended(child->state()) && world_.tasks->is_leaving(number))) {
    // One whose decision has crashed tells its parent once that is dealt with.
    if (!world_.tasks->failed() && !(number != 0 && world_.tasks->has_crashed(number)))
      refuse(parent, order, core::child_gone_code, "there is no task " + order.id + " any more");
    return;
  }
  const auto was_over = has_ended(child->state());
  const auto* by = sound(*world_.tasks, parent);
  core::operated asked{order.action};
  asked.by_parent = true;
  if (by != nullptr) asked.restored_from_unix_ms = by->restored_from_unix_ms();
  const auto refused = world_.tasks->decide_about(number, asked);
  if (was_over && !refused) world_.archive->reopened(number, world_.batches->sequence());
  const auto undone = child->state() == v1::TASK_STATE_UNDOING || child->state() == v1::TASK_STATE_UNDONE;
  if (refused && order.action.verb() == v1::OPERATOR_VERB_UNDO && !undone)
    refuse(parent, order, core::child_pivot_code, refused->sentence);
  else if (refused || was_over || child->parked())
    // It is over no more; or it has ended, or waits for an operator, and its parent was not told.
    noted_.push_back({number, std::nullopt});
  world_.tasks->forget_if_idle(number);
}

void families::refuse(std::uint64_t parent, const core::child_order& order, std::string_view code, std::string why) {
  world_.tasks->decide_about(parent, core::child_refused{order.step, order.id, std::string{code}, std::move(why)});
}

void families::begin_child(std::uint64_t parent, core::child_order& order) {
  const auto* by = world_.tasks->newest(parent);
  if (by == nullptr) return;
  // Another child of the same decision may have been refused.
  const auto& step = by->steps(static_cast<int>(order.step));
  // The row of one whose next decision has crashed names the child.
  const auto crashed = world_.tasks->has_crashed(parent);
  if (!crashed && (by->state() != v1::TASK_STATE_RUNNING || by->failing() || step.dropped()))
    return refuse(parent, order, core::child_undone_code, "task " + order.id + " was not begun: its parent performs nothing more");
  // Children may begin children in turn, and the rows of all are in one commit.
  if (!crashed && (begun_ >= most_begun_at_once || world_.batches->is_large())) {
    world_.tasks->decide_about(parent, core::child_refused{order.step, order.id, {}, {}, to_unix_ms(world_.time->now())});
    return;
  }
  const auto there = number_of(order.id) != 0;
  if (world_.tasks->failed()) return;
  if (there) return refuse(parent, order, core::child_gone_code, "there has been a task " + order.id + " before");
  auto definition = world_.catalog->current(order.workflow, world_.batches->committed());
  if (!definition && !workflow_catalog::is_refusal(definition.failure())) return void(world_.tasks->fail(definition.failure()));
  if (!definition) return refuse(parent, order, core::no_workflow_code, definition.failure().sentence);
  if (const auto why = (*definition)->refuse_input(order.input)) return refuse(parent, order, core::child_input_code, why->sentence);
  v1::Submission item;
  item.set_id(order.id);
  item.set_workflow(order.workflow);
  item.set_priority(by->priority());
  *item.mutable_labels() = by->labels();
  item.set_submitted_by(by->submitted_by());
  v1::ParentOf part;
  part.set_number(parent);
  part.set_id(by->id());
  part.set_step(order.step);
  part.set_depth(by->parent().depth() + 1);
  ++begun_;
  if (faults_.child_twice) {
    auto again = item;
    again.set_id(order.id + "1");
    auto like = order;
    world_.tasks->create_child(again, like, part, *definition);
  }
  world_.tasks->create_child(item, order, std::move(part), std::move(*definition));
}

bool families::is_told_of(const v1::StepRecord& step) {
  const auto number = number_of(step.child().id());
  if (number == 0) return false;
  const auto* child = sound(*world_.tasks, number);
  // One whose decision has crashed is dealt with otherwise.
  if (child == nullptr) return world_.tasks->has_crashed(number);
  const auto undoes = step.state() != v1::STEP_STATE_UNDOING || child->state() == v1::TASK_STATE_UNDOING;
  const auto told = !has_ended(child->state()) && undoes && child->parked() == step.child().parked();
  world_.tasks->forget_if_idle(number);
  return told;
}

void families::tell_of_child(std::uint64_t parent, std::uint32_t step) {
  const auto* by = sound(*world_.tasks, parent);
  if (by == nullptr) return;
  core::child_order order;
  order.step = step;
  order.id = by->steps(static_cast<int>(step)).child().id();
  const auto number = number_of(order.id);
  const auto* child = number != 0 ? sound(*world_.tasks, number) : nullptr;
  if (world_.tasks->failed()) return;
  if (child == nullptr) return refuse(parent, order, core::child_gone_code, "there is no task " + order.id + " any more");
  if (const auto told = news_of(*child)) world_.tasks->decide_about(parent, *told);
}

bool families::may_be_cancelled(const v1::TaskRecord& record) {
  const auto& own = world_.tasks->definition_of(record.number());
  if (!own.usable() || core::cannot_undo(record, own, &faults_)) return false;
  for (const auto& step : record.steps()) {
    const auto stays = own.step_definition(step.definition()).undo().none();
    const auto ended = step.state() == v1::STEP_STATE_COMPLETED || child_stands(step);
    if (!step.has_child() || !(child_out(step) || (ended && !stays))) continue;
    const auto number = number_of(step.child().id());
    const auto* child = number != 0 ? sound(*world_.tasks, number) : nullptr;
    if (child == nullptr) return false;
    const auto gives_way = child->state() == v1::TASK_STATE_UNDOING || may_be_cancelled(*child);
    world_.tasks->forget_if_idle(number);
    if (!gives_way) return false;
  }
  return true;
}

bool families::is_built_on(const v1::TaskRecord& child) {
  const auto* parent = sound(*world_.tasks, child.parent().number());
  if (parent == nullptr) return world_.tasks->has_crashed(child.parent().number());
  const auto& step = parent->steps(static_cast<int>(child.parent().step()));
  const auto built = parent->state() != v1::TASK_STATE_UNDONE && step.child().id() == child.id() && step.state() != v1::STEP_STATE_FAILED;
  world_.tasks->forget_if_idle(child.parent().number());
  return built;
}

}  // namespace fairlead
