#pragma once
// `task watch`: the steps of one task as they change.

#include <map>
#include <string>

#include "app/cli/context.hpp"

namespace fairlead::app {

/// What the events so far say of each step.
class watch_view {
 public:
  void take(const v1::WatchReply& reply);

  /// A compact table for a terminal that is redrawn. It has no more lines than `rows`, which are no wider than `columns` (0: any): of more steps
  /// it shows those in progress or in trouble first, then the latest that have changed, in the workflow's order, and how many it leaves out.
  std::string table(std::size_t rows = 0, std::size_t columns = 0) const;
  /// One line an event of `reply`, and one for each step that has told something new, for everything that is no terminal. The reply has been
  /// taken.
  std::string lines(const v1::WatchReply& reply) const;
  /// What the last reply told of progress for the first time.
  const std::vector<v1::StepProgress>& news() const { return news_; }

 private:
  struct step_view {
    std::string state = "pending";
    std::uint32_t attempt = 0;
    std::int64_t at_unix_ms = 0;
    std::string detail;
  };
  std::vector<std::size_t> shown_steps(std::size_t most) const;
  std::string left_out(const std::vector<std::size_t>& shown) const;

  std::map<std::string, v1::Progress> progress_;  // of attempts that are out, by path of the step
  std::vector<v1::StepProgress> news_;            // what the last reply told of it for the first time
  std::vector<std::string> paths_;
  std::map<std::size_t, step_view> steps_;  // by index into paths_
};

/// Follows the task until it has ended or is parked and sets context.code.
void watch_task(cli_context& context, const std::string& id);

/// `Task X completed.`, or why it did not.
std::string end_text(const std::string& id, v1::TaskState state, bool parked, const std::string& reason);

}  // namespace fairlead::app
