#pragma once
// The entries of a shard that are kept in memory: those behind its base. What is durable of them is told by the one who writes the journal.

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "actors/core/raft/types.hpp"

namespace fairlead::raft {

class log {
 public:
  /// The entries go on behind the base, without a gap.
  log(base from, std::vector<entry> entries);

  log_index base_index() const { return base_index_; }
  log_term base_term() const { return base_term_; }
  log_index last_index() const { return base_index_ + entries_.size(); }
  log_term last_term() const { return entries_.empty() ? base_term_ : entries_.back().term; }
  std::int64_t last_stamp_ms() const { return entries_.empty() ? base_stamp_ms_ : entries_.back().stamp_ms; }
  std::size_t bytes() const { return bytes_; }
  /// Of the entries behind `after`. What is below the base is not counted.
  std::size_t bytes_behind(log_index after) const;

  /// nullopt: below the base or behind the end.
  std::optional<log_term> term_at(log_index at) const;
  /// base_index() < at <= last_index()
  const entry& at(log_index at) const { return entries_[at - base_index_ - 1]; }

  /// True: a log that ends so lacks nothing that this one has committed.
  bool is_covered_by(log_index last_index, log_term last_term) const;

  /// The last index up to `limit` whose term is at most `term`: above it two logs that disagree there cannot agree.
  log_index last_of_term(log_index limit, log_term term) const;

  /// Entries from `from` on, of at most `max_bytes` together, but one at least.
  std::vector<entry> slice(log_index from, std::size_t max_bytes) const;

  void append(entry what);
  /// `keep_members`: a planted fault, see planted_faults.
  void cut_from(log_index first_removed, bool keep_members = false);
  /// The members are those in force at `up_to`.
  void raise_base(log_index up_to);

  /// Those in force: the last in the log, committed or not (Ongaro 2014, 4.1).
  const members& current_members() const { return members_.back().who; }
  /// Index of the entry that says so; at most the base's when none is kept.
  log_index members_index() const { return members_.back().index; }
  const members& members_at(log_index at) const;
  /// A log that begins behind `at`. nullopt: as of term_at.
  std::optional<base> base_at(log_index at) const;
  /// True: `id` votes by the members in force at `at`, or by later ones.
  bool votes_since(log_index at, replica_id id) const;

 private:
  struct known_members {
    log_index index = 0;
    members who;
  };

  log_index base_index_;
  log_term base_term_;
  std::int64_t base_stamp_ms_;
  std::deque<entry> entries_;
  std::deque<known_members> members_;  // never empty; the first is in force at the base
  std::size_t bytes_ = 0;
};

}  // namespace fairlead::raft
