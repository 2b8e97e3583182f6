#pragma once
// Lists of several shards made one. Each shard's own order is kept; between shards the newest (of status events: the oldest) goes first. What
// one page did not take comes with the next: the cursor says for each shard where it goes on. Pure; no CAF.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "messages/api.pb.h"
#include "messages/error.hpp"

namespace fairlead {

/// Where the list of one shard goes on.
struct list_place {
  bool over = false;   // it has no more
  std::string cursor;  // its own; empty: from the beginning
};

/// Of all shards, by number, as one text; empty when all are over.
std::string list_cursor(const std::vector<list_place>& places);
/// Reads it back. Empty text: all from the beginning. Error: it is none of a list over `count` shards.
result<std::vector<list_place>> list_places(const std::string& cursor, std::uint32_t count);

/// One page of all shards. `answers` holds one reply for each shard that is not over, in the order of their numbers, of at most `page_size` items
/// each with a cursor of its own. An error of any shard is the error of the page: a list that silently lacks tasks is worse than none.
v1::TaskListReply merge_tasks(const v1::TaskListRequest& what, std::vector<list_place> places, std::vector<v1::TaskListReply> answers);

/// The alerts of one shard on their way into a page.
struct alert_source {
  std::uint32_t shard = 0;
  std::vector<v1::AlertRecord> items;  // newest first, with the shard's own numbers
  std::size_t taken = 0;
  std::uint64_t before = 0;  // the shard's own, behind `items`; 0: it has no more
};

/// Moves alerts, with the numbers of the cluster, from the sources to the page until that is full or a source wants more before anything else can
/// be said: its index is given then.
std::optional<std::size_t> fill_page(v1::AlertListReply& page, std::vector<alert_source>& sources, std::uint32_t page_size,
                                     std::uint32_t count);
/// Whether anything is left that `fill_page` did not take.
bool more_alerts(const std::vector<alert_source>& sources);

/// The request of one shard for the alerts behind the one with `last`, raised at `raised_at_unix_ms`.
v1::AlertListRequest alerts_behind(const v1::AlertListRequest& what, std::uint32_t shard, std::uint32_t count,
                                   std::int64_t raised_at_unix_ms);

/// The request of one shard for a client's status events.
v1::RepliesRequest replies_of_shard(const v1::RepliesRequest& what, std::uint32_t shard);
/// The events of all shards, each with its shard. Errors only when there are no events: what is there is given out first.
v1::RepliesReply merge_replies(const v1::RepliesRequest& what, std::vector<std::pair<std::uint32_t, v1::RepliesReply>> answers);

v1::DoctorReply merge_doctors(std::vector<v1::DoctorReply> answers);
/// What all shards were told to do; done is what all have done. `tolerated` is no error as long as another shard did it.
v1::AgentOperateReply merge(const v1::AgentOperateRequest& what, std::vector<v1::AgentOperateReply> answers);
v1::BrakeReleaseReply merge(const v1::BrakeReleaseRequest& what, std::vector<v1::BrakeReleaseReply> answers);
v1::DeployReply merge_deployments(std::vector<v1::DeployReply> answers);

}  // namespace fairlead
