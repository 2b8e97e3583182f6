#pragma once
// The gateway: the one actor a node publishes. Checks what comes in, passes what changes anything to the Scheduler, and answers reads itself.

#include <functional>
#include <memory>
#include <string>

#include "actors/interfaces.hpp"
#include "actors/ports.hpp"
#include "actors/reply_waiters_actor.hpp"
#include "actors/store_actor.hpp"
#include "store/archive.hpp"
#include "store/store.hpp"

namespace fairlead {

struct gateway_setup {
  std::string node;
  std::string version;
  const clock* time = nullptr;
  const store::store* reads = nullptr;
  std::shared_ptr<store::archive> archives;
  scheduler_actor scheduler;
  replies_actor replies;
  /// Whether all expressions compile; blocks, so it is called from an actor with a thread of its own.
  std::function<status(const std::vector<std::string>&)> check_expressions;
  /// Adds what only the node knows: the store's path and counters.
  std::function<void(v1::StatusReply&)> describe_node;
  fatal_handler on_fatal;
};

gateway_actor::behavior_type run_gateway(gateway_actor::pointer self, gateway_setup setup);

}  // namespace fairlead
