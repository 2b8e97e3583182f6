#pragma once
// What came of an operator's action on a task or on a node, as JSON.

#include <cstdint>
#include <string>
#include <vector>

#include "messages/api.pb.h"
#include "messages/node.pb.h"

namespace fairlead::app {

/// An action on one task that was carried out.
std::string operated_json(const v1::OperateResult& result);

/// A signal that a task was given.
std::string signaled_json(const v1::OperateResult& result, const std::string& signal);

/// A node that drains, or else gets work again. `needed_by`: the shards that would stand still without it.
std::string node_drained_json(const std::string& node, bool draining, const v1::NodeOperateReply& reply,
                              const std::vector<std::uint32_t>& needed_by);
/// A node that has read its node file again.
std::string node_reloaded_json(const std::string& node, const v1::NodeOperateReply& reply);
/// A node that logs from `level` on.
std::string node_level_json(const std::string& node, const std::string& level, const v1::NodeOperateReply& reply);
/// A node that the others have forgotten, if they knew it.
std::string node_forgotten_json(const std::string& node, const v1::NodeOperateReply& reply);

}  // namespace fairlead::app
