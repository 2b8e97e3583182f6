#pragma once
// A batch: the writes of one decision round, as a plain value. Applied whole or not at all.
//
// Byte format of `bytes()`, an operation after the other (the idea of LevelDB's WriteBatch: what is logged is what is applied):
//   u8 kind (1 put, 2 erase) | u8 table | u32 LE key size | key | [put only: u32 LE value size | value]
// `value` is the stored form: payload and 4 bytes of checksum, see store/checksum.hpp.

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::store {

/// What a release can read of a shard that several nodes hold: its tables, kinds of operations and types of entries. Raised with each new one. A leader
/// writes what a format has that is new only once all nodes of the shard know the format (ShardNodes.format).
inline constexpr std::uint32_t shard_format = 1;

/// A sound operation of a table, or of a kind, that this release does not know.
struct unknown_operation : std::logic_error {
  using std::logic_error::logic_error;
};

/// One LMDB database each. Numbers and names are for ever.
enum class table : std::uint8_t {
  meta = 0,  // see keys.hpp for every key and value
  task = 1,
  task_id = 2,
  due = 3,
  pending = 4,
  held = 5,
  finished = 6,
  by_workflow = 7,
  by_label = 8,
  history = 9,
  payload = 10,
  workflow = 11,
  workflow_version = 12,
  alert = 13,
  outbox = 14,
  reply_address = 15,
  unresolved_alert = 16,
  service = 17,
  job = 18,
  job_due = 19,
  launch = 20,
  launch_ready = 21,
};
inline constexpr int table_count = 22;
/// Stores and archives of the first release have only the tables before this one. Until they are opened for writing, which adds the others,
/// these read as empty; so the schema version did not rise for them.
inline constexpr int first_release_table_count = 13;
const char* table_name(table t);

/// The longest key that LMDB takes. `put` and `erase` throw std::logic_error for a longer key and for an empty one.
inline constexpr std::size_t max_key_bytes = 511;

/// One operation of a batch. Its views point into the batch.
struct operation {
  enum class kind : std::uint8_t { put = 1, erase = 2 };
  kind what = kind::put;
  table where = table::meta;
  std::string_view key;
  std::string_view value;  // stored form, with checksum; empty for erase
};

class batch {
 public:
  /// Position in the shard's history, and the epoch of the writer. The store refuses a batch whose epoch is not the stored one, or whose
  /// sequence is not the stored one plus one.
  std::uint64_t sequence = 0;
  std::uint64_t epoch = 0;
  /// Serialized ShardState, written to the progress row with sequence and epoch in the same transaction.
  std::string shard_state;

  /// Adds the checksum to `payload`.
  void put(table where, std::string_view key, std::string_view payload);
  void erase(table where, std::string_view key);
  /// Appends the operations of `more` unchanged.
  void append(const batch& more);

  bool empty() const noexcept { return operations_ == 0; }
  std::size_t size() const noexcept { return operations_; }
  const std::string& bytes() const noexcept { return bytes_; }
  void clear();

  /// Calls `visit(const operation&)` for each operation in order.
  template <class Visitor>
  void for_each(Visitor&& visit) const {
    std::string_view rest = bytes_;
    operation op;
    while (next(rest, op)) visit(static_cast<const operation&>(op));
  }

  /// Takes the first operation off `rest`; false at the end. Throws unknown_operation, and std::logic_error if the bytes are no batch.
  static bool next(std::string_view& rest, operation& out);

 private:
  std::string bytes_;
  std::size_t operations_ = 0;
};

/// Those of `bytes`, in order; their views point there. Throws as batch::next().
std::vector<operation> operations_of(std::string_view bytes);

}  // namespace fairlead::store
