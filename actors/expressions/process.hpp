#pragma once
// One worker process of the expression pool: its start, the bytes to and from it, its end. One thread.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "messages/error.hpp"

namespace fairlead {

class expression_process {
 public:
  /// With an empty environment, one end of a socket as its input and output, in a process group of its own (a ^C in the terminal is for
  /// the node). It dies when the calling thread ends.
  static result<std::unique_ptr<expression_process>> start(const std::string& executable, const std::vector<std::string>& arguments);

  /// Kills the process, if it still lives, and waits for it.
  ~expression_process();
  expression_process(const expression_process&) = delete;
  expression_process& operator=(const expression_process&) = delete;

  int descriptor() const { return descriptor_; }
  int pid() const { return pid_; }

  /// Writes what fits now; the number of bytes. A dead process takes none: its end shows on reading.
  std::size_t write_some(std::string_view bytes);

  /// Appends what has arrived; false when the process has closed its end.
  bool read_some(std::string& into);

  /// Kills the process and waits for it: the status of waitpid. Of one that has ended by itself it is its own end.
  int reap();

 private:
  expression_process(int descriptor, int pid) : descriptor_(descriptor), pid_(pid) {}

  int descriptor_;
  int pid_;
  bool reaped_ = false;
};

}  // namespace fairlead
