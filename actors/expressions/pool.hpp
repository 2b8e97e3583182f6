#pragma once
// Evaluates jq expressions in a process of its own, which may be killed without harm.
//
// One worker process, started when it is first needed, and one thread that talks to it. Requests are pipelined and answered in their
// order. Threads: everything may be called from any thread; callbacks run on the pool's thread and must not block.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "messages/agent.pb.h"
#include "messages/error.hpp"

namespace fairlead {

/// The exit code of a worker that needed more memory than it may have.
inline constexpr int expression_worker_out_of_memory = 77;

/// Address space of a worker.
inline constexpr std::uint64_t default_expression_memory_bytes = std::uint64_t{512} << 20;

struct expression_pool_options {
  std::string executable = "/proc/self/exe";
  std::vector<std::string> arguments = {"expression-worker"};
  /// For one evaluation. Compiling an expression for the first time is not counted.
  std::chrono::milliseconds time_limit{1000};
  /// What the worker was told (its own arguments say it to the worker), for the sentence about one that needed more.
  std::uint64_t memory_bytes = default_expression_memory_bytes;
  /// For a worker to say that it is ready.
  std::chrono::milliseconds start_limit{10000};
};

class expression_pool {
 public:
  using callback = std::function<void(v1::EvaluateReply)>;

  explicit expression_pool(expression_pool_options options = {});
  ~expression_pool();
  expression_pool(const expression_pool&) = delete;
  expression_pool& operator=(const expression_pool&) = delete;

  /// Answered exactly once, with results or an error: code expression when the expression is at fault (it fails, takes too long, needs
  /// too much memory, crashes its worker), code unavailable when no worker can be started or the pool shuts down. The pool does
  /// not bound what is outstanding: the asker does.
  void evaluate(v1::EvaluateRequest request, callback done);

  /// Whether all of `expressions` compile; the error of the first that does not. Blocks; not to be called from a callback.
  status check(const std::vector<std::string>& expressions);

  /// The process id of the worker, 0 when there is none at the moment.
  int worker_pid() const;

  /// Kills the worker, ends the thread, answers what is outstanding (unavailable). Takes milliseconds. Later requests are answered
  /// at once with unavailable.
  void shut_down();

 private:
  class impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace fairlead
