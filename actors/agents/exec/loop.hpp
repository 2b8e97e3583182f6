#pragma once
// One thread that serves all commands of one exec agent, over epoll.
//
// Thread rules: submit, stop and shut_down come from any thread; a job's functions are called on the loop's thread, with no lock held.

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "actors/agents/attempt_inbox.hpp"
#include "actors/agents/backend.hpp"
#include "actors/agents/exec/engine.hpp"

namespace fairlead::agents {

class exec_loop {
 public:
  /// `shepherd` is the binary that is re-executed. Throws std::system_error if the system gives no thread or descriptor.
  exec_loop(std::uint32_t concurrency, std::string shepherd);
  ~exec_loop();
  exec_loop(const exec_loop&) = delete;
  exec_loop& operator=(const exec_loop&) = delete;

  /// Never refused: beyond `concurrency` the job waits for a command to end. Dropped after shut_down.
  void submit(std::unique_ptr<exec_job> job);
  void stop(const attempt_key& which);
  /// Ends every process and the thread. Must not be called from a job's functions.
  void shut_down();

 private:
  attempt_inbox<exec_job> inbox_;
  std::unique_ptr<exec_engine> engine_;
  std::mutex joining_;
  std::thread thread_;
};

}  // namespace fairlead::agents
