#pragma once
// Evaluates jq expressions in a separate process, which may be killed without harm.
//
// One worker process and one thread that talks to it, both started on first use. Requests are pipelined and answered in order. Threads: every
// function may be called from any thread; callbacks run on the pool's thread and must not block.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "messages/agent.pb.h"
#include "messages/error.hpp"

namespace fairlead {

/// The exit code of a worker that exceeded its memory limit.
inline constexpr int expression_worker_out_of_memory = 77;

/// A worker takes no larger request.
inline constexpr std::uint32_t max_expression_request_bytes = std::uint32_t{64} << 20;

/// Address space of a worker.
inline constexpr std::uint64_t default_expression_memory_bytes = std::uint64_t{512} << 20;

struct expression_pool_options {
  std::string executable = "/proc/self/exe";
  std::vector<std::string> arguments = {"expression-worker"};
  /// Limit of the processor time of one evaluation. The first compilation of an expression does not count. A worker that gets none for
  /// thirty times as long is given up, and the request is answered with code unavailable.
  std::chrono::milliseconds time_limit{1000};
  /// The worker's limit (set by its own arguments), for the sentence about a worker that exceeded it.
  std::uint64_t memory_bytes = default_expression_memory_bytes;
  /// Limit for a worker to become ready.
  std::chrono::milliseconds start_limit{10000};
};

class expression_pool {
 public:
  using callback = std::function<void(v1::EvaluateReply)>;

  explicit expression_pool(expression_pool_options options = {});
  ~expression_pool();
  expression_pool(const expression_pool&) = delete;
  expression_pool& operator=(const expression_pool&) = delete;

  /// Answered exactly once, with results or an error: code expression if the expression is at fault (it fails, takes too long, needs too
  /// much memory, crashes its worker), code unavailable if no worker can be started or the pool shuts down. The pool does not limit the
  /// requests in progress: the caller does.
  void evaluate(v1::EvaluateRequest request, callback done);

  /// For a process without other threads that will need a worker soon: the first one is a copy of this process in which `work` is called.
  /// Nothing happens after the first request, or where no copy can be made.
  void start_copy(const std::function<int()>& work);

  /// Whether all of `expressions` compile; the error is that of the first that does not. Blocks; must not be called from a callback.
  status check(const std::vector<std::string>& expressions);

  /// The same for each of `expressions`, in their order.
  std::vector<status> check_each(const std::vector<std::string>& expressions);

  /// The process id of the worker; 0: there is none now.
  int worker_pid() const;

  /// Kills the worker, ends the thread, answers requests in progress (unavailable). Takes milliseconds. Later requests are answered at once
  /// with unavailable.
  void shut_down();

 private:
  std::vector<status> check_groups(const std::vector<std::string>& expressions);

  class impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace fairlead
