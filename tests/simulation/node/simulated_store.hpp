#pragma once
// A shard's store as production has it, with its journal, recovery and applier's work, on a disk and tables in memory. The disk tears the
// write that a power cut interrupts.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>

#include "actors/replication/replica.hpp"
#include "store/journaled/stores.hpp"
#include "store/memory/memory_disk.hpp"
#include "store/memory/memory_store.hpp"
#include "tests/store/tables_around.hpp"

namespace fairlead::simulation {

/// Tables in memory whose process may end while a copy takes their place.
class tables_of_node final : public fairlead::store::testing::tables_around {
 public:
  using tables_around::tables_around;
  std::function<void(bool placed)> on_placing;
  bool keeps_identity = false;  // a planted fault: of the replica that a copy comes from

  result<std::unique_ptr<fairlead::store::incoming_copy>> receive(std::uint64_t bytes) override;
};

/// With which shards of several nodes begin.
v1::Lineage first_of_simulated();

class simulated_store final : public store::store {
 public:
  using moment = fairlead::store::memory_store::moment;

  /// `archives` outlives the store.
  /// With `born` other nodes hold the shard, too, and whoever has this one takes the log of own().
  simulated_store(std::uint64_t seed, fairlead::store::archives_below& archives, const clock& time, std::optional<replica_settings> born);

  status commit(const std::vector<fairlead::store::batch>& group) override;
  result<std::uint64_t> raise_epoch() override;
  std::unique_ptr<fairlead::store::snapshot> read() const override { return joined_ ? own().read() : tables_.read(); }
  std::unique_ptr<fairlead::store::snapshot> read_settled() const override { return joined_ ? own().read_settled() : tables_.read(); }
  fairlead::store::usage get_usage() const override { return joined_ ? own().get_usage() : tables_.get_usage(); }

  fairlead::store::journaled_store& own() const { return joined_->at(0); }
  std::uint64_t sequence() const { return own().sequence(); }

  /// Called when a copy is about to take the place of the tables, and when it has. May throw, as a process ends.
  void on_placing(std::function<void(bool placed)> told) { below_.on_placing = std::move(told); }

  /// Of the tables alone.
  fairlead::store::usage tables_usage() const { return tables_.get_usage(); }

  result<v1::Lineage> claim_lineage(const v1::Lineage& fresh) { return own().claim_lineage(fresh); }

  /// What the applier's threads do. Error store_full: the tables have no room.
  status apply();
  bool has_more_to_apply() const { return own().unapplied_generations() > 0; }
  /// The process ends, and what the next one finds is recovered.
  void end_process();
  /// Its disk is lost with the process: an empty one takes its place, and a store of that lineage is made on it.
  void lose_disk(const replica_settings& born, const v1::Lineage& of);
  /// As `fairlead cluster recover` makes it whole without the others: what it has counts. `change` gets it then, outside its journal, as restore()
  /// says. Afterwards it is the only replica, `id`, of a shard that others can join. `nodes`: the row of its nodes.
  void recover(bool with_journal, raft::replica_id id, const v1::ShardNodes& nodes,
               const std::function<void(fairlead::store::restorable&)>& change);
  /// The latest format that the program knows, from the next process on.
  void know_format(std::uint32_t format) { reads_ = format; }
  /// The n-th operation of the disk from now is torn, and throws disk_crash; 0: none is.
  void cut_power_after(std::uint64_t operations) { disk_->crash_after(operations); }

  /// The n-th operation of the disk from now fails, and nobody knows how much of it was done; 0: none does.
  void fail_after(std::uint64_t operations) { disk_->fail_after(operations); }

  /// A row that the log does not have comes to the tables.
  void change_state(const std::string& row);

  /// A planted fault: a copy that is installed keeps the identity that it came with.
  void keep_copied_identity() { below_.keeps_identity = true; }

  void resize(std::uint64_t max_size_bytes) { tables_.resize(max_size_bytes); }
  /// What an earlier release leaves that had the store in between; an operator has settled it for that.
  /// False: the tables have no room for what is in the journal, so nothing was done.
  bool leave_state(const v1::ShardState& shard);
  /// A backup, which is a settled store; null: as above.
  std::shared_ptr<const moment> keep();
  /// Puts a backup back. Nothing but restore() may come next.
  void put_back(const moment& earlier);
  /// `change` gets the store as `fairlead restore` has it, outside its journal. `with_journal`: the journal that it comes back to has entries
  /// of the shard's former lineage; else that is lost, too.
  void restore(bool with_journal, const std::function<void(fairlead::store::restorable&)>& change);

  /// Takes writes of an earlier epoch, so that it can be shown that somebody notices.
  void plant_any_epoch() { any_epoch_ = true; }

 private:
  void be_born(const replica_settings& as, const v1::Lineage& of);
  void open();
  void close();
  bool settled(const std::function<void()>& look);
  void judge_time();

  std::mt19937_64 random_;
  fairlead::store::archives_below& archives_;
  const clock& time_;
  const bool replicated_;
  std::uint32_t reads_ = fairlead::store::shard_format;
  std::int64_t stamp_ms_ = 0;     // of the last entry, and
  std::int64_t stamp_at_ms_ = 0;  // the boot clock then; 0: the process has written none
  fairlead::store::memory_store tables_;
  tables_of_node below_{tables_};
  std::unique_ptr<fairlead::store::memory_disk> disk_;
  std::unique_ptr<fairlead::store::journaled_stores> joined_;  // null: between put_back and restore
  std::unique_ptr<replica> replica_;                           // of the process, from its first epoch on
  bool any_epoch_ = false;
};

}  // namespace fairlead::simulation
