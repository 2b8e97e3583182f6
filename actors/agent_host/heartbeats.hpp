#pragma once
// The heartbeats of one attempt, and the lease that hangs on them. Knows no clock; host.hpp says what the host promises.
//
// With a heartbeat of h the lease ends at the earlier of complete_by and h after the sending of the last heartbeat that was acknowledged. A
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

/// Bytes kept of what an attempt says about itself.
inline constexpr std::size_t progress_note_limit = 256;
inline constexpr std::size_t checkpoint_limit = 65'536;

/// Adds what is told later: it replaces, part by part, what was told before.
void merge_progress(agents::attempt_progress& into, agents::attempt_progress&& later);

class attempt_pulse {
 public:
  /// `period` 0: the attempt needs no heartbeat, and only has something to tell.
  attempt_pulse(duration period, moment now) : period_(period), last_sent_(now) {}

  /// The attempt has told something, or (all of `what` empty) only that it is still at it.
  void report(agents::attempt_progress what);

  /// When the next heartbeat is to be sent; nullopt: there is no reason for one. `by_itself`: the host speaks for the attempt.
  std::optional<moment> next(bool by_itself) const;
  /// Whether there is something to tell that has not been told.
  bool has_news() const noexcept { return news_; }

  /// The next heartbeat; whose it is the caller adds.
  v1::Heartbeat beat(moment now);

  /// The lease is over sooner by so much than was thought when the heartbeats that are on their way were sent.
  void shorten(duration by);
  /// Whether a lease hangs on it.
  bool keeps_lease() const noexcept { return period_.count() > 0; }
  duration period() const noexcept { return period_; }

  /// Heartbeat `sequence` is durable. How long the lease is by that; nullopt: it says nothing new.
  std::optional<moment> acknowledged(std::uint64_t sequence);

 private:
  struct sent {
    std::uint64_t sequence = 0;
    moment at;
  };
  duration rest() const;

  duration period_;
  moment last_sent_;
  std::uint64_t sequence_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t told_in_ = 0;  // the heartbeat that carried `progress_` last; 0: none has
  bool reported_ = false;      // since the last heartbeat
  bool news_ = false;
  agents::attempt_progress progress_;
  std::deque<sent> awaited_;  // what has not been acknowledged, oldest first
};

/// Where the threads of a backend leave progress for the host. What gathers for one attempt is merged, so that one which reports without
/// pause fills no mailbox. Thread-safe.
class progress_inbox {
 public:
  /// True: nothing of this attempt was waiting, so the host has to be told.
  bool put(const agents::attempt_key& key, agents::attempt_progress what);
  std::optional<agents::attempt_progress> take(const agents::attempt_key& key);

 private:
  std::mutex guard_;
  std::unordered_map<agents::attempt_key, agents::attempt_progress, agents::attempt_key_hash> waiting_;
};

}  // namespace fairlead
