#pragma once
// What a leader knows of another replica's log, and what it may send it.

#include <cstddef>
#include <cstdint>
#include <deque>

#include "actors/core/raft/types.hpp"

namespace fairlead::raft {

struct progress {
  enum class way {
    probe,      // where the logs agree is not known: one message at a time
    replicate,  // known: messages follow each other without waiting
  };

  way how = way::probe;
  log_index match = 0;  // both logs are the same up to here, and durable there
  log_index next = 1;   // the first entry that was not sent
  bool asked = false;   // probe: a message is on its way
  /// It needs entries that are no longer kept. A copy of the state helps it; when that is installed its own log must not have the term of the
  /// copy's last entry at that index, for then it needs none, and may have confirmed what is behind it.
  bool lacks_base = false;
  /// What it had confirmed and has lost. Until it has that again, what it says does not count. 0: it has lost nothing.
  log_index lost = 0;
  bool declines = false;  // it does not want to be the next leader

  std::uint64_t sent_when_followed = 0;  // messages of entries that the leader had sent when the replica became a member
  std::uint64_t sent_when_known = 0;     // and when `match` last rose
  std::uint64_t confirmed_round = 0;
  std::uint64_t sent_when_probed = 0;  // and when probe_from was last called: rejections of these are known already
  std::int64_t last_contact_ms = 0;
  log_index match_then = 0;  // at looked_at_ms
  std::int64_t looked_at_ms = 0;

  struct in_flight {
    log_index last = 0;
    std::size_t bytes = 0;
  };
  std::deque<in_flight> flying;
  std::size_t flying_bytes = 0;

  bool went_back() const { return lost != 0; }
  /// From now on: nothing that it has confirmed counts any more.
  void go_back();
  /// Its latest store is back.
  void come_back(std::uint64_t sent);
  /// Asks again where the logs agree; `sent`: messages of entries so far.
  void probe_from(log_index where, std::uint64_t sent);
  void flew(log_index last, std::size_t bytes);
  /// It has confirmed so much.
  void matched(log_index up_to, std::uint64_t sent);
};

}  // namespace fairlead::raft
