#pragma once
// The store of one shard of a node that does not run, with what the node's journal has of it.

#include <memory>
#include <string>

#include "store/journal/recovery.hpp"
#include "store/journaled/store.hpp"
#include "store/lmdb/store.hpp"

namespace fairlead::store {

class one_store {
 public:
  enum class access { read, settle };
  /// Reads both; nothing is written. `journal`: its directory; empty: that in the store's directory, or beside it, whichever is there. A
  /// store that is whole without its journal needs none. Errors: those of lmdb_store::open, wrong_state (the journal is missing, or another
  /// one), corrupt.
  static result<std::unique_ptr<one_store>> open(const std::string& directory, std::string journal, access how);

  /// The store with what the journal has.
  std::unique_ptr<snapshot> read() const { return joined_->read(); }
  /// Brings all to the tables and takes them out of the journal. Only after access::settle.
  status settle() { return joined_->journal_of_tables() ? joined_->settle() : status(nothing{}); }
  /// Whether the store was behind a journal.
  bool has_journal() const noexcept { return joined_->journal_of_tables().has_value(); }
  /// Damage in the journal that concerns nothing of this shard.
  const std::vector<journal_damage>& damages() const noexcept { return damages_; }

 private:
  one_store() = default;
  std::unique_ptr<lmdb_store> tables_;
  std::unique_ptr<journaled_store> joined_;
  std::vector<journal_damage> damages_;
};

/// Settles the store in `directory`; on return it is whole without a journal, and any release can open it.
status settle_store(const std::string& directory, const std::string& journal = {});

/// Takes the store out of a journal that is missing or damaged, with what the tables have. The store then needs a restore before any node
/// takes it, because work that was acknowledged may be lost.
status leave_journal(const std::string& directory);

}  // namespace fairlead::store
