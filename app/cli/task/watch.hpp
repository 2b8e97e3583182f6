#pragma once
// `task watch`: shows the steps of one task as they change.

#include <functional>
#include <map>
#include <string>

#include "actors/client/client.hpp"
#include "app/cli/context.hpp"

namespace fairlead::app {

/// The state of each step after the events so far.
class watch_view {
 public:
  void take(const v1::WatchReply& reply);

  /// A compact table for a terminal that is redrawn. It has at most `rows` lines of at most
  /// `columns` characters (0: no limit). If there are more steps, the table shows those in progress
  /// or in trouble first, then the last changed ones. The rows are in the workflow's order, and the
  /// last row says how many steps are left out.
  std::string table(std::size_t rows = 0, std::size_t columns = 0) const;
  /// For output that is not a terminal: one line for each event of `reply`, and one for each new
  /// progress report. Call `take` with the reply first.
  std::string lines(const v1::WatchReply& reply) const;
  /// The progress reports that were new in the last reply.
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

  std::map<std::string, v1::Progress> progress_;  // of attempts in progress, by path of the step
  std::vector<v1::StepProgress> news_;            // the reports that were new in the last reply
  std::vector<std::string> paths_;
  std::map<std::size_t, step_view> steps_;  // by index into paths_
  bool drains_ = false;                     // the task is being undone, or is to fail
};

struct watch_parts {
  duration limit;  // zero: none
  duration part;
  bool with_progress;
};

/// As client::watch. Between parts in which nothing happens it calls `between`, which returns false to stop.
status follow_in_parts(client& to, const std::string& id, const std::function<bool(const v1::WatchReply&)>& show, const watch_parts& how,
                       const std::function<bool()>& between);

/// Follows the task until it has ended or is parked and sets context.code.
void watch_task(cli_context& context, const std::string& id);

/// `Task X completed.`, or the reason why it was not completed.
std::string end_text(const std::string& id, v1::TaskState state, bool parked, const std::string& reason);

}  // namespace fairlead::app
