#pragma once
// Alerts that tasks share: one for each step of a workflow at an agent, however many tasks are at that step. The alert's row counts these
// tasks. One thread.
//
// Of a step that has been failing for a while the alert is resolved when no task is failing there any more. Of a step of the end that tasks
// end without it outlives the tasks, and an acknowledgement resolves it.

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "actors/alerts/book.hpp"
#include "actors/core/task/decision.hpp"
#include "messages/error.hpp"

namespace fairlead {

class failing_steps {
 public:
  explicit failing_steps(alert_book& alerts) : alerts_(alerts) {}

  /// Finds the unresolved alerts.
  status open(const store::snapshot& committed);
  /// A task begins or ceases to count; its row is in the same batch.
  status changed(const v1::TaskRecord& record, const core::failing_change& what, const alert_book::page& to,
                 const store::snapshot& committed);
  /// A task ends without the step of the end that `draft` is about; its row is in the same batch.
  status ends_without(v1::AlertRecord draft, const alert_book::page& to, const store::snapshot& committed);
  void acknowledged(const v1::AlertRecord& alert);

 private:
  using key = std::tuple<std::string, std::string, std::string>;  // workflow, step, agent

  alert_book& alerts_;
  std::map<key, std::uint64_t> numbers_;  // of unresolved alerts
  std::map<key, std::uint64_t> ends_;     // the same, about steps of the end
};

}  // namespace fairlead
