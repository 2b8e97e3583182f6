#pragma once
// The clients' long polls for status events, in CAF: one actor for all, so that waiting blocks no one.

#include <memory>

#include "actors/protocol/handles.hpp"
#include "actors/protocol/ports.hpp"
#include "actors/replies/outbox.hpp"
#include "actors/supervision/supervised.hpp"
#include "store/store.hpp"

namespace fairlead {

struct replies_setup {
  const clock* time = nullptr;
  const store::store* reads = nullptr;
  std::shared_ptr<reply_outbox> outbox;
  scheduler_actor scheduler;
  fatal_handler on_fatal;
};

replies_actor::behavior_type run_replies(supervised_pointer<replies_actor> self, replies_setup setup);

}  // namespace fairlead
