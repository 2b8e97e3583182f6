#pragma once
// Delivers status events to webhooks, and gives up receivers that are gone for long. A shell over ports: no CAF, no thread of its own.
//
// Each receiver has its own outbox, its own order and its own backoff; at most one post to it is under way. What a post has brought is erased
// after it has succeeded, so every event arrives at least once: after a crash between the two it arrives again, and the order within a task
// stays. Receivers drop what they have seen by task and sequence.

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
    /// To the Scheduler, which makes it durable.
    std::function<void(courier_rows)> commit;
    /// Called from any thread when a post has ended: a look is worth it now.
    std::function<void()> wake;
  };
  struct settings {
    std::string node;
    duration give_up_after = std::chrono::hours{24};
  };

  reply_courier(world in, settings chosen);

  /// Takes up posts that have ended and starts those that can be. Gives how long to wait for the next look. Nothing to do costs one look at
  /// the size of a table.
  result<duration> look();

 private:
  /// What is known of a receiver that has something to come.
  struct receiver {
    v1::ReplyAddressRecord record;
    bool stored = false;   // the record's row has to be erased when the receiver does well again
    bool had_row = false;  // the row may still be read though it is erased: until it cannot, only this here is true
    bool posting = false;
    std::uint64_t posted_to = 0;  // position of the last event of the post under way
    std::uint64_t drop_to = 0;    // not 0: it is given up, up to this position
    std::uint64_t dropped = 0;
    std::int64_t gone_since_unix_ms = 0;
    std::uint64_t oldest = 0;              // position of its oldest event
    std::int64_t oldest_seen_unix_ms = 0;  // in retention time, when it was found to be that
    std::uint64_t round = 0;               // in which it was visited last
  };
  /// What the store said when this courier first read it.
  struct beginning {
    std::int64_t retention_unix_ms = 0;
    std::int64_t away_ms = 0;  // for which there was no courier before
    std::uint64_t position = 0;
  };
  status take_up_ended();
  status delivered(const std::string& address, receiver& to);
  void failed(const std::string& address, receiver& to, const error& why);

  /// Does what can be done for one receiver. Gives how long to wait for its sake.
  result<duration> visit(const store::snapshot& view, const std::string& address, moment now);
  result<receiver*> known(const store::snapshot& view, const std::string& address, const v1::ReplyAddress& to);
  status post(const store::snapshot& view, const std::string& address, receiver& to);
  /// Whether the receiver, which has taken nothing since that moment of the wall clock, is given up.
  bool gone_for_long(receiver& to, const v1::StatusEvent& oldest, std::int64_t since_unix_ms, moment now) const;
  void read_retention(const store::progress& now);

  /// Goes on with those that are given up, and forgets what the store says as well.
  status sweep(const store::snapshot& view);
  status drop_some(const std::string& address, receiver& from);
  /// What was told to a Scheduler that has been replaced may have gone with it.
  void say_again_if_lost(std::uint64_t epoch);
  /// All is well with it; what the store may still say of it is erased by `rows`.
  static void make_well(const std::string& address, receiver& of, courier_rows& rows);

  const world world_;
  const settings settings_;
  ended_deliveries<std::string> ended_;                     // posts, by the hash of their address
  std::map<std::string, receiver, std::less<>> receivers_;  // by the hash of their address
  std::size_t posting_ = 0;
  std::uint64_t epoch_ = 0;  // under which it has told what it knows
  std::string looked_at_;    // the address that the last look ended with; the next one goes on behind it
  std::int64_t started_unix_ms_ = 0;
  std::int64_t retention_unix_ms_ = 0;  // as of this look
  std::optional<beginning> began_;
  std::uint64_t round_ = 1;  // of looks that have come to every receiver
};

}  // namespace fairlead
