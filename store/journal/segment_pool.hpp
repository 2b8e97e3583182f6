#pragma once
// The files of a journal that are not in use: staged ones, which have the name of a coming segment and wait for their first write, and
// retired ones, which become staged again or go.
//
// A staged file is full of zeros or of groups of an earlier number, has its full size, and its name is durable. So a commit never waits
// for the file system's metadata. Thread-safe.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "store/journal/files.hpp"

namespace fairlead::store {

class segment_pool {
 public:
  segment_pool(journal_files& files, std::uint64_t segment_bytes) : files_(files), segment_bytes_(segment_bytes) {}

  /// How many of these files can be used as segments of `segment_bytes`.
  static result<std::size_t> count_usable(journal_files& files, const std::vector<std::string>& names, std::uint64_t segment_bytes);

  /// Removes all segments. After a crash in between none of them counts any more, and a second call goes on.
  static status remove_all(journal_files& files);
  /// Gives all segments names that end in `.lost`, so that they are kept and nobody reads them.
  static status put_aside(journal_files& files);

  /// What is there when the journal is opened: names of staged and of retired files. Files of another size go.
  status adopt(const std::vector<std::string>& staged, const std::vector<std::string>& retired);

  /// The file of segment `number`, which follows all numbers taken before. Makes one if none is staged.
  result<std::unique_ptr<block_file>> take(std::uint64_t number);

  /// The segment is not needed any more, and a durable checkpoint says so. `recyclable`: it has the size of coming ones.
  void retire(std::uint64_t number, bool recyclable);

  /// Housekeeping: removes what nobody needs, and stages files until there are `wanted`. Names are durable on return.
  status stage(std::size_t wanted);

  /// The same for a commit that waits for it: what is made, here or by another thread, is made at once.
  status stage_at_once(std::size_t wanted);

  /// Nothing is staged any more, and a file that is being made is given up. A segment can still be taken.
  void end_staging() { ended_ = true; }

  /// Steps of work on files since the opening. While more have begun than ended and neither changes, the disk is at it.
  std::uint64_t steps_begun() const noexcept { return steps_begun_; }
  std::uint64_t steps_ended() const noexcept { return steps_ended_; }

  std::size_t staged() const;

 private:
  struct retired_file {
    std::string name;
    bool recyclable = true;
  };
  /// For as long as it lives, a step is in progress.
  class step;
  status stage_one();
  making_pace pace();

  journal_files& files_;
  const std::uint64_t segment_bytes_;
  std::atomic<bool> hurry_{false};  // a commit waits for a file
  std::atomic<bool> ended_{false};
  std::atomic<std::uint64_t> steps_begun_{0};
  std::atomic<std::uint64_t> steps_ended_{0};
  std::mutex maker_;  // held while a file is made, which takes long; before guard_
  mutable std::mutex guard_;
  std::uint64_t next_number_ = 1;    // of the next file to stage
  std::vector<std::string> staged_;  // in order of their numbers
  std::vector<retired_file> retired_;
};

}  // namespace fairlead::store
