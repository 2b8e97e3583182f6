#include "actors/gateway/routes.hpp"

#include <algorithm>
#include <utility>

#include "actors/core/cluster/routing.hpp"
#include "actors/gateway/held_requests.hpp"

namespace fairlead {

gateway_routes::gateway_routes(std::string node, std::vector<shard_desk> desks, std::uint32_t count)
    : node_(std::move(node)), desks_(std::move(desks)), count_(count) {}

void gateway_routes::set_count(std::uint32_t count) {
  // The first known count holds for ever; links refuse nodes with another count.
  if (count_ == 0 && count <= core::max_shards) count_ = count;
}

bool gateway_routes::learn(shard_route route, moment now) {
  if (route.shard >= core::max_shards) return false;
  auto& known = routes_[route.shard];
  const bool left = known.now.via && known.now.via != route.via;
  if (route.via)
    known.lost_at.reset();
  else if (left)
    known.lost_at = now;
  known.now = std::move(route);
  return left;
}

std::optional<moment> gateway_routes::leader_may_come_until(std::uint32_t shard, moment now) const {
  const auto found = routes_.find(shard);
  if (found == routes_.end() || !found->second.now.several || !found->second.lost_at) return std::nullopt;
  const auto until = *found->second.lost_at + held_requests::longest_hold;
  return until > now ? std::optional{until} : std::nullopt;
}

bool gateway_routes::is_of_several(std::uint32_t shard) const {
  const auto found = routes_.find(shard);
  return found != routes_.end() && found->second.now.several;
}

const shard_desk* gateway_routes::desk(std::uint32_t shard) const {
  const auto found = std::find_if(desks_.begin(), desks_.end(), [&](const shard_desk& desk) { return desk.shard == shard; });
  return found == desks_.end() ? nullptr : &*found;
}

const shard_desk* gateway_routes::here(std::uint32_t shard) const {
  const auto* const found = desk(shard);
  if (found == nullptr || !found->is_of_several()) return found;
  const auto route = routes_.find(shard);
  return route != routes_.end() && route->second.now.via && route->second.now.node == node_ ? found : nullptr;
}

replica_actor gateway_routes::replica_here(std::uint32_t shard) const {
  const auto* const found = desk(shard);
  return found == nullptr || !found->is_of_several() ? replica_actor{} : found->replica;
}

caf::strong_actor_ptr gateway_routes::there(std::uint32_t shard) const {
  const auto found = routes_.find(shard);
  return found == routes_.end() || here(shard) != nullptr ? nullptr : found->second.now.via;
}

std::string gateway_routes::holder(std::uint32_t shard) const {
  if (here(shard) != nullptr) return node_;
  const auto found = routes_.find(shard);
  return found == routes_.end() || !found->second.now.via ? std::string{} : found->second.now.node;
}

std::string gateway_routes::reason(std::uint32_t shard) const {
  const auto found = routes_.find(shard);
  return found == routes_.end() || found->second.now.reason.empty() ? "no node with this shard is connected" : found->second.now.reason;
}

error gateway_routes::unreachable(std::uint32_t shard) const {
  const auto found = routes_.find(shard);
  const auto who = found == routes_.end() || found->second.now.node.empty() ? std::string{} : " of node " + found->second.now.node;
  return {v1::ERROR_CODE_UNAVAILABLE,
          "shard " + std::to_string(shard) + who + " cannot be reached from node " + node_ + ": " + reason(shard),
          "see fairlead status; the request can be repeated safely"};
}

error gateway_routes::silent(std::uint32_t shard) const {
  const auto who = here(shard) != nullptr ? "the Scheduler of shard " + std::to_string(shard) + " on node " + node_
                                          : "shard " + std::to_string(shard) + " on node " + holder(shard);
  return {v1::ERROR_CODE_UNAVAILABLE, who + " does not answer", "read the log of that node; the request can be repeated safely"};
}

error gateway_routes::led_elsewhere(std::uint32_t shard) const {
  return {v1::ERROR_CODE_UNAVAILABLE, "node " + node_ + " cannot say whether it still leads shard " + std::to_string(shard),
          "see fairlead status; the request can be repeated safely", true};
}

error gateway_routes::unknown_count() const {
  return {v1::ERROR_CODE_UNAVAILABLE, "node " + node_ + " has no shard and is not connected to a node that has one",
          "see fairlead status; the request can be repeated safely"};
}

}  // namespace fairlead
