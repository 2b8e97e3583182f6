// Lists of tasks by label, state and parent, page after page, against what each commit has shown.

#include <map>
#include <set>

#include "actors/queries/task_queries.hpp"
#include "store/rows/archive_rows.hpp"
#include "store/rows/task_rows.hpp"
#include "tests/simulation/checker/checker.hpp"

namespace fairlead::simulation {

namespace {

std::set<std::string> all_pages(v1::TaskListRequest ask, const store::snapshot& durable, moment now) {
  std::set<std::string> out;
  do {
    const auto page = list_tasks(ask, durable, now);
    if (page.error().code() != v1::ERROR_CODE_OK) world::broken("listed", "tasks cannot be listed: " + page.error().sentence());
    for (const auto& one : page.items())
      if (!out.insert(one.id()).second) world::broken("listed", one.id() + " is on two pages of one list");
    ask.set_cursor(page.cursor());
  } while (!ask.cursor().empty());
  return out;
}

}  // namespace

void checker::judge_lists(const store::snapshot& durable) const {
  std::map<std::pair<std::string, std::string>, std::set<std::string>> by_label;
  std::map<v1::TaskState, std::set<std::string>> by_state;
  std::map<std::string, std::set<std::string>> by_parent;
  std::set<std::string> top_level;
  for (const auto& [number, record] : seen_) {
    // A task that is on its way to an archive is listed until it is there.
    const auto moving = store::is_moving(durable, number);
    if (archives_.has(record.id()) && moving.ok() && !*moving) continue;
    for (const auto& label : record.labels()) by_label[{label.key(), label.value()}].insert(record.id());
    by_state[record.state()].insert(record.id());
    (record.has_parent() ? by_parent[record.parent().id()] : top_level).insert(record.id());
  }
  const auto compare = [&](const v1::TaskListRequest& ask, const std::set<std::string>& wanted) {
    const auto listed = all_pages(ask, durable, clock_.now());
    if (listed != wanted)
      world::broken("listed", "a list (" + ask.ShortDebugString() + ") names " + std::to_string(listed.size()) + " tasks, and " +
                                  std::to_string(wanted.size()) + " are so");
  };
  for (const auto& [label, wanted] : by_label) {
    v1::TaskListRequest ask;
    ask.set_page_size(wanted.size() > 20 ? 37 : 2);
    ask.add_labels()->set_key(label.first);
    ask.mutable_labels(0)->set_value(label.second);
    compare(ask, wanted);
  }
  for (const auto& [state, wanted] : by_state) {
    v1::TaskListRequest ask;
    ask.set_page_size(wanted.size() > 20 ? 37 : 2);
    ask.add_states(state);
    compare(ask, wanted);
  }
  for (const auto& [parent, wanted] : by_parent) {
    v1::TaskListRequest ask;
    ask.set_page_size(wanted.size() > 20 ? 37 : 2);
    ask.set_parent(parent);
    compare(ask, wanted);
  }
  if (by_parent.empty()) return;
  v1::TaskListRequest ask;
  ask.set_page_size(top_level.size() > 20 ? 37 : 2);
  ask.set_top_level(true);
  compare(ask, top_level);
}

}  // namespace fairlead::simulation
