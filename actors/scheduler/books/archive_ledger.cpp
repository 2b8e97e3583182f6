#include "actors/scheduler/books/archive_ledger.hpp"

#include <algorithm>

namespace fairlead {

bool archive_ledger::out_of_date(const chosen& what) const {
  return std::any_of(what.numbers.begin(), what.numbers.end(), [&](std::uint64_t number) {
    const auto found = reopened_.find(number);
    return found != reopened_.end() && found->second > what.read_at_sequence;
  });
}

// An archiver waits until the tasks have left. A restarted archiver does not know about them: without this check, tasks archived already
// would be counted twice. It reads on when it sees that they are gone.
bool archive_ledger::asked_twice(const chosen& what, const std::function<bool(std::uint64_t)>& is_gone) const {
  return what.read_at_sequence < moved_at_ &&
         std::any_of(what.numbers.begin(), what.numbers.end(), [&](std::uint64_t number) { return leaving(number) || is_gone(number); });
}

void archive_ledger::move(const chosen& what, std::uint64_t sequence) {
  moved_at_ = sequence;
  std::erase_if(reopened_, [&](const auto& one) { return one.second <= what.read_at_sequence; });
  for (const auto number : what.numbers) leaving_[number] = sequence;
}

void archive_ledger::committed_up_to(std::uint64_t sequence) {
  std::erase_if(leaving_, [sequence](const auto& one) { return one.second <= sequence; });
}

}  // namespace fairlead
