#pragma once
// The heartbeats of one attempt, and the lease that depends on them. Knows no clock; see host.hpp for the host's promises.
//
// With a heartbeat of h the lease ends at the earlier of complete_by and h after the sending of the last acknowledged heartbeat. A
// heartbeat is sent about every third of h, so that two may be lost.

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "actors/agents/backend.hpp"
#include "messages/agent.pb.h"
#include "messages/time.hpp"

namespace fairlead {

/// Bytes kept of an attempt's note and checkpoint.
inline constexpr std::size_t progress_note_limit = 256;
inline constexpr std::size_t checkpoint_limit = 65'536;

/// Merges later progress: each part of it replaces the earlier part.
void merge_progress(agents::attempt_progress& into, agents::attempt_progress&& later);

class attempt_pulse {
 public:
  /// `period` 0: the attempt needs no heartbeat and only reports progress. Heartbeats are numbered above `first`.
  attempt_pulse(duration period, moment now, std::uint64_t first = 0) : period_(period), last_sent_(now), sequence_(first) {}

  /// The attempt reports progress or, if all of `what` is empty, only that it still works.
  void report(agents::attempt_progress what);

  /// When to send the next heartbeat; nullopt: no reason for one. `by_itself`: the host speaks for the attempt.
  std::optional<moment> next(bool by_itself) const;
  /// Whether there is progress that has not been sent.
  bool has_news() const noexcept { return news_; }
  /// Of the latest heartbeat.
  std::uint64_t last_sequence() const noexcept { return sequence_; }

  /// The next heartbeat; the caller adds the attempt's key.
  v1::Heartbeat beat(moment now);

  /// The lease ends sooner by so much than was assumed when the heartbeats on their way were sent.
  void shorten(duration by);
  /// Whether a lease depends on the heartbeats.
  bool keeps_lease() const noexcept { return period_.count() > 0; }
  duration period() const noexcept { return period_; }

  /// Heartbeat `sequence` is durable. Returns the end of the lease by that; nullopt: nothing new.
  std::optional<moment> acknowledged(std::uint64_t sequence);

 private:
  struct sent {
    std::uint64_t sequence = 0;
    moment at;
  };
  duration rest() const;

  duration period_;
  moment last_sent_;
  std::uint64_t sequence_;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t told_in_ = 0;  // heartbeat that carried `progress_` last; 0: none
  bool reported_ = false;      // since the last heartbeat
  bool news_ = false;
  agents::attempt_progress progress_;
  std::deque<sent> awaited_;  // not acknowledged, oldest first
};

/// Progress on its way from a backend's threads to the host. Progress of one attempt is merged, so that an attempt which reports without
/// pause fills no mailbox. Thread-safe.
class progress_inbox {
 public:
  /// True: no progress of this attempt was waiting, so the host must be told.
  bool put(const agents::attempt_key& key, agents::attempt_progress what);
  std::optional<agents::attempt_progress> take(const agents::attempt_key& key);

 private:
  std::mutex guard_;
  std::unordered_map<agents::attempt_key, agents::attempt_progress, agents::attempt_key_hash> waiting_;
};

}  // namespace fairlead
