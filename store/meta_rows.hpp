#pragma once
// The rows of the meta table. Keys are 0 (u32) and a name; integers in values are big-endian, like those in keys.
//
//   name               payload
//   schema_version     u32
//   progress           sequence u64 | epoch u64 | serialized ShardState
//   boot               u64, how many processes had run a node on this store before nodes counted them; a restore raises it
//   shard              shard u32 | shards of the cluster u32 | the store's id (text): the shard of this store, for ever. Stores of releases
//                      without shards lack this row and hold shard 0 of 1
//   lineage            made unix ms u64 | random bits u64: this history of the shard. Stores of releases without lineages lack this row and
//                      get one when a node opens them
//   restoring          u64, unix ms: a restore to another lineage of this store has begun and not ended; 0: it has ended
//   counted            unix ms u64: of a store that a recovery has begun to change, the latest write that is known to count; 0: everything counts
//   journal            u64 | u64, the id of the node's journal, which has what this store lacks | shard u32, which of its shards this store is.
//                      Stores without a journal lack this row
//   applied            index u64 | group u64: the journal's entries of this shard up to here are in these tables
//   settled            u64: entries of the journal up to this index are in these tables, or count no more. While the row is there nothing was
//                      journalled above it, so the tables are whole without the journal. After a restore it is the greatest number
//   shard_time         unix ms u64: the stamp of the last entry in these tables (journaled/shard_time.hpp). It stays when the store leaves a journal
//   replica            replica id u64 | v1::ShardMembers: which copy of a replicated shard this store is, and the replicas with which the shard
//                      began; empty: it has not begun. Of this copy alone. Stores of shards that live on one node lack this row
//   installed          index u64 | term u64 | stamp, ms i64 | group u64 | last index u64 | its term u64 | v1::ShardMembers: these tables were put here
//                      as a copy of another replica's, as of this entry, and what the journal has of the shard up to this group counts no more, but
//                      for terms, votes and notes of the clock. The log that was replaced ended with the last index. Of this copy alone
//   nodes              v1::ShardNodes: the nodes that are to hold the shard, of a shard that several may hold
//   compared           v1::StateComparison: the last comparison of the states of all replicas, of a shard that several nodes hold
//   clock_ahead        i64, ms | unix ms i64 | group u64: how far the clock by which the shard is led was ahead of the wall clock of this copy's node
//                      when that showed this, and the last group of the journal then. Of this copy alone
//   effect/NUMBER      EffectRecord, see effect_rows.hpp; the number has 20 digits
//   deleted/NUMBER     empty; archives may hold copies of this deleted task, see deletion_rows.hpp; the number has 20 digits
//   moving/NUMBER      day u64 | retention in days u32, see archive_rows.hpp: the ended task is to move to this archive. Whoever applies the
//                      row to the tables does that, so it is never in them; the number has 20 digits
//   dropped/DAYS       day u64: archives of this retention in days (20 digits; 0: the node file's) before this day are not kept any more
//   worker/INSTANCE    WorkerRecord, see worker_rows.hpp: an instance of a worker over HTTP
//   work_key           WorkKey: by it the shard signs what workers over HTTP get
//   namespace:N        the name of namespace N (decimal)
//   alert_cursor/NAME  u64, the number of the last alert that has reached target NAME
//   alert_start/NAME   u64 | unix ms u64, the newest alert at the first look at target NAME, and the time of that look
//   alert_told/NAME/NUMBER  empty; target NAME was told of the alert by itself and not of its end; the number has 20 digits

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "store/store.hpp"

namespace fairlead::store {

/// Made once for a journal, at random.
struct journal_id {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend bool operator==(const journal_id&, const journal_id&) = default;
};

/// A position in a shard's part of a journal.
struct entry_position {
  std::uint64_t index = 0;    // of the entry
  std::uint64_t group = 0;    // of the group that has it
  std::int64_t stamp_ms = 0;  // of the entry; 0: not known
};

/// The layout that this release reads and writes. Rises with every change that an older release cannot read.
inline constexpr std::uint32_t schema_version = 1;
/// That of a store behind a journal. A release that does not know journals would lack the last work that was acknowledged.
inline constexpr std::uint32_t journaled_schema_version = 2;

namespace meta {

inline constexpr std::string_view schema_row = "schema_version";
inline constexpr std::string_view progress_row = "progress";
inline constexpr std::string_view boot_row = "boot";
inline constexpr std::string_view shard_row = "shard";
inline constexpr std::string_view lineage_row = "lineage";
inline constexpr std::string_view restoring_row = "restoring";
inline constexpr std::string_view counted_row = "counted";
inline constexpr std::string_view journal_row = "journal";
inline constexpr std::string_view applied_row = "applied";
inline constexpr std::string_view settled_row = "settled";
inline constexpr std::string_view shard_time_row = "shard_time";
inline constexpr std::string_view replica_row = "replica";
inline constexpr std::string_view installed_row = "installed";
inline constexpr std::string_view clock_ahead_row = "clock_ahead";
inline constexpr std::string_view nodes_row = "nodes";
inline constexpr std::string_view compared_row = "compared";
inline constexpr std::string_view effect_rows = "effect/";
inline constexpr std::string_view deletion_rows = "deleted/";
inline constexpr std::string_view move_rows = "moving/";
inline constexpr std::string_view drop_rows = "dropped/";
inline constexpr std::string_view worker_rows = "worker/";
inline constexpr std::string_view work_key_row = "work_key";
std::string namespace_row(std::uint32_t ns);
/// The name of a row for a number, such that names sort like numbers: `prefix` and 20 digits.
std::string numbered_row(std::string_view prefix, std::uint64_t number);
/// The number at the end of such a row's name or key; nullopt: there is none.
std::optional<std::uint64_t> number_of_row(std::string_view key);

std::string encode_u32(std::uint32_t value);
/// How far the clock by which a shard is led was ahead of the wall clock of this node when that showed `wall_unix_ms`.
struct clock_note {
  std::int64_t ahead_ms = 0;
  std::int64_t wall_unix_ms = 0;
  std::uint64_t group = 0;  // the last one of the journal then that has something of the shard
};
std::string encode_clock(const clock_note& what);
std::optional<clock_note> decode_clock(std::string_view payload);

std::string encode_u64(std::uint64_t value);
std::optional<std::uint32_t> decode_u32(std::string_view payload);
std::optional<std::uint64_t> decode_u64(std::string_view payload);

/// The identity of a store: made once, never changed.
struct shard_identity {
  std::uint32_t shard = 0;
  std::uint32_t count = 1;
  std::string store_id;
};
std::string encode_shard(const shard_identity& what);
std::optional<shard_identity> decode_shard(std::string_view payload);

/// The place of a store in a journal.
struct journal_membership {
  journal_id journal;
  std::uint32_t shard = 0;
};
std::string encode_journal(const journal_membership& what);
std::optional<journal_membership> decode_journal(std::string_view payload);

/// Which copy of a shard a store is.
struct replica_identity {
  std::uint64_t id = 0;
  std::string members;  // v1::ShardMembers; empty: the shard has not begun
};
std::string encode_replica(const replica_identity& what);
std::optional<replica_identity> decode_replica(std::string_view payload);

/// A copy of another replica's tables was put in the place of these.
struct installed_copy {
  std::uint64_t index = 0;  // of its last entry
  std::uint64_t term = 0;
  std::int64_t stamp_ms = 0;
  std::uint64_t group = 0;                          // of the journal then
  std::uint64_t former_index = 0, former_term = 0;  // of the last entry of the log that was replaced
  std::string members;                              // v1::ShardMembers, as of that entry
};
std::string encode_installed(const installed_copy& what);
std::optional<installed_copy> decode_installed(std::string_view payload);

std::string encode_applied(const entry_position& what);
std::optional<entry_position> decode_applied(std::string_view payload);

std::string encode_lineage(const v1::Lineage& what);
std::optional<v1::Lineage> decode_lineage(std::string_view payload);

std::string encode_progress(std::uint64_t sequence, std::uint64_t epoch, std::string_view shard_state);
std::optional<progress> decode_progress(std::string_view payload);

}  // namespace meta

/// The error for a value whose bytes have changed since they were written.
error damaged_value(table where, std::string_view key);

/// The errors of both stores for a batch that does not follow the stored state; OK: the batch follows.
status check_order(std::uint64_t next_sequence, std::uint64_t next_epoch, std::uint64_t stored_sequence, std::uint64_t stored_epoch);

}  // namespace fairlead::store
