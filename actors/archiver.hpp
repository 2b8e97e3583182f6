#pragma once
// Moves finished tasks to dated archives in small batches, and lets go of archives that are older than the retention. A shell over ports.

#include <cstdint>
#include <memory>
#include <optional>

#include "actors/local_messages.hpp"
#include "actors/ports.hpp"
#include "store/archive.hpp"
#include "store/store.hpp"

namespace fairlead {

struct retention_policy {
  duration archive_after = std::chrono::hours{1};
  duration keep = std::chrono::hours{24 * 30};
};

class archiver {
 public:
  archiver(const clock& time, const store::store& reads, std::shared_ptr<store::archive> archives, retention_policy policy)
      : time_(time), reads_(reads), archives_(std::move(archives)), policy_(policy) {}

  struct pass_result {
    std::optional<archived_tasks> moved;  // for the Scheduler to commit
    bool waiting = false;                 // the tasks of the pass before are not out of the store yet
  };

  /// Copies the next finished tasks that are old enough to their archive and gives what takes them out of the store.
  result<pass_result> pass();

  /// Unlinks what is older than the retention.
  status drop_old();

 private:
  const clock& time_;
  const store::store& reads_;
  std::shared_ptr<store::archive> archives_;
  retention_policy policy_;
  std::uint64_t last_moved_ = 0;  // a task of the pass before
};

}  // namespace fairlead
