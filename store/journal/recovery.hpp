#pragma once
// Reads a journal when a node starts: which files it has, which entries they hold, where writing goes on, and what is damaged. Changes
// nothing.
//
// Files of a journal, by name: `NUMBER.seg`, with 16 hexadecimal digits, and `*.tmp`, which nobody needs. A file whose header does not
// check, or whose header has another number than its name, is staged: its first write has not been acknowledged. Staged files follow all
// others.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "store/journal/files.hpp"
#include "store/journal/format.hpp"
#include "store/journal/log_standing.hpp"
#include "store/journal/segment_reader.hpp"

namespace fairlead::store {

/// While this file is there, all segments are being removed, and none of them counts.
inline constexpr std::string_view removing_name = "removing.tmp";

std::string segment_name(std::uint64_t number);
/// nullopt: the name is not that of a segment.
std::optional<std::uint64_t> segment_number(std::string_view name);

/// What a journal holds of one shard.
struct shard_log {
  /// Entries from here on are in the journal, or were when its oldest segment began; 0: none was seen.
  std::uint64_t first_index = 0;
  std::uint64_t last_index = 0;
  std::uint64_t last_group = 0;     // that of the last entry; 0: none was seen
  std::uint64_t applied_index = 0;  // durable in the shard's tables at least up to here, as the newest checkpoint says
  std::int64_t last_stamp_ms = 0;
  struct gap {
    std::uint64_t from = 0;   // the first index that is missing
    std::uint64_t to = 0;     // and the last one
    std::uint64_t group = 0;  // before which it was noticed
  };
  std::vector<gap> gaps;
  log_standing standing;
};

struct used_segment {
  std::uint64_t number = 0;
  std::uint64_t bytes = 0;                            // of the file
  std::map<std::uint16_t, std::uint64_t> last_index;  // of each shard that has entries in it

  /// Entries of the shard behind this one are void.
  void cut(std::uint16_t shard, std::uint64_t last) {
    const auto known = last_index.find(shard);
    if (known != last_index.end()) known->second = std::min(known->second, last);
  }
};

struct recovered_journal {
  journal_id id;
  std::vector<used_segment> used;    // in order; the last one is never written again
  std::vector<std::string> staged;   // names, in order of their numbers
  std::vector<std::string> retired;  // names of segments that nobody needs any more, and of files that were never complete
  std::vector<journal_damage> damages;
  std::map<std::uint16_t, shard_log> shards;
  /// Where writing goes on: the header of the next segment says this.
  std::uint64_t last_segment = 0;
  segment_end end;
  bool closed = false;  // the last record is a clean end
};

/// There is a file of a journal whose head was written and cannot be read. Error: disk.
result<bool> has_unreadable_segment(journal_files& files);

/// The id that the first sound file names; nullopt: there is no journal. Error: disk.
result<std::optional<journal_id>> find_journal_id(journal_files& files);

/// Called for each record in order, with the number of its group. An error ends the recovery with it.
using record_visitor = std::function<status(const journal_record&, std::uint64_t group)>;

/// nullopt: the directory has no journal. `expected`: the id that the stores of the node name; another one is refused (wrong_state).
/// Further errors: corrupt (files that contradict each other), store_newer (a later release wrote it), disk.
result<std::optional<recovered_journal>> recover_journal(journal_files& files, const std::optional<journal_id>& expected,
                                                         const record_visitor& visit);

/// "entries 5 to 7 of shard 0 are missing before group 9", for sentences.
std::string words_of(std::uint16_t shard, const shard_log::gap& gap);
/// The place of a damage, for sentences: "group 7 in 0000000000000002.seg at offset 8192".
std::string place_of(const journal_damage& what);
/// " (the last good record before it is of 2026-11-25T03:00:00.000Z)"; empty: there is none in its segment.
std::string time_before(const journal_damage& what);

/// Whether a shard can go on: nothing that it was promised above `applied` is missing. The error (corrupt or wrong_state) names the place.
status check_shard_log(const recovered_journal& journal, const std::string& path, std::uint16_t shard, const entry_position& applied);

}  // namespace fairlead::store
