#pragma once
// Processes that stand beside the bench, and what they use.

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace fairlead::bench {

/// A port of loopback that nobody listens on now.
int free_port();

/// The path of a program that was built into the same folder. Throws std::runtime_error when there is none.
std::string program_beside(const std::string& name);

/// Ends with this.
class child_process {
 public:
  explicit child_process(std::vector<std::string> words);
  ~child_process();
  child_process(const child_process&) = delete;
  child_process& operator=(const child_process&) = delete;

  /// Of all its threads. /proc/PID/stat counts in hundredths of a second, which is more than an idle node may use in ten.
  double cpu_seconds() const;
  double cpu_percent(std::chrono::seconds of) const;
  /// `name`: of a line of /proc/PID/status, such as `VmRSS:`.
  double memory_mb(const std::string& name) const;

 private:
  pid_t process_ = -1;
};

}  // namespace fairlead::bench
