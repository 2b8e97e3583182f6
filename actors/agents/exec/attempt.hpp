#pragma once
// One command as the node sees it: what goes into it, what comes out of it, and what its shepherd says. The loop's thread alone.

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
  exec_order order;  // its times are filled in when it is handed over
  bool has_input = true;
  std::string input;
  std::uint64_t max_output_bytes = 0;
  std::int64_t stop_grace_ms = 0;
  /// On this process's own clock: no process of the command is left at that time.
  std::chrono::steady_clock::time_point deadline;
  /// The deadline is that of a try, which then has failed. Otherwise it is the end of the lease: the attempt's holder is expected to stop
  /// the attempt and nothing is said; if no stop has come `exec_engine::stop_grace` later it ends as timed out, so that it cannot be lost.
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
  /// Once they have been handed over; else no pipe would ever end.
  void close_theirs() { theirs_ = {}; }
  int watched(channel which) const;
  /// What the descriptor is watched for: EPOLLIN or EPOLLOUT.
  static unsigned events(channel which);

  /// Something has happened on a descriptor. It is closed when nothing more will come of it; the caller looks at `watched`.
  void happened(channel which);

  /// What it has said about itself since the last call.
  std::optional<attempt_progress> progress() { return std::exchange(said_, std::nullopt); }

  /// Has the shepherd end everything at once. `ran_out` and `too_much`: what is to be said of it then.
  enum class reason { stopped, ran_out, too_much };
  void end(reason why);
  bool ending() const { return ended_; }
  /// Has a shepherd that somebody stopped with a signal go on.
  void nudge() const;

  /// The command and everything it started are gone (or never were).
  bool over() const { return over_; }
  /// Valid once it is over.
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
