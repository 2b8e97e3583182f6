#pragma once
// The journal of a node, open for writing. All shards of the node append to it; what gathers while a write is in progress is the next
// group, one write with one sync. Whoever finds the writer idle writes for all that wait (the leader and its followers, as in the write
// thread of RocksDB), so a node with one shard has no hop between threads.
//
// After any error of the disk nothing is written any more: what is on the disk is not known, and a second sync would lie (Rebello et al.,
// "Can Applications Recover from fsync Failures?", USENIX ATC 2020). The process has to end; the next start recovers.

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "store/journal/files.hpp"
#include "store/journal/log_standing.hpp"
#include "store/journal/payloads.hpp"
#include "store/journal/recovery.hpp"
#include "store/journal/segment_pool.hpp"

namespace fairlead::store {

/// How far a journal was written. Groups are numbered over all openings.
struct journal_end {
  journal_id id;
  std::uint64_t group = 0;
};

struct journal_options {
  std::uint64_t segment_bytes = std::uint64_t{64} << 20;
  std::uint64_t max_bytes = std::uint64_t{1} << 30;  // of all files; at least six segments
  std::string release;
  std::function<std::int64_t()> now_unix_ms;
  std::function<std::int64_t()> boot_ms;  // a clock that nobody sets; for the stores behind the journal
  std::function<std::uint64_t()> random;
  std::function<status(const journal_end&)>
      check_found;  // what was recovered, before anything is written; an error ends the opening; empty: none

  std::uint64_t most_segments() const { return std::max<std::uint64_t>(6, max_bytes / segment_bytes); }
};

struct journal_usage {
  std::uint64_t segments = 0;       // in use
  std::uint64_t most_segments = 0;  // that may be in use
  // A shard that needs entries in the oldest of them, for its tables or for other nodes; none: nobody does.
  std::optional<std::uint16_t> kept_by;
  std::uint64_t staged = 0;
  bool crowded = false;                // the disk had no room for another file
  std::uint64_t groups = 0;            // written since the opening
  std::uint64_t begun = 0;             // groups whose write has begun; more than `groups`: the disk is at it
  bool waits = false;                  // a commit waits for a file
  std::uint64_t file_steps_begun = 0;  // of the work on files that are not in use, as with groups
  std::uint64_t file_steps_ended = 0;
  std::uint64_t written_bytes = 0;
};

class journal {
 public:
  /// Begins a journal in `files`, or goes on behind what was recovered there. `shards`: what their tables have of the journal, and the
  /// last index of those that are new to it. A segment is begun at once, so the journal can be written and its id is durable on return.
  /// `files` outlives the journal.
  static result<std::unique_ptr<journal>> open(journal_files& files, std::optional<recovered_journal> found,
                                               const std::vector<shard_position>& shards, journal_options options);

  /// Appends the records in order, in one group. On return they are durable; the value is the number of their group. Blocks until then, and
  /// while the journal has no room. From any thread; the entries of one shard from one thread at a time, in order of their indexes. A cut
  /// comes in one append with the entry that takes the place of what it removes.
  result<std::uint64_t> append(const std::vector<journal_record>& records);

  /// Something that has to follow the journal cannot go on: nothing is appended any more, and who waits for room or a turn gets the error.
  void fail(const error& why);

  /// The shard's own tables durably have all entries up to `index`.
  void applied(std::uint16_t shard, std::uint64_t index);

  /// An empty group: it proves that the last one was durable. Does nothing if the last group was one, if a group is being written, or if
  /// the segment is full: it waits for nobody.
  status seal();
  /// The record of a clean end. Nothing is appended afterwards. Waits for no room: the error is store_full if there is none.
  status close();

  /// Housekeeping: has so many segments ready, or more if the journal needs them, so that no commit waits for one. For a thread of its own,
  /// again and again. A disk without room for another file is no error: the journal goes on with those that it has, and usage says so.
  status stage(std::size_t segments = 1);
  /// Housekeeping ends, at once even if a file is being made. Commits and the end of the journal may still take files.
  void end_staging() { pool_.end_staging(); }

  const journal_id& id() const noexcept { return id_; }
  /// Groups are numbered from 1 over all openings. The opening is one, too.
  std::uint64_t last_group() const;
  std::uint64_t segment_bytes() const noexcept { return options_.segment_bytes; }
  /// The greatest sum of `record_bytes` that one append takes.
  std::size_t max_append_bytes() const noexcept { return max_append_bytes_; }
  /// The greatest entry that several appends may hold: the journal has room for all of it, and it cannot be applied before its end.
  std::size_t max_entry_bytes() const noexcept { return static_cast<std::size_t>(options_.most_segments() * options_.segment_bytes / 2); }
  /// Where the log of a shard ends, and the term of its last entry.
  struct end_of_log {
    std::uint64_t index = 0, term = 0;
  };
  end_of_log log_end(std::uint16_t shard) const;
  journal_usage get_usage() const;
  /// So many hundredths of the files that the journal may have are in use.
  std::size_t used_percent() const;
  /// So many more files it may have.
  std::size_t files_left() const;
  /// Appends that wait for their turn.
  std::size_t waiting() const;

 private:
  struct ticket {
    const std::vector<journal_record>* records = nullptr;
    std::size_t bytes = 0;
    bool taken = false;  // the leader reads the records
    bool done = false;
    std::uint64_t group = 0;
  };

  journal(journal_files& files, journal_options options);
  void lead(std::unique_lock<std::mutex>& lock);
  status write(const std::vector<ticket*>& what, std::uint64_t& group);
  /// What comes before the first group of a segment.
  struct segment_head {
    checkpoint positions;
    std::vector<journal_record> standings;  // their payloads:
    std::deque<std::string> payloads;
  };
  result<segment_head> begin_segment(std::unique_lock<std::mutex>& lock);
  void cut(const journal_record& what);
  void begin_anew(const journal_record& what);
  bool next_frees_one() const;
  bool may_begin_segment() const;
  struct keeper {
    std::uint64_t segment = 0;
    std::uint16_t shard = 0;
  };
  std::optional<keeper> find_keeper() const;
  std::uint64_t first_needed() const;
  void wrote(const std::vector<ticket*>& what);
  bool fits(std::size_t payload_bytes) const;

  journal_files& files_;
  const journal_options options_;
  std::size_t max_append_bytes_ = 0;
  segment_pool pool_;
  journal_id id_;
  std::uint64_t opening_ = 0;

  mutable std::mutex guard_;
  std::condition_variable turn_;  // a group was written
  std::condition_variable room_;  // a segment is not needed any more
  std::deque<ticket*> queue_;
  bool writing_ = false;  // some thread is the leader: the fields below `leader` are its own
  std::optional<error> failed_;
  std::map<std::uint16_t, shard_position> positions_;
  std::map<std::uint16_t, log_standing> standings_;
  std::deque<used_segment> used_;
  journal_usage usage_;
  std::uint64_t last_group_ = 0;  // that is durable
  bool crowded_ = false;
  bool waits_ = false;
  bool closing_ = false;

  // leader
  std::unique_ptr<block_file> current_;
  segment_header header_;
  std::uint64_t offset_ = 0;
  std::uint64_t next_group_ = 1;
  std::uint64_t durable_ = 0;
  std::uint64_t chain_ = 0;
  bool last_was_empty_ = false;
  block_buffer buffer_;
};

}  // namespace fairlead::store
