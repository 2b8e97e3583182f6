#pragma once
// RAII over LMDB; only env.cpp and copy.cpp include lmdb.h. Rules of LMDB that are kept here:
//   - Only the durable default flags (and MDB_NOTLS, so that a read transaction may move between threads, one at a time).
//   - An environment is open once in a process: the exclusive lock on the file `lock` refuses a second opening, in this process or
//     in another. The lock belongs to the open file and ends with it, however the process ends.
//   - Read transactions are reset and renewed instead of created, and given back as soon as their owner is done. Opening clears stale
//     readers. A write transaction begins and ends in one thread.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "messages/error.hpp"
#include "store/batch.hpp"
#include "store/directory.hpp"
#include "store/lmdb/group_operations.hpp"
#include "store/store.hpp"

struct MDB_env;
struct MDB_txn;

namespace fairlead::store {

struct env_options {
  std::string directory;
  std::uint64_t max_size_bytes = std::uint64_t{64} << 30;  // address space and upper limit; the file grows as needed
  bool read_only = false;                                  // the store must exist; takes the exclusive lock, too
  bool check_pages = false;                                // reads all pages in use first (store/lmdb/pages.hpp), to write at most 4 GiB
};

/// Options for a program that is no node: whatever size the store has, it can be written.
env_options options_of_tool(const std::string& directory, bool read_only = false);

class read_txn;
class write_txn;

class env : public std::enable_shared_from_this<env> {
 public:
  /// Opens or creates the environment with all tables of batch.hpp. Every refusal is an error with a remedy.
  static result<std::shared_ptr<env>> open(const env_options& options);
  ~env();
  env(const env&) = delete;
  env& operator=(const env&) = delete;

  /// Never fails: if the transaction could not begin, its first read returns the error.
  read_txn read();
  result<write_txn> write();

  /// Bytes of all pages up to the last page in use, free ones included.
  std::uint64_t file_bytes() const;
  std::uint64_t max_bytes() const noexcept { return max_bytes_; }
  /// Bytes of the free pages that can be written to: a reader, also a backup, keeps those that it sees. Walks the free list.
  result<std::uint64_t> free_bytes();

  const std::string& directory() const noexcept { return directory_; }

  /// Writes the state of the last transaction, without its free pages, to the file. Durable on return. Others read and write meanwhile.
  status copy_to(int file) const;
  /// This environment gets the place of `former`, whose files it replaces: its own directory is on the same file system and has nothing else.
  /// After a crash either those of `former` are there or these. Whoever reads `former` may go on, and nobody writes to it any more.
  status take_place_of(env& former);

  /// `rc` of LMDB or the operating system as an error value.
  error failure(int rc, const char* doing) const;

 private:
  friend class read_txn;
  friend class write_txn;

  env(std::string directory, directory_lock lock)
      : directory_(std::move(directory)), lock_(std::make_shared<directory_lock>(std::move(lock))) {}
  status start(const env_options& options);
  status open_tables(bool read_only);
  status check_length(bool read_only);
  status check_pages(bool read_only) const;
  std::size_t oldest_reader() const;
  MDB_txn* begin_reader(int& rc);
  MDB_txn* take_reader(int& rc);
  void give_back(MDB_txn* txn);

  std::string directory_;
  std::shared_ptr<directory_lock> lock_;  // of the directory, also while a former environment of it is still read
  MDB_env* env_ = nullptr;
  unsigned tables_[table_count] = {};
  std::uint64_t max_bytes_ = 0;
  std::uint64_t writes_ = 0;  // changed in write transactions
  std::mutex pool_guard_;
  std::vector<MDB_txn*> idle_readers_;
  // LMDB keeps its two newest states in two places in turn. A reader that reads the newest one's number, and stands still while one commit ends
  // and the next one writes its state to the same place, would see what is not durable yet, then the state before it, or a mixture
  // (mdb_txn_renew0 and mdb_env_write_meta, LMDB 0.9.24). So a reader begins again when a second commit has begun meanwhile.
  std::atomic<std::uint64_t> commits_begun_{0};
  std::atomic<std::uint64_t> commits_ended_{0};
};

/// One committed state. Values are the stored form. Views are valid while the transaction lives.
class read_txn {
 public:
  read_txn(read_txn&& other) noexcept;
  read_txn& operator=(read_txn&&) = delete;
  ~read_txn();

  result<std::optional<std::string_view>> get(table where, std::string_view key) const;
  /// See snapshot::scan; `visit` gets the stored value and may end the scan with false.
  status scan(table where, std::string_view from, std::string_view to, const snapshot::visitor& visit) const;
  status scan_reverse(table where, std::string_view from, std::string_view to, const snapshot::visitor& visit) const;
  std::uint64_t count(table where) const;

 private:
  friend class env;
  read_txn(std::shared_ptr<env> owner, MDB_txn* txn, int rc) : owner_(std::move(owner)), txn_(txn), rc_(rc) {}
  std::shared_ptr<env> owner_;
  MDB_txn* txn_;
  int rc_;  // why there is no transaction
};

/// Aborted unless committed.
class write_txn {
 public:
  write_txn(write_txn&& other) noexcept;
  write_txn& operator=(write_txn&&) = delete;
  ~write_txn();

  /// Writes the gathered operations.
  status apply(const group_operations& group);
  /// Writes operations that are in the order of tables and keys.
  status apply(const std::vector<operation>& sorted);
  /// Writes a stored value.
  status put(table where, std::string_view key, std::string_view stored);
  result<std::optional<std::string_view>> get(table where, std::string_view key) const;
  /// Durable on return. The transaction is over, even on failure.
  status commit();

 private:
  friend class env;
  write_txn(env* owner, MDB_txn* txn) : owner_(owner), txn_(txn) {}
  status apply_to_one_table(const operation* begin, const operation* end);
  env* owner_;
  MDB_txn* txn_;
};

}  // namespace fairlead::store
