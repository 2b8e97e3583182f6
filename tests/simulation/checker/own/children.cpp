// Steps that are tasks of their own, and these tasks: by the records alone, in each committed state.

#include <algorithm>
#include <charconv>

#include "store/keys.hpp"
#include "store/rows/task_rows.hpp"
#include "tests/simulation/checker/checker.hpp"
#include "tests/simulation/plans/child_plans.hpp"

namespace fairlead::simulation {

namespace {

std::optional<v1::TaskRecord> task_of(const store::snapshot& durable, std::uint64_t number) {
  auto out = store::load_task(durable, number);
  if (!out.ok()) world::broken("store_check", "task " + std::to_string(number) + " cannot be read: " + out.failure().sentence);
  return std::move(*out);
}

bool same_labels(const v1::TaskRecord& one, const v1::TaskRecord& other) {
  return std::equal(one.labels().begin(), one.labels().end(), other.labels().begin(), other.labels().end(),
                    [](const auto& a, const auto& b) { return a.key() == b.key() && a.value() == b.value(); });
}

std::string text_of(const v1::TaskRecord& parent, const v1::StepRecord& step, const v1::TaskRecord& child) {
  return "step " + step.path() + " of " + parent.id() + " (" + v1::TaskState_Name(parent.state()).substr(11) + ") is " +
         v1::StepState_Name(step.state()).substr(11) + ", and its task " + child.id() + " is " +
         v1::TaskState_Name(child.state()).substr(11);
}

/// Its child had ended in vain before the backup, and since then the step may have begun another one.
bool is_doubted_since_restore(const v1::TaskRecord& parent, const v1::StepRecord& step) {
  return step.state() == v1::STEP_STATE_IN_DOUBT && step.doubtful() && parent.restored_from_unix_ms() != 0;
}

}  // namespace

std::optional<v1::TaskRecord> task_of(const store::snapshot& durable, const std::string& id) {
  const auto known = id.empty() ? result<std::optional<v1::TaskTombstone>>{std::nullopt} : store::find_task(durable, id);
  return known.ok() && *known ? task_of(durable, (*known)->number()) : std::nullopt;
}

bool gives_way(const v1::TaskRecord& child, const shape* plan) {
  if (child.state() == v1::TASK_STATE_UNDOING || child.failing() || child.undo_held()) return true;
  for (std::uint32_t i = 0; plan != nullptr && i < plan->size(); ++i) {
    const auto no_return = plan->step(i).pivot() || !plan->says_how_it_is_undone(i);
    const auto& step = child.steps(static_cast<int>(i));
    if (no_return && (step.state() != v1::STEP_STATE_PENDING || step.doubtful() || step.rounds() > 0)) return true;
  }
  return plan == nullptr;
}

std::optional<child_name> read_child_id(const std::string& id) {
  const auto tilde = id.rfind('~');
  const auto slash = tilde == std::string::npos ? tilde : id.rfind('/', tilde);
  if (slash == std::string::npos) return std::nullopt;
  child_name out{id.substr(0, slash), id.substr(slash + 1, tilde - slash - 1), 0};
  const auto* end = id.data() + id.size();
  const auto [stop, wrong] = std::from_chars(id.data() + tilde + 1, end, out.number);
  if (wrong != std::errc{} || stop == end) return wrong == std::errc{} ? std::optional{out} : std::nullopt;
  const auto item = std::from_chars(stop + 1, end, out.item);
  return *stop == '.' && item.ec == std::errc{} && item.ptr == end ? std::optional{out} : std::nullopt;
}

std::string root_of(std::string id) {
  while (auto name = read_child_id(id)) id = std::move(name->parent);
  return id;
}

/// Somebody has given such an order for the task, or for one above it.
bool checker::ordered_above(const std::string& id, const std::function<bool(const v1::OperatorAction&)>& is_one) const {
  for (auto at = std::optional{id}; at;) {
    const auto asked = orders_.find(*at);
    if (asked != orders_.end() && std::any_of(asked->second.begin(), asked->second.end(), is_one)) return true;
    const auto above = read_child_id(*at);
    at = above ? std::optional{above->parent} : std::nullopt;
  }
  return false;
}

/// Whether it is a launch of a job, or one stands above it.
bool checker::launched_above(const v1::TaskRecord& record) const {
  // It may have ended when it is seen for the first time. The one above it has a lower number, and was seen before.
  if (!record.has_parent()) return record.has_launch();
  const auto number = numbers_.find(root_of(record.id()));
  const auto seen = number == numbers_.end() ? seen_.end() : seen_.find(number->second);
  return seen != seen_.end() && seen->second.has_launch();
}

bool checker::child_lives(const v1::TaskRecord& record, const v1::StepRecord& step, const store::snapshot& durable) {
  if (step.kind() != v1::STEP_KIND_WORKFLOW) return false;
  const auto all = children_out_of(record, step);
  return std::any_of(all.begin(), all.end(), [&](const std::string& id) {
    const auto child = task_of(durable, id);
    return child && !has_ended(child->state());
  });
}

void checker::judge_children(const v1::TaskRecord* was, const v1::TaskRecord& record, const store::snapshot& durable) {
  if (record.has_parent()) judge_child(was, record, durable);
  const auto* plan = shape_of(record);
  if (plan == nullptr) return;
  family_view view;
  view.is_sure = !bugs_.about(record.id());
  for (std::uint32_t i = 0; i < plan->size(); ++i) {
    if (!plan->is_child(i)) continue;
    view.has_any = true;
    if (plan->has_items(i)) {
      judge_items(was == nullptr ? nullptr : &was->steps(static_cast<int>(i)), record, i, *plan, durable, view);
      continue;
    }
    const auto& step = record.steps(static_cast<int>(i));
    judge_child_step(was == nullptr ? nullptr : &was->steps(static_cast<int>(i)), record, i, *plan);
    if (step.child().id().empty()) continue;
    const auto child = task_of(durable, step.child().id());
    if (!child) {
      // A store that was put back may lack it, and its step says so.
      if (step.fault().code() == "child_gone") continue;
      // A refusal that it was to be told of is lost by a crash of its decision.
      if (bugs_.about(record.id())) continue;
      world::broken("child_alone",
                    "step " + step.path() + " of " + record.id() + " names the task " + step.child().id() + ", which is not there");
    }
    view.is_sure = view.is_sure && !bugs_.about(child->id());
    view.has_parked = view.has_parked || (child->parked() && !has_ended(child->state()));
    judge_agreement(record, step, *child);
    if (record.state() == v1::TASK_STATE_UNDONE) judge_nothing_left(record, i, *plan, durable);
  }
  if (!view.has_any || !view.is_sure) return;
  world_.judges("child_differs");
  if (record.parked_for_child() && !record.parked()) world::broken("child_differs", record.id() + " is not parked, and says for what");
  if (record.parked_for_child() && !view.has_parked)
    world::broken("child_differs", record.id() + " is parked for a task of its steps, and none of these is: " + record.parked_reason());
}

/// A task that carries out a step.
void checker::judge_child(const v1::TaskRecord* was, const v1::TaskRecord& record, const store::snapshot& durable) {
  if (has_ended(record.state()) && (was == nullptr || was->state() != record.state())) children_.ended_now.insert(record.id());
  const auto name = read_child_id(record.id());
  const auto& of = record.parent();
  world_.judges("child_id");
  if (!name || name->parent != of.id()) world::broken("child_id", "a task of " + of.id() + " has the id " + record.id());
  const auto parent = task_of(durable, of.number());
  if (!parent || parent->id() != of.id()) {
    // Nobody goes on with what it has done, so an operator may have it undone.
    const auto undo = [](const v1::OperatorAction& order) { return order.verb() == v1::OPERATOR_VERB_UNDO; };
    const auto undone_alone =
        record.state() == v1::TASK_STATE_UNDOING && (ordered_above(record.id(), undo) || children_.undone_again.count(record.id()) != 0);
    if (!has_ended(record.state()) && !undone_alone)
      world::broken("child_alone", record.id() + " has not ended, and the task whose step it carries out has left the store");
    return;
  }
  if (static_cast<int>(of.step()) >= parent->steps_size() || parent->steps(static_cast<int>(of.step())).path() != name->step)
    world::broken("child_id", record.id() + " says that it carries out step " + std::to_string(of.step()) + " of " + of.id());
  const auto& step = parent->steps(static_cast<int>(of.step()));
  auto& all = children_.of_step[{of.id(), name->step}];
  if (std::find(all.begin(), all.end(), record.id()) == all.end()) {
    name->item != 0 ? judge_item_begins(record, *parent, *name, durable) : judge_child_begins(record, *parent, *name, durable);
    all.push_back(record.id());
  }
  if (name->item != 0) {
    const auto in_vain = record.state() == v1::TASK_STATE_FAILED || record.state() == v1::TASK_STATE_UNDONE;
    if (in_vain && children_.failed.count(record.id()) == 0) children_.failed_now.insert(record.id());
    if (was != nullptr) judge_item_moves(*was, record, *parent, *name);
    return judge_item(*parent, *name, record);
  }
  if (was != nullptr) note_child_moves(*was, record, *parent, step);
  if (step.child().id() == record.id()) return judge_agreement(*parent, step, record);
  if (!has_ended(record.state()) && !is_undone_alone(*parent, step, record) && !bugs_.about(record.id()) && !bugs_.about(parent->id()))
    world::broken("child_again", record.id() + " has not ended, and its step has the task " + step.child().id());
}

void checker::judge_child_begins(const v1::TaskRecord& record, const v1::TaskRecord& parent, const child_name& name,
                                 const store::snapshot& durable) {
  const auto& step = parent.steps(static_cast<int>(record.parent().step()));
  world_.count("children begun");
  if (record.restored_from_unix_ms() != 0) world_.count("children begun after a restore");
  const auto& before = children_.of_step[{parent.id(), name.step}];
  world_.judges("child_again");
  if (!before.empty()) {
    world_.count("children begun again");
    const auto last = task_of(durable, before.back());
    const auto in_vain = last && (last->state() == v1::TASK_STATE_UNDONE || last->state() == v1::TASK_STATE_FAILED);
    if (!in_vain) world::broken("child_again", record.id() + " begins, and " + before.back() + " has not ended in vain");
    const auto retried = [](const v1::OperatorAction& order) {
      return order.verb() == v1::OPERATOR_VERB_RETRY || order.verb() == v1::OPERATOR_VERB_SETTLE_NEVER_HAPPENED;
    };
    if (!ordered_above(parent.id(), retried)) world::broken("child_again", record.id() + " begins, and nobody has asked for another one");
  }
  // Begun, failed and undone in one commit: an undone step is at the generation of the next child already.
  const auto undone = step.state() == v1::STEP_STATE_UNDONE && record.state() == v1::TASK_STATE_UNDONE;
  if (step.child().id() == record.id() && name.number != step.generation() + (undone ? 0 : 1))
    world::broken("child_id", "the task " + record.id() + " begins, and its step is at generation " + std::to_string(step.generation()));
  judge_inherited(record, parent, name);
}

/// What it has of its parent, and of the step that it carries out.
void checker::judge_inherited(const v1::TaskRecord& record, const v1::TaskRecord& parent, const child_name& name) const {
  const auto index = record.parent().step();
  const auto wrong = [&](const std::string& what) { world::broken("child_id", "the task " + record.id() + " begins " + what); };
  const auto level = parent.has_parent() ? parent.parent().depth() + 1 : 1;
  if (record.parent().depth() != level || level > most_levels) wrong("at level " + std::to_string(record.parent().depth()));
  if (record.has_reply()) wrong("with a reply address");
  if (parent.restored_from_unix_ms() != 0 && record.restored_from_unix_ms() == 0) wrong("as if its parent had not been restored");
  if (record.priority() != parent.priority() || !same_labels(record, parent) || record.submitted_by() != parent.submitted_by())
    wrong("without the priority, the labels or the submitter of its parent");
  const auto migrated = [](const v1::HistoryEvent& one) { return one.kind() == v1::EVENT_KIND_OPERATOR_MIGRATE; };
  const auto* plan = shape_of(parent);
  if (plan == nullptr || !plan->is_child(index) || std::any_of(parent.recent().begin(), parent.recent().end(), migrated)) return;
  const auto& says = plan->step(index);
  const auto* own = shape_of(record);
  const auto given = [&](const v1::OperatorAction& order) { return order.has_json() && order.step() == name.step; };
  if (own != nullptr && !own->definition().input_schema_json().empty() && says.with_json() == unfit_input &&
      !contents_.is_edited(parent.id(), name.step) && !ordered_above(parent.id(), given))
    world::broken("child_refused", record.id() + " has begun, and its input does not fit the schema of its workflow");
  const auto is_call = says.kind() == v1::STEP_KIND_CALL;
  if (record.parent().item() != name.item || record.parent().call_of() != (is_call ? index + 1 : 0)) wrong("as another part of its step");
  const auto& workflow = is_call ? parent.workflow() : says.workflow();
  if (record.workflow() != workflow || (is_call && record.workflow_hash() != parent.workflow_hash()))
    wrong("by the workflow " + record.workflow() + ", and its step names " + workflow);
  const auto has_deadline = record.deadline_unix_ms() != 0;
  const auto given_ms = record.deadline_unix_ms() - record.created_at_unix_ms();
  const auto wanted_ms = is_call ? 0 : says.timeout_ms();
  if (has_deadline != (wanted_ms != 0) || (has_deadline && std::abs(given_ms - wanted_ms) > whole_ms))
    wrong("with a deadline after " + std::to_string(given_ms) + " ms, and its step gives it " + std::to_string(wanted_ms));
  // A lost time may have begun to undo the parent.
  if (!restores_.on()) judge_perform({parent.id(), index}, *plan, parent);
}

/// `was`: as a reader saw the child last.
void checker::note_child_moves(const v1::TaskRecord& was, const v1::TaskRecord& record, const v1::TaskRecord& parent,
                               const v1::StepRecord& step) {
  if (record.parked() && !was.parked()) world_.count("children parked");
  if (record.state() == was.state()) return;
  if (record.state() == v1::TASK_STATE_COMPLETED) world_.count("children completed");
  if (record.state() == v1::TASK_STATE_FAILED) world_.count("children failed");
  if (record.state() == v1::TASK_STATE_UNDONE) world_.count("children undone");
  const auto gives_up = parent.state() == v1::TASK_STATE_UNDOING || parent.state() == v1::TASK_STATE_UNDONE || step.dropped();
  if (!has_ended(was.state()) && was.state() != v1::TASK_STATE_UNDOING && gives_up && record.state() == v1::TASK_STATE_UNDOING)
    world_.count("children cancelled by their parents");
  if (!has_ended(was.state())) return;
  if (was.state() == v1::TASK_STATE_COMPLETED) world_.count("children undone after their completion");
  world_.judges("child_undone_unasked");
  const auto* plan = shape_of(parent);
  const auto by_step = (step.state() == v1::STEP_STATE_UNDOING || step.state() == v1::STEP_STATE_UNDONE) &&
                       (plan == nullptr || plan->undoable(record.parent().step()));
  // Undone and terminated in one commit, it is failed at once.
  const auto alone = is_undone_alone(parent, step, record) || is_undo_terminated(parent, record);
  if (!by_step && !alone && !bugs_.about(parent.id()))
    world::broken("child_undone_unasked", record.id() + " had ended and is undone; " + text_of(parent, step, record));
}

/// By an operator, where nobody goes on with what the child has done: its step has failed or has another child, or all else is undone. Or
/// by a recovery: that it was undone may never have counted.
bool checker::is_undone_alone(const v1::TaskRecord& parent, const v1::StepRecord& step, const v1::TaskRecord& child) const {
  const auto undo = [](const v1::OperatorAction& order) { return order.verb() == v1::OPERATOR_VERB_UNDO; };
  const auto undoes = child.state() == v1::TASK_STATE_UNDOING || child.state() == v1::TASK_STATE_UNDONE;
  const auto in_vain = step.state() == v1::STEP_STATE_FAILED || is_doubted_since_restore(parent, step);
  const auto is_other = step.child().id() != child.id();
  const auto is_free = in_vain || is_other || parent.state() == v1::TASK_STATE_UNDONE;
  const auto is_asked = step.state() == v1::STEP_STATE_RUNNING || step.state() == v1::STEP_STATE_UNDOING;
  const auto again = children_.undone_again.count(child.id()) != 0 && child.state() == v1::TASK_STATE_UNDOING && (is_other || !is_asked);
  return again || (undoes && is_free && ordered_above(child.id(), undo));
}

/// Of an undone parent, whose step stays as it was (`undo: none`, or an operator has passed its undo over): an operator has had the child
/// undone alone, and terminated it meanwhile. Nothing else terminates a child that has ended.
bool checker::is_undo_terminated(const v1::TaskRecord& parent, const v1::TaskRecord& child) const {
  const auto asked = orders_.find(child.id());
  return parent.state() == v1::TASK_STATE_UNDONE && child.state() == v1::TASK_STATE_FAILED && child.terminated() &&
         asked != orders_.end() && std::any_of(asked->second.begin(), asked->second.end(), [](const v1::OperatorAction& order) {
           return order.verb() == v1::OPERATOR_VERB_UNDO;
         });
}

/// A step and its task, both as they are after one commit.
void checker::judge_agreement(const v1::TaskRecord& parent, const v1::StepRecord& step, const v1::TaskRecord& child) const {
  if (bugs_.about(parent.id()) || bugs_.about(child.id())) return;
  const auto lives = !has_ended(child.state());
  const auto undone = child.state() == v1::TASK_STATE_UNDONE;
  // The step stays as it is meanwhile.
  const auto undone_alone = is_undone_alone(parent, step, child);
  const auto ended_in_vain = undone || child.state() == v1::TASK_STATE_FAILED || undone_alone;
  const auto again = children_.undone_again.count(child.id()) != 0;
  bool agrees = !lives || undone_alone;
  const auto settled = [&](const v1::OperatorAction& order) {
    return order.verb() == v1::OPERATOR_VERB_SETTLE_COMPLETED && order.step() == step.path();
  };
  switch (step.state()) {
    case v1::STEP_STATE_RUNNING: agrees = lives; break;
    case v1::STEP_STATE_COMPLETED:
      agrees = child.state() == v1::TASK_STATE_COMPLETED || undone_alone || is_undo_terminated(parent, child) ||
               (!lives && ordered_above(parent.id(), settled));
      break;
    case v1::STEP_STATE_FAILED: agrees = ended_in_vain; break;
    case v1::STEP_STATE_UNDOING: agrees = step.given_up() ? !undone : child.state() == v1::TASK_STATE_UNDOING; break;
    case v1::STEP_STATE_UNDONE: agrees = undone || again || passed_over_by_operator(parent.id(), step.path()); break;
    case v1::STEP_STATE_IN_DOUBT: agrees = ended_in_vain && is_doubted_since_restore(parent, step); break;
    default: break;
  }
  world_.judges("child_differs");
  if (!agrees) world::broken("child_differs", text_of(parent, step, child));
  // Otherwise its parent would go on beside that.
  if (again && lives && step.child().state() != child.state())
    world::broken("child_differs", text_of(parent, step, child) + " again; the step has noted " + v1::TaskState_Name(step.child().state()));
  if (has_ended(parent.state())) {
    world_.judges("end_before_child");
    if (lives && !undone_alone) world::broken("end_before_child", parent.id() + " has ended: " + text_of(parent, step, child));
    return;
  }
  if (undone_alone) return;
  if (!lives && step.child().state() != child.state())
    world::broken("child_differs", text_of(parent, step, child) + "; the step has noted " + v1::TaskState_Name(step.child().state()));
  // That its undo has begun a step knows by itself.
  const auto noted_end = step.state() == v1::STEP_STATE_RUNNING && has_ended(step.child().state());
  if (lives && (step.child().parked() != child.parked() || noted_end))
    world::broken("child_differs", text_of(parent, step, child) + "; the step has noted otherwise whether it is parked");
  if (lives && child.parked() && !parent.parked() && !parent.terminated() && !step.given_up())
    world::broken("child_differs", child.id() + " is parked, and " + parent.id() + ", whose step it carries out, is not");
  const auto is_cancelled = parent.state() == v1::TASK_STATE_UNDOING || step.dropped();
  if (is_cancelled && step.state() == v1::STEP_STATE_RUNNING) {
    world_.judges("not_cancelled");
    if (!gives_way(child, shape_of(child)))
      world::broken("not_cancelled", text_of(parent, step, child) + ", though what it does is undone");
  }
  if (child.state() == v1::TASK_STATE_FAILED && step.state() == v1::STEP_STATE_FAILED && !step.child().stands()) judge_none_stands(child);
}

/// It has failed, and says that nothing is left.
void checker::judge_none_stands(const v1::TaskRecord& child) const {
  const auto* plan = shape_of(child);
  world_.judges("child_stands");
  for (std::uint32_t i = 0; plan != nullptr && i < plan->size(); ++i) {
    const auto& step = child.steps(static_cast<int>(i));
    if (restores_.on() || !plan->undoable(i) || passed_over_by_operator(child.id(), step.path())) continue;
    // A child that an operator has undone since says so until that is done, although it may have left nothing.
    const auto child_stands = step.child().stands() && step.child().state() != v1::TASK_STATE_UNDOING;
    if (open_effects(child, i) != 0 || child_stands)
      world::broken("child_stands", child.id() + " is said to have left nothing, and what " + step.path() + " has done stands");
  }
}

/// Of an undone task.
void checker::judge_nothing_left(const v1::TaskRecord& record, std::uint32_t index, const shape& plan,
                                 const store::snapshot& durable) const {
  const auto& step = record.steps(static_cast<int>(index));
  if (!plan.undoable(index) || passed_over_by_operator(record.id(), step.path()) || bugs_.about(record.id())) return;
  const auto all = children_.of_step.find({record.id(), step.path()});
  if (all == children_.of_step.end()) return;
  world_.judges("child_stands");
  for (const auto& id : all->second) {
    const auto child = task_of(durable, id);
    if (!child || child->state() == v1::TASK_STATE_UNDONE || is_undone_alone(record, step, *child)) continue;
    // Undone again by a recovery, an operator may terminate it meanwhile.
    if (child->terminated() && children_.undone_again.count(id) != 0) continue;
    if (child->state() != v1::TASK_STATE_FAILED || step.child().stands())
      world::broken("child_stands", record.id() + " is undone: " + text_of(record, step, *child));
  }
}

/// `was`: the step as a reader saw it last; null: never.
void checker::judge_child_step(const v1::StepRecord* was, const v1::TaskRecord& record, std::uint32_t index, const shape& plan) const {
  const auto& step = record.steps(static_cast<int>(index));
  const auto name = "step " + step.path() + " of " + record.id();
  if (step.state() == v1::STEP_STATE_RUNNING && step.child().id().empty())
    world::broken("child_alone", name + " is carried out by a task, and names none");
  if (step.state() == v1::STEP_STATE_UNDOING && step.given_up() && (was == nullptr || !was->given_up() || was->state() != step.state()))
    world_.count("children that refuse their undo");
  const auto failed_before = was != nullptr && was->state() == v1::STEP_STATE_FAILED && was->ended_at_unix_ms() == step.ended_at_unix_ms();
  if (step.state() != v1::STEP_STATE_FAILED || failed_before) return;
  const auto& code = step.fault().code();
  const auto& says = plan.step(index);
  // A task that was held when the step failed passes it over once it goes on, and that moves the step's end. No other child was ordered,
  // which would have been a further attempt; and the workflow may have been deployed meanwhile.
  const auto only_passed_over = was != nullptr && was->state() == v1::STEP_STATE_FAILED && was->fault().code() == code &&
                                !was->passed_over() && step.passed_over() && was->attempt() == step.attempt();
  if (code == "no_workflow" && only_passed_over) return;
  if (code == "no_workflow" || code == "input" || code == "too_deep" || code == "too_many_tasks") world_.judges("child_refused");
  if (code == "no_workflow") {
    world_.count("steps without a workflow");
    if (children_.deployed.count(says.workflow()) != 0)
      world::broken("child_refused", name + " has failed for want of the workflow " + says.workflow() + ", which is deployed");
  } else if (code == "too_deep") {
    world_.count("children too deep");
    if (!record.has_parent() || record.parent().depth() < most_levels)
      world::broken("child_refused", name + " has failed because there are too many levels, and there are not");
  } else if (code == "too_many_tasks") {
    world_.count("children too many");
    if (least_family_ > largest_family)
      world::broken("child_refused", name + " has failed because there are too many tasks, and there are not");
  } else if (code == "input") {
    world_.count("inputs of children refused");
    const auto is_of_parent = says.with_json().empty() && record.has_parent();
    if (says.with_json() != unfit_input && !is_of_parent && !contents_.is_edited(record.id(), step.path()))
      world::broken("child_refused", name + " has failed because its input does not fit, and it does");
  }
}

/// Which workflows may be named from the next commit on.
void checker::note_deployments(const store::snapshot& durable) {
  for (const auto& [hash, plan] : shapes_) {
    const auto& name = plan.definition().name();
    if (children_.deployed.count(name) != 0) continue;
    const auto row = durable.get(store::table::workflow, store::keys::workflow(store::default_namespace, name));
    if (row.ok() && *row) children_.deployed.insert(name);
  }
}

/// Also those about which decisions have crashed: whoever waits was told again.
void checker::judge_children_at_end(const store::snapshot& durable) const {
  for (const auto& [number, record] : seen_) {
    for (const auto& step : record.steps()) {
      if (step.kind() != v1::STEP_KIND_WORKFLOW || step.state() != v1::STEP_STATE_RUNNING || record.parked()) continue;
      for (const auto& id : children_out_of(record, step)) {
        const auto child = task_of(durable, id);
        if (!child || has_ended(child->state())) world::broken("child_differs", record.id() + " waits for " + id + ", which has ended");
      }
    }
  }
}

}  // namespace fairlead::simulation
