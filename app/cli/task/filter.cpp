#include "app/cli/task/filter.hpp"
#include "app/json/times.hpp"

#include <algorithm>
#include <utility>

#include "app/cli/labels.hpp"
#include "app/cli/words.hpp"
#include "app/json/node/task_filters.hpp"
#include "messages/task_states.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

namespace {

result<std::int64_t> read_age(const std::optional<std::string>& text, const std::string& option) {
  return text ? read_duration(option, *text, 1) : result<std::int64_t>{0};
}

bool parked_is_asked(const task_filter& filter) {
  return filter.parked || std::find(filter.states.begin(), filter.states.end(), "parked") != filter.states.end();
}

}  // namespace

void add_filter_options(CLI::App& command, task_filter& filter) {
  command
      .add_option("--state", filter.states, "Only tasks in this state (repeatable): " + task_state_words() + "; parked stands for --parked")
      ->type_name("STATE")
      ->allow_extra_args(false);
  command.add_flag("--parked", filter.parked, "Only parked tasks (they wait for an operator)");
  command.add_option("--workflow", filter.workflow, "Only tasks of this workflow")->type_name("NAME");
  command.add_option("--label", filter.labels, "Only tasks with this label (repeatable: the task has all of them)")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command.add_option("--older-than", filter.older_than, "Only tasks submitted longer ago than this")->type_name("DURATION");
  command.add_option("--younger-than", filter.younger_than, "Only tasks submitted less long ago than this")->type_name("DURATION");
  command.add_flag("--top-level", filter.top_level, "Only tasks without a parent: no items of a list, no tasks of sub-workflows");
  command.add_option("--parent", filter.parent, "Only the children of this task")->type_name("ID");
}

bool task_filter::narrows() const {
  return !states.empty() || parked || workflow || !labels.empty() || older_than || younger_than || parent;
}

bool task_filter::given() const { return narrows() || top_level; }

result<v1::TaskListRequest> list_request(const task_filter& filter) {
  v1::TaskListRequest out;
  const auto parked = parked_is_asked(filter);
  for (const auto& word : filter.states) {
    if (word == "parked") continue;
    auto state = task_state_from_word(word);
    if (!state) return invalid("'" + word + "' is not a state of a task", "One of " + task_state_words() + ", parked");
    if (has_ended(*state) && parked) return invalid("no task is both " + word + " and parked", "Leave one of the two out");
    out.add_states(*state);
  }
  out.set_parked_only(parked);
  if (filter.workflow && filter.workflow->empty())
    return invalid("--workflow is empty", "Give the name of a workflow, or leave --workflow out");
  out.set_workflow(filter.workflow.value_or(""));
  auto labels = parse_labels(filter.labels);
  if (!labels) return labels.failure();
  for (auto& label : *labels) *out.add_labels() = std::move(label);
  const auto older = read_age(filter.older_than, "--older-than");
  if (!older) return older.failure();
  const auto younger = read_age(filter.younger_than, "--younger-than");
  if (!younger) return younger.failure();
  if (filter.older_than && filter.younger_than && *older >= *younger)
    return invalid("no task is older than " + *filter.older_than + " and younger than " + *filter.younger_than,
                   "Give the shorter time as --older-than");
  out.set_older_than_ms(*older);
  out.set_younger_than_ms(*younger);
  if (filter.parent && filter.parent->empty()) return invalid("--parent is empty", "Give the ID of a task, or leave --parent out");
  out.set_top_level(filter.top_level);
  out.set_parent(filter.parent.value_or(""));
  if (auto why = misfit_of_parents(out, "--parent", "--top-level")) return *why;
  return out;
}

std::optional<error> conditions_left_out(const v1::TaskListRequest& what, const v1::TaskListReply& answer) {
  const auto may_be_unknown = !what.job().empty() || !what.id_prefix().empty() || !what.agent().empty() || !what.fault_code().empty() ||
                              what.top_level() || !what.parent().empty();
  if (!may_be_unknown || !answer.by().empty() || !answer.missing().empty()) return std::nullopt;
  return error{v1::ERROR_CODE_UNAVAILABLE,
               "the node is of an earlier release, which does not know these conditions and has listed other tasks",
               "ask a node of this release, or leave out the options"};
}

}  // namespace fairlead::app
