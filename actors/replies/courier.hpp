#pragma once
// Delivers status events to webhooks, and gives up receivers that are gone for long. A shell over ports: no CAF, no own thread.
//
// Each receiver has its own outbox, order and backoff; at most one post to it is in progress. Events are erased after their post has
// succeeded, so every event arrives at least once: after a crash between the two it arrives again, and the order within a task stays.
// Receivers drop repeated events by task and sequence.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/delivery/ended_deliveries.hpp"
#include "actors/delivery/webhook_port.hpp"
#include "actors/protocol/local_messages.hpp"
#include "actors/protocol/ports.hpp"
#include "actors/replies/outbox.hpp"
#include "store/store.hpp"

namespace fairlead {

/// The store as a courier first read it.
struct reply_courier_start {
  std::int64_t retention_unix_ms = 0;
  std::int64_t away_ms = 0;  // how long no courier ran before
  std::uint64_t position = 0;
};

class reply_courier {
 public:
  static constexpr std::size_t events_a_post = 100;
  static constexpr duration busy_pause{50};
  static constexpr duration idle_pause{1'000};
  static constexpr duration first_backoff{1'000};
  static constexpr duration longest_backoff{300'000};

  struct world {
    const clock* time = nullptr;
    const store::store* reads = nullptr;
    webhook_port* posts = nullptr;
    reply_outbox* outbox = nullptr;
    observer* log = nullptr;
    /// Sends rows to the Scheduler, which makes them durable.
    std::function<void(courier_rows)> commit;
    /// Called from any thread when a post has ended: `look` has work.
    std::function<void()> wake;
  };
  struct settings {
    std::string node;
    duration give_up_after = std::chrono::hours{24};
  };

  reply_courier(world in, settings chosen);

  /// Records ended posts and starts those that may start. Returns the wait until the next look. If nothing is to do, only the size of a
  /// table is read.
  result<duration> look();

 private:
  /// The state of a receiver with undelivered events.
  struct receiver {
    v1::ReplyAddressRecord record;
    bool stored = false;   // the record's row must be erased when deliveries succeed again
    bool had_row = false;  // the row may still be readable after its erasure: until then only this entry counts
    bool posting = false;
    std::uint64_t posted_to = 0;  // position of the last event in the post in progress
    std::uint64_t drop_to = 0;    // not 0: the receiver is given up, up to this position
    std::uint64_t dropped = 0;
    std::int64_t gone_since_unix_ms = 0;
    std::uint64_t oldest = 0;              // position of its oldest event
    std::int64_t oldest_seen_unix_ms = 0;  // in retention time, when the courier found this
    std::uint64_t round = 0;               // of its last visit
  };

  status take_up_ended();
  status delivered(const std::string& address, receiver& to);
  void failed(const std::string& address, receiver& to, const error& why);

  /// Does the due work for one receiver. Returns the wait until its next work.
  result<duration> visit(const store::snapshot& view, const std::string& address, moment now);
  result<receiver*> known(const store::snapshot& view, const std::string& address, const v1::ReplyAddress& to);
  status post(const store::snapshot& view, const std::string& address, receiver& to);
  /// Whether a receiver that has taken nothing since that moment of the wall clock is given up.
  bool gone_for_long(receiver& to, const v1::StatusEvent& oldest, std::int64_t since_unix_ms, moment now) const;
  void read_retention(const store::progress& now);

  /// Goes on dropping the events of receivers that are given up, and forgets receivers in order whose row is gone from the store.
  status sweep(const store::snapshot& view);
  status drop_some(const std::string& address, receiver& from);
  /// Reports to a replaced Scheduler may be lost with it.
  void say_again_if_lost(std::uint64_t epoch);
  /// The receiver works again; `rows` erases its record from the store.
  static void make_well(const std::string& address, receiver& of, courier_rows& rows);

  const world world_;
  const settings settings_;
  ended_deliveries<std::string> ended_;                     // posts, by the hash of their address
  std::map<std::string, receiver, std::less<>> receivers_;  // by the hash of their address
  std::size_t posting_ = 0;
  std::uint64_t epoch_ = 0;  // epoch in which it has reported its state
  std::string looked_at_;    // address at which the last look ended; the next look continues after it
  std::int64_t started_unix_ms_ = 0;
  std::int64_t retention_unix_ms_ = 0;  // as of this look
  std::optional<reply_courier_start> began_;
  std::uint64_t round_ = 1;  // counts the looks that reached every receiver
};

}  // namespace fairlead
