#pragma once
// Requests about jobs, cut by shard, and the answers of several shards made one. Pure; no CAF.

#include <cstdint>
#include <string>
#include <vector>

#include "messages/error.hpp"
#include "messages/job.pb.h"

namespace fairlead {

/// One page of the jobs of all shards, by name. Each shard has answered with at most `page_size` of its own behind the same name. An error of any
/// shard is the error of the page: a list that silently lacks jobs is worse than none.
v1::JobListReply merge(const v1::JobListRequest& what, std::vector<v1::JobListReply> answers);

/// Where a rewind of all jobs goes on: a shard and the name there.
struct rewind_at {
  std::uint32_t shard = 0;
  std::string after;
};

/// Reads what `rewind_cursor` has written; the empty text is the beginning. Error: it is none of a cluster of `count` shards.
result<rewind_at> rewind_place(const std::string& cursor, std::uint32_t count);
/// Behind what the shard of `last` has done: an empty name there means all of it. Empty: it was the last one.
std::string rewind_cursor(const rewind_at& last, std::uint32_t count);

}  // namespace fairlead
