#pragma once
// One command as seen by the node: its input, its output, and its shepherd's messages. Only for the loop's thread.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "actors/agents/backend.hpp"
#include "actors/agents/exec/order.hpp"
#include "actors/agents/exec/outcome.hpp"
#include "actors/agents/exec/progress.hpp"
#include "actors/agents/exec/spawner.hpp"
#include "actors/system/descriptor.hpp"

namespace fairlead::agents {

struct exec_job {
  attempt_key key;
  exec_order order;  // its times are set at the hand-over
  bool has_input = true;
  bool has_output = true;  // false: stdout goes where stderr goes, so that their order is kept
  std::string input;
  std::uint64_t max_output_bytes = 0;
  std::int64_t stop_grace_ms = 0;
  /// By this process's own clock: no process of the command is left at that time.
  std::chrono::steady_clock::time_point deadline;
  /// The deadline is that of a try, which then has failed. Otherwise it is the end of the lease: the agent's host must stop the attempt,
  /// and nothing is reported. If no stop has come `exec_engine::stop_grace` later, the attempt ends as timed out, so that it cannot be
  /// lost.
  bool of_a_try = false;
  std::function<void(exec_ending)> finished;
  std::function<void(attempt_progress)> progressed;
};

class exec_attempt {
 public:
  enum class channel { control, input, output, errors, progress };

  exec_attempt(std::uint64_t ticket, std::unique_ptr<exec_job> job) : ticket_(ticket), job_(std::move(job)) {}

  std::uint64_t ticket() const { return ticket_; }
  exec_job& job() { return *job_; }
  std::unique_ptr<exec_job> release_job() { return std::move(job_); }

  /// Makes the pipes and the order; 0 or an errno.
  int open(int null_device);
  sent_descriptors theirs() const;
  /// Call after the hand-over; otherwise no pipe would ever end.
  void close_theirs() { theirs_ = {}; }
  int watched(channel which) const;
  /// The events to watch for: EPOLLIN or EPOLLOUT.
  static unsigned events(channel which);

  /// Handles an event on a descriptor. Closes it if nothing more will come; the caller checks `watched`.
  void happened(channel which);

  /// Progress since the last call.
  std::optional<attempt_progress> progress() { return std::exchange(said_, std::nullopt); }

  /// Makes the shepherd end everything at once. `ran_out` and `too_much`: the reason to report then.
  enum class reason { stopped, ran_out, too_much };
  void end(reason why);
  bool ending() const { return ended_; }
  /// Continues a shepherd that was stopped by a signal.
  void nudge() const;

  /// The command and all that it started are gone (or never existed).
  bool over() const { return over_; }
  /// Valid once over().
  exec_ending ending_of();

 private:
  void feed();
  void take_output();
  void take_errors();
  void take_progress();
  void hear();

  struct handed_over {
    descriptor control, order, input, output, errors, progress;
  };

  const std::uint64_t ticket_;
  std::unique_ptr<exec_job> job_;
  int null_device_ = -1;
  handed_over theirs_;
  descriptor control_, input_, output_, errors_, progress_;
  std::size_t fed_ = 0;
  progress_lines lines_;
  std::optional<attempt_progress> said_;
  exec_ending result_;
  shepherd_record last_;
  std::int32_t shepherd_ = 0;
  bool over_ = false;
  bool ended_ = false;
  reason why_ = reason::stopped;
};

}  // namespace fairlead::agents
