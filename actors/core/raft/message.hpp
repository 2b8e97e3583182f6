#pragma once
// What replicas of one shard say to each other. Any message may be lost, doubled, late or out of order.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "actors/core/raft/types.hpp"

namespace fairlead::raft {

/// May I lead in the message's term? With `pre`: would you say yes, if I asked? Asking so changes nobody's term.
struct vote_request {
  bool pre = false;
  bool transfer = false;  // the leader has asked for it, so it is no reason to refuse that there is one
  log_index last_index = 0;
  log_term last_term = 0;
};
struct vote_reply {
  bool pre = false;
  bool granted = false;
};

/// Entries behind `previous`. Without entries it only asks whether the logs agree there.
struct append {
  std::uint64_t number = 0;  // counts what the leader has sent in this term
  log_index previous_index = 0;
  log_term previous_term = 0;
  log_index commit = 0;
  std::int64_t stamp_ms = 0;  // what the leader's clock shows; it falls when that is set back
  std::vector<entry> entries;
};
/// `matched`: the logs are the same up to there, and that much is durable here. Never more than what this leader's messages have shown, or
/// what is committed here.
struct append_reply {
  std::uint64_t number = 0;  // of the message that is answered
  bool rejected = false;
  log_index matched = 0;         // accepted
  log_index previous_index = 0;  // rejected: where the logs disagreed
  log_index hint_index = 0;      // rejected: they may agree here
  log_term hint_term = 0;
};

/// The leader leads; also a question of the confirmed round `round`.
struct heartbeat {
  log_index commit = 0;  // never above what the receiver is known to have
  std::uint64_t round = 0;
  std::int64_t stamp_ms = 0;  // what the leader's clock shows; it falls when that is set back
  // The receiver had confirmed this entry to the leader, and lacks it. 0: it lacks none; of the term: the leader does not keep it any more.
  log_index lacks_index = 0;
  log_term lacks_term = 0;
};
struct heartbeat_reply {
  std::uint64_t round = 0;
  bool declines = false;    // it does not want to be the next leader
  log_index has_index = 0;  // it does have this entry, which the leader said it lacks
};

/// Campaign now: the leader hands over.
struct timeout_now {};

struct message {
  replica_id from = 0;
  replica_id to = 0;
  log_term term = 0;  // of the sender; of a pre-vote: the term that is asked about
  std::variant<vote_request, vote_reply, append, append_reply, heartbeat, heartbeat_reply, timeout_now> body;
};

/// Why no replica of this release would send this; empty: it is sound. Nothing else is checked later, so whatever comes from outside goes
/// through here first.
std::string fault_of(const message& in);

}  // namespace fairlead::raft
