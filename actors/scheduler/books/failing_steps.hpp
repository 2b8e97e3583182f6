#pragma once
// Steps that have been failing for a while: one alert for each step of a workflow at an agent, however many tasks are at that step. The
// alert's row counts these tasks, and is resolved when none of them is failing there any more. One thread.

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

 private:
  using key = std::tuple<std::string, std::string, std::string>;  // workflow, step, agent

  alert_book& alerts_;
  std::map<key, std::uint64_t> numbers_;  // of unresolved alerts
};

}  // namespace fairlead
