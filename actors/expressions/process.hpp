#pragma once
// One worker process of the expression pool: start, input and output, end. One thread.

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "messages/error.hpp"

namespace fairlead {

class expression_process {
 public:
  /// Starts the process with an empty environment, one end of a socket as its input and output, in its own process group (a ^C in the
  /// terminal is for the node). The process dies when the calling thread ends.
  static result<std::unique_ptr<expression_process>> start(const std::string& executable, const std::vector<std::string>& arguments);

  /// The same, but a copy of this process that calls `work` and ends with what it returns, which takes a tenth of the time of start(). For a
  /// process without other threads. Builds with sanitizers cannot limit its memory, so they have none.
  static result<std::unique_ptr<expression_process>> start_copy(const std::function<int()>& work);

  /// Kills the process, if it still lives, and waits for it.
  ~expression_process();
  expression_process(const expression_process&) = delete;
  expression_process& operator=(const expression_process&) = delete;

  int descriptor() const { return descriptor_; }
  int pid() const { return pid_; }

  /// What the process has used of the processors so far.
  std::chrono::nanoseconds cpu_time() const;

  /// Writes as much as fits now; returns the number of bytes. A dead process takes none: its end shows on reading.
  std::size_t write_some(std::string_view bytes);

  /// Appends the bytes that have arrived; false: the process has closed its end.
  bool read_some(std::string& into);

  /// Kills the process and waits for it. Returns the status of waitpid; if the process ended by itself, the status of that end.
  int reap();

 private:
  expression_process(int descriptor, int pid) : descriptor_(descriptor), pid_(pid) {}

  int descriptor_;
  int pid_;
  bool reaped_ = false;
};

}  // namespace fairlead
