#pragma once
// Judges what replicas do by what it has seen itself: their records, their commits and the answers they gave to clients.

#include <algorithm>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include "actors/core/raft/consensus.hpp"

namespace fairlead::simulation {

/// A rule was broken. Ends the run.
class broken_rule : public std::runtime_error {
 public:
  broken_rule(std::string rule, const std::string& sentence) : std::runtime_error{sentence}, rule_{std::move(rule)} {}
  const std::string& rule() const { return rule_; }

 private:
  std::string rule_;
};

class consensus_judge {
 public:
  /// A record was given to the journal of `who`, whose committed entries end at `given_out`.
  void wrote(raft::replica_id who, const raft::record& what, raft::log_index given_out);
  /// `who` has given out a committed entry in `term`.
  void committed(raft::replica_id who, raft::log_term term, const raft::entry& what);
  /// `who` believes that it leads.
  void leads(raft::replica_id who, const raft::consensus& replica);
  /// A client was told that its entry is committed.
  void acknowledged(raft::log_index index) { last_acknowledged_ = std::max(last_acknowledged_, index); }
  raft::log_index last_acknowledged() const { return last_acknowledged_; }
  /// `who` was asked when `known` was acknowledged, and says that it led then and that `index` is enough to know.
  void confirmed(raft::replica_id who, raft::log_index known, raft::log_index index);

  raft::log_index last_committed() const { return committed_.empty() ? 0 : committed_.rbegin()->first; }

 private:
  struct known_entry {
    raft::log_term term = 0;
    std::uint64_t content = 0;
    raft::log_term given_out_in = 0;  // the earliest
  };
  std::map<raft::log_index, known_entry> committed_;
  std::map<std::pair<raft::log_index, raft::log_term>, std::uint64_t> made_;  // log matching: one content for index and term
  std::map<raft::log_term, raft::replica_id> leaders_;
  std::map<raft::log_index, std::int64_t> stamps_;  // of committed entries
  raft::log_index last_acknowledged_ = 0;
};

}  // namespace fairlead::simulation
