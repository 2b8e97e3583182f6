#pragma once
// A disk in memory for the journal: it forgets names that were not synced, tears the write that a crash interrupts, and does what a test
// asks for besides (rot, a misdirected or a lost write, an error). Same seed, same crash.
//
// The model: blocks of 4,096 bytes with sectors of 512. A write is durable when it returns. Of a write that a crash interrupts each
// sector is independently old, new or garbage. Names are durable only after sync(); at a crash each later operation on them has happened
// or not.

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "store/journal/files.hpp"

namespace fairlead::store {

/// Thrown by the operation that a planned crash interrupts, and by all after it, as a process does nothing after its end.
struct disk_crash {};

class memory_disk final : public journal_files {
 public:
  explicit memory_disk(std::uint64_t seed = 1) : random_(seed) {}

  result<std::vector<std::string>> list() const override;
  result<std::unique_ptr<block_file>> open(const std::string& name) override;
  status create(const std::string& name, std::uint64_t bytes, const std::function<making_pace()>& pace) override;
  status rename(const std::string& from, const std::string& to) override;
  status remove(const std::string& name) override;
  status sync() override;
  const std::string& path() const override { return path_; }
  bool direct() const override { return true; }

  /// The n-th operation from now that changes something (1: the next) is interrupted by a crash; 0: none is.
  void crash_after(std::uint64_t operations) { crash_at_ = operations == 0 ? 0 : operations_ + operations; }
  /// The n-th such operation from now fails with an error; how much of a write has reached the disk is random. 0: none does.
  void fail_after(std::uint64_t operations) { fail_at_ = operations_ + operations; }
  /// A crash at once, between two operations.
  void crash();
  /// The machine is on again. Files that were open before stay dead.
  void reboot();
  /// Operations so far that changed something.
  std::uint64_t operations() const { return operations_; }

  /// The n-th write from now goes to another block of the same file, or nowhere.
  void misdirect_write(std::uint64_t writes) { misdirect_at_ = writes_ + writes; }
  void lose_write(std::uint64_t writes) { lose_at_ = writes_ + writes; }
  /// From now on there is room for no further file, or there is again.
  void fill(bool full = true) { full_ = full; }
  /// Flips one bit.
  void rot(const std::string& name, std::uint64_t offset, unsigned bit = 0);
  /// The durable bytes of a file, to look at and to change.
  std::string& bytes_of(const std::string& name);

 private:
  friend class memory_file;
  struct inode {
    std::string bytes;
  };
  struct change {
    std::string from;  // empty: `to` is a new file
    std::string to;    // empty: `from` was removed
    std::shared_ptr<inode> made;
  };
  using names = std::map<std::string, std::shared_ptr<inode>>;

  /// Counts an operation; true: it is the one that a crash interrupts. Throws if the machine is off already.
  enum class fate { done, crashed, failed };
  fate next();
  [[noreturn]] void go_down();
  static void apply(names& to, const change& what);
  status note(change what);
  error failed_write(const std::string& name) const;
  std::size_t pick(std::size_t below) { return static_cast<std::size_t>(random_() % below); }
  status write(inode& file, std::uint64_t power, std::uint64_t offset, const char* data, std::size_t bytes);

  std::string path_ = "in memory";
  mutable std::mutex guard_;
  std::mt19937_64 random_;
  names durable_;
  names now_;
  std::vector<change> unsynced_;
  std::atomic<bool> full_{false};
  bool off_ = false;
  std::uint64_t power_ = 0;  // counts reboots
  std::uint64_t operations_ = 0;
  std::uint64_t writes_ = 0;
  std::uint64_t crash_at_ = 0;
  std::uint64_t fail_at_ = 0;
  std::uint64_t misdirect_at_ = 0;
  std::uint64_t lose_at_ = 0;
};

/// Lends a disk to a journal, so that the disk outlives it.
class lent_disk : public journal_files {
 public:
  explicit lent_disk(memory_disk& of) : of_(of) {}
  result<std::vector<std::string>> list() const override { return of_.list(); }
  result<std::unique_ptr<block_file>> open(const std::string& name) override { return of_.open(name); }
  status create(const std::string& name, std::uint64_t bytes, const std::function<making_pace()>& pace) override {
    return of_.create(name, bytes, pace);
  }
  status rename(const std::string& from, const std::string& to) override { return of_.rename(from, to); }
  status remove(const std::string& name) override { return of_.remove(name); }
  status sync() override { return of_.sync(); }
  const std::string& path() const override { return of_.path(); }
  bool direct() const override { return of_.direct(); }

 private:
  memory_disk& of_;
};

}  // namespace fairlead::store
