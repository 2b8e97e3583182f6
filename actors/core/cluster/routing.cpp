#include "actors/core/cluster/routing.hpp"

#include <xxhash.h>

namespace fairlead::core {

std::string_view routing_key(std::string_view task_id) {
  // Only Fairlead makes ids with `~`: nobody chooses one.
  if (const auto part = task_id.find('~'); part != std::string_view::npos) {
    const auto cut = task_id.rfind('/', part);
    if (cut != std::string_view::npos && cut != 0) task_id = task_id.substr(0, cut);
  }
  const auto at = task_id.find('@');
  return at == std::string_view::npos || at == 0 ? task_id : task_id.substr(0, at);
}

std::uint32_t shard_of_key(std::string_view key, std::uint32_t count) {
  if (count <= 1) return 0;
  return static_cast<std::uint32_t>(XXH3_64bits(key.data(), key.size()) % count);
}

}  // namespace fairlead::core
