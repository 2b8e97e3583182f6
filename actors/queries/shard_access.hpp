#pragma once
// What the gateway sees of a shard of its own node. The addresses stay the same however often the actors behind them are started again.

#include <functional>
#include <memory>
#include <string>

#include "actors/protocol/handles.hpp"
#include "store/lmdb/archive.hpp"
#include "store/store.hpp"

namespace fairlead {

struct shard_desk {
  std::uint32_t shard = 0;
  std::string store_id;
  const store::store* reads = nullptr;
  std::shared_ptr<store::archive> archives;
  scheduler_actor scheduler;
  replies_actor replies;
  /// Adds what only the node knows: the store's path and counters, and how its commits go. From any thread.
  std::function<void(v1::ShardStatus&)> describe;
};

}  // namespace fairlead
