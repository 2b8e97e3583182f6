#pragma once
// Merges lists of several shards. Each shard's own order is kept; between shards the newest item (of status events: the oldest) goes first.
// Items that did not fit a page come with the next: the cursor holds the place in each shard's list. Pure; no CAF.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "messages/api.pb.h"
#include "messages/error.hpp"

namespace fairlead {

/// Whether the list goes on without this shard.
template <class Request, class Reply>
bool left_out(const Request& what, const Reply& answer) {
  return what.partial() && answer.error().code() == v1::ERROR_CODE_UNAVAILABLE;
}

/// The error of the whole list: the first that is not left out, or the first at all if no shard has answered.
template <class Request, class Reply>
const v1::Error* error_of_list(const Request& what, const std::vector<Reply>& answers) {
  const v1::Error* first = nullptr;
  bool some = false;
  for (const auto& one : answers) {
    if (one.error().code() == v1::ERROR_CODE_OK) {
      some = true;
      continue;
    }
    if (!left_out(what, one)) return &one.error();
    if (first == nullptr) first = &one.error();
  }
  return some ? nullptr : first;
}

/// How many rows a shard has read. A node of an earlier release does not say: it has read those that it lists.
template <class Reply>
std::uint64_t looked_at(const Reply& answer) {
  return std::max(answer.looked_at(), static_cast<std::uint64_t>(answer.items_size()));
}

/// The place where the list of one shard goes on.
struct list_place {
  bool over = false;   // the shard has no more items
  std::string cursor;  // the shard's own cursor; empty: from the beginning
};

/// Whether the request has conditions that a node of an earlier release does not know: its answer has to be looked at.
bool may_be_unknown(const v1::TaskListRequest& what);

/// The places of all shards, by number, as one text; empty if all are over.
std::string list_cursor(const std::vector<list_place>& places);
/// Reads the text of `list_cursor`; empty: all from the beginning. Error: not a cursor over `count` shards. `only`: the shard that has all
/// that is asked for; the others are over.
result<std::vector<list_place>> list_places(const std::string& cursor, std::uint32_t count,
                                            std::optional<std::uint32_t> only = std::nullopt);

/// One page of all shards. `answers` holds one reply for each shard that is not over, by shard number, with at most `page_size` items, each
/// with its own cursor. An error of any shard is the error of the page: a list that silently lacks tasks is worse than none. Only where the
/// request is `partial` a shard that cannot be reached is left out and named, as long as some shard has answered.
v1::TaskListReply merge_tasks(const v1::TaskListRequest& what, std::vector<list_place> places, std::vector<v1::TaskListReply> answers);

/// The alerts of one shard that are to be merged into a page.
struct alert_source {
  std::uint32_t shard = 0;
  std::vector<v1::AlertRecord> items;  // newest first, with the shard's own numbers
  std::size_t taken = 0;
  std::uint64_t before = 0;  // the shard's own cursor, after `items`; 0: the shard has no more
};

/// Moves alerts from the sources to the page, with cluster numbers, until the page is full. Stops earlier if a source must be read on
/// before the next alert is known, and returns its index.
std::optional<std::size_t> fill_page(v1::AlertListReply& page, std::vector<alert_source>& sources, std::uint32_t page_size,
                                     std::uint32_t count);
/// Whether `fill_page` has left alerts.
bool more_alerts(const std::vector<alert_source>& sources);

/// The request to one shard for the alerts after the alert `what.before()`, which was raised at `raised_at_unix_ms`.
v1::AlertListRequest alerts_behind(const v1::AlertListRequest& what, std::uint32_t shard, std::uint32_t count,
                                   std::int64_t raised_at_unix_ms);

/// The request to one shard for a client's status events.
v1::RepliesRequest replies_of_shard(const v1::RepliesRequest& what, std::uint32_t shard);
/// The events of all shards, each with its shard. Errors only if there are no events: events are given out first.
v1::RepliesReply merge_replies(const v1::RepliesRequest& what, std::vector<std::pair<std::uint32_t, v1::RepliesReply>> answers);

v1::DoctorReply merge_doctors(std::vector<v1::DoctorReply> answers);
/// Merges the answers to an order sent to all shards: done means done by all. The code `tolerated` is no error if another shard has done
/// it.
v1::AgentOperateReply merge(const v1::AgentOperateRequest& what, std::vector<v1::AgentOperateReply> answers);
v1::BrakeReleaseReply merge(const v1::BrakeReleaseRequest& what, std::vector<v1::BrakeReleaseReply> answers);
/// All shards have the same workflows. Where one has not counted its tasks the versions are left out, and where none has answered it is an error.
v1::WorkflowListReply merge(const v1::WorkflowListRequest& what, std::vector<v1::WorkflowListReply> answers);
v1::DeployReply merge_deployments(std::vector<v1::DeployReply> answers);
v1::WorkflowDeleteReply merge_workflow_deletions(const std::vector<v1::WorkflowDeleteReply>& answers);

}  // namespace fairlead
