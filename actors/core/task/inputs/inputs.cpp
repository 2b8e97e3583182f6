// Inputs, conditions and lists: a template is rendered at once where all its expressions are plain paths, else the worker is asked.

#include <algorithm>

#include "actors/core/items/items.hpp"
#include "actors/core/task/machine.hpp"
#include "actors/core/task/record.hpp"
#include "actors/core/task/task.hpp"
#include "actors/core/text/json.hpp"

namespace fairlead::core {

const input_template& task_machine::template_of(const v1::StepRecord& step, v1::Direction direction) const {
  const auto& compiled = ctx_.definition->compiled(step.definition());
  return direction == v1::DIRECTION_UNDO ? *compiled.undo_with : compiled.with;
}

/// The step's undo still needs an input.
bool task_machine::undo_wanted(const v1::StepRecord& step) const {
  if (step.has_undo_input() || attempt_out(step)) return false;
  if (step.given_up() && step.direction() != v1::DIRECTION_LOOKUP) return false;
  return step.state() == v1::STEP_STATE_COMPLETED || step.state() == v1::STEP_STATE_IN_DOUBT || step.state() == v1::STEP_STATE_UNDOING ||
         is_undone_though_failed(definition_of(step), step);
}

/// null: there is no such part.
const input_template* task_machine::template_of(std::uint32_t index, v1::ExpressionPart part) const {
  if (part == v1::EXPRESSION_PART_OUTPUT) return ctx_.definition->output();
  return ctx_.definition->compiled(record_.steps(static_cast<int>(index)).definition()).part(part);
}

/// The part may have been asked for. Since then the task may have started undoing, or an operator may have settled the step.
bool task_machine::awaits(std::uint32_t index, v1::ExpressionPart part) const {
  const auto undo = part == v1::EXPRESSION_PART_UNDO_WITH;
  if (index >= steps()) return false;
  const auto& step = record_.steps(static_cast<int>(index));
  const auto output = part == v1::EXPRESSION_PART_OUTPUT;
  const auto end = of_end(step) && !output;
  if (end ? end_stopped() : stopped()) return false;
  const auto of_dropped = undo && is_being_undone(step);
  if (!end && !of_dropped && record_.state() != (undo ? v1::TASK_STATE_UNDOING : v1::TASK_STATE_RUNNING)) return false;
  if (output) {
    next_steps next;
    ctx_.engine->next(*ctx_.definition, record_, next);
    return next.over && !record_.failing() && !record_.has_output();
  }
  if (undo) return undo_wanted(step);
  if (definition_of(step).has_for_each() && part == v1::EXPRESSION_PART_WITH)
    return step.has_items() && step.state() == v1::STEP_STATE_RUNNING && !step.dropped() && !record_.failing() && may_begin_item(step);
  if (step.state() != v1::STEP_STATE_PENDING || step.until_open() != (part == v1::EXPRESSION_PART_UNTIL)) return false;
  const auto undecided = awaits_condition(ctx_.definition->compiled(step.definition()), step);
  return step.until_open() || (!step.has_input() && undecided == (part == v1::EXPRESSION_PART_WHEN));
}

void task_machine::on(const expressions_evaluated& e) {
  // An unreachable evaluator is no fault of the workflow: the due index brings the task back.
  if (e.failure && e.failure->code == v1::ERROR_CODE_UNAVAILABLE) return;
  if (!awaits(e.step, e.part)) return;
  const auto* what = template_of(e.step, e.part);
  if (what == nullptr || what->plain()) return;
  const auto of_item = e.part == v1::EXPRESSION_PART_WITH && at(e.step).has_items();
  // Another item may begin first by now.
  if (of_item && next_item(at(e.step)) + 1 != e.item) return advance();
  if (e.failure)
    cannot_render(e.step, e.part, e.failure->sentence);
  else if (e.part == v1::EXPRESSION_PART_WHEN)
    take_condition(e.step, e.results);
  else if (e.part == v1::EXPRESSION_PART_UNTIL)
    decide_round(e.step, render(e.step, e.part, e.results));
  else if (auto rendered = render(e.step, e.part, e.results))
    of_item                                ? take_item_input(e.step, e.item - 1, std::move(*rendered))
    : e.part == v1::EXPRESSION_PART_OUTPUT ? void(keep_output(std::move(*rendered)))
                                           : take_input(e.step, e.part, std::move(*rendered));
  advance();
}

void task_machine::take_input(std::uint32_t index, v1::ExpressionPart part, std::string json) {
  auto& step = at(index);
  const auto undo = part == v1::EXPRESSION_PART_UNDO_WITH;
  set_payload(record_, undo ? *step.mutable_undo_input() : *step.mutable_input(), std::move(json), out_);
  out_.changed = true;
}

/// Asks the worker for the part's expressions, unless it has been asked.
void task_machine::ask_for(std::uint32_t index, v1::ExpressionPart part) {
  const auto asked_now = std::any_of(out_.evaluations.begin(), out_.evaluations.end(),
                                     [&](const v1::EvaluateRequest& one) { return one.step() == index && one.part() == part; });
  if (asked_now || (ctx_.evaluating != nullptr && !out_.forget_asked && ctx_.evaluating->count(evaluation_key(index, part)) != 0)) {
    out_.awaits_input = true;
    return;
  }
  const auto& what = *template_of(index, part);
  auto text = read_by(index, part, [&](const document& doc) { return what.worker_document(doc); });
  if (!text) return;
  v1::EvaluateRequest request;
  for (const auto& expression : what.worker_expressions()) request.add_expressions(expression);
  request.set_document(std::move(*text));
  request.set_task_number(record_.number());
  request.set_step(index);
  request.set_part(part);
  if (at(index).has_items() && part == v1::EXPRESSION_PART_WITH) request.set_item(next_item(at(index)) + 1);
  out_.evaluations.push_back(std::move(request));
}

/// What `read` makes of the document that the part reads; nullopt: that or a read of the store failed, and cannot_render or cannot_read has
/// handled it.
template <class Read>
std::optional<std::string> task_machine::read_by(std::uint32_t index, v1::ExpressionPart part, const Read& read) {
  const auto of_task = part == v1::EXPRESSION_PART_OUTPUT;
  const task_document own{record_, *ctx_.payloads, out_.payloads, view_for(index, part)};
  auto out = [&]() -> result<std::string> {
    if (!of_task && at(index).has_items() && part == v1::EXPRESSION_PART_WITH) {
      const auto element = next_element(at(index));
      if (!element) return std::string{};  // cannot_read knows why
      // Further reads of the store may make the view invalid.
      const std::string item{element->text};
      return read(item_document{own, item, planted(&planted_faults::item_with_other_input) ? 0 : next_item(at(index))});
    }
    if (record_.parent().call_of() == 0 || part != v1::EXPRESSION_PART_UNDO_WITH) return read(own);
    // The step is written in its parent's workflow, and reads what that has.
    const auto parent = ctx_.parent != nullptr ? ctx_.parent->record() : result<const v1::TaskRecord*>{nullptr};
    if (!parent) {
      out_.fatal = parent.failure();
      return std::string{};
    }
    if (*parent == nullptr)
      return error{v1::ERROR_CODE_NOT_FOUND, "task " + record_.parent().id() + ", whose data it reads, is not in the store any more", ""};
    const auto text = text_of(record_.item());
    if (!text) return std::string{};
    const std::string item{*text};
    const std::vector<stored_payload> none;
    const auto index_there = record_.parent().step();
    const auto dropped = (*parent)->steps(static_cast<int>(index_there)).dropped();
    const task_document outer{**parent, ctx_.parent->payloads(), none, {true, dropped, index_there, false}};
    auto found = read(item_document{outer, item, record_.parent().item() - 1, &own, at(index).path()});
    if (outer.failure()) cannot_read(*outer.failure());
    return found;
  }();
  if (own.failure()) cannot_read(*own.failure());
  if (out_.fatal) return std::nullopt;
  if (out) return std::move(*out);
  cannot_render(index, part, out.failure().sentence);
  return std::nullopt;
}

/// A part of the step, or of the task; nullopt: rendering or a read failed, and cannot_render or cannot_read has handled it.
std::optional<std::string> task_machine::render(std::uint32_t index, v1::ExpressionPart part, const std::vector<std::string>& results) {
  return read_by(index, part, [&](const document& doc) {
    auto rendered = template_of(index, part)->render(doc, results);
    if (!rendered && planted(&planted_faults::null_for_missing)) return result<std::string>{std::string{"null"}};
    return rendered;
  });
}

/// No retry can help: an operator must act. One undo without an input does not stop the others.
void task_machine::cannot_render(std::uint32_t index, v1::ExpressionPart part, const std::string& why) {
  if (part == v1::EXPRESSION_PART_OUTPUT) return park(record_, "the output of the task: " + why, ctx_.now, out_);
  auto& step = at(index);
  if (of_end(step)) return fail_for_good(index, expression_code, why);
  if (part == v1::EXPRESSION_PART_WITH && step.has_items()) return cannot_begin_item(index, why);
  if (part != v1::EXPRESSION_PART_UNDO_WITH) return park(record_, "step " + step.path() + ": " + why, ctx_.now, out_);
  step.set_direction(v1::DIRECTION_UNDO);
  set_permanent_fault(index, "undo_input", why);
  step.set_given_up(true);
  note(v1::EVENT_KIND_STEP_GIVEN_UP, index, why);
  out_.changed = true;
}

std::optional<std::string_view> task_machine::text_of(const v1::Payload& payload) {
  if (payload.slot() == 0) return std::string_view{payload.json()};
  for (const auto& fresh : out_.payloads)
    if (fresh.slot == payload.slot()) return std::string_view{fresh.json};
  auto loaded = ctx_.payloads->load(record_, payload.slot());
  if (!loaded) {
    cannot_read(loaded.failure());
    return std::nullopt;
  }
  return *loaded;
}

/// A missing payload concerns this task alone; a damaged payload, or a disk failure, the node.
void task_machine::cannot_read(const error& why) {
  if (why.code == v1::ERROR_CODE_NOT_FOUND) throw odd_record{why.sentence};
  out_.fatal = why;
}

/// An operator gives the step another input; false: that is refused.
bool task_machine::edit_input(std::uint32_t index, const v1::OperatorAction& action) {
  auto& step = at(index);
  if (step.kind() == v1::STEP_KIND_SIGNAL) {
    refuse("step " + step.path() + " takes what a signal brings, and has no input",
           "fairlead task signal " + record_.id() + " " + definition_of(step).signal() + " --data JSON");
    return false;
  }
  const auto open =
      step.state() == v1::STEP_STATE_PENDING || step.state() == v1::STEP_STATE_FAILED || step.state() == v1::STEP_STATE_IN_DOUBT;
  if (!goes_forward(step) || !open) {
    refuse("step " + step.path() + " will not be carried out any more, so its input cannot be changed", look_at_it());
    return false;
  }
  if (step.has_items()) {
    refuse("items of step " + step.path() + " have begun by the list that it has",
           "fairlead task retry " + record_.id() + " " + step.path() + " begins those again that have failed");
    return false;
  }
  // Under the same key the service would refuse another content; under another key the work might be done twice.
  if (step.doubtful()) {
    refuse("step " + step.path() + " is in doubt: with another input it might be carried out twice",
           "settle it first: fairlead task settle " + record_.id() + " " + step.path() + " --completed JSON, or --never-happened");
    return false;
  }
  const auto checked = check_json(action.json());
  if (!checked.ok()) {
    refuse("the new input of step " + step.path() + " is not JSON: " + checked.failure().sentence, "correct the JSON",
           v1::ERROR_CODE_INVALID_ARGUMENT);
    return false;
  }
  if (step.kind() == v1::STEP_KIND_WAIT) {
    if (const auto end_ms = end_of_wait(action.json(), now_ms()); !end_ms) {
      refuse("step " + step.path() + ": " + end_ms.failure().sentence,
             R"(give a text such as "10m" or "2026-12-24T18:00:00Z", with its quotes)", v1::ERROR_CODE_INVALID_ARGUMENT);
      return false;
    }
    step.clear_started_at_unix_ms();
  }
  const auto* type = ctx_.definition->compiled(step.definition()).input_type;
  if (const auto misfit = misfit_of(type, action.json())) {
    refuse("the new input of step " + step.path() + *misfit, "give JSON of the step's input_type", v1::ERROR_CODE_INVALID_ARGUMENT);
    return false;
  }
  if (!planted(&planted_faults::forget_edited_input)) {
    drop_payload(step.input(), out_);
    set_payload(record_, *step.mutable_input(), minify_json(action.json()), out_);
    step.set_input_edited(true);
  }
  // The next child of a step takes another number as it begins. After a failure a key that is unused is the next one already: the undo of what
  // was tried names the one before it.
  const auto is_next = step.key_used_at_unix_ms() == 0 && has_failed_for_certain(step);
  if (step.kind() != v1::STEP_KIND_WORKFLOW && !is_next) raise_generation(step, out_);
  out_.changed = true;
  return true;
}

}  // namespace fairlead::core
