#pragma once
// Tasks on their way out of the store. The archiver reads finished tasks, copies them and asks the Scheduler to erase them. Meanwhile an
// operator may have one of them undone or deleted, and a restarted archiver may ask twice. One thread.

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace fairlead {

class archive_ledger {
 public:
  /// The erasure of the task is not durable yet.
  bool leaving(std::uint64_t number) const { return leaving_.count(number) != 0; }
  /// An operator has a finished task undone, in the batch `sequence`.
  void reopened(std::uint64_t number, std::uint64_t sequence) { reopened_[number] = sequence; }

  /// The task is deleted by the batch `sequence`, whether the archiver has copied it or not.
  void deleted(std::uint64_t number, std::uint64_t sequence) { reopened_[number] = leaving_[number] = sequence; }

  /// Tasks that the archiver has copied.
  struct copied {
    const std::vector<std::uint64_t>& numbers;
    std::uint64_t read_at_sequence = 0;  // the newest batch that the copies hold
  };
  /// One of the tasks has been undone since it was read: the copy is out of date, and the task must stay.
  bool out_of_date(const copied& what) const;
  /// One of the tasks was erased already, on request of an earlier archiver. `is_gone`: the store does not hold the task any more.
  bool asked_twice(const copied& what, const std::function<bool(std::uint64_t)>& is_gone) const;
  /// The tasks are erased by the batch `sequence`.
  void erase(const copied& what, std::uint64_t sequence);
  void committed_up_to(std::uint64_t sequence);

 private:
  std::map<std::uint64_t, std::uint64_t> leaving_;   // task -> the batch that erases it
  std::map<std::uint64_t, std::uint64_t> reopened_;  // task -> the batch that reopens it
  std::uint64_t erased_at_ = 0;                      // the batch of the latest erasure
};

}  // namespace fairlead
