#pragma once
// Where couriers have commands run. Production gives them processes (command_runner.hpp), tests what they like.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "messages/error.hpp"
#include "messages/time.hpp"

namespace fairlead {

struct command_run {
  std::vector<std::string> run;                                  // program and arguments; no shell looks at them
  std::string input;                                             // its standard input
  std::vector<std::pair<std::string, std::string>> environment;  // besides that of this process
  duration time_limit = std::chrono::seconds{10};
};

class command_port {
 public:
  virtual ~command_port() = default;

  /// Runs once; exit code 0 is success, anything else an error (code unavailable) that says how it ended. Returns at once; `done` is called
  /// exactly once, from any thread, soon after the time limit at the latest, unless the port is shut down before.
  virtual void run(command_run what, std::function<void(status)> done) = 0;
};

}  // namespace fairlead
