#pragma once
// The store's twin in memory, for tests and the simulator: the same rules, and a crash on demand.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "store/restorable.hpp"
#include "store/tables.hpp"

namespace fairlead::store {

class memory_store final : public restorable, public tables {
 public:
  /// `at_once`: durable when commit returns, as with LMDB. `when_told`: readers see a commit at once, but a crash forgets it unless sync()
  /// came before; the simulation acknowledges only after that sync.
  enum class durability { at_once, when_told };

  explicit memory_store(durability mode = durability::at_once, std::uint64_t max_size_bytes = std::uint64_t{1} << 40);
  ~memory_store() override;

  status commit(const std::vector<batch>& group) override;
  /// Durable at once in both modes, together with everything committed before.
  result<std::uint64_t> raise_epoch() override;
  std::unique_ptr<snapshot> read() const override;
  usage get_usage() const override;

  /// For a store behind a journal: durable at once in both modes.
  status apply(const std::vector<operation>& sorted) override;
  std::unique_ptr<snapshot> read_tables() const override { return read(); }
  usage tables_usage() const override { return get_usage(); }
  result<std::unique_ptr<tables_copy>> copy() override;
  result<std::unique_ptr<incoming_copy>> receive(std::uint64_t bytes) override;

  /// Makes all commits so far durable.
  void sync();
  /// Forgets unsynced writes. Existing snapshots keep their contents.
  void crash();

  /// Sets the size limit; contents stay.
  void resize(std::uint64_t max_size_bytes);
  /// Sets the shard's state to that of an earlier release. Durable at once.
  void leave_state(const v1::ShardState& shard);

  /// The durable contents at a moment, like a backup; `put_back` restores them.
  struct moment;
  std::shared_ptr<const moment> keep() const;
  void put_back(const moment& earlier);
  /// For each row: u8 table | u32 bytes of the key | u32 bytes of the stored value | both.
  static std::string bytes_of(const moment& of);
  /// null: it is not what bytes_of gives.
  static std::shared_ptr<const moment> moment_of(std::string_view bytes);

  /// Accepts writes of an earlier epoch, so that tests can show that they notice this.
  void plant_any_epoch() { any_epoch_ = true; }

  /// Changes one stored byte, for tests of damaged values. False: there is no such key.
  bool damage(table where, std::string_view key);

  struct contents;

 private:
  struct change {
    table where;
    std::string key;
    std::optional<std::string> before;
  };
  /// Durable at once in both modes, like a raised epoch.
  status write_meta_rows(const meta_rows& rows, std::uint64_t least_epoch) override;
  std::string place() const override { return "in memory"; }
  error full() const;
  void write(table where, std::string_view key, const std::string_view* stored);
  void write_progress(std::uint64_t sequence, std::uint64_t epoch, std::string_view shard_state);

  durability mode_;
  std::uint64_t max_bytes_;
  std::shared_ptr<contents> now_;
  std::vector<change> unsynced_;  // earlier values, in order of the writes
  std::uint64_t sequence_ = 0;
  std::uint64_t epoch_ = 0;
  bool any_epoch_ = false;
  std::string shard_state_;
  std::uint64_t synced_sequence_ = 0;
  std::string synced_shard_state_;
};

}  // namespace fairlead::store
