#pragma once
// The gateway's access to a shard of its own node. The addresses stay the same when the actors behind them restart.

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "actors/protocol/handles.hpp"
#include "store/lmdb/archive.hpp"
#include "store/store.hpp"

namespace fairlead {

class replica_seat;

struct shard_desk {
  std::uint32_t shard = 0;
  std::string store_id;
  const store::store* reads = nullptr;
  std::shared_ptr<store::archive> archives;
  /// Whether other nodes hold the shard, too, or may: then it is here only while this node leads it. Null: they never do.
  const std::atomic<replica_seat*>* seat = nullptr;
  replica_actor replica;  // of such a shard
  scheduler_actor scheduler;
  replies_actor replies;
  /// Adds facts that only the node knows: the store's path and counters, and the commits. From any thread.
  std::function<void(v1::ShardStatus&)> describe;

  bool is_of_several() const { return seat != nullptr && seat->load() != nullptr; }
};

}  // namespace fairlead
