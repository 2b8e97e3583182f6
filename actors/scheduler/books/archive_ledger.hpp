#pragma once
// Tasks on their way out of the store. The archiver reads finished tasks and asks the Scheduler to move them to an archive. Meanwhile an
// operator may have one of them undone or deleted, and a restarted archiver may ask twice. One thread.

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace fairlead {

class archive_ledger {
 public:
  /// That the task leaves is not durable yet.
  bool leaving(std::uint64_t number) const { return leaving_.count(number) != 0; }
  /// An operator has a finished task undone, in the batch `sequence`.
  void reopened(std::uint64_t number, std::uint64_t sequence) { reopened_[number] = sequence; }

  /// The task is deleted by the batch `sequence`, whether the archiver has chosen it or not.
  void deleted(std::uint64_t number, std::uint64_t sequence) { reopened_[number] = leaving_[number] = sequence; }

  /// Tasks that the archiver has chosen.
  struct chosen {
    const std::vector<std::uint64_t>& numbers;
    std::uint64_t read_at_sequence = 0;  // the newest batch that it saw
  };
  /// One of the tasks has been undone since it was read: the task must stay.
  bool out_of_date(const chosen& what) const;
  /// One of the tasks has left already, on request of an earlier archiver. `is_gone`: the task is moving, or not in the store any more.
  bool asked_twice(const chosen& what, const std::function<bool(std::uint64_t)>& is_gone) const;
  /// The tasks leave with the batch `sequence`.
  void move(const chosen& what, std::uint64_t sequence);
  void committed_up_to(std::uint64_t sequence);

 private:
  std::map<std::uint64_t, std::uint64_t> leaving_;   // task -> the batch with which it leaves
  std::map<std::uint64_t, std::uint64_t> reopened_;  // task -> the batch that reopens it
  std::uint64_t moved_at_ = 0;                       // the batch of the latest move
};

}  // namespace fairlead
