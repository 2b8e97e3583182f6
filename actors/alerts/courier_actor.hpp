#pragma once
// The alert courier in CAF: looks at intervals, and whenever a delivery has ended.

#include <cstdint>
#include <memory>
#include <vector>

#include "actors/alerts/courier.hpp"
#include "actors/protocol/handles.hpp"
#include "actors/protocol/ports.hpp"
#include "actors/supervision/supervised.hpp"
#include "store/store.hpp"

namespace fairlead {

struct alert_courier_setup {
  const clock* time = nullptr;
  const store::store* reads = nullptr;
  webhook_port* webhooks = nullptr;
  std::shared_ptr<command_port> commands;  // lives as long as the actor
  observer* log = nullptr;
  scheduler_actor scheduler;
  replica_actor replica;  // asked who leads; null: the shard lives on this node alone
  std::string node;
  std::uint32_t shard = 0;
  std::uint32_t shard_count = 1;
  std::vector<alert_target> targets;
  fatal_handler on_fatal;
};

courier_actor::behavior_type run_alert_courier(supervised_pointer<courier_actor> self, alert_courier_setup setup);

}  // namespace fairlead
