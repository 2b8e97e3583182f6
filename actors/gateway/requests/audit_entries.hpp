#pragma once
// What the audit has of a request that is not one of JSON: over the port between nodes, or of the command line over the API.
// Method, path and verb are those that the API has for the same. Pure; no CAF.

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "actors/protocol/ports.hpp"
#include "actors/protocol/requests.hpp"
#include "messages/tickets.hpp"

namespace fairlead {

/// Whether requests of this kind can change something that is not a new task.
template <class Request>
inline constexpr bool is_noted = row_of<Request>::needs == right::act || row_of<Request>::needs == right::deploy ||
                                 (row_of<Request>::needs == right::administer && !std::is_same_v<Request, v1::AuditListRequest>);

/// `running`, `running, parked`; empty: nothing was done, or the task has no record any more.
std::string state_after(const v1::OperateResult& done);

/// What a callback is about besides its task: `step 2 of the workflow`. Only the shard knows the step's name.
std::string called_back_step(const callback_name& which);

/// One for each task, job or alert that is named. None: the request changes nothing, or another gateway has taken it and notes it.
std::vector<noted_request> to_note(const v1::OperateRequest& what);
std::vector<noted_request> to_note(const v1::DeployRequest& what);
std::vector<noted_request> to_note(const v1::WorkflowDeleteRequest& what);
std::vector<noted_request> to_note(const v1::JobApplyRequest& what);
std::vector<noted_request> to_note(const v1::JobOperateRequest& what);
std::vector<noted_request> to_note(const v1::AlertAckRequest& what);
std::vector<noted_request> to_note(const v1::BrakeReleaseRequest& what);
std::vector<noted_request> to_note(const v1::AgentOperateRequest& what);
std::vector<noted_request> to_note(const v1::DoctorRequest& what);
std::vector<noted_request> to_note(const v1::ShardNodesRequest& what);
std::vector<noted_request> to_note(const v1::RepliesRequest& what);
/// `here`: the node that is asked.
std::vector<noted_request> to_note(const v1::NodeOperateRequest& what, const std::string& here);
template <class Request>
std::vector<noted_request> to_note(const Request& what, const std::string&) {
  return to_note(what);
}

/// Writes into the entries what became of them: the result of each. One entry about several things was refused if all of them were.
template <class Reply>
void note_ends(const Reply& reply, std::vector<noted_request>& entries) {
  for (auto& one : entries) one.end = reply.error().code();
  if (reply.error().code() != v1::ERROR_CODE_OK) return;
  if constexpr (std::is_same_v<Reply, v1::OperateReply>)
    for (int i = 0; i < reply.results_size() && i < static_cast<int>(entries.size()); ++i)
      entries[static_cast<std::size_t>(i)].entry.set_state_after(state_after(reply.results(i)));
  if constexpr (requires { reply.results(0).error(); }) {
    const auto& all = reply.results();
    const auto is_refused = [](const auto& one) { return one.error().code() != v1::ERROR_CODE_OK; };
    if (entries.size() == 1) {
      if (!all.empty() && std::all_of(all.begin(), all.end(), is_refused)) entries[0].end = all[0].error().code();
      return;
    }
    for (int i = 0; i < all.size() && i < static_cast<int>(entries.size()); ++i)
      entries[static_cast<std::size_t>(i)].end = all[i].error().code();
  }
}

}  // namespace fairlead
