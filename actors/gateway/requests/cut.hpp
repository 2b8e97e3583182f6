#pragma once
// Cuts requests about many tasks, alerts or jobs by shard, and puts the answers together in the order of the request. If a shard cannot be
// reached only its own items get an error. Pure; no CAF.

#include <cstdint>
#include <utility>
#include <vector>

#include "messages/api.pb.h"
#include "messages/job.pb.h"

namespace fairlead {

/// `parts` in the order of the shards; `positions[i]` are the places in the request of the items of part i.
template <class Request>
struct cut_request {
  std::vector<std::pair<std::uint32_t, Request>> parts;
  std::vector<std::vector<int>> positions;
};

cut_request<v1::SubmitRequest> cut_by_shard(v1::SubmitRequest what, std::uint32_t count);
cut_request<v1::StatesRequest> cut_by_shard(const v1::StatesRequest& what, std::uint32_t count);
cut_request<v1::OperateRequest> cut_by_shard(const v1::OperateRequest& what, std::uint32_t count);
/// Numbers that no alert can have are left out.
cut_request<v1::AlertAckRequest> cut_by_shard(const v1::AlertAckRequest& what, std::uint32_t count);
cut_request<v1::JobApplyRequest> cut_by_shard(v1::JobApplyRequest what, std::uint32_t count);
cut_request<v1::JobOperateRequest> cut_by_shard(const v1::JobOperateRequest& what, std::uint32_t count);

v1::SubmitReply put_together(const v1::SubmitRequest& ids, const std::vector<std::vector<int>>& positions,
                             std::vector<v1::SubmitReply> answers);
/// An error of any shard is the error of the whole: a missing state must not look like an unknown task.
v1::StatesReply put_together(const v1::StatesRequest& what, const std::vector<std::vector<int>>& positions,
                             std::vector<v1::StatesReply> answers);
v1::OperateReply put_together(const v1::OperateRequest& what, const std::vector<std::vector<int>>& positions,
                              std::vector<v1::OperateReply> answers);
v1::AlertAckReply put_together(const v1::AlertAckRequest& what, const cut_request<v1::AlertAckRequest>& cut,
                               std::vector<v1::AlertAckReply> answers, std::uint32_t count);
/// Of `names` only the jobs' names are read.
v1::JobApplyReply put_together(const v1::JobApplyRequest& names, const std::vector<std::vector<int>>& positions,
                               std::vector<v1::JobApplyReply> answers);
v1::JobOperateReply put_together(const v1::JobOperateRequest& what, const std::vector<std::vector<int>>& positions,
                                 std::vector<v1::JobOperateReply> answers);

}  // namespace fairlead
