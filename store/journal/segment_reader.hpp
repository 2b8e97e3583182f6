#pragma once
// Reads one segment: the groups that are whole, where they end, and what is damaged.
//
// A place that does not check is either a torn write that was never acknowledged or damage to something that was. Evidence decides, never
// zeros: each group header names the last group that was durable when it was written. A later group that names the bad one, or the next
// segment, whose header says where this one ended, proves damage; otherwise the segment ends there. (The idea is that of Pebble's WAL
// chunks that carry a synced offset: cockroachdb/pebble #4331.) What no evidence can tell is the very last acknowledged group, damaged
// afterwards with nothing behind it.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/journal/files.hpp"
#include "store/journal/format.hpp"

namespace fairlead::store {

/// A part of a journal that was acknowledged and cannot be read any more.
struct journal_damage {
  std::uint64_t segment = 0;
  std::uint64_t offset = 0;
  std::uint64_t group = 0;              // the first one lost
  std::uint64_t last_group = 0;         // and the last one; less than the first: how many is not known
  std::int64_t last_good_stamp_ms = 0;  // of the last record before it; 0: none
  bool records_lost = true;             // false: only bytes between records have changed, and the group was read all the same
};

struct whole_group {
  group_header header;
  std::uint64_t offset = 0;
  std::string_view records;  // valid during the visit
};
/// False ends the reading.
using group_visitor = std::function<bool(const whole_group&)>;

struct segment_end {
  std::uint64_t offset = 0;      // behind the last group accepted
  std::uint64_t next_group = 0;  // its number plus one
  std::uint64_t chain = 0;       // of that group
  bool torn = false;             // something that is no whole group follows
};

/// Reads the groups of a segment in order. `next` is the header of the next segment, which says where this one ended; null: this is the
/// last one. `damaged` gets each damage, and the reading goes on behind it. Error disk: a block could not be read.
result<segment_end> read_segment(const block_file& file, const segment_header& header, const segment_header* next,
                                 std::vector<journal_damage>& damaged, const group_visitor& visit);

/// True: a sound group header of this segment lies somewhere behind the first one, which only an acknowledged first write explains. For a
/// file without a sound header of its own.
result<bool> was_in_use(const block_file& file, const journal_id& journal, std::uint64_t segment);

}  // namespace fairlead::store
