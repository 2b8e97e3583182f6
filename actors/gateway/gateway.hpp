#pragma once
// The gateway: the one actor that a node publishes. Any gateway takes any request. It checks the request, finds the shards concerned, asks
// those of its own node directly and the others through the gateways of their nodes, and merges the answers.
//
// A request with a `shard` comes from another gateway. This node serves or refuses it and never passes it on. So no request goes round in
// circles while nodes disagree for a moment about who holds a shard.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "actors/expressions/deployer_actor.hpp"
#include "actors/protocol/handles.hpp"
#include "actors/protocol/ports.hpp"
#include "actors/queries/shard_access.hpp"
#include "actors/supervision/supervised.hpp"
#include "actors/supervision/supervision_tree.hpp"
#include "actors/supervisor/doctor_actor.hpp"

namespace fairlead {

struct gateway_setup {
  std::string node;
  std::string version;
  std::string cluster;
  std::vector<std::string> roles;
  std::uint64_t incarnation = 0;
  std::int64_t started_at_unix_ms = 0;
  const clock* time = nullptr;
  observer* log = nullptr;        // may be null
  std::vector<shard_desk> desks;  // of the shards here; may be empty
  std::uint32_t shard_count = 0;  // of the cluster; 0: shard_total will bring it
  links_actor links;              // none: this node is alone
  deployer_actor deployer;        // none: definitions are checked by the nodes that hold the shards
  doctor_actor doctor;            // none: there are no shards here
  const supervision_tree* tree = nullptr;
  /// Does an operator's action on this node; `done` may be called from any thread, once. Empty: such actions are refused.
  std::function<void(const v1::NodeOperateRequest&, std::function<void(v1::NodeOperateReply)> done)> operate;
  std::shared_ptr<audit_port> audit;  // null: this node keeps none
  /// Reads a page of what this node has noted; `done` may be called from any thread, once. Empty: this node keeps no audit.
  std::function<void(const v1::AuditListRequest&, std::function<void(v1::AuditListReply)> done)> read_audit;
  /// The log level of the process. Empty: there is no log.
  std::function<std::string()> log_level;
  /// Whether the node's agents take no more work. Empty: they take work.
  std::function<bool()> draining;
};

gateway_actor::behavior_type run_gateway(supervised_pointer<gateway_actor> self, gateway_setup setup);

}  // namespace fairlead
