#include "actors/core/store_room.hpp"

#include <algorithm>

#include "actors/core/text/text.hpp"

namespace fairlead::core {

std::uint64_t store_room::percent() const { return (used_bytes + reserved_bytes) / std::max<std::uint64_t>(1, max_bytes / 100); }

std::string store_room::sentence() const { return "the store is " + std::to_string(percent()) + " % full: " + figures(); }

std::string store_room::figures() const {
  auto out = bytes_text(used_bytes) + " of " + bytes_text(max_bytes) + " are used";
  if (reserved_bytes != 0)
    out += " and " + bytes_text(reserved_bytes) + " are reserved for " + std::to_string(running_tasks) +
           (running_tasks == 1 ? " running task" : " running tasks");
  return out;
}

}  // namespace fairlead::core
