#pragma once
// Requests to a shard of the gateway's own node: reads are answered here, the others go to an actor of the shard.

#include <type_traits>

#include "actors/protocol/requests.hpp"
#include "actors/queries/shard_access.hpp"
#include "messages/time.hpp"

namespace fairlead {

template <class Reply>
Reply refusal(const error& why) {
  Reply out;
  *out.mutable_error() = why.to_proto();
  return out;
}

/// Reads of committed state, without the Scheduler.
v1::StatesReply read_here(const shard_desk& desk, const v1::StatesRequest& what, moment now);
v1::TaskListReply read_here(const shard_desk& desk, const v1::TaskListRequest& what, moment now);
v1::TaskShowReply read_here(const shard_desk& desk, const v1::TaskShowRequest& what, moment now);
v1::WorkflowListReply read_here(const shard_desk& desk, const v1::WorkflowListRequest& what, moment now);
v1::WorkflowShowReply read_here(const shard_desk& desk, const v1::WorkflowShowRequest& what, moment now);
v1::AlertListReply read_here(const shard_desk& desk, const v1::AlertListRequest& what, moment now);
v1::AlertShowReply read_here(const shard_desk& desk, const v1::AlertShowRequest& what, moment now);
v1::JobListReply read_here(const shard_desk& desk, const v1::JobListRequest& what, moment now);
v1::JobShowReply read_here(const shard_desk& desk, const v1::JobShowRequest& what, moment now);
v1::JobHistoryReply read_here(const shard_desk& desk, const v1::JobHistoryRequest& what, moment now);

/// Completes the Scheduler's status with values from the store and the shard's own line.
void describe_here(const shard_desk& desk, const std::string& node, v1::StatusReply& reply);

/// Answered without a commit. Of a shard that several nodes hold another one may know better: it is asked first who leads.
template <class Request>
inline constexpr bool is_read =
    row_of<Request>::by == answered_by::store || row_of<Request>::by == answered_by::replies || std::is_same_v<Request, v1::WatchRequest>;

/// The actor of the shard that answers requests other than reads.
template <class Request>
const auto& handler_here(const shard_desk& desk) {
  if constexpr (row_of<Request>::by == answered_by::replies)
    return desk.replies;
  else if constexpr (row_of<Request>::by == answered_by::replica)
    return desk.replica;
  else
    return desk.scheduler;
}

}  // namespace fairlead
