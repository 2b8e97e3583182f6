#pragma once
// One replica of a shard, as values: step(input, now) -> output. Pure and deterministic: no clock, no randomness, no I/O.
//
// The contract with whoever drives it:
// - The records of an output go into the journal in order, before those of any later output. When all up to a position are durable, the
//   input `durable` says so. Nothing else may be told durable, and nothing durable is ever taken back.
// - The messages of an output may leave at once: what asserts durability is kept here until it is true.
// - Committed entries come in order, each once, and only those that are durable here.
// - An error of the disk ends the process. It is no input.
// One thread at a time.
//
// Rules B1 to B14, R1 to R15: docs/adr/0033-consensus.md, what is wrong in a replaced library, and how this class differs.

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "actors/core/raft/log.hpp"
#include "actors/core/raft/message.hpp"
#include "actors/core/raft/planted_faults.hpp"
#include "actors/core/raft/progress.hpp"
#include "actors/core/raft/types.hpp"

namespace fairlead::raft {

struct settings {
  replica_id self = 0;
  std::int64_t election_ms = 1000;  // a leader that is silent for one to two of these is replaced
  std::int64_t heartbeat_ms = 100;
  std::size_t max_message_bytes = std::size_t{256} << 10;  // of entries in one message; a larger entry goes alone
  std::size_t max_flying_bytes = std::size_t{2} << 20;     // of entries that one replica has not confirmed
  std::uint64_t seed = 0;                                  // of the election timeouts; another for each replica
  const planted_faults* planted = nullptr;                 // tests only
};

/// What the journal says at a start.
struct recovered {
  hard_state hard;
  base from;
  std::vector<entry> entries;  // behind the base
  log_index applied = 0;       // durable in the state; from the base's index up to the last entry's
};

/// The two clocks of a step. `boot_ms` never goes back and does not count a suspended machine. `shard_ms` is this node's view of shard time.
struct moment {
  std::int64_t boot_ms = 0;
  std::int64_t shard_ms = 0;
};

// Inputs.

struct tick {};  // some times per heartbeat_ms
struct received {
  message what;  // fault_of(what) is empty
};
struct durable {
  std::uint64_t position = 0;
};
struct propose {
  entry_kind kind = entry_kind::batches;
  std::shared_ptr<const std::string> payload;
};
struct change_members {
  members to;
};
struct transfer {
  replica_id to = 0;
};
/// Another one is to lead, if any can: this one's node is being drained. Leaders learn of it; it does not survive a start.
struct decline {
  bool on = false;
};
/// Asks whether this replica led when it was asked. Answered with the same ticket. Uses no clock, so it is right after any pause.
struct confirm {
  std::uint64_t ticket = 0;
};
/// Messages to this replica were lost, or it cannot be reached.
struct unreachable {
  replica_id who = 0;
};
/// Entries up to here are no longer kept in memory. Only what is durable in the state of the shard, and was given out here.
struct compact {
  log_index up_to = 0;
};
/// The shard goes on without this replica, in a later lineage.
struct outlived {
  std::string why;
};
using input = std::variant<tick, received, durable, propose, change_members, transfer, decline, confirm, unreachable, compact, outlived>;

/// The answer to confirm. `led`: no other replica can have been leader of a later term when it was asked. What is to be shown waits until
/// `index` is applied.
struct confirmation {
  std::uint64_t ticket = 0;
  bool led = false;
  log_index index = 0;
};

struct output {
  std::vector<record> records;
  std::uint64_t position = 0;  // of the last record ever given out
  std::vector<message> messages;
  std::vector<entry> committed;
  std::vector<confirmation> confirmed;
  log_index accepted = 0;  // propose, change_members: the index of the new entry; 0: refused
};

enum class role { follower, pre_candidate, candidate, leader };

class consensus {
 public:
  /// std::logic_error: journal and state do not belong together.
  consensus(const settings& how, recovered from, moment now);

  output step(const input& in, moment now);

  role current_role() const { return role_; }
  log_term term() const { return term_; }
  hard_state hard() const { return {term_, vote_}; }
  replica_id leader() const { return leader_; }
  /// The leader's own first entry, which is its epoch. 0: not the leader.
  log_index epoch() const { return role_ == role::leader ? epoch_ : 0; }
  log_index commit_index() const { return commit_; }
  const log& entries() const { return log_; }
  /// By replica, of a leader. Empty otherwise.
  const std::map<replica_id, progress>& others() const { return others_; }
  /// Boot time at which a majority was last heard of, as of a leader.
  std::int64_t majority_contact_ms() const;
  /// Set for ever once something has happened that no sound replica can cause, or the shard goes on without this one. From then on this one says and
  /// does nothing.
  const std::string& quarantined() const { return quarantined_; }
  /// The reason is its store: that is an older copy of what this replica has had (R14). With a new store and another id it could take part.
  bool went_back() const { return went_back_; }

  /// What the leader's clock showed in its last message since this start, and when that came: a successor counts leases from there (rule S14).
  struct heard_stamp {
    std::int64_t stamp_ms = 0;
    std::int64_t boot_ms = 0;
  };
  heard_stamp last_stamp() const { return heard_; }
  /// What the clock of whichever leader brought the last entry showed then. The entry's stamp is later if that clock had been set back: stamps never
  /// fall in a log, so they say nothing about the clock then.
  std::int64_t shown_stamp_ms() const { return shown_ms_; }

 private:
  // Inputs and messages: consensus.cpp
  void on(const tick&);
  void on(const received& in);
  void on(const durable& in);
  void on(const compact& in);
  void on(const decline& in) { declines_ = in.on; }
  void on(const outlived& in) { quarantine(in.why); }

  void send(replica_id to, log_term term, decltype(message::body) body, std::uint64_t after);
  void release();
  void quarantine(std::string why);
  void become_follower(log_term term, replica_id leader);
  void set_hard(log_term term, replica_id vote);
  void append_entry(entry what);
  void write(record what);
  std::int64_t stamp_ms() const;
  bool journal_stands_still() const;
  std::int64_t next_timeout();

  // Elections: election.cpp
  void campaign(bool pre, bool transfer);
  std::vector<replica_id> electors() const;
  void take_vote(replica_id from, bool granted);
  void answer(const message& from, const vote_request& ask);
  void answer(const message& from, const vote_reply& said);
  void answer(const message& from, const timeout_now&);
  bool follows_a_leader() const;
  bool may_campaign() const;

  // As a follower: follower.cpp
  void answer(const message& from, const append& what);
  void answer(const message& from, const heartbeat& what);
  bool obey(const message& from);
  void commit_to(log_index up_to);
  void heard(std::int64_t shown_ms);

  // As the leader: leader.cpp
  void on(const propose& in);
  void on(const change_members& in);
  void on(const transfer& in);
  void on(const confirm& in);
  void on(const unreachable& in);
  void answer(const message& from, const append_reply& said);
  void answer(const message& from, const heartbeat_reply& said);
  void lead();
  void tick_as_leader();
  void propose_entry(entry_kind kind, std::shared_ptr<const std::string> payload);
  void send_entries(replica_id to, progress& of);
  void send_append(replica_id to, progress& of, std::vector<entry> entries);
  void send_entries_to_all();
  void send_heartbeats();
  void follow_members(log_index next);  // `next`: what is new to a replica that was not followed yet
  bool takes_proposals() const;
  void raise_commit();
  void begin_round();
  void end_round();
  template <class T>
  T reached_by_majority(T own, T progress::*of_other) const;

  bool planted(bool planted_faults::*fault) const { return how_.planted != nullptr && how_.planted->*fault; }

  settings how_;
  moment now_;
  output out_;

  // Durable, or on the way to it.
  log_term term_;
  replica_id vote_;
  log log_;

  // What was written and is not durable yet. A cut lowers the indexes of those before it, so that an index never speaks of another entry.
  struct written {
    std::uint64_t position = 0;
    log_index last_index = 0;
    std::int64_t since_ms = 0;
  };
  std::deque<written> writing_;
  std::uint64_t position_ = 0;
  std::uint64_t durable_position_ = 0;
  std::uint64_t hard_position_ = 0;  // of the last term or vote
  log_index durable_index_;

  std::multimap<std::uint64_t, message> held_;  // by the position that has to be durable before they leave

  role role_ = role::follower;
  replica_id leader_ = 0;
  log_index commit_;
  log_index given_out_;
  std::string quarantined_;
  bool went_back_ = false;
  heard_stamp heard_;
  std::int64_t shown_ms_;

  // Without a leader.
  std::uint64_t random_;
  std::int64_t last_tick_ms_;
  std::int64_t silent_ms_ = 0;
  std::int64_t timeout_ms_ = 0;
  bool declines_ = false;
  std::map<replica_id, bool> votes_;

  // As the leader.
  std::map<replica_id, progress> others_;
  log_index epoch_ = 0;
  std::int64_t last_beat_ms_ = 0;
  replica_id transfer_to_ = 0;
  std::int64_t transfer_since_ms_ = 0;
  std::uint64_t sent_ = 0;  // messages of entries in this term
  std::uint64_t round_ = 0;
  log_index round_index_ = 0;              // what was committed when the round began
  std::vector<std::uint64_t> round_of_;    // tickets of the round in progress
  std::vector<std::uint64_t> next_round_;  // tickets that wait for the next one
};

}  // namespace fairlead::raft
