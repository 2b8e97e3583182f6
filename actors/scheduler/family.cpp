#include "actors/scheduler/family.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "actors/core/items/items.hpp"
#include "actors/core/request_limits.hpp"
#include "actors/core/task/record.hpp"
#include "actors/core/task/standing.hpp"
#include "actors/core/task/steps/item_output.hpp"
#include "actors/core/task/task.hpp"

namespace fairlead {

namespace {

constexpr std::int64_t least_begun_at_once = 4;
constexpr std::int64_t most_begun_at_once = 64;

/// Those that are in progress, as their parent was last told.
struct told_child {
  core::child_order child;
  bool parked = false;
  bool undoes = false;
};

std::vector<told_child> children_out(const v1::TaskRecord& parent, const v1::StepRecord& step, std::uint32_t index) {
  std::vector<told_child> out;
  if (!step.has_items()) {
    told_child one;
    one.child.step = index;
    one.child.id = step.child().id();
    one.parked = step.child().parked();
    one.undoes = step.state() == v1::STEP_STATE_UNDOING;
    out.push_back(std::move(one));
    return out;
  }
  for (std::uint32_t i = 0; i < begun_items(step.items()); ++i) {
    const auto state = item_state_of(step.items(), i);
    if (!is_item_out(state)) continue;
    told_child one;
    one.child.step = index;
    one.child.id = item_id(parent, step, i);
    one.child.item = i + 1;
    one.parked = state == item_state::parked || state == item_state::undoing_parked;
    one.undoes = state == item_state::undoing || state == item_state::undoing_parked;
    out.push_back(std::move(one));
  }
  return out;
}

/// Those that the undo of the step would undo, or cancel.
std::vector<std::string> children_to_undo(const v1::TaskRecord& parent, const v1::StepRecord& step) {
  if (!step.has_items()) return {step.child().id()};
  std::vector<std::string> out;
  for (std::uint32_t i = 0; i < begun_items(step.items()); ++i) {
    const auto state = item_state_of(step.items(), i);
    if (is_item_out(state) || state == item_state::completed || state == item_state::left_behind) out.push_back(item_id(parent, step, i));
  }
  return out;
}

/// null also of one about which a decision has crashed.
const v1::TaskRecord* sound(family_tasks& tasks, std::uint64_t number) {
  return tasks.has_crashed(number) ? nullptr : tasks.newest(number);
}

}  // namespace

void families::note(const v1::TaskRecord& record, core::decision& made) {
  if (record.has_parent()) sizes_.note(record);
  for (auto& order : made.children) noted_.push_back({record.number(), std::move(order)});
  if (record.has_parent() && (made.ended || made.parked || made.unparked) &&
      !(made.ended && (record.parent().item() != 0 ? faults_.lose_item_end : faults_.lose_child_end)))
    noted_.push_back({record.number(), std::nullopt});
}

void families::tell_of(const v1::TaskRecord& record) {
  if (!record.has_parent()) return;
  noted_.push_back({record.number(), std::nullopt});
  settle(record.number());
}

void families::after_crash(std::uint64_t task, bool was_parked) {
  if (const auto* record = sound(*world_.tasks, task); record != nullptr && record->has_parent()) {
    const auto parent = record->parent();
    tell_of(*record);
    // It may have crashed when it was to be undone, and has ended as before.
    tell_of_children(parent.number(), parent.step());
    if (parent.number() != settled_for_) world_.tasks->forget_if_idle(parent.number());
  }
  if (!was_parked) tell_of_children(task);
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
  auto out = core::news_of(child);
  // Outputs of items are read once all have ended.
  if (child.state() != v1::TASK_STATE_COMPLETED || out.item != 0) return out;
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
  if (order.gathers != 0) return gather(parent, order);
  if (order.begins) return begin_child(parent, order);
  const auto number = number_of(order.id);
  if (world_.tasks->failed()) return;
  if (number == 0 && order.may_be_none) return refuse(parent, order, core::child_never_begun_code, "there never was a task " + order.id);
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
  if (by != nullptr) {
    asked.restored_from_unix_ms = by->restored_from_unix_ms();
    asked.first_restored_from_unix_ms = by->first_restored_from_unix_ms();
  }
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
  world_.tasks->decide_about(parent, core::child_refused{order.step, order.id, std::string{code}, std::move(why), 0, order.item});
}

/// The child is ordered anew.
void families::begin_later(std::uint64_t parent, const core::child_order& order) {
  world_.tasks->decide_about(parent, core::child_refused{order.step, order.id, {}, {}, to_unix_ms(world_.time->now()), order.item});
}

/// The sweep after a start leaves out what sleeps for long, so a family is counted before one more child of it begins.
void families::count_family(std::string_view child) {
  const std::string root{family_sizes::root_of(child)};
  if (counted_.contains(root)) return;
  const auto number = number_of(root);
  if (number == 0 || number >= first_known_) return;
  counted_.insert(root);
  std::vector<std::uint64_t> left{number};
  while (!left.empty() && !world_.tasks->failed()) {
    const auto task = left.back();
    left.pop_back();
    const auto* record = sound(*world_.tasks, task);
    if (record == nullptr) continue;
    if (record->has_parent()) sizes_.note(*record);
    std::vector<std::string> children;
    for (int i = 0; i < record->steps_size(); ++i)
      if (child_out(record->steps(i)))
        for (auto& one : children_out(*record, record->steps(i), static_cast<std::uint32_t>(i)))
          children.push_back(std::move(one.child.id));
    for (const auto& id : children)
      if (const auto known = number_of(id); known != 0) left.push_back(known);
    if (task != settled_for_) world_.tasks->forget_if_idle(task);
  }
}

void families::begin_child(std::uint64_t parent, core::child_order& order) {
  count_family(order.id);  // it loads other tasks
  const auto* by = world_.tasks->newest(parent);
  if (by == nullptr) return;
  // Another child of the same decision may have been refused.
  const auto& step = by->steps(static_cast<int>(order.step));
  // The row of one whose next decision has crashed names the child.
  const auto crashed = world_.tasks->has_crashed(parent);
  // An operator may take a task back that is to fail: then the child begins after all.
  if (!crashed && by->state() == v1::TASK_STATE_RUNNING && by->failing() && !step.dropped()) return begin_later(parent, order);
  if (!crashed && (by->state() != v1::TASK_STATE_RUNNING || step.dropped()))
    return refuse(parent, order, core::child_undone_code, "task " + order.id + " was not begun: its parent performs nothing more");
  // Children may begin children in turn, and the rows of all are in one commit.
  if (!crashed && (begun_ >= most_begun_at_once || world_.batches->is_large())) return begin_later(parent, order);
  const auto there = number_of(order.id) != 0;
  if (world_.tasks->failed()) return;
  if (there) return refuse(parent, order, core::child_gone_code, "there has been a task " + order.id + " before");
  if (sizes_.is_full(order.id))
    return refuse(parent, order, core::too_many_tasks_code,
                  "there are " + std::to_string(sizes_.most()) + " tasks below the same task already that have not ended");
  auto definition = definition_for(parent, order);
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
  part.set_item(order.item);
  part.set_call_of(order.call_of);
  ++begun_;
  if (begun_in_ != world_.batches->sequence()) begun_by_.clear();
  begun_in_ = world_.batches->sequence();
  ++begun_by_[parent];
  if (std::exchange(durable_, world_.batches->committed_sequence()) != durable_) begun_since_ = 0;
  ++begun_since_;
  if (faults_.child_twice) {
    auto again = item;
    again.set_id(order.id + "1");
    auto like = order;
    world_.tasks->create_child(again, like, part, *definition);
  }
  world_.tasks->create_child(item, order, std::move(part), std::move(*definition));
}

result<workflow_catalog::handle> families::definition_for(std::uint64_t parent, const core::child_order& order) {
  if (order.call_of != 0) return world_.tasks->pinned_to(parent, order.call_of);
  return world_.catalog->current(order.workflow, world_.batches->committed());
}

/// What the parent's step gives for the item: its output, or how it has ended. nullopt: the node must stop.
std::optional<std::string> families::output_of_item(std::uint64_t parent, const core::child_order& order, std::uint32_t item) {
  const auto* by = world_.tasks->newest(parent);
  const auto id = item_id(*by, by->steps(static_cast<int>(order.step)), item);
  const auto number = number_of(id);
  if (world_.tasks->failed()) return std::nullopt;
  const auto* child = number != 0 ? sound(*world_.tasks, number) : nullptr;
  const auto failure = core::failure_of_item(child);
  std::string output = "null";
  if (child != nullptr && !failure) {
    auto text = world_.tasks->text_of(number, child->output());
    if (!text) {
      // A missing payload concerns these tasks alone.
      if (text.failure().code == v1::ERROR_CODE_NOT_FOUND)
        world_.tasks->decide_about(parent, core::task_poisoned{text.failure().sentence});
      else
        world_.tasks->fail(text.failure());
      return std::nullopt;
    }
    if (!text->empty()) output = std::move(*text);
  }
  if (number != 0) world_.tasks->forget_if_idle(number);
  return core::item_output(output, failure, order.collects);
}

void families::gather(std::uint64_t parent, const core::child_order& order) {
  if (sound(*world_.tasks, parent) == nullptr) return;
  std::vector<std::string> all;
  std::size_t bytes = 0;
  // More than the step may give is not read.
  for (auto item = order.item - 1; item < order.item - 1 + order.gathers && bytes <= max_output_bytes; ++item) {
    auto one = output_of_item(parent, order, item);
    if (!one) return;
    bytes += one->size();
    all.push_back(std::move(*one));
  }
  if (faults_.item_outputs_by_end) std::reverse(all.begin(), all.end());
  core::items_gathered out{order.step, order.item, static_cast<std::uint32_t>(all.size()), "["};
  for (const auto& one : all) out.outputs += (out.outputs.size() == 1 ? "" : ",") + one;
  out.outputs += ']';
  world_.tasks->decide_about(parent, out);
}

bool families::is_told_of(const core::child_order& one, bool parked, bool undoes) {
  const auto number = number_of(one.id);
  if (number == 0) return false;
  const auto* child = sound(*world_.tasks, number);
  // One whose decision has crashed is dealt with otherwise.
  if (child == nullptr) return world_.tasks->has_crashed(number);
  const auto as_asked = !undoes || child->state() == v1::TASK_STATE_UNDOING;
  const auto told = !has_ended(child->state()) && as_asked && child->parked() == parked;
  world_.tasks->forget_if_idle(number);
  return told;
}

bool families::is_told_of(const v1::TaskRecord& parent, const v1::StepRecord& step) {
  const auto all = children_out(parent, step, 0);
  return std::all_of(all.begin(), all.end(), [this](const told_child& one) { return is_told_of(one.child, one.parked, one.undoes); });
}

void families::tell_of_children(std::uint64_t parent, std::uint32_t step) {
  const auto* by = sound(*world_.tasks, parent);
  if (by == nullptr) return;
  for (auto& [child, parked, undoes] : children_out(*by, by->steps(static_cast<int>(step)), step)) {
    // What has been ordered is to be done yet.
    const auto is_ordered =
        std::any_of(noted_.begin(), noted_.end(), [&](const news& one) { return one.order && one.order->id == child.id; });
    if (is_ordered || is_told_of(child, parked, undoes)) continue;
    const auto number = number_of(child.id);
    const auto* record = number != 0 ? sound(*world_.tasks, number) : nullptr;
    if (world_.tasks->failed()) return;
    if (number == 0)
      // Its parent crashed before it could be told why it did not begin.
      begin_later(parent, child);
    else if (record == nullptr)
      refuse(parent, child, core::child_gone_code, "there is no task " + child.id + " any more");
    else if (undoes && record->state() == v1::TASK_STATE_COMPLETED)
      refuse(parent, child, core::child_failed_code, "task " + child.id + " is completed, and its undo could not begin");
    else if (const auto told = news_of(*record))
      world_.tasks->decide_about(parent, *told);
  }
}

void families::tell_of_children(std::uint64_t parent) {
  for (int i = 0;; ++i) {
    const auto* by = sound(*world_.tasks, parent);
    if (by == nullptr || i >= by->steps_size()) return;
    if (child_out(by->steps(i)) && !is_told_of(*by, by->steps(i))) tell_of_children(parent, static_cast<std::uint32_t>(i));
  }
}

/// A commit is behind each of them, so that there is always a next turn.
std::int64_t families::left_to_begin() const {
  return durable_ != world_.batches->committed_sequence() ? most_begun_at_once
                                                          : std::max<std::int64_t>(most_begun_at_once - begun_since_, 0);
}

void families::limit(const v1::TaskRecord& task, core::context& ctx) const {
  // An item keeps the Scheduler busy for a good 100 us, and a list goes on once per commit. Where commits take long there is time for more.
  const auto most = std::clamp<std::int64_t>(2 * world_.batches->commit_time().count(), least_begun_at_once, most_begun_at_once);
  const auto found = begun_in_ == world_.batches->sequence() ? begun_by_.find(task.number()) : begun_by_.end();
  const auto left = std::max<std::int64_t>(most - (found == begun_by_.end() ? 0 : found->second), 0);
  ctx.may_begin = static_cast<std::uint32_t>(std::min(left, left_to_begin()));
  ctx.crowded = sizes_.is_crowded(task.id());
}

bool families::may_be_cancelled(const v1::TaskRecord& record) {
  const auto& own = world_.tasks->definition_of(record.number());
  if (!own.usable() || core::cannot_undo(record, own, &faults_)) return false;
  for (const auto& step : record.steps()) {
    const auto stays = own.step_definition(step.definition()).undo().none();
    const auto ended = step.state() == v1::STEP_STATE_COMPLETED || child_stands(step);
    if (!step.has_child() || !(child_out(step) || (ended && !stays))) continue;
    for (const auto& id : children_to_undo(record, step)) {
      const auto number = number_of(id);
      const auto* child = number != 0 ? sound(*world_.tasks, number) : nullptr;
      if (child == nullptr) return false;
      const auto gives_way = child->state() == v1::TASK_STATE_UNDOING || may_be_cancelled(*child);
      world_.tasks->forget_if_idle(number);
      if (!gives_way) return false;
    }
  }
  return true;
}

bool families::is_built_on(const v1::TaskRecord& child) {
  const auto* parent = sound(*world_.tasks, child.parent().number());
  if (parent == nullptr) return world_.tasks->has_crashed(child.parent().number());
  const auto& step = parent->steps(static_cast<int>(child.parent().step()));
  // An item that has failed and left something is undone before its step is tried again; those that are completed stay.
  const auto item = child.parent().item();
  const auto left = item != 0 && item <= begun_items(step.items()) && item_id(*parent, step, item - 1) == child.id() &&
                    item_state_of(step.items(), item - 1) != item_state::left_behind;
  const auto goes_on = step.has_items() ? left : step.child().id() == child.id() && step.state() != v1::STEP_STATE_FAILED;
  const auto built = parent->state() != v1::TASK_STATE_UNDONE && goes_on;
  world_.tasks->forget_if_idle(child.parent().number());
  return built;
}

}  // namespace fairlead
