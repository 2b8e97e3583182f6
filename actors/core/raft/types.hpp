#pragma once
// The words of a shard's log that several replicas keep. Raft as in Ongaro's dissertation (2014), in the shape of etcd's raft: without joint
// consensus and without leader leases. docs/adr/0033-consensus.md says why it is our own.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace fairlead::raft {

/// One copy of a shard. A copy that was wiped, restored or salvaged has a new id. 0: none.
using replica_id = std::uint64_t;
/// Position in the log of a shard, from 1 on. 0: before the first entry.
using log_index = std::uint64_t;
/// Counts elections. A replica never acts in a term below the highest that it has met.
using log_term = std::uint64_t;

/// Numbers are for ever: they are the types of the journal's records (store/journal/format.hpp).
enum class entry_kind : std::uint8_t {
  batches = 1,
  epoch = 2,    // empty: a leader begins; the index is its epoch
  members = 3,  // v1::ShardMembers
  rows = 12,
};

struct entry {
  log_index index = 0;
  log_term term = 0;
  std::int64_t stamp_ms = 0;  // shard time of the leader that made it; never falls in a log
  entry_kind kind = entry_kind::batches;
  std::shared_ptr<const std::string> payload;  // shared by log, journal and messages; null: empty

  std::string_view bytes() const { return payload ? std::string_view{*payload} : std::string_view{}; }
};

/// Which replicas there are. Both lists rise; no id is in both.
struct members {
  std::vector<replica_id> voters;
  std::vector<replica_id> standbys;

  bool votes(replica_id id) const;
  bool has(replica_id id) const;
  /// All ids but `self`.
  std::vector<replica_id> others(replica_id self) const;

  friend bool operator==(const members&, const members&) = default;
};

std::shared_ptr<const std::string> encode(const members& in);
/// Of one shard. A list of so many fits the head of a journal's segment (store/journal/log_standing.hpp).
inline constexpr std::size_t max_replicas = 13;
/// nullopt: not members; the lists do not rise, an id is 0 or in both, nobody votes, or there are too many.
std::optional<members> decode_members(std::string_view bytes);

/// True: from `before` to `after` at most one voter comes or goes, so that every majority of one meets every majority of the other.
bool one_voter_apart(const members& before, const members& after);

// What goes into the journal.

/// The term and the vote in it (0: none) from here on.
struct hard_state {
  log_term term = 0;
  replica_id vote = 0;
};
/// The entries from this index on are void.
struct cut {
  log_index first_removed = 0;
  log_term last_term = 0;  // of the entry before it, which is the last one now
  members who;             // in force from there on
};
/// The log begins behind this index: what is below is in the state of the shard.
struct base {
  log_index index = 0;
  log_term term = 0;
  members who;                // as of that index
  std::int64_t stamp_ms = 0;  // of that entry
};
using record = std::variant<hard_state, cut, base, entry>;

}  // namespace fairlead::raft
