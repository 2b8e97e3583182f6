#pragma once
// Parts of steps requested from the expression worker, and tasks that wait until the worker has room. In memory only: a restarted
// Scheduler asks anew. One thread.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "messages/agent.pb.h"
#include "messages/time.hpp"

namespace fairlead {

class evaluations {
 public:
  /// `limit_bytes`: of documents at the worker; above this tasks wait. So they do where very many are there: the answers to them could come
  /// at once, before all other messages.
  explicit evaluations(std::uint64_t limit_bytes) : limit_bytes_(limit_bytes) {}

  /// Names one part of one step.
  struct wanted {
    std::uint64_t task = 0;
    std::uint32_t step = 0;
    v1::ExpressionPart part = v1::EXPRESSION_PART_WITH;
    std::uint32_t item = 0;  // as EvaluateRequest.item
  };

  bool has_room() const { return bytes_ < limit_bytes_ && at_worker_.size() < most_at_worker; }
  /// Returns the ticket, which the answer brings back.
  std::uint64_t ask(const wanted& whose, std::size_t document_bytes);
  /// An answer can still come for as long as `until` lives.
  void outstanding(std::uint64_t ticket, std::weak_ptr<const void> until);
  /// nullopt: no task waits for this answer any more.
  std::optional<wanted> answered(std::uint64_t ticket);

  /// The task waits until there is room at the worker.
  void wait(std::uint64_t task) { waiting_.push_back(task); }
  /// The next waiting task, while there is room.
  std::optional<std::uint64_t> next_waiting();

  /// There is no worker: the task asks again at its next wake-up. True: log it; this is at most once a minute.
  bool unavailable(std::uint64_t task, moment now);
  /// The task has ended or parked, or has been asked for anew.
  void available(std::uint64_t task) { unavailable_.erase(task); }
  /// Answers still to come for the task are ignored.
  void forget(std::uint64_t task);

  /// Parts that were requested, and tasks whose requests will follow.
  struct asked_parts {
    std::set<std::pair<std::uint64_t, std::uint32_t>> of_steps;  // task and core::evaluation_key
    std::unordered_set<std::uint64_t> of_tasks;                  // any step of these tasks
  };
  asked_parts asked() const;

 private:
  struct evaluation {
    wanted whose;
    std::size_t bytes = 0;
    std::weak_ptr<const void> outstanding;
  };

  static constexpr std::size_t most_at_worker = 1'000;

  std::uint64_t limit_bytes_;
  std::uint64_t next_ticket_ = 1;
  std::unordered_map<std::uint64_t, evaluation> at_worker_;  // by ticket
  std::uint64_t bytes_ = 0;                                  // of the documents at the worker
  std::deque<std::uint64_t> waiting_;
  std::unordered_set<std::uint64_t> unavailable_;
  moment next_note_{};
};

}  // namespace fairlead
