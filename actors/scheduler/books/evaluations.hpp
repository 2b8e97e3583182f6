#pragma once
// Inputs that the expression worker has been asked for, and tasks that wait until there is room at the worker. One thread. In memory only: a
// successor asks anew.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "messages/task.pb.h"
#include "messages/time.hpp"

namespace fairlead {

class evaluations {
 public:
  /// `limit_bytes`: of documents at the worker; beyond this tasks wait.
  explicit evaluations(std::uint64_t limit_bytes) : limit_bytes_(limit_bytes) {}

  /// Whose input was asked for.
  struct input {
    std::uint64_t task = 0;
    std::uint32_t step = 0;
    v1::Direction direction = v1::DIRECTION_PERFORM;
  };

  bool has_room() const { return bytes_ < limit_bytes_; }
  /// The ticket that the answer will bring back.
  std::uint64_t ask(const input& whose, std::size_t document_bytes);
  /// Somebody may answer for as long as `until` lives.
  void outstanding(std::uint64_t ticket, std::weak_ptr<const void> until);
  /// nullopt: nobody waits for this answer any more.
  std::optional<input> answered(std::uint64_t ticket);

  /// The task waits until there is room at the worker.
  void wait(std::uint64_t task) { waiting_.push_back(task); }
  /// The next that waits, while there is room.
  std::optional<std::uint64_t> next_waiting();

  /// There is no worker: the task's next wake-up asks again. True: say so; once a minute is enough.
  bool unavailable(std::uint64_t task, moment now);
  /// The task has ended or parked, or has been asked for anew.
  void available(std::uint64_t task) { unavailable_.erase(task); }
  /// What the worker may still answer counts for nothing any more.
  void forget(std::uint64_t task);

  /// Inputs that somebody has been asked for, or whose turn to be asked for will come.
  struct asked_inputs {
    std::set<std::pair<std::uint64_t, std::uint32_t>> of_steps;  // task and core::evaluation_key
    std::unordered_set<std::uint64_t> of_tasks;                  // whatever step of them
  };
  asked_inputs asked() const;

 private:
  struct evaluation {
    input whose;
    std::size_t bytes = 0;
    std::weak_ptr<const void> outstanding;
  };

  std::uint64_t limit_bytes_;
  std::uint64_t next_ticket_ = 1;
  std::unordered_map<std::uint64_t, evaluation> at_worker_;  // by ticket
  std::uint64_t bytes_ = 0;                                  // of their documents
  std::deque<std::uint64_t> waiting_;
  std::unordered_set<std::uint64_t> unavailable_;
  moment next_note_{};
};

}  // namespace fairlead
