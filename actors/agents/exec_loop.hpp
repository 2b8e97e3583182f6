#pragma once
// One thread that looks after all commands of one exec agent, over epoll.
//
// Thread rules: submit, stop and shut_down come from any thread; a job's functions are called on the loop's thread, with no lock held.
// An attempt is `live` from submit until it is stopped or claimed for its completion, whichever is first, under one mutex: so a stopped
// attempt never completes, and no attempt completes twice. (A completion claimed just before may still be on its way when stop returns.)

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "actors/agents/backend.hpp"
#include "actors/agents/exec_engine.hpp"

namespace fairlead::agents {

class exec_loop {
 public:
  /// `shepherd` is the binary that is re-executed. Throws std::system_error when the system gives no thread or descriptor.
  exec_loop(std::uint32_t concurrency, std::string shepherd);
  ~exec_loop();
  exec_loop(const exec_loop&) = delete;
  exec_loop& operator=(const exec_loop&) = delete;

  /// Never refused: beyond `concurrency` it waits for a command to end. Dropped after shut_down.
  void submit(std::unique_ptr<exec_job> job);
  void stop(const attempt_key& which);
  /// Ends every process and the thread. Not to be called from a job's functions.
  void shut_down();

 private:
  struct key_hash {
    std::size_t operator()(const attempt_key& key) const noexcept;
  };

  // The loop's side. `take` gives what has come since the last call; false once the loop has to end.
  bool take(exec_jobs& jobs, std::vector<std::uint64_t>& stops);
  bool live(const attempt_key& key, std::uint64_t ticket);
  // True when the attempt was neither stopped nor completed yet; after that it is completed.
  bool claim(const attempt_key& key, std::uint64_t ticket);

  std::mutex guard_;
  bool closed_ = false;
  std::uint64_t next_ticket_ = 1;  // tells a job from a later one with the same key
  std::unordered_map<attempt_key, std::uint64_t, key_hash> live_;
  exec_jobs submitted_;
  std::vector<std::uint64_t> stopped_;

  std::unique_ptr<exec_engine> engine_;
  std::mutex joining_;
  std::thread thread_;
};

}  // namespace fairlead::agents
