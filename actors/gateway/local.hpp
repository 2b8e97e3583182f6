#pragma once
// What a gateway answers itself about a shard of its own node, and whom it asks for the rest.

#include <type_traits>

#include "actors/queries/shard_access.hpp"
#include "messages/time.hpp"

namespace fairlead {

template <class Request>
struct reply_to;
template <>
struct reply_to<v1::SubmitRequest> {
  using type = v1::SubmitReply;
};
template <>
struct reply_to<v1::StatesRequest> {
  using type = v1::StatesReply;
};
template <>
struct reply_to<v1::TaskListRequest> {
  using type = v1::TaskListReply;
};
template <>
struct reply_to<v1::TaskShowRequest> {
  using type = v1::TaskShowReply;
};
template <>
struct reply_to<v1::WatchRequest> {
  using type = v1::WatchReply;
};
template <>
struct reply_to<v1::DeployRequest> {
  using type = v1::DeployReply;
};
template <>
struct reply_to<v1::WorkflowListRequest> {
  using type = v1::WorkflowListReply;
};
template <>
struct reply_to<v1::WorkflowShowRequest> {
  using type = v1::WorkflowShowReply;
};
template <>
struct reply_to<v1::StatusRequest> {
  using type = v1::StatusReply;
};
template <>
struct reply_to<v1::OperateRequest> {
  using type = v1::OperateReply;
};
template <>
struct reply_to<v1::AlertListRequest> {
  using type = v1::AlertListReply;
};
template <>
struct reply_to<v1::AlertShowRequest> {
  using type = v1::AlertShowReply;
};
template <>
struct reply_to<v1::AlertAckRequest> {
  using type = v1::AlertAckReply;
};
template <>
struct reply_to<v1::BrakeReleaseRequest> {
  using type = v1::BrakeReleaseReply;
};
template <>
struct reply_to<v1::RepliesRequest> {
  using type = v1::RepliesReply;
};
template <>
struct reply_to<v1::DoctorRequest> {
  using type = v1::DoctorReply;
};
template <>
struct reply_to<v1::AgentOperateRequest> {
  using type = v1::AgentOperateReply;
};
template <>
struct reply_to<v1::InspectRequest> {
  using type = v1::InspectReply;
};
template <>
struct reply_to<v1::NodeOperateRequest> {
  using type = v1::NodeOperateReply;
};
template <>
struct reply_to<v1::JobApplyRequest> {
  using type = v1::JobApplyReply;
};
template <>
struct reply_to<v1::JobListRequest> {
  using type = v1::JobListReply;
};
template <>
struct reply_to<v1::JobShowRequest> {
  using type = v1::JobShowReply;
};
template <>
struct reply_to<v1::JobHistoryRequest> {
  using type = v1::JobHistoryReply;
};
template <>
struct reply_to<v1::JobOperateRequest> {
  using type = v1::JobOperateReply;
};
template <class Request>
using reply_of = typename reply_to<Request>::type;

template <class Reply>
Reply refusal(const error& why) {
  Reply out;
  *out.mutable_error() = why.to_proto();
  return out;
}

/// Reads: of what is committed, without the Scheduler.
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

template <class Request, class = void>
struct is_read : std::false_type {};
template <class Request>
struct is_read<Request, std::void_t<decltype(read_here(std::declval<const shard_desk&>(), std::declval<const Request&>(), moment{}))>>
    : std::true_type {};

/// Completes what a Scheduler has said of itself: what the store shows, and the shard's own line.
void describe_here(const shard_desk& desk, const std::string& node, v1::StatusReply& reply);

/// Who answers what is no read.
template <class Request>
const auto& handler_here(const shard_desk& desk) {
  if constexpr (std::is_same_v<Request, v1::RepliesRequest>)
    return desk.replies;
  else
    return desk.scheduler;
}

}  // namespace fairlead
