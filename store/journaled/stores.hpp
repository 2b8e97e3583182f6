#pragma once
// The stores of a node behind its one journal: opened together, because each is only whole with the journal, and the journal only with all.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "store/journal/files.hpp"
#include "store/journal/journal.hpp"
#include "store/journaled/store.hpp"
#include "store/tables.hpp"

namespace fairlead::store {

/// The error of a store whose journal is not where it should be.
error missing_journal(const std::string& path, const std::string& place);

class journaled_stores {
 public:
  struct member {
    std::uint16_t shard = 0;
    std::string place;
    tables* below = nullptr;             // outlives the stores
    archives_below* archives = nullptr;  // the same; null: nothing is ever archived
    bool replicated = false;             // other replicas of the shard have a vote
    std::uint32_t reads = shard_format;  // as journaled_options::reads
  };

  /// Recovers the journal in `files`, makes one if no store has one yet, and gives each store what its tables lack. Errors: wrong_state
  /// (the journal is missing, or belongs to other stores), corrupt (something acknowledged is missing), store_newer, disk.
  static result<std::unique_ptr<journaled_stores>> open(std::unique_ptr<journal_files> files, const std::vector<member>& members,
                                                        journal_options options);

  /// In the order of the members.
  journaled_store& at(std::size_t place) const { return *stores_[place]; }
  std::size_t size() const noexcept { return stores_.size(); }
  journal& log() const noexcept { return *journal_; }
  /// What recovery found that nobody needs to be told about more than once: damage below what is applied.
  const std::vector<journal_damage>& healed() const noexcept { return healed_; }

  /// Applies everything and writes a clean end. Nothing may be committed meanwhile or afterwards.
  status close();

 private:
  journaled_stores() = default;

  std::unique_ptr<journal_files> files_;
  std::vector<std::unique_ptr<journaled_store>> stores_;
  std::unique_ptr<journal> journal_;
  std::vector<journal_damage> healed_;
};

}  // namespace fairlead::store
