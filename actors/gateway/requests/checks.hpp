#pragma once
// Checks of a request as a whole, before any shard is asked. Whether it fits a task or an agent only a shard can say. Pure; no CAF.

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "messages/api.pb.h"
#include "messages/error.hpp"
#include "messages/job.pb.h"
#include "messages/node.pb.h"
#include "messages/replica.pb.h"

namespace fairlead {

/// Places in a request, in ascending order, and the answers for them.
using refused_items = std::vector<std::pair<int, v1::SubmitResult>>;
/// Takes the submissions out of a request that `why_not` refuses. It sees each once.
refused_items take_refused(v1::SubmitRequest& what, const std::function<std::optional<error>(v1::Submission&)>& why_not);
/// Those of a client's request that only the node itself makes.
refused_items take_reserved(v1::SubmitRequest& what);
/// The answer for the others, and for those at their places.
v1::SubmitReply with_refused(v1::SubmitReply reply, refused_items refused);

std::optional<error> check_request(const v1::SubmitRequest& what);
std::optional<error> check_request(const v1::StatesRequest& what);
std::optional<error> check_request(const v1::TaskListRequest& what);
std::optional<error> check_request(const v1::TaskShowRequest& what);
std::optional<error> check_request(const v1::WatchRequest& what);
std::optional<error> check_request(const v1::DeployRequest& what);
std::optional<error> check_request(const v1::WorkflowDeleteRequest& what);
std::optional<error> check_request(const v1::WorkflowListRequest& what);
std::optional<error> check_request(const v1::WorkflowShowRequest& what);
std::optional<error> check_request(const v1::StatusRequest& what);
std::optional<error> check_request(const v1::OperateRequest& what);
std::optional<error> check_request(const v1::AlertListRequest& what);
std::optional<error> check_request(const v1::AlertShowRequest& what);
std::optional<error> check_request(const v1::AlertAckRequest& what);
std::optional<error> check_request(const v1::BrakeReleaseRequest& what);
std::optional<error> check_request(const v1::RepliesRequest& what);
std::optional<error> check_request(const v1::DoctorRequest& what);
std::optional<error> check_request(const v1::AgentOperateRequest& what);
std::optional<error> check_request(const v1::RegisterAgent& what);
std::optional<error> check_request(const v1::WorkerSessionRequest& what);
std::optional<error> check_request(const v1::InspectRequest& what);
std::optional<error> check_request(const v1::NodeOperateRequest& what);
std::optional<error> check_request(const v1::ShardNodesRequest& what);
std::optional<error> check_request(const v1::AuditListRequest& what);
std::optional<error> check_request(const v1::JobApplyRequest& what);
std::optional<error> check_request(const v1::JobListRequest& what);
std::optional<error> check_request(const v1::JobShowRequest& what);
std::optional<error> check_request(const v1::JobHistoryRequest& what);
std::optional<error> check_request(const v1::JobOperateRequest& what);

}  // namespace fairlead
