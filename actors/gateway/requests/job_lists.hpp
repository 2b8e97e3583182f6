#pragma once
// Merges the answers of several shards about jobs, and splits a rewind of all jobs by shard. Pure; no CAF.

#include <cstdint>
#include <string>
#include <vector>

#include "messages/error.hpp"
#include "messages/job.pb.h"

namespace fairlead {

/// One page of the jobs of all shards, by name. Each shard has answered with at most `page_size` of its jobs after the same name. An error
/// of any shard is the error of the page: a list that silently lacks jobs is worse than none.
v1::JobListReply merge(const v1::JobListRequest& what, std::vector<v1::JobListReply> answers);

/// The place where a rewind of all jobs goes on: a shard, and a job's name there.
struct rewind_at {
  std::uint32_t shard = 0;
  std::string after;
};

/// Reads the text of `rewind_cursor`; empty: the beginning. Error: not a cursor of a cluster of `count` shards.
result<rewind_at> rewind_place(const std::string& cursor, std::uint32_t count);
/// The cursor after `last`; an empty name there means that the shard is done. Empty: all shards are done.
std::string rewind_cursor(const rewind_at& last, std::uint32_t count);

}  // namespace fairlead
