// What a step gives the task that carries it out, and what that gives the step.

#include "store/rows/task_rows.hpp"
#include "tests/simulation/checker/content_checker.hpp"

namespace fairlead::simulation {

namespace {

constexpr std::size_t most_shown_of_child = 200;

}  // namespace

/// The task has just been created.
void content_checker::judge_child_input(const v1::TaskRecord& child, const std::string& stored) {
  const auto [parent, plan] = find_task_(child.parent().id());
  const auto index = child.parent().step();
  if (parent == nullptr || plan == nullptr || index >= plan->size()) return;
  const auto& step = plan->step(index);
  auto& last = inputs_[{parent->id(), index}];
  const auto is_kept = !last.empty() && stored == last;
  const auto edited = edits_.find({parent->id(), step.name()});
  if (edited != edits_.end()) {
    for (const auto& [ticket, json] : edited->second.open)
      if (json == stored) return;
    if (stored == edited->second.sure.value_or("")) return;
  }
  // The parent may be further on by now than when it began.
  const auto& now = parent->steps(static_cast<int>(index));
  if (parent->state() != v1::TASK_STATE_RUNNING || now.state() != v1::STEP_STATE_RUNNING || now.child().id() != child.id()) return;
  world_.judges("child_input");
  if (!is_kept && !gives(step, document_for(*parent, index, step), *parent, stored))
    world::broken("child_input", "the task " + child.id() + " has the input " + stored.substr(0, most_shown_of_child) +
                                     ", which is not what " + step.with_json() + " gives");
  last = stored;
}

void content_checker::judge_child_output(const v1::TaskRecord& record, std::uint32_t index, const std::string& stored,
                                         const store::snapshot& durable) const {
  const auto& step = record.steps(static_cast<int>(index));
  const auto known = store::find_task(durable, step.child().id());
  const auto child =
      known.ok() && *known ? store::load_task(durable, (*known)->number()) : result<std::optional<v1::TaskRecord>>{std::nullopt};
  // An undone task has none.
  if (!child.ok() || !*child || (*child)->state() != v1::TASK_STATE_COMPLETED) return;
  std::string given = "null";
  if ((*child)->has_output()) {
    auto loaded = store::load_payload(durable, (*child)->number(), (*child)->output());
    if (!loaded.ok()) world::broken("store_check", "a payload of " + (*child)->id() + " cannot be read: " + loaded.failure().sentence);
    given = std::move(*loaded);
  }
  world_.judges("child_output");
  if (stored != given)
    world::broken("child_output", "step " + step.path() + " of " + record.id() + " has the output " +
                                      stored.substr(0, most_shown_of_child) + ", and its task " + (*child)->id() + " has given " +
                                      given.substr(0, most_shown_of_child));
}

}  // namespace fairlead::simulation
