// Steps with `for_each`: each item of a list is carried out by a task of its own (child.cpp says what holds for all children). The step is
// running from the evaluation of its list until what became of all items is known, and undoing while items are undone. `advance_items` and
// `undo_items` look at the record alone, and begin what may begin now; events only change the states of items.

#include <algorithm>

#include "actors/core/items/items.hpp"
#include "actors/core/request_limits.hpp"
#include "actors/core/task/machine.hpp"
#include "actors/core/task/record.hpp"
#include "actors/core/task/task.hpp"
#include "actors/core/text/json.hpp"
#include "actors/core/workflow/check_kinds.hpp"
#include "messages/ids.hpp"

namespace fairlead::core {

namespace {

constexpr std::uint32_t most_gathered = 200;  // items whose output is read in one decision

/// What the item's task has told; `was` where that changes nothing.
item_state told_state(item_state was, const child_changed& e) {
  const auto undo = was == item_state::undoing || was == item_state::undoing_parked;
  const auto performs = was == item_state::running || was == item_state::parked;
  switch (e.state) {
    case v1::TASK_STATE_COMPLETED: return performs ? item_state::completed : was;
    case v1::TASK_STATE_UNDONE: return performs ? item_state::failed : was == item_state::failed ? was : item_state::undone;
    case v1::TASK_STATE_FAILED:
      if (undo) return item_state::not_undone;
      return !performs && was != item_state::left_behind ? was : e.stands ? item_state::left_behind : item_state::failed;
    default:
      if (undo) return e.parked ? item_state::undoing_parked : item_state::undoing;
      return performs ? (e.parked ? item_state::parked : item_state::running) : was;
  }
}

/// The item is the next one; among those that have begun it may be already.
void take_off_list(v1::Items& items, std::uint32_t item, const list_element& element) {
  if (item != begun_items(items)) return;
  items.mutable_states()->push_back(static_cast<char>(item_state::to_begin));
  items.mutable_rounds()->push_back('\0');
  items.set_next_at(element.end);
}

}  // namespace

/// The step is ready.
void task_machine::start_items(std::uint32_t index) {
  if (at(index).has_items()) return start_items_again(index);
  auto list = list_of(index);
  if (!list) return;
  const auto count = list_size(*list);
  const auto refuse_list = [&](const std::string& why) { cannot_render(index, v1::EXPRESSION_PART_LIST, "for_each: " + why); };
  if (!count) return refuse_list("the items are " + std::string{json_kind_words(trim_json(*list))} + ", and not a list");
  if (*count > max_list_items)
    return refuse_list("the list has " + std::to_string(*count) + " items, and at most " + std::to_string(max_list_items) + " are allowed");
  if (list->size() > max_output_bytes)
    return refuse_list("the list has " + std::to_string(list->size()) + " bytes, and at most " + std::to_string(max_output_bytes) +
                       " are kept");
  if (decided_bytes() > most_decided_bytes) return wait_until(index, now_ms());
  auto& step = at(index);
  if (step.started_at_unix_ms() == 0) step.set_started_at_unix_ms(now_ms());
  if (*count == 0) return complete(index, "[]");
  if (!step.has_input()) set_payload(record_, *step.mutable_input(), std::move(*list), out_);
  step.mutable_items()->set_count(static_cast<std::uint32_t>(*count));
  begin_round(index);
}

/// What the step's list is, or an operator has given; nullopt: the worker has been asked, or the task is parked.
std::optional<std::string> task_machine::list_of(std::uint32_t index) {
  const auto& step = at(index);
  if (step.has_input()) {
    const auto text = text_of(step.input());
    return text ? std::optional{std::string{*text}} : std::nullopt;
  }
  if (template_of(index, v1::EXPRESSION_PART_LIST)->plain()) return render(index, v1::EXPRESSION_PART_LIST, {});
  ask_for(index, v1::EXPRESSION_PART_LIST);
  return std::nullopt;
}

/// An operator has the step tried again: what has failed begins once more, by other tasks.
void task_machine::start_items_again(std::uint32_t index) {
  auto& step = at(index);
  auto& items = *step.mutable_items();
  if (step.generation() + 1 >= most_item_rounds)
    return fail_for_good(index, item_failed_code, "items of the step have begun in " + std::to_string(most_item_rounds) + " rounds");
  raise_generation(step, out_);
  for (std::uint32_t i = 0; i < begun_items(items); ++i) {
    const auto state = item_state_of(items, i);
    const auto again = state == item_state::failed || state == item_state::not_begun || state == item_state::undone;
    const auto twice = planted(&planted_faults::item_twice) && state == item_state::completed;
    if (again || twice) set_item_state(items, i, item_state::to_begin);
  }
  begin_round(index);
}

void task_machine::begin_round(std::uint32_t index) {
  auto& step = at(index);
  // Whether items have begun since a backup their own tasks are to find out.
  step.clear_doubtful();
  step.clear_key_used_at_unix_ms();
  step.clear_fault();
  step.set_attempt(step.attempt() + 1);
  step.set_direction(v1::DIRECTION_PERFORM);
  sum_up_items(index);
  move_step(record_, index, step_moves::start, ctx_.now, out_);
  note(v1::EVENT_KIND_STEP_STARTED, index, std::to_string(count_items(step.items()).to_begin) + " items");
}

/// There was too much for one decision.
void task_machine::go_on_with_items(std::uint32_t index) {
  at(index).clear_not_before_unix_ms();
  out_.changed = true;
  undo_items(index);
}

/// Items of a running step begin, its outputs are gathered, or it is over. True: it is over, and others may be ready now.
bool task_machine::advance_items(std::uint32_t index) {
  if (!runs_items(index)) return false;
  begin_items(index);
  if (!runs_items(index)) return at(index).state() != v1::STEP_STATE_RUNNING;
  const auto counts = count_items(at(index).items());
  const auto stops = stops_at(at(index), counts);
  if (counts.in_progress > 0 || (counts.to_begin > 0 && !stops)) return false;
  if (stops) {
    end_items(index);
    return true;
  }
  gather_items(index);
  return false;
}

/// Items of the step may begin now.
bool task_machine::runs_items(std::uint32_t index) {
  const auto& step = at(index);
  return step.has_items() && step.state() == v1::STEP_STATE_RUNNING && step.not_before_unix_ms() == 0 && goes_forward(step) && !stopped() &&
         !out_.fatal;
}

/// Nothing new begins because an item has failed, also one whose task was undone alone since.
bool task_machine::stops_at(const v1::StepRecord& step, const item_counts& counts) const {
  return counts.failed + counts.undone > 0 && !definition_of(step).for_each().collect() && !planted(&planted_faults::item_after_failure);
}

/// As far as the items say.
bool task_machine::may_begin_item(const v1::StepRecord& step) const {
  const auto own = ctx_.crowded ? 1U : std::max(definition_of(step).for_each().at_once(), 1U);
  const auto at_once = planted(&planted_faults::items_all_at_once) ? max_list_items : own;
  const auto counts = count_items(step.items());
  return counts.to_begin > 0 && counts.in_progress < at_once && !stops_at(step, counts);
}

void task_machine::begin_items(std::uint32_t index) {
  for (std::uint32_t tried = 0; runs_items(index) && may_begin_item(at(index)); ++tried) {
    // Any of them may have a large input.
    if (std::max<std::size_t>(tried, out_.children.size()) >= ctx_.may_begin || ordered_bytes() > most_decided_bytes)
      return wait_until(index, now_ms());
    if (template_of(at(index), v1::DIRECTION_PERFORM).plain()) {
      if (auto input = render(index, v1::EXPRESSION_PART_WITH, {})) begin_item(index, std::move(*input));
      continue;
    }
    const auto item = next_item(at(index));
    ask_for(index, v1::EXPRESSION_PART_WITH);
    // Unless the item cannot even be given to the worker, and has failed.
    if (next_item(at(index)) == item) return;
  }
}

/// The next one, lowest index first among those that begin again.
std::uint32_t task_machine::next_item(const v1::StepRecord& step) const {
  return first_item(step.items(), item_state::to_begin).value_or(begun_items(step.items()));
}

/// nullopt: the list could not be read.
std::optional<list_element> task_machine::next_element(const v1::StepRecord& step) {
  const auto list = text_of(step.input());
  if (!list) return std::nullopt;
  const auto item = next_item(step);
  if (item == begun_items(step.items())) return list_element_at(*list, step.items().next_at());
  const auto text = json_element(*list, item);
  if (!text) return std::nullopt;
  return list_element{*text, 0};
}

void task_machine::take_item_input(std::uint32_t index, std::uint32_t item, std::string input) {
  // Another item may have failed since the input was requested.
  if (runs_items(index) && next_item(at(index)) == item && may_begin_item(at(index))) begin_item(index, std::move(input));
}

/// What the next item would be given cannot be computed. It has failed where each item counts by itself; otherwise an operator has to look.
void task_machine::cannot_begin_item(std::uint32_t index, const std::string& why) {
  auto& step = at(index);
  const auto item = next_item(step);
  if (!definition_of(step).for_each().collect())
    return park(record_, "step " + step.path() + ": item " + std::to_string(item + 1) + ": " + why, ctx_.now, out_);
  const auto element = next_element(step);
  if (!element) return;
  auto& items = *step.mutable_items();
  take_off_list(items, item, *element);
  set_item_round(items, item, item_round(items, item) + 1);
  set_item_state(items, item, item_state::not_begun);
  item_failed(index, item, why);
  sum_up_items(index);
}

void task_machine::begin_item(std::uint32_t index, std::string input) {
  auto& step = at(index);
  const auto item = next_item(step);
  const auto element = next_element(step);
  if (!element) return;
  if (input.size() > max_output_bytes)
    return cannot_render(
        index, v1::EXPRESSION_PART_WITH,
        "the input has " + std::to_string(input.size()) + " bytes, and at most " + std::to_string(max_output_bytes) + " can be given");
  auto& items = *step.mutable_items();
  take_off_list(items, item, *element);
  set_item_round(items, item, item_round(items, item) + 1);
  const auto& definition = definition_of(step);
  child_order order;
  order.step = index;
  order.item = item + 1;
  order.id = item_id(record_, step, item);
  order.begins = true;
  if (definition.kind() == v1::STEP_KIND_CALL) {
    order.call_of = step.definition() + 1;
    order.workflow = record_.workflow();
    order.item_json = std::string{element->text};
  } else {
    order.workflow = definition.workflow();
    if (definition.timeout_ms() > 0) order.deadline_unix_ms = now_ms() + definition.timeout_ms();
  }
  order.input = std::move(input);
  if (record_.parent().depth() >= most_levels || order.id.size() > max_known_id_bytes) {
    set_item_state(items, item, item_state::not_begun);
    item_failed(index, item,
                "no task can be begun for it: " +
                    std::string{record_.parent().depth() >= most_levels
                                    ? "the task is at level " + std::to_string(most_levels) + " of sub-workflows already"
                                    : "its id would have more than " + std::to_string(max_known_id_bytes) + " bytes"});
    return sum_up_items(index);
  }
  set_item_state(items, item, item_state::running);
  sum_up_items(index);
  out_.changed = true;
  out_.children.push_back(std::move(order));
}

/// `child` is then about all items: the one that needs a look has its id there.
void task_machine::sum_up_items(std::uint32_t index) {
  auto& step = at(index);
  const auto& items = step.items();
  const auto counts = count_items(items);
  const auto& definition = definition_of(step);
  auto& child = *step.mutable_child();
  child.Clear();
  child.set_state(counts.out() > 0 ? v1::TASK_STATE_RUNNING : counts.failed > 0 ? v1::TASK_STATE_FAILED : v1::TASK_STATE_COMPLETED);
  child.set_parked(counts.parked > 0);
  const auto failed_may_stand = definition.undo().also_if_failed() && (counts.failed > 0 || has_items_to_undo(step));
  child.set_stands(counts.completed + counts.left_behind + counts.undoing + counts.not_undone > 0 || failed_may_stand);
  for (const auto state :
       {item_state::parked, item_state::undoing_parked, item_state::not_undone, item_state::left_behind, item_state::failed})
    if (const auto item = first_item(items, state)) return child.set_id(item_id(record_, step, *item));
}

/// The first failure is what the step fails with.
void task_machine::item_failed(std::uint32_t index, std::uint32_t item, const std::string& why) {
  auto& step = at(index);
  step.set_failure_count(step.failure_count() + 1);
  out_.changed = true;
  if (step.fault().code() == item_failed_code) return;
  set_permanent_fault(index, item_failed_code, "item " + std::to_string(item + 1) + ": " + why);
}

/// Nothing of the running step is in progress, and it does not go on: it has failed.
void task_machine::end_items(std::uint32_t index) {
  auto& step = at(index);
  step.clear_not_before_unix_ms();
  forget_gathered(index);
  step.set_ended_at_unix_ms(now_ms());
  const auto counts = count_items(step.items());
  // Items that have begun know themselves whether that was after a backup.
  if (counts.to_begin == 0) step.clear_doubtful();
  auto why = step.fault().code() == item_failed_code ? step.fault().message() : std::string{"it was ended"};
  if (counts.failed > 1) why += "; and " + std::to_string(counts.failed - 1) + " more have failed";
  why += " (" + item_words(step.items()) + ")";
  const auto ends_here = drains(step);
  fail_child_step(index, item_failed_code, std::move(why));
  if (ends_here && step.doubtful()) move_step(record_, index, step_moves::doubt, ctx_.now, out_);
}

/// A step of which nothing is in progress when it ceases to go forward, or its task is to fail while it is undone, has nobody who would tell
/// its end.
void task_machine::end_idle_items(std::uint32_t index) {
  const auto& step = at(index);
  if (!step.has_items() || !child_out(step) || count_items(step.items()).out() > 0) return;
  if (step.state() == v1::STEP_STATE_RUNNING)
    end_items(index);
  else if (record_.failing())
    // No other undo begins in a task that is to fail.
    undo_refused(index, child_failed_code, "its undo was ended (" + item_words(step.items()) + ")");
}

// ---- outputs ----

void task_machine::gather_items(std::uint32_t index) {
  auto& step = at(index);
  step.clear_doubtful();
  const auto& items = step.items();
  child_order order;
  order.step = index;
  order.gathers = std::min(items.count() - items.gathered(), most_gathered);
  order.item = items.gathered() + 1;
  order.collects = definition_of(step).for_each().collect();
  out_.children.push_back(std::move(order));
  // The order is carried out in this commit; if not, the task looks again.
  wait_until(index, now_ms() + waiting_recheck_ms);
}

void task_machine::on(const items_gathered& e) {
  auto* step = find(e.step);
  if (step == nullptr || !step->has_items() || step->state() != v1::STEP_STATE_RUNNING || step->items().gathered() + 1 != e.first) return;
  out_.changed = out_.accepted = true;
  step->clear_not_before_unix_ms();
  auto& items = *step->mutable_items();
  items.set_gathered(items.gathered() + e.count);
  set_payload(record_, *items.add_outputs(), e.outputs, out_);
  std::size_t bytes = 1;
  for (const auto& part : items.outputs()) bytes += (part.slot() == 0 ? part.json().size() : part.size()) - 1;
  if (bytes > max_output_bytes) {
    forget_gathered(e.step);
    step->set_ended_at_unix_ms(now_ms());
    fail_child_step(e.step, output_too_large_code,
                    "the outputs of its items have more than " + std::to_string(max_output_bytes) + " bytes together");
  } else if (items.gathered() < items.count()) {
    return wait_until(e.step, now_ms());
  } else {
    std::string all = "[";
    for (const auto& part : items.outputs()) {
      const auto text = text_of(part);
      if (!text) return;
      if (all.size() > 1) all += ',';
      all += text->substr(1, text->size() - 2);
    }
    forget_gathered(e.step);
    finish(e.step, all + "]");
  }
  advance();
}

void task_machine::forget_gathered(std::uint32_t index) {
  auto& items = *at(index).mutable_items();
  for (const auto& part : items.outputs()) drop_payload(part, out_);
  items.clear_outputs();
  items.clear_gathered();
}

// ---- news of items ----

/// False: nothing has changed.
bool task_machine::take_item_news(const child_changed& e) {
  auto& step = at(e.step);
  auto& items = *step.mutable_items();
  const auto item = e.item - 1;
  if (e.item == 0 || item >= begun_items(items) || item_id(record_, step, item) != e.id) return false;
  const auto was = item_state_of(items, item);
  auto now = told_state(was, e);
  // Nothing was to be undone of this round, but perhaps of the one before.
  const auto undoes = was == item_state::undoing || was == item_state::undoing_parked;
  const auto round = item_round(items, item);
  if (undoes && now == item_state::undone && e.untried && round > 1 && definition_of(step).undo().also_if_failed()) {
    set_item_round(items, item, round - 1);
    now = item_state::failed;
  }
  const auto lives = e.state == v1::TASK_STATE_RUNNING && step.state() == v1::STEP_STATE_RUNNING;
  const auto goes_on = lives && !e.parked;
  const auto parks = lives && e.parked && now != was;
  // As for a sub-workflow (child.cpp).
  const auto asks_again =
      record_.terminated() ? goes_on || parks : goes_on && (record_.state() == v1::TASK_STATE_UNDOING || step.dropped());
  const auto told_in_vain = is_item_out(now) && e.parked && !record_.parked();
  // What it refuses it refuses again.
  if (now == was && !told_in_vain) return false;
  out_.changed = out_.accepted = true;
  set_item_state(items, item, planted(&planted_faults::item_doubt_as_failed) && now == item_state::parked ? item_state::failed : now);
  sum_up_items(e.step);
  if (asks_again) {
    ask_item(e.step, item, record_.terminated() ? v1::OPERATOR_VERB_TERMINATE : v1::OPERATOR_VERB_CANCEL);
    return true;
  }
  const auto performed = was == item_state::running || was == item_state::parked;
  const auto why =
      "task " + e.id + (e.state == v1::TASK_STATE_UNDONE ? " was undone" : " has failed") + (e.reason.empty() ? "" : ": " + e.reason);
  if (performed && (now == item_state::failed || now == item_state::left_behind)) item_failed(e.step, item, why);
  if (undoes && now == item_state::not_undone)
    set_permanent_fault(e.step, child_failed_code, "item " + std::to_string(e.item) + ": " + why);
  if (step.state() == v1::STEP_STATE_UNDOING) undo_items(e.step);
  if (!goes_forward(step) || drains(step)) end_idle_items(e.step);
  return true;
}

/// The item's task does not do what it was asked.
void task_machine::take_item_refusal(const child_refused& e) {
  auto& step = at(e.step);
  auto& items = *step.mutable_items();
  const auto item = e.item - 1;
  if (e.item == 0 || item >= begun_items(items) || item_id(record_, step, item) != e.id) return;
  // It was not begun, or has ended, since that was asked.
  if (!is_item_out(item_state_of(items, item))) return;
  out_.changed = out_.accepted = true;
  if (item_state_of(items, item) == item_state::undoing && e.code == child_never_begun_code) {
    // Nothing is to be undone of this round, but perhaps of the one before.
    const auto round = item_round(items, item) - 1;
    set_item_round(items, item, round);
    set_item_state(items, item, round > 0 ? item_state::failed : item_state::not_begun);
    sum_up_items(e.step);
    undo_items(e.step);
    end_idle_items(e.step);
  } else if (item_state_of(items, item) == item_state::undoing) {
    set_item_state(items, item, item_state::not_undone);
    sum_up_items(e.step);
    set_permanent_fault(e.step, e.code, "item " + std::to_string(e.item) + ": " + e.sentence);
    undo_items(e.step);
    end_idle_items(e.step);
  } else if (e.again_at_unix_ms != 0) {
    // It has not begun, so it will begin by the same id.
    set_item_round(items, item, item_round(items, item) - 1);
    set_item_state(items, item, item_state::to_begin);
    sum_up_items(e.step);
    goes_forward(step) && !drains(step) ? wait_until(e.step, e.again_at_unix_ms) : end_idle_items(e.step);
  } else {
    // Of one that is lost nobody knows what it has done.
    set_item_state(items, item, e.code == child_gone_code ? item_state::left_behind : item_state::not_begun);
    sum_up_items(e.step);
    item_failed(e.step, item, e.sentence);
    if (!goes_forward(step) || drains(step)) end_idle_items(e.step);
  }
}

void task_machine::ask_item(std::uint32_t index, std::uint32_t item, v1::OperatorVerb verb, bool at_once) {
  order_action(index, item_id(record_, at(index), item), verb, at_once);
  out_.children.back().item = item + 1;
}

/// All items in progress are to do something that an operator could ask of them; `undo` goes on with those that refused it.
void task_machine::ask_items(std::uint32_t index, v1::OperatorVerb verb, bool at_once) {
  auto& items = *at(index).mutable_items();
  if (verb == v1::OPERATOR_VERB_UNDO) {
    for (std::uint32_t i = 0; i < begun_items(items); ++i)
      if (item_state_of(items, i) == item_state::not_undone) set_item_state(items, i, item_state::completed);
    return undo_items(index);
  }
  for (std::uint32_t i = 0; i < begun_items(items); ++i)
    if (is_item_out(item_state_of(items, i))) ask_item(index, i, verb, at_once);
  const auto ends = verb == v1::OPERATOR_VERB_CANCEL || verb == v1::OPERATOR_VERB_TERMINATE;
  if (ends) end_idle_items(index);
}

// ---- undo ----

/// Items that are to be undone, of a step whose undo begins.
bool task_machine::has_items_to_undo(const v1::StepRecord& step) const {
  const auto& items = step.items();
  for (std::uint32_t i = 0; i < begun_items(items); ++i)
    if (is_item_to_be_undone(definition_of(step), items, i)) return true;
  return false;
}

/// Of an undoing step: the undo of further items begins, or that of the step is over. The last item is undone first; nothing depends on it.
void task_machine::undo_items(std::uint32_t index) {
  auto& step = at(index);
  if (step.state() != v1::STEP_STATE_UNDOING || step.given_up() || step.not_before_unix_ms() != 0 || out_.fatal) return;
  auto& items = *step.mutable_items();
  const auto& definition = definition_of(step);
  const auto at_once = std::max(definition.for_each().at_once(), 1U);
  auto counts = count_items(items);
  for (auto i = begun_items(items); i-- > 0 && counts.undoing < at_once && !stopped();) {
    if (!is_item_to_be_undone(definition, items, i)) continue;
    if (out_.children.size() >= ctx_.may_begin) return wait_until(index, now_ms());
    if (planted(&planted_faults::item_not_undone) && i == 0) {
      set_item_state(items, i, item_state::undone);
      continue;
    }
    const auto was = item_state_of(items, i);
    set_item_state(items, i, item_state::undoing);
    ask_item(index, i, v1::OPERATOR_VERB_UNDO);
    // One that has not begun in its latest round, or in the one before, had no task in that.
    out_.children.back().may_be_none = was != item_state::completed && was != item_state::left_behind;
    ++counts.undoing;
    out_.changed = true;
  }
  sum_up_items(index);
  if (counts.undoing > 0 || has_items_to_undo(step)) return;
  if (counts.not_undone == 0) return undo_done(index, {});
  undo_refused(index, step.fault().code().empty() ? std::string{child_failed_code} : step.fault().code(),
               step.fault().message().empty() ? item_words(items) : step.fault().message());
}

}  // namespace fairlead::core
