#pragma once
// The stores of a node on its disks: one LMDB environment for each shard, and the journal in front of them.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "messages/status.pb.h"
#include "store/journaled/applier.hpp"
#include "store/journaled/stores.hpp"
#include "store/lmdb/archive.hpp"
#include "store/lmdb/store.hpp"

namespace fairlead::store {

struct disk_stores_options {
  struct shard {
    std::uint16_t number = 0;
    std::string directory;
    bool replicated = false;  // the node file names several nodes for it
  };
  std::vector<shard> shards;
  std::uint32_t shard_count = 1;                          // of the cluster
  std::string journal;                                    // its directory
  std::uint64_t max_bytes = std::uint64_t{16} << 30;      // of each shard's store
  std::uint64_t segment_bytes = std::uint64_t{64} << 20;  // of the journal
  std::uint64_t journal_max_bytes = std::uint64_t{1} << 30;
  std::string release;
  std::uint32_t reads = shard_format;                       // as journaled_options::reads
  std::function<status(const journal_end&)> check_journal;  // as journal_options::check_found
};

class disk_stores {
 public:
  /// Opens what is there and makes what is missing; a store of an earlier release gets its journal. Nothing is applied yet. Errors: those of
  /// lmdb_store::open and journaled_stores::open, and invalid_argument: a store is another shard.
  static result<std::unique_ptr<disk_stores>> open(disk_stores_options options);
  ~disk_stores();

  std::size_t size() const noexcept { return tables_.size(); }
  /// In the order of the options.
  journaled_store& at(std::size_t place) const { return joined_->at(place); }
  const std::string& directory(std::size_t place) const { return tables_[place]->directory(); }
  const std::shared_ptr<archive>& archives(std::size_t place) const { return archives_[place]; }
  /// What recovery found damaged, and nobody needs any more.
  const std::vector<journal_damage>& healed() const noexcept { return joined_->healed(); }
  /// False: the journal's writes go through the page cache.
  bool direct() const noexcept { return direct_; }

  /// Tells of damage of a store that a read meets, on its thread. Before anybody else reads.
  void on_damage(const std::function<void(const error&)>& told) {
    for (const auto& one : tables_) one->on_damage(told);
  }
  /// From now on what is committed is applied in the background. What is called is said at the applier.
  void begin_applying(applier::fatal on_fatal, applier::note on_note, applier::fatal on_hung);
  /// Applies everything and ends the journal cleanly. Nothing may be committed meanwhile or afterwards. Without it everything stays durable,
  /// and the next opening goes on.
  status close();

  /// From any thread.
  journal_end end_of_journal() const { return {joined_->log().id(), joined_->log().last_group()}; }

  /// From any thread.
  void describe(std::size_t place, v1::StoreStatus& out) const;

 private:
  disk_stores() = default;

  disk_stores_options options_;
  std::vector<std::unique_ptr<lmdb_store>> tables_;
  std::vector<std::shared_ptr<archive>> archives_;
  std::unique_ptr<journaled_stores> joined_;
  std::optional<applier> applier_;
  bool direct_ = true;
};

}  // namespace fairlead::store
