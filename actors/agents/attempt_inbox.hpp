#pragma once
// Between the callers of a loop and its thread: incoming jobs and stops, and the attempts that may still complete.
//
// Thread-safe. An attempt is `live` from submit until it is stopped or claimed for its completion, whichever is first, under one mutex. So
// a stopped attempt never completes, and no attempt completes twice. (A completion claimed just before may still be on its way when stop
// returns.)

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

#include "actors/agents/backend.hpp"

namespace fairlead::agents {

/// `Job` has a field `key`.
template <class Job>
class attempt_inbox {
 public:
  using jobs = std::vector<std::pair<std::uint64_t, std::unique_ptr<Job>>>;  // by ticket

  // For callers. True: the loop must be woken.

  /// Dropped once closed. std::logic_error: an attempt with this key is in progress.
  bool submit(std::unique_ptr<Job> job) {
    const std::lock_guard lock{guard_};
    if (closed_) return false;
    const auto ticket = next_ticket_++;
    if (!live_.emplace(job->key, ticket).second) throw std::logic_error("an attempt that is under way was started again");
    const auto was_empty = empty();
    submitted_.emplace_back(ticket, std::move(job));
    return was_empty;
  }
  bool stop(const attempt_key& which) {
    const std::lock_guard lock{guard_};
    const auto it = live_.find(which);
    if (it == live_.end()) return false;
    const auto was_empty = empty();
    stopped_.push_back(it->second);
    live_.erase(it);
    return was_empty;
  }
  /// No attempt completes any more.
  void close() {
    const std::lock_guard lock{guard_};
    closed_ = true;
    live_.clear();
  }

  // For the loop.

  /// Jobs and stops since the last call; false: the loop must end.
  bool take(jobs& submitted, std::vector<std::uint64_t>& stops) {
    const std::lock_guard lock{guard_};
    submitted.swap(submitted_);
    stops.swap(stopped_);
    return !closed_;
  }
  bool live(const attempt_key& key, std::uint64_t ticket) {
    const std::lock_guard lock{guard_};
    const auto it = live_.find(key);
    return it != live_.end() && it->second == ticket;
  }
  /// True if the attempt was neither stopped nor completed yet; it counts as completed from then on.
  bool claim(const attempt_key& key, std::uint64_t ticket) {
    const std::lock_guard lock{guard_};
    const auto it = live_.find(key);
    if (it == live_.end() || it->second != ticket) return false;
    live_.erase(it);
    return true;
  }

 private:
  bool empty() const { return submitted_.empty() && stopped_.empty(); }

  std::mutex guard_;
  bool closed_ = false;
  std::uint64_t next_ticket_ = 1;  // distinguishes a job from a later job with the same key
  std::unordered_map<attempt_key, std::uint64_t, attempt_key_hash> live_;
  jobs submitted_;
  std::vector<std::uint64_t> stopped_;
};

}  // namespace fairlead::agents
