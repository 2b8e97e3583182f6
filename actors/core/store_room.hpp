#pragma once
// Whether a store has room for new tasks. Space that running tasks may still need is reserved for them.

#include <cstdint>
#include <string>

namespace fairlead::core {

struct store_room {
  std::uint64_t used_bytes = 0;
  std::uint64_t reserved_bytes = 0;
  std::uint64_t max_bytes = 0;
  std::uint64_t running_tasks = 0;

  /// Used and reserved bytes in percent of `max_bytes`, rounded down. May exceed 100.
  std::uint64_t percent() const;
  /// `the store is 95 % full: 6.1 MiB of 16.0 MiB are used and 9.2 MiB are reserved for 724 running tasks`
  std::string sentence() const;
  std::string figures() const;
};

}  // namespace fairlead::core
