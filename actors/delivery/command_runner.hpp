#pragma once
// Runs commands as child processes, each with a thread of its own, so that a slow command delays no other.

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "actors/delivery/command_port.hpp"

namespace fairlead {

class command_runner final : public command_port {
 public:
  command_runner();
  ~command_runner() override;
  command_runner(const command_runner&) = delete;
  command_runner& operator=(const command_runner&) = delete;

  void run(command_run what, std::function<void(status)> done) override;

  /// Kills running commands; `done` is never called after this has returned.
  void shut_down();

 private:
  void watch(std::uint64_t number, const command_run& what, const std::function<void(status)>& done);

  std::mutex mutex_;
  std::map<std::uint64_t, std::thread> running_;  // by number of the run
  std::vector<std::thread> ended_;                // to be joined
  std::uint64_t runs_ = 0;
  bool down_ = false;
  int stop_[2] = {-1, -1};  // a pipe that becomes readable when all commands must end
};

/// Runs one command to its end, or to its time limit, or until `stop` becomes readable; then its process group is killed. Blocks.
status run_command(const command_run& what, int stop);

}  // namespace fairlead
