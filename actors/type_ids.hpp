#pragma once
// Every message that CAF carries, in one block. The numbers are part of the protocol between nodes: only append.

#include <caf/all.hpp>

#include "actors/local_messages.hpp"
#include "actors/node_messages.hpp"
#include "messages/agent.pb.h"
#include "messages/api.pb.h"
#include "messages/inspect.hpp"
#include "messages/node.pb.h"

template <>
inline caf::error fairlead::v1::unreadable_message<caf::error>() {
  return caf::make_error(caf::sec::malformed_basp_message);
}

CAF_BEGIN_TYPE_ID_BLOCK(fairlead, caf::first_custom_type_id)

CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::SubmitRequest))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::SubmitReply))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::FinishedNotice))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::StatesRequest))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::StatesReply))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::TaskListRequest))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::TaskListReply))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::TaskShowRequest))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::TaskShowReply))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::WatchRequest))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::WatchReply))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::DeployRequest))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::DeployReply))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::WorkflowListRequest))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::WorkflowListReply))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::WorkflowShowRequest))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::WorkflowShowReply))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::StatusRequest))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::StatusReply))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::PerformBatch))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::OutcomeBatch))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::OutcomeAckBatch))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::RegisterAgent))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::RecoverBatch))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::RecoveryHintBatch))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::EvaluateReply))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::OperateRequest))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::OperateReply))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::AlertListRequest))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::AlertListReply))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::AlertShowRequest))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::AlertShowReply))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::AlertAckRequest))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::AlertAckReply))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::BrakeReleaseRequest))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::BrakeReleaseReply))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::RepliesRequest))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::RepliesReply))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::DoctorRequest))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::DoctorReply))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::HeartbeatBatch))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::HeartbeatAckBatch))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::AgentOperateRequest))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::AgentOperateReply))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::Hello))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::HelloReply))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::AgentWelcome))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::Beacon))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::BeaconAck))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::InspectRequest))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::InspectReply))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::NodeOperateRequest))
CAF_ADD_TYPE_ID(fairlead, (fairlead::v1::NodeOperateReply))

// Inside one process only.
CAF_ADD_TYPE_ID(fairlead, (fairlead::commit_request))
CAF_ADD_TYPE_ID(fairlead, (fairlead::committed))
CAF_ADD_TYPE_ID(fairlead, (fairlead::attempt_finished))
CAF_ADD_TYPE_ID(fairlead, (fairlead::attempt_progressed))
CAF_ADD_TYPE_ID(fairlead, (fairlead::archived_tasks))
CAF_ADD_TYPE_ID(fairlead, (fairlead::courier_rows))
CAF_ADD_TYPE_ID(fairlead, (fairlead::stalest_task))
CAF_ADD_TYPE_ID(fairlead, (fairlead::shard_route))
CAF_ADD_TYPE_ID(fairlead, (fairlead::shard_total))
CAF_ADD_TYPE_ID(fairlead, (fairlead::link_report))

CAF_ADD_ATOM(fairlead, fairlead, flush_atom, "flush")
CAF_ADD_ATOM(fairlead, fairlead, scan_atom, "scan")
CAF_ADD_ATOM(fairlead, fairlead, expire_atom, "expire")
CAF_ADD_ATOM(fairlead, fairlead, resume_atom, "resume")
CAF_ADD_ATOM(fairlead, fairlead, offer_atom, "offer")
CAF_ADD_ATOM(fairlead, fairlead, drain_atom, "drain")
CAF_ADD_ATOM(fairlead, fairlead, archive_atom, "archive")
CAF_ADD_ATOM(fairlead, fairlead, deliver_atom, "deliver")
CAF_ADD_ATOM(fairlead, fairlead, beacon_atom, "beacon")
CAF_ADD_ATOM(fairlead, fairlead, link_atom, "link")
CAF_ADD_ATOM(fairlead, fairlead, report_atom, "report")
CAF_ADD_ATOM(fairlead, fairlead, watch_atom, "watch")

CAF_END_TYPE_ID_BLOCK(fairlead)

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fairlead::commit_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fairlead::committed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fairlead::attempt_finished)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fairlead::attempt_progressed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fairlead::archived_tasks)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fairlead::courier_rows)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fairlead::stalest_task)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fairlead::shard_route)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fairlead::shard_total)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fairlead::link_report)
