#pragma once
// Runs commands for couriers. Production uses processes (command_runner.hpp), tests use fakes.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "messages/error.hpp"
#include "messages/time.hpp"

namespace fairlead {

struct command_run {
  std::vector<std::string> run;                                  // program and arguments; no shell
  std::string input;                                             // standard input
  std::vector<std::pair<std::string, std::string>> environment;  // in addition to that of this process
  duration time_limit = std::chrono::seconds{10};
};

class command_port {
 public:
  virtual ~command_port() = default;

  /// Runs once; exit code 0 is success, any other end an error (code unavailable) that describes the end. Returns at once. `done` is called
  /// exactly once, from any thread, soon after the time limit at the latest, unless the port is shut down before.
  virtual void run(command_run what, std::function<void(status)> done) = 0;
};

}  // namespace fairlead
