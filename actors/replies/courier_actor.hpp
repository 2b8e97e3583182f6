#pragma once
// The reply courier in CAF, on a thread of its own because dropping much takes time.

#include <memory>

#include "actors/protocol/handles.hpp"
#include "actors/protocol/ports.hpp"
#include "actors/replies/courier.hpp"
#include "actors/supervision/supervised.hpp"
#include "store/store.hpp"

namespace fairlead {

struct reply_courier_setup {
  const clock* time = nullptr;
  const store::store* reads = nullptr;
  observer* log = nullptr;
  std::shared_ptr<webhook_port> posts;
  std::shared_ptr<reply_outbox> outbox;
  scheduler_actor scheduler;
  replica_actor replica;  // asked who leads; null: the shard lives on this node alone
  reply_courier::settings settings;
  fatal_handler on_fatal;
};

/// Spawn it detached.
courier_actor::behavior_type run_reply_courier(supervised_pointer<courier_actor> self, reply_courier_setup setup);

}  // namespace fairlead
