// Steps with `for_each`: by the tasks of their items, in each committed state.

#include <algorithm>

#include "store/rows/task_rows.hpp"
#include "tests/simulation/checker/checker.hpp"

namespace fairlead::simulation {

namespace {

using std::to_string;

bool ended_in_vain(const v1::TaskRecord& task) { return task.state() == v1::TASK_STATE_FAILED || task.state() == v1::TASK_STATE_UNDONE; }

/// What the step knows of the item; nullopt: nothing, or of another task of it.
std::optional<item_state> known_state(const v1::StepRecord& step, const child_name& name) {
  if (!step.has_items() || name.item == 0 || name.item > begun_items(step.items())) return std::nullopt;
  return item_round(step.items(), name.item - 1) == name.number ? std::optional{item_state_of(step.items(), name.item - 1)} : std::nullopt;
}

bool is_being_undone(item_state state) {
  return state == item_state::undoing || state == item_state::undoing_parked || state == item_state::undone ||
         state == item_state::not_undone;
}

/// Of a task that has failed.
bool has_left_something(const v1::TaskRecord& task) {
  return std::any_of(task.steps().begin(), task.steps().end(), [](const v1::StepRecord& step) {
    const auto is_over = step.state() == v1::STEP_STATE_PENDING || step.state() == v1::STEP_STATE_FAILED ||
                         step.state() == v1::STEP_STATE_SKIPPED || step.state() == v1::STEP_STATE_UNDONE;
    return !is_over || step.doubtful() || step.undo_doubtful() || step.rounds() > 0 || step.child().stands();
  });
}

bool in_doubt(const v1::TaskRecord& task) {
  return std::any_of(task.steps().begin(), task.steps().end(), [](const auto& step) { return step.doubtful(); });
}

std::string text_of(const v1::TaskRecord& parent, const v1::TaskRecord& child, std::optional<item_state> state) {
  const auto& step = parent.steps(static_cast<int>(child.parent().step()));
  return "step " + step.path() + " of " + parent.id() + " (" + v1::TaskState_Name(parent.state()).substr(11) + ") is " +
         v1::StepState_Name(step.state()).substr(11) + " and knows " + (state ? to_string(static_cast<int>(*state)) : "nothing") +
         " of the item whose task " + child.id() + " is " + v1::TaskState_Name(child.state()).substr(11) +
         (child.parked() ? " and parked" : "");
}

}  // namespace

/// `was`: the step as a reader saw it last; null: never.
void checker::judge_items(const v1::StepRecord* was, const v1::TaskRecord& record, std::uint32_t index, const shape& plan,
                          const store::snapshot& durable, family_view& view) {
  const auto& step = record.steps(static_cast<int>(index));
  const auto name = "step " + step.path() + " of " + record.id();
  if (!step.has_items()) {
    if (step.state() == v1::STEP_STATE_RUNNING) world::broken("child_alone", name + " is carried out by tasks, and has none");
    return;
  }
  if (step.state() == v1::STEP_STATE_COMPLETED && (was == nullptr || was->state() != step.state())) world_.count("lists carried out");
  if (step.state() == v1::STEP_STATE_FAILED && (was == nullptr || was->state() != step.state())) world_.count("lists that have failed");
  if (step.state() == v1::STEP_STATE_UNDOING && step.given_up() && was != nullptr && !was->given_up())
    world_.count("lists that are not undone");
  for (std::uint32_t i = 0; i < begun_items(step.items()); ++i) {
    const auto state = item_state_of(step.items(), i);
    const auto id = item_id(record, step, i);
    const auto child = task_of(durable, id);
    if (!child) {
      const auto has_none = state == item_state::to_begin || state == item_state::not_begun || step.fault().code() == "child_gone";
      if (!has_none && !bugs_.about(record.id())) world::broken("child_alone", name + " names the task " + id + ", which is not there");
      const auto before = was != nullptr && i < begun_items(was->items()) && item_state_of(was->items(), i) == state;
      if (state == item_state::not_begun && !before) judge_refused_item(record, index, i, plan, durable);
      continue;
    }
    view.is_sure = view.is_sure && !bugs_.about(child->id());
    view.has_parked = view.has_parked || (child->parked() && !has_ended(child->state()));
    judge_item(record, *read_child_id(id), *child);
  }
  const auto all = children_.of_step.find({record.id(), step.path()});
  std::uint32_t lives = 0;
  for (const auto& id : all == children_.of_step.end() ? std::vector<std::string>{} : all->second) {
    const auto child = task_of(durable, id);
    if (child && !has_ended(child->state()) && !is_item_undone_alone(record, *read_child_id(id), *child)) ++lives;
  }
  const auto allowed = plan.step(index).for_each().at_once();
  world_.judges("items_at_once");
  if (lives > 1) world_.count("items side by side");
  if (lives > allowed && view.is_sure)
    world::broken("items_at_once", name + " has " + to_string(lives) + " items in progress, and may have " + to_string(allowed));
  if (record.state() == v1::TASK_STATE_UNDONE) judge_no_item_left(record, index, plan, durable);
}

/// By an operator, where nobody goes on with what the item has done.
bool checker::is_item_undone_alone(const v1::TaskRecord& parent, const child_name& name, const v1::TaskRecord& child) const {
  const auto undo = [](const v1::OperatorAction& order) { return order.verb() == v1::OPERATOR_VERB_UNDO; };
  const auto undoes = child.state() == v1::TASK_STATE_UNDOING || child.state() == v1::TASK_STATE_UNDONE;
  const auto state = known_state(parent.steps(static_cast<int>(child.parent().step())), name);
  const auto is_free = !state || *state == item_state::left_behind || *state == item_state::undone || *state == item_state::failed ||
                       parent.state() == v1::TASK_STATE_UNDONE;
  return undoes && is_free && ordered_above(child.id(), undo);
}

/// A step and the task of one of its items, both as they are after one commit.
void checker::judge_item(const v1::TaskRecord& parent, const child_name& name, const v1::TaskRecord& child) const {
  if (bugs_.about(parent.id()) || bugs_.about(child.id())) return;
  const auto& step = parent.steps(static_cast<int>(child.parent().step()));
  const auto state = known_state(step, name);
  const auto lives = !has_ended(child.state());
  const auto undone_alone = is_item_undone_alone(parent, name, child);
  const auto said = [&] { return text_of(parent, child, state); };
  world_.judges("item_differs");
  if (!state) {
    if (lives && !undone_alone) world::broken("item_differs", said());
    return;
  }
  const auto is_undone = child.state() == v1::TASK_STATE_UNDONE;
  // By a write that may never have counted it had been undone: what it has done may stand, and no other begins before it is undone again.
  const auto undone_again =
      *state == item_state::left_behind && child.state() == v1::TASK_STATE_UNDOING && child.restored_from_unix_ms() != 0;
  bool agrees = true;
  switch (*state) {
    case item_state::running: agrees = lives && !child.parked(); break;
    case item_state::parked: agrees = lives && child.parked(); break;
    case item_state::completed:
      // An undo that has ended in vain is to be tried again.
      agrees = child.state() == v1::TASK_STATE_COMPLETED || undone_alone || is_undo_terminated(parent, child) ||
               (child.state() == v1::TASK_STATE_FAILED && step.state() == v1::STEP_STATE_UNDOING);
      break;
    case item_state::failed:
    case item_state::to_begin: agrees = ended_in_vain(child) || undone_alone; break;
    case item_state::left_behind: agrees = child.state() == v1::TASK_STATE_FAILED || undone_alone || undone_again; break;
    case item_state::not_begun: agrees = false; break;
    case item_state::undoing: agrees = child.state() == v1::TASK_STATE_UNDOING && !child.parked(); break;
    case item_state::undoing_parked: agrees = child.state() == v1::TASK_STATE_UNDOING && child.parked(); break;
    case item_state::undone: agrees = is_undone || passed_over_by_operator(parent.id(), step.path()); break;
    // Once its parent is undone without it, an operator may have it undone after all.
    case item_state::not_undone: agrees = undone_alone || (!lives && !is_undone); break;
  }
  const auto counts_as_failed = *state == item_state::failed || *state == item_state::left_behind;
  if (counts_as_failed) world_.judges("item_doubt");
  if (counts_as_failed && lives && !undone_alone && !undone_again && in_doubt(child)) world::broken("item_doubt", said());
  if (!agrees) world::broken("item_differs", said());
  if (*state == item_state::failed && child.state() == v1::TASK_STATE_FAILED) judge_none_stands(child);
  if (!lives || undone_alone) return;
  if (has_ended(parent.state())) {
    world_.judges("end_before_child");
    return world::broken("end_before_child", said());
  }
  if (child.parked() && !parent.parked() && !parent.terminated() && !step.given_up())
    world::broken("child_differs", child.id() + " is parked, and " + parent.id() + ", whose item it carries out, is not");
  const auto is_cancelled = parent.state() == v1::TASK_STATE_UNDOING || step.dropped();
  if (!is_cancelled || step.state() != v1::STEP_STATE_RUNNING) return;
  world_.judges("not_cancelled");
  if (!gives_way(child, shape_of(child))) world::broken("not_cancelled", said());
}

void checker::judge_item_begins(const v1::TaskRecord& record, const v1::TaskRecord& parent, const child_name& name,
                                const store::snapshot& durable) {
  world_.count("items begun");
  if (record.restored_from_unix_ms() != 0) world_.count("items begun after a restore");
  world_.judges("item_again");
  for (const auto& id : children_.of_step[{parent.id(), name.step}]) {
    const auto before = *read_child_id(id);
    if (before.item != name.item) continue;
    world_.count("items begun again");
    if (before.number >= name.number) world::broken("item_again", record.id() + " begins after " + id);
    const auto last = task_of(durable, id);
    if (!last || !ended_in_vain(*last)) world::broken("item_again", record.id() + " begins, and " + id + " has not ended in vain");
    const auto retried = [](const v1::OperatorAction& order) {
      return order.verb() == v1::OPERATOR_VERB_RETRY || order.verb() == v1::OPERATOR_VERB_SETTLE_NEVER_HAPPENED;
    };
    if (!ordered_above(parent.id(), retried)) world::broken("item_again", record.id() + " begins, and nobody has asked for another one");
  }
  judge_inherited(record, parent, name);
  const auto* plan = shape_of(parent);
  if (plan != nullptr && plan->has_items(record.parent().step())) judge_item_order(record, parent, name, *plan);
}

void checker::judge_item_order(const v1::TaskRecord& record, const v1::TaskRecord& parent, const child_name& name,
                               const shape& plan) const {
  const auto& step = parent.steps(static_cast<int>(record.parent().step()));
  if (bugs_.about(parent.id())) return;
  std::map<std::uint32_t, std::string> last;  // by item
  const auto known = children_.of_step.find({parent.id(), name.step});
  for (const auto& id : known == children_.of_step.end() ? std::vector<std::string>{} : known->second) {
    const auto other = *read_child_id(id);
    last[other.item] = id;
    if (other.number != name.number) continue;
    world_.judges("item_order");
    if (other.item > name.item) world::broken("item_order", record.id() + " begins after " + id);
  }
  world_.judges("item_after_failure");
  const auto stops = !plan.step(record.parent().step()).for_each().collect();
  for (const auto& [item, id] : last) {
    // Since an operator has had the step tried again, those that have failed are to begin again, or have begun.
    const auto state = known_state(step, *read_child_id(id));
    const auto has_failed = state == item_state::failed || state == item_state::left_behind;
    if (stops && has_failed && children_.failed.count(id) != 0 && !bugs_.about(id))
      world::broken("item_after_failure", record.id() + " begins, and " + id + " had ended in vain");
  }
  for (std::uint32_t item = 1; item < name.item; ++item) {
    const auto before = last.find(item);
    // It was refused a task.
    if (item <= begun_items(step.items()) && item_state_of(step.items(), item - 1) == item_state::not_begun) continue;
    if (before == last.end()) world::broken("item_order", record.id() + " begins before item " + to_string(item));
    if (known_state(step, *read_child_id(before->second)) == item_state::to_begin)
      world::broken("item_order", record.id() + " begins before item " + to_string(item) + " begins again");
  }
}

/// `was`: as a reader saw the item's task last.
void checker::judge_item_moves(const v1::TaskRecord& was, const v1::TaskRecord& record, const v1::TaskRecord& parent,
                               const child_name& name) const {
  if (record.parked() && !was.parked()) world_.count("items parked");
  if (record.state() == was.state()) return;
  if (record.state() == v1::TASK_STATE_COMPLETED) world_.count("items completed");
  if (record.state() == v1::TASK_STATE_FAILED) world_.count("items failed");
  if (record.state() == v1::TASK_STATE_UNDONE) world_.count("items undone");
  if (!has_ended(was.state())) return;
  if (was.state() == v1::TASK_STATE_COMPLETED) world_.count("items undone after their completion");
  if (bugs_.about(parent.id()) || bugs_.about(record.id())) return;
  const auto* plan = shape_of(parent);
  const auto state = known_state(parent.steps(static_cast<int>(record.parent().step())), name);
  const auto by_step = state && is_being_undone(*state) && (plan == nullptr || plan->undoable(record.parent().step()));
  const auto undone_alone = is_item_undone_alone(parent, name, record) || is_undo_terminated(parent, record);
  world_.judges("child_undone_unasked");
  if (!by_step && !undone_alone)
    world::broken("child_undone_unasked", record.id() + " had ended and is undone; " + text_of(parent, record, state));
  // One that was terminated while it was undone had been completed.
  if (undone_alone || plan == nullptr || was.state() != v1::TASK_STATE_FAILED || was.terminated()) return;
  world_.judges("item_undone");
  if (!has_left_something(was) && !plan->undoes_failed(record.parent().step()))
    world::broken("item_undone", record.id() + " had failed and left nothing, and is undone; " + text_of(parent, record, state));
}

/// Of an undone task.
void checker::judge_no_item_left(const v1::TaskRecord& record, std::uint32_t index, const shape& plan,
                                 const store::snapshot& durable) const {
  const auto& step = record.steps(static_cast<int>(index));
  if (!plan.undoable(index) || passed_over_by_operator(record.id(), step.path()) || bugs_.about(record.id())) return;
  const auto all = children_.of_step.find({record.id(), step.path()});
  if (all == children_.of_step.end()) return;
  world_.judges("child_stands");
  for (const auto& id : all->second) {
    const auto child = task_of(durable, id);
    if (!child || child->state() == v1::TASK_STATE_UNDONE || bugs_.about(id)) continue;
    if (is_item_undone_alone(record, *read_child_id(id), *child)) continue;
    const auto state = known_state(step, *read_child_id(id));
    const auto failed = child->state() == v1::TASK_STATE_FAILED;
    if (!failed || (state && plan.undoes_failed(index)))
      world::broken("child_stands", record.id() + " is undone: " + text_of(record, *child, state));
    judge_none_stands(*child);
  }
}

/// At no moment of the commit have more tasks lived below the same top-level task: those that live before or after it, or have both
/// begun and ended in it.
std::uint64_t checker::lived_around(const std::string& id, const store::snapshot& durable) const {
  const auto root = root_of(id);
  std::uint64_t out = 0;
  const auto scanned = durable.scan(store::table::task, {}, {}, [&](std::string_view, std::string_view row) {
    v1::TaskRecord task;
    if (!task.ParseFromArray(row.data(), static_cast<int>(row.size()))) return false;
    if (!task.has_parent() || root_of(task.id()) != root) return true;
    const auto before = seen_.find(task.number());
    // Of one that has been looked at already, `seen_` has what is after the commit.
    const auto had_ended = before != seen_.end() && before->second.state() == task.state() && children_.ended_now.count(task.id()) == 0;
    if (!has_ended(task.state()) || !had_ended) ++out;
    return true;
  });
  if (!scanned.ok()) world::broken("store_check", "the tasks below " + root + " cannot be read: " + scanned.failure().sentence);
  return out;
}

/// No task of the item has begun.
void checker::judge_refused_item(const v1::TaskRecord& record, std::uint32_t index, std::uint32_t item, const shape& plan,
                                 const store::snapshot& durable) const {
  world_.count("items refused");
  const auto& step = record.steps(static_cast<int>(index));
  const auto goes_on = record.state() == v1::TASK_STATE_RUNNING && !record.failing() && !step.dropped();
  if (!goes_on || record.parent().depth() >= most_levels) return;
  const auto& says = plan.step(index);
  // What it would be given could not be computed.
  if (says.for_each().collect() && says.with_json().find("${") != std::string::npos) return;
  // The step tells why the first of its items failed, and that may be another one.
  const auto& told = step.fault().message();
  const auto tells_of_it = told.rfind("item " + to_string(item + 1) + ": ", 0) == 0;
  const auto may_be_full = !tells_of_it || told.find("below the same task") != std::string::npos;
  if (may_be_full && least_family_ <= largest_family && lived_around(record.id(), durable) >= least_family_) return;
  world_.judges("item_refused");
  // The output of another step may be anything.
  const auto has = [&](const char* part) { return says.with_json().find(part) != std::string::npos; };
  const auto fits = has(R"("n":"${ .index)") && !has(R"("at":"${ .steps.)");
  if (says.kind() == v1::STEP_KIND_CALL || (fits && children_.deployed.count(says.workflow()) != 0))
    world::broken("item_refused",
                  "item " + to_string(item + 1) + " of step " + step.path() + " of " + record.id() + " was refused a task: " + told);
}

}  // namespace fairlead::simulation
