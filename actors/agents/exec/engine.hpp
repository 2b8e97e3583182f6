#pragma once
// The state of an exec loop, only for its thread: waiting jobs, running commands, and timers.

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "actors/agents/attempt_inbox.hpp"
#include "actors/agents/exec/attempt.hpp"
#include "actors/agents/exec/spawner.hpp"
#include "actors/system/descriptor.hpp"

namespace fairlead::agents {

using exec_jobs = attempt_inbox<exec_job>::jobs;

class exec_engine {
 public:
  /// How long after the end of its lease an attempt that was not stopped reports that it timed out.
  static constexpr std::chrono::milliseconds stop_grace{250};

  struct callbacks {
    std::function<bool(exec_jobs&, std::vector<std::uint64_t>&)> take;  // false: end
    std::function<bool(const attempt_key&, std::uint64_t)> live;
    std::function<bool(const attempt_key&, std::uint64_t)> claim;
  };

  exec_engine(callbacks owner, std::uint32_t concurrency, std::string shepherd);

  /// From any thread.
  void wake();
  /// Runs until `take` returns false; then ends everything, within two seconds.
  void run();

 private:
  using steady = std::chrono::steady_clock;
  struct overdue {
    steady::time_point report_at;
    std::uint64_t ticket;
    std::unique_ptr<exec_job> job;
    exec_ending ending;
  };
  struct running {
    std::unique_ptr<exec_attempt> attempt;
    steady::time_point due;
    bool told = false;  // its end has been reported, or never will be
  };

  void turn(exec_jobs& jobs, const std::vector<std::uint64_t>& stops);
  void wait();
  void happened(std::uint64_t token);
  void drop(std::uint64_t ticket);
  void admit();
  bool begin(std::uint64_t ticket, std::unique_ptr<exec_job>& job);
  bool watch(const exec_attempt& attempt);
  void give_up_waiting(int code);
  void spawner_changed();
  void mind_timers();
  void set_timer(running& of, steady::time_point at);
  void conclude(std::uint64_t ticket);
  void could_not_start(std::uint64_t ticket, std::unique_ptr<exec_job> job, start_stage stage, int code);
  void finish(std::uint64_t ticket, const exec_job& job, exec_ending ending);
  void end_all();
  int patience_ms() const;

  const callbacks owner_;
  const std::uint32_t concurrency_;
  descriptor epoll_, wake_, null_;
  exec_spawner spawner_;
  bool busy_ = false;                                                        // the spawner takes no more at the moment
  std::deque<std::pair<std::uint64_t, std::unique_ptr<exec_job>>> waiting_;  // by arrival
  std::unordered_map<std::uint64_t, running> active_;                        // by ticket
  std::set<std::pair<steady::time_point, std::uint64_t>> timers_;            // of active_
  std::deque<overdue> overdue_;
};

}  // namespace fairlead::agents
