#pragma once
// Whether a store has room for new tasks. What running tasks may still write is kept free for them: that is reserved.

#include <cstdint>
#include <string>

namespace fairlead::core {

struct store_room {
  std::uint64_t used_bytes = 0;
  std::uint64_t reserved_bytes = 0;
  std::uint64_t max_bytes = 0;
  std::uint64_t running_tasks = 0;

  /// Of `max_bytes`, used and reserved together, rounded down. It can be more than 100.
  std::uint64_t percent() const;
  /// `the store is 95 % full: 6.1 MiB of 16.0 MiB are used and 9.2 MiB are reserved for 724 running tasks`
  std::string sentence() const;
};

}  // namespace fairlead::core
