#pragma once
// The store of one shard of a node that does not run, with what the node's journal has of it.

#include <memory>
#include <string>

#include "store/journal/recovery.hpp"
#include "store/journaled/store.hpp"
#include "store/lmdb/archive.hpp"
#include "store/lmdb/store.hpp"
#include "store/meta_rows.hpp"

namespace fairlead::store {

/// The directory of the journal of a node with this store: in the store's directory, or beside it, whichever is there.
std::string find_journal(const std::string& directory);

class one_store {
 public:
  enum class access { read, settle };
  /// Reads both; nothing is written. `journal`: its directory; empty: the one that is found. A store that is whole without its journal needs
  /// none; if it is there, it counts. Errors: those of lmdb_store::open, wrong_state (the journal is missing, or another one), corrupt.
  static result<std::unique_ptr<one_store>> open(const std::string& directory, std::string journal, access how);

  /// The two halves of that: the tables alone, and what the journal `id` in `path` has besides. `files`: null, if there is no journal.
  static result<std::unique_ptr<one_store>> open_tables(const std::string& directory, access how);
  status join(journal_files* files, const std::string& path, const std::optional<journal_id>& id);

  /// Those of the store, while it is open.
  archive& archives() const noexcept { return *archives_; }

  /// The store with what the journal has.
  std::unique_ptr<snapshot> read() const { return joined_->read(); }
  /// Brings all to the tables and takes them out of the journal. Only after access::settle. `accept_log`: of one of several copies, with entries of
  /// which only the others know whether they count.
  status settle(bool accept_log = false);
  /// Which copy of a replicated shard it is; nullopt: none.
  const std::optional<meta::replica_identity>& replica() const noexcept { return joined_->replica(); }
  /// How far its log goes, and with which members.
  log_base log_end() const { return joined_->log_end(); }
  /// The last entry that the tables have.
  std::uint64_t applied_index() const { return joined_->position().applied_index; }
  /// Its number; 0 for a store of a release without shards.
  std::uint16_t shard() const;
  /// The journal that the store was behind, before it is settled.
  const std::optional<journal_id>& journal() const noexcept { return joined_->journal_of_tables(); }
  /// Damage in the journal that concerns nothing of this shard.
  const std::vector<journal_damage>& damages() const noexcept { return damages_; }

 private:
  one_store() = default;
  bool is_whole() const;

  std::unique_ptr<lmdb_store> tables_;
  std::unique_ptr<archive> archives_;
  std::unique_ptr<journaled_store> joined_;
  std::string directory_;
  std::vector<journal_damage> damages_;
};

}  // namespace fairlead::store
