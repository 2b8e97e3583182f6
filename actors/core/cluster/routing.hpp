#pragma once
// Which shard a task, a job or a name belongs to.

#include <cstdint>
#include <string_view>

namespace fairlead::core {

/// The shards of a cluster are numbered from 0; their number is fixed for ever when the first store is made.
inline constexpr std::uint32_t max_shards = 256;

/// The part of a task's id that decides its shard: everything before the first `@`, so that the launches of a job
/// (`job@2026-03-29T01:00:00Z`) are in the job's shard. An id that begins with `@` counts whole. Children (`order-7/ship~1/pack~2`) are in
/// the shard of the outermost parent, whose id ends at the last `/` before the first `~`.
std::string_view routing_key(std::string_view task_id);

/// XXH3 (64 bits, seed 0) of the bytes of `key` modulo `count`: for ever, since stores hold what was routed so. `count` is at least 1.
std::uint32_t shard_of_key(std::string_view key, std::uint32_t count);

inline std::uint32_t shard_of_task(std::string_view task_id, std::uint32_t count) { return shard_of_key(routing_key(task_id), count); }

}  // namespace fairlead::core
