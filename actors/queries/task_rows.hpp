#pragma once
// What lists of tasks share: filters, summaries, cursors.

#include <map>
#include <optional>
#include <string>

#include "messages/api.pb.h"
#include "messages/error.hpp"
#include "messages/time.hpp"
#include "store/store.hpp"

namespace fairlead {

/// Rows that are read for one page, at most.
inline constexpr std::size_t task_rows_a_page = 20'000;
/// Archives that are opened for one page, at most.
inline constexpr int archives_a_page = 200;

/// Whether only parked tasks are on the list.
inline bool lists_parked(const v1::TaskListRequest& what) { return what.parked_only() || !what.fault_code().empty(); }

/// By what the task's record says: everything but the agent.
bool task_matches(const v1::TaskListRequest& what, const v1::TaskRecord& task, moment now);

result<std::optional<v1::DeployedWorkflow>> load_definition(const store::snapshot& from, const std::string& workflow,
                                                            const std::string& hash);

/// Of one list: whether a step of the task is for the agent that is asked for. Each version of a workflow is read once.
class agent_filter {
 public:
  agent_filter(const v1::TaskListRequest& what, const store::snapshot& from) : agent_(what.agent()), from_(from) {}

  result<bool> takes(const v1::TaskRecord& task);

 private:
  const std::string& agent_;
  const store::snapshot& from_;
  std::map<std::string, bool> known_;  // by content hash
};

v1::TaskSummary summary_of(const v1::TaskRecord& task);

/// nullopt: no hexadecimal text.
std::optional<std::string> from_hex(const std::string& text);
error foreign_cursor();

}  // namespace fairlead
