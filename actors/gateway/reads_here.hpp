#pragma once
// Reads of tasks that this node can answer by itself, without the gateway's mailbox.

#include <cstdint>
#include <optional>
#include <vector>

#include "actors/queries/shard_access.hpp"
#include "messages/api.pb.h"

namespace fairlead {

/// From any thread, for as long as the node tree lives.
class reads_here {
 public:
  reads_here(std::vector<shard_desk> desks, std::uint32_t shard_count) : desks_(std::move(desks)), shard_count_(shard_count) {}

  /// As the gateway answers. nullopt: ask the gateway, because it has to refuse the request, or a shard of it is on other nodes, too.
  std::optional<v1::TaskShowReply> read(const v1::TaskShowRequest& what) const;
  std::optional<v1::StatesReply> read(const v1::StatesRequest& what) const;

 private:
  const shard_desk* alone_here(std::uint32_t shard) const;

  std::vector<shard_desk> desks_;
  std::uint32_t shard_count_;
};

/// The shard's number of the task's alert becomes the cluster's.
void number_alert(v1::TaskShowReply& in, std::uint32_t shard, std::uint32_t shard_count);

}  // namespace fairlead
