// What a step with `for_each` gives the tasks of its items, and what these give the step.

#include <algorithm>

#include "messages/items.hpp"
#include "store/rows/task_rows.hpp"
#include "tests/simulation/checker/content_checker.hpp"

namespace fairlead::simulation {

namespace {

constexpr std::size_t most_shown_of_item = 200;

std::string payload_of_item(const store::snapshot& durable, const v1::TaskRecord& record, const v1::Payload& payload) {
  auto out = store::load_payload(durable, record.number(), payload);
  if (!out.ok()) world::broken("store_check", "a payload of " + record.id() + " cannot be read: " + out.failure().sentence);
  return std::move(*out);
}

value with_item(value document, const value& item, std::uint32_t index) {
  document.members["item"] = item;
  document.members["index"] = number_value(index);
  return document;
}

const value* member_of(const value& object, const std::string& name) {
  const auto found = object.members.find(name);
  return found == object.members.end() ? nullptr : &found->second;
}

}  // namespace

/// An operator may have skipped or settled what the step reads, since it has read it.
bool content_checker::may_read_otherwise(const std::string& task) const {
  const auto is_of = [&](const std::set<std::pair<std::string, std::string>>& all) {
    const auto first = all.lower_bound({task, ""});
    return first != all.end() && first->first == task;
  };
  return is_of(skips_) || is_of(settled_);
}

bool content_checker::is_edit(const std::string& task, const std::string& step, const std::string& json) const {
  const auto edited = edits_.find({task, step});
  if (edited == edits_.end()) return false;
  const auto& open = edited->second.open;
  return json == edited->second.sure.value_or("") ||
         std::any_of(open.begin(), open.end(), [&](const auto& one) { return one.second == json; });
}

void content_checker::judge_lists(const v1::TaskRecord& now, const store::snapshot& durable, const shape& plan) {
  for (std::uint32_t i = 0; i < plan.size(); ++i) {
    const auto& step = now.steps(static_cast<int>(i));
    const step_name name{now.id(), i};
    if (!plan.has_items(i) || !step.has_items() || !step.has_input() || lists_.count(name) != 0) continue;
    const auto stored = payload_of_item(durable, now, step.input());
    judge_list(now, i, stored, plan);
    const auto list = parse_value(stored);
    if (!list || list->is != value::kind::list || list->items.size() != step.items().count())
      world::broken("item_list", "step " + step.path() + " of " + now.id() + " has " + std::to_string(step.items().count()) +
                                     " items, and its list is " + stored.substr(0, most_shown_of_item));
    lists_[name] = list->items;
  }
}

void content_checker::judge_list(const v1::TaskRecord& now, std::uint32_t index, const std::string& stored, const shape& plan) {
  const auto& step = plan.step(index);
  world_.judges("item_list");
  world_.count("lists");
  if (is_edit(now.id(), step.name(), stored)) return world_.count("lists that an operator has given");
  if (gives(step.for_each().list_json(), step, document_for(now, index, step), now, stored) || may_read_otherwise(now.id())) return;
  world::broken("item_list", "step " + step.name() + " of " + now.id() + " has the list " + stored.substr(0, most_shown_of_item) +
                                 ", which is not what " + step.for_each().list_json() + " gives");
}

/// The task has just been created.
void content_checker::judge_item_input(const v1::TaskRecord& child, const std::string& stored, const store::snapshot& durable) {
  const auto [parent, plan] = find_task_(child.parent().id());
  const auto index = child.parent().step();
  const auto item = child.parent().item() - 1;
  if (parent == nullptr || plan == nullptr || index >= plan->size() || !plan->has_items(index)) return;
  const auto list = lists_.find({parent->id(), index});
  if (list == lists_.end()) return;
  world_.judges("item_input");
  if (item >= list->second.size()) world::broken("item_input", child.id() + " is a task for an item that its list does not have");
  const auto& listed = list->second[item];
  if (child.parent().call_of() != 0) {
    const auto kept = payload_of_item(durable, child, child.item());
    if (parse_value(kept) != listed)
      world::broken("item_input", child.id() + " keeps the item " + kept.substr(0, most_shown_of_item) + ", and its list has another one");
  }
  // The parent may be further on by now than when it began.
  const auto& now = parent->steps(static_cast<int>(index));
  if (parent->state() != v1::TASK_STATE_RUNNING || now.state() != v1::STEP_STATE_RUNNING) return;
  const auto& step = plan->step(index);
  const auto with = step.with_json().empty() ? std::string{R"("${ .item }")"} : step.with_json();
  if (gives(with, step, with_item(document_for(*parent, index, step), listed, item), *parent, stored) || may_read_otherwise(parent->id()))
    return;
  world::broken("item_input", "the task " + child.id() + " has the input " + stored.substr(0, most_shown_of_item) + ", which is not what " +
                                  with + " gives");
}

/// What `undo.with` of an item reads: what its parent has, the item, and what the item itself gave. nullopt: its list is not known.
std::optional<value> content_checker::document_of_undo(const v1::TaskRecord& record) {
  const auto [parent, plan] = find_task_(record.parent().id());
  const auto index = record.parent().step();
  const auto list = lists_.find({record.parent().id(), index});
  if (parent == nullptr || list == lists_.end()) return std::nullopt;
  const auto dropped = parent->steps(static_cast<int>(index)).dropped();
  const auto own = document_of(record);
  auto out = with_item(document_of(*parent, dropped ? view::undo_of_dropped : view::needed), list->second[record.parent().item() - 1],
                       record.parent().item() - 1);
  const auto& path = record.steps(0).path();
  out.members["steps"].members.erase(path);
  if (const auto* given = member_of(own.members.at("steps"), path)) out.members["steps"].members[path] = *given;
  return out;
}

void content_checker::judge_item_outputs(const v1::TaskRecord& record, std::uint32_t index, const std::string& stored, const shape& plan,
                                         const store::snapshot& durable) {
  const auto& step = record.steps(static_cast<int>(index));
  if (settled_.count({record.id(), step.path()}) != 0) return;
  const auto text = "step " + step.path() + " of " + record.id() + " has the output " + stored.substr(0, most_shown_of_item);
  const auto all = parse_value(stored);
  world_.judges("item_output");
  if (!all || all->is != value::kind::list) world::broken("item_output", text + ", which is no list");
  if (!step.has_items()) {
    world_.count("empty lists");
    if (!all->items.empty()) world::broken("item_output", text + ", and had no items");
    return judge_list(record, index, stored, plan);
  }
  if (all->items.size() != step.items().count())
    world::broken("item_output", text + ", and had " + std::to_string(step.items().count()) + " items");
  const auto collects = plan.step(index).for_each().collect();
  for (std::uint32_t i = 0; i < step.items().count(); ++i) {
    const auto known = i < begun_items(step.items()) ? store::find_task(durable, item_id(record, step, i))
                                                     : result<std::optional<v1::TaskTombstone>>{std::nullopt};
    const auto child =
        known.ok() && *known ? store::load_task(durable, (*known)->number()) : result<std::optional<v1::TaskRecord>>{std::nullopt};
    const auto is_there = child.ok() && child->has_value();
    // It may be undone since.
    if (is_there && (*child)->state() != v1::TASK_STATE_COMPLETED && (*child)->state() != v1::TASK_STATE_FAILED) continue;
    const auto completed = is_there && (*child)->state() == v1::TASK_STATE_COMPLETED;
    value given;
    if (completed && (*child)->has_output()) given = parse_value(payload_of_item(durable, **child, (*child)->output())).value_or(value{});
    const auto& is = all->items[i];
    const auto wrong = [&] { world::broken("item_output", text + ", which is not what item " + std::to_string(i + 1) + " has given"); };
    if (!collects) {
      if (!completed || is != given) wrong();
      continue;
    }
    const auto* status = member_of(is, "status");
    const auto* output = member_of(is, "output");
    const auto* error = member_of(is, "error");
    if (status == nullptr || output == nullptr || error == nullptr || is.members.size() != 3 || *output != given) return wrong();
    if (*status != text_value(completed ? "completed" : "failed")) wrong();
    const auto* code = member_of(*error, "code");
    const auto says_why = code != nullptr && !code->text.empty() && member_of(*error, "message") != nullptr;
    if (completed ? *error != value{} : !says_why) wrong();
    if (!completed) world_.count("failed items collected");
  }
}

}  // namespace fairlead::simulation
