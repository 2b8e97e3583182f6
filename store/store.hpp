#pragma once
// The store as the shells see it: atomic groups of batches in, consistent snapshots out. Two implementations: LMDB (store/lmdb/store.hpp)
// and a twin in memory that forgets unsynced writes (memory_store.hpp); both pass the same tests.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "messages/error.hpp"
#include "messages/task.pb.h"
#include "store/batch.hpp"

namespace fairlead::store {

/// The progress row: the position of this store in the shard's history.
struct progress {
  std::uint64_t sequence = 0;
  std::uint64_t epoch = 0;
  v1::ShardState shard;
};

struct usage {
  std::uint64_t used_bytes = 0;  // pages in use (free pages that can be reused are not counted)
  std::uint64_t max_bytes = 0;
};

/// A consistent view of one committed state. Keep it short-lived: while it lives, LMDB cannot reuse old pages. One thread at a time. Views
/// are valid while the snapshot lives.
class snapshot {
 public:
  virtual ~snapshot() = default;

  /// The payload under `key`, with its checksum verified and removed; nullopt: there is none. A damaged value gives an error (code corrupt)
  /// that names table and key.
  virtual result<std::optional<std::string_view>> get(table where, std::string_view key) const = 0;

  /// Visits the pairs with from <= key < to in key order (an empty `to`: to the end of the table); `visit` gets key and payload and
  /// returns false to stop.
  using visitor = std::function<bool(std::string_view key, std::string_view payload)>;
  virtual status scan(table where, std::string_view from, std::string_view to, const visitor& visit) const = 0;

  /// Like scan, from the greatest key below `to` downwards.
  virtual status scan_reverse(table where, std::string_view from, std::string_view to, const visitor& visit) const = 0;

  /// Visits a whole table in key order. Damaged values are visited, too (nullopt as payload), so that a check can go on after the first.
  using inspector = std::function<bool(std::string_view key, std::optional<std::string_view> payload)>;
  virtual status scan_all(table where, const inspector& visit) const = 0;

  /// Entries in a table. Constant time.
  virtual std::uint64_t count(table where) const = 0;

  virtual progress get_progress() const = 0;
};

class store {
 public:
  virtual ~store() = default;

  /// Writes all batches of the group, in order: on success all are durable. Batches must be in sequence. One thread at a time, not always
  /// the same. Errors: stale_epoch (another leader or start took the shard; nothing is written), store_full, disk, corrupt. After the last
  /// two the process must stop and never retry; the first batches of the group may be durable.
  virtual status commit(const std::vector<batch>& group) = 0;

  /// Raises the epoch durably and returns the new one. Every start of a shard calls it before anything else.
  virtual result<std::uint64_t> raise_epoch() = 0;

  /// All that was committed before the call. From any thread, also during commits.
  virtual std::unique_ptr<snapshot> read() const = 0;

  /// A committed state that may be some 100 ms old. For what reads much or counts: it is cheaper where commits are applied later.
  virtual std::unique_ptr<snapshot> read_settled() const { return read(); }

  virtual usage get_usage() const = 0;
};

}  // namespace fairlead::store
