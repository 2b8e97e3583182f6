#pragma once
// What leaves for the archive. The archiver reads finished tasks, copies them and asks the Scheduler to erase them; meanwhile an operator may have one
// undone, and an archiver that was started anew may ask twice. One thread.

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace fairlead {

class archive_ledger {
 public:
  /// The task is on its way out: its erasure is not durable yet.
  bool leaving(std::uint64_t number) const { return leaving_.count(number) != 0; }
  /// An operator has had a finished task undone, in the batch `sequence`.
  void reopened(std::uint64_t number, std::uint64_t sequence) { reopened_[number] = sequence; }

  /// What has been copied.
  struct copied {
    const std::vector<std::uint64_t>& numbers;
    std::uint64_t read_at_sequence = 0;  // the newest batch that the copies hold
  };
  /// One of them has been undone since it was read: the copy is out of date, and the task must stay.
  bool out_of_date(const copied& what) const;
  /// One of them has been erased already, for an archiver before this one. `is_gone`: the store does not hold it any more.
  bool asked_twice(const copied& what, const std::function<bool(std::uint64_t)>& is_gone) const;
  /// They are erased by the batch `sequence`.
  void erase(const copied& what, std::uint64_t sequence);
  void committed_up_to(std::uint64_t sequence);

 private:
  std::map<std::uint64_t, std::uint64_t> leaving_;   // task -> the batch that erases it
  std::map<std::uint64_t, std::uint64_t> reopened_;  // task -> the batch that says so
  std::uint64_t erased_at_ = 0;                      // the batch that erases what was archived last
};

}  // namespace fairlead
