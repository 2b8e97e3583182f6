#pragma once
// The bytes of a journal: segments, groups and records. Everything is little-endian. A group is all that one write makes durable; a record
// belongs to one shard. docs/adr/0032-journal.md says why the format is so.
//
// A segment is one file, named by its number in 16 hexadecimal digits and ".seg". Block 0 is its header, then follow the groups, each
// from the beginning of a block. A block that was acknowledged is never written again until the file is recycled under another number.
//
// Segment header, 4,096 bytes:
//    0  8  "FLJRNL01"                       64  8  number of the previous segment (0: none)
//    8  4  format version                   72  8  offset behind the last group accepted there
//   12  4  block size                       80  8  chain of that group
//   16 16  id of the journal                88  8  when the segment was begun, unix ms
//   32  8  number of this segment           96 32  release that wrote it, text
//   40  8  size of the file               4088  8  XXH3_64 of bytes 0 to 4087
//   48  8  number of the first group here
//   56  8  opening: random number of this opening of the journal
//
// Group header, 64 bytes, then the records, then zeros up to the next block:
//    0  4  "FJGR"                           32  8  opening
//    4  4  blocks of the group              40  4  bytes of the records
//    8  8  number of the segment            44  4  number of records
//   16  8  number of the group              48  8  chain: XXH3_64 of the records; the seed is the previous chain ^ id ^ segment ^ group
//   24  8  the last group that was durable  56  8  XXH3_64 of bytes 0 to 55; the seed is the low half of the journal's id
//          when this one was written
//
// Record: a header of 40 bytes, the payload, zeros up to a multiple of 8:
//    0  1  type                              8  8  index
//    1  1  flags: 2, 4, see below           16  8  term
//    2  2  shard                            24  8  stamp, ms
//    4  4  bytes of the payload             32  8  XXH3_64 of the payload; the seed is XXH3_64 of bytes 0 to 31
//
// An entry that is larger than a group is cut into records of the same index, one after another in groups of their own. All but the last
// have the flag 2 (more follows), all but the first the flag 4 (continues), and the payload of each begins with its number as u32, from 0.
//
// Header and records of a group are checked apart, so a reader can tell "a group was here" from "the group is whole". Position, opening and
// chain are part of the checksums, so a stale block of a recycled file, or a block that was written to a wrong place, never passes.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "store/meta_rows.hpp"

namespace fairlead::store {

inline constexpr std::size_t journal_block_bytes = 4096;
inline constexpr std::uint32_t journal_format_version = 1;
inline constexpr std::size_t group_header_bytes = 64;
inline constexpr std::size_t record_header_bytes = 40;
/// The greatest group. A group also takes at most a quarter of its segment.
inline constexpr std::size_t max_group_bytes = std::size_t{16} << 20;

struct segment_header {
  journal_id journal;
  std::uint64_t segment = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t first_group = 0;
  std::uint64_t opening = 0;
  std::uint64_t previous_segment = 0;
  std::uint64_t previous_end = 0;
  std::uint64_t previous_chain = 0;
  std::int64_t begun_unix_ms = 0;
  std::string release;
};

/// Writes one block.
void encode_segment_header(const segment_header& in, char* block);
/// nullopt: the block is no header, or it is damaged. `newer_format` (may be null) is set if another release wrote a sound header that
/// this one cannot read.
std::optional<segment_header> decode_segment_header(const char* block, bool* newer_format = nullptr);

struct group_header {
  std::uint32_t blocks = 0;
  std::uint64_t segment = 0;
  std::uint64_t group = 0;
  std::uint64_t durable = 0;
  std::uint64_t opening = 0;
  std::uint32_t payload_bytes = 0;
  std::uint32_t records = 0;
  std::uint64_t chain = 0;
};

/// Writes `group_header_bytes`.
void encode_group_header(const group_header& in, const journal_id& journal, char* out);
/// nullopt: no sound header of this journal begins here.
std::optional<group_header> decode_group_header(const char* in, const journal_id& journal);

/// The chain of a group with these records.
std::uint64_t group_chain(std::string_view records, const journal_id& journal, std::uint64_t segment, std::uint64_t group,
                          std::uint64_t previous_chain);

/// Blocks that a group with so many bytes of records takes.
constexpr std::uint32_t blocks_of_group(std::size_t payload_bytes) {
  return static_cast<std::uint32_t>((group_header_bytes + payload_bytes + journal_block_bytes - 1) / journal_block_bytes);
}

/// Numbers are for ever.
enum class record_type : std::uint8_t {
  batch = 1,    // entry: batches of one gather, see encode_batches
  epoch = 2,    // entry, empty: a Scheduler begins; the index is its epoch
  members = 3,  // entry: v1::ShardMembers, the replicas of the shard from here on
  hard = 5,     // no entry: the replica is in this term; the payload is whom it has given its vote (u64; 0: nobody)
  // No entry: entries from this index on are void. The term is that of the entry before it, the payload v1::ShardMembers as of there.
  cut = 6,
  // No entry: the entries of the shard go on behind this index, and none before it is missing. The payload: v1::ShardMembers as of there, if the
  // tables were replaced by a copy of another replica's; then all entries before this record are void.
  base = 7,
  standing = 8,    // no entry: where the log of a shard stands, behind the checkpoint of a segment, see log_standing
  checkpoint = 9,  // no entry: the positions of all shards, first record of every segment, see checkpoint
  close = 11,      // no entry, empty: a clean end
  // No entry, empty. The stamp is how far, in ms, the clock by which the shard is led is ahead of this node's wall clock, the term what that shows,
  // in unix ms, and the index that of the last entry.
  clock = 13,
  rows = 12,  // entry: rows that are no batch of the Scheduler, such as the lineage, and the row of progress; payload as batch::bytes()
};

/// True: the record counts in the index of its shard.
constexpr bool is_entry(record_type type) {
  return type == record_type::batch || type == record_type::epoch || type == record_type::members || type == record_type::rows;
}

struct journal_record {
  record_type type = record_type::batch;
  std::uint16_t shard = 0;
  std::uint64_t index = 0;
  std::uint64_t term = 0;
  std::int64_t stamp_ms = 0;
  std::string_view payload;
  bool more_follows = false;  // parts of one entry
  bool continues = false;
  bool known = true;  // false: a later release wrote it, and this one cannot say what it means
};

/// Bytes before the payload of a part, see above.
inline constexpr std::size_t part_number_bytes = 4;

constexpr std::size_t record_bytes(std::size_t payload_bytes) { return record_header_bytes + (payload_bytes + 7) / 8 * 8; }

/// Writes `record_bytes(in.payload.size())`.
void encode_record(const journal_record& in, char* out);

/// Takes the first record off `rest`; the payload is a view of it. nullopt: the bytes there are no sound record; `rest` is then unchanged.
std::optional<journal_record> next_record(std::string_view& rest);

}  // namespace fairlead::store
