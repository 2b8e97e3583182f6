#pragma once
// The durable store: one LMDB environment in a directory, which one process holds.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "store/lmdb/env.hpp"
#include "store/restorable.hpp"
#include "store/tables.hpp"

namespace fairlead::store {

class lmdb_store final : public restorable, public tables {
 public:
  /// Opens the store in `options.directory`, or creates one there (unless read_only). Refuses, each with a remedy: a directory that cannot
  /// be made or written, a directory in use (store_in_use), a newer schema (store_newer), a damaged file (corrupt). Only `journaled` takes a store
  /// that is behind a journal: without it the last work that was acknowledged would be missing.
  static result<std::unique_ptr<lmdb_store>> open(const env_options& options, bool journaled = false, bool check_pages = true);

  status commit(const std::vector<batch>& group) override;
  result<std::uint64_t> raise_epoch() override;
  std::unique_ptr<snapshot> read() const override;
  usage get_usage() const override;

  /// For a store behind a journal, which writes by nothing else.
  status apply(const std::vector<operation>& sorted) override;
  std::unique_ptr<snapshot> read_tables() const override { return read(); }
  usage tables_usage() const override { return get_usage(); }
  result<std::unique_ptr<tables_copy>> copy() override;
  result<std::unique_ptr<incoming_copy>> receive(std::uint64_t bytes) override;
  /// `told` is called when another data file is about to take the place of the store's, with the directory that has it, and once it has, with that of
  /// the store.
  void on_other_file(std::function<void(const std::string& directory)> told) { on_other_file_ = std::move(told); }

  /// Tells of damage that a read meets, on its thread. Set before others read.
  void on_damage(std::function<void(const error&)> told) { on_damage_ = std::move(told); }

  const std::string& directory() const noexcept { return directory_; }
  /// Sequence of the last committed batch, and transactions committed since the opening. From any thread.
  std::uint64_t sequence() const noexcept { return sequence_.load(std::memory_order_relaxed); }
  std::uint64_t commits() const noexcept { return commits_.load(std::memory_order_relaxed); }

 private:
  class incoming;
  lmdb_store(std::shared_ptr<env> opened, const env_options& options)
      : directory_(options.directory), max_size_bytes_(options.max_size_bytes), env_(std::move(opened)) {}
  std::shared_ptr<env> current() const;
  status take(lmdb_store& other);
  void remove_copies() const;
  status begin_or_check(bool read_only, bool journaled);
  status begin_new();
  status write_group(const std::vector<batch>& group);
  status write_meta(std::string_view row, std::string_view payload);
  status write_meta_rows(const meta_rows& rows, std::uint64_t least_epoch) override;
  std::string place() const override { return directory(); }
  status remember(status outcome);

  const std::string directory_;
  const std::uint64_t max_size_bytes_;
  std::function<void(const std::string& directory)> on_other_file_;
  std::function<void(const error&)> on_damage_;
  mutable std::mutex env_guard_;  // covers the pointer; who writes has commit_guard_, too
  std::shared_ptr<env> env_;
  std::mutex commit_guard_;
  std::optional<error> failed_;  // after a disk error nothing more is written: the state on the disk is unknown
  group_operations gathered_;
  std::uint64_t epoch_ = 0;
  std::string shard_state_;
  std::atomic<std::uint64_t> sequence_{0};
  std::atomic<std::uint64_t> commits_{0};
  std::atomic<std::uint64_t> applies_{0};  // of these, for a journal

  mutable std::mutex usage_guard_;
  mutable std::uint64_t free_bytes_ = 0;
  mutable std::uint64_t free_counted_at_commit_ = 0;
  mutable bool free_counted_ = false;
};

}  // namespace fairlead::store
