#pragma once
// Carries out an operation: pages through its tasks, and acts on them at the rate that was asked for. Blocks; no CAF.

#include <functional>
#include <string_view>

#include "actors/agents/native.hpp"
#include "messages/api.pb.h"
#include "messages/error.hpp"
#include "messages/time.hpp"

namespace fairlead::app::bulk {

/// What an operation needs of its node. May be called from any thread.
struct world {
  std::function<result<v1::TaskListReply>(const v1::TaskListRequest&)> list;
  std::function<result<v1::OperateReply>(const v1::OperateRequest&)> operate;
  std::function<result<v1::TaskShowReply>(const v1::TaskShowRequest&)> show;
  /// The node ends: the operation goes on elsewhere, or here again.
  std::function<bool()> is_ending;
  std::function<duration()> steady;
  std::function<void(duration)> wait;
};

/// The handler of the call `act`. Each action has a token of the operation, so a page that comes again after a death of the node is done once.
agents::attempt_result carry_out(const world& in, const agents::native_context& context, std::string_view input);

}  // namespace fairlead::app::bulk
