#include "actors/core/raft/doing_without.hpp"

#include <algorithm>

namespace fairlead::raft {

namespace {

std::string cannot(const known_nodes& of, const std::string& what) {
  return "Shard " + std::to_string(of.shard) + " cannot do without " + what;
}

}  // namespace

status can_leave(const known_nodes& of, const std::string& node) {
  std::size_t stay = 0, sound = 0;
  for (const auto& [name, its] : of.nodes) {
    if (its.leaves || name == node) continue;
    ++stay;
    sound += of.follow.count(its.id);
  }
  if (2 * sound > stay) return nothing{};
  return error{
      v1::ERROR_CODE_WRONG_STATE,
      cannot(of, "node " + node) + " now: of the " + std::to_string(stay) + " nodes that stay only " + std::to_string(sound) + " follow.",
      "Start the others, or let other nodes join first: fairlead cluster join."};
}

status can_rebuild(const known_nodes& of, const std::string& node, replica_id listed) {
  const auto store = "the store of node " + node;
  auto follow = of.follow;
  follow.erase(listed);
  if (const auto its = of.nodes.find(node); its != of.nodes.end()) follow.erase(its->second.id);
  const auto& voters = of.all.voters;
  const auto sound = static_cast<std::size_t>(std::count_if(voters.begin(), voters.end(), [&](auto id) { return follow.count(id) != 0; }));
  if (2 * sound <= voters.size())
    return error{v1::ERROR_CODE_WRONG_STATE,
                 cannot(of, store) + ": of its " + std::to_string(voters.size()) + " votes only " + std::to_string(sound) +
                     " are with nodes that follow.",
                 "Start the other nodes, and wait until they follow."};
  for (const auto& [name, other] : of.nodes) {
    if (name == node || other.leaves || follow.count(other.id) != 0) continue;
    // One that is away, and a member, may have all that counts. One that is to be a member has nothing yet.
    if (other.present || !of.all.has(other.id))
      return error{v1::ERROR_CODE_WRONG_STATE, cannot(of, store) + " while node " + name + " does not follow.",
                   "`fairlead cluster status` says when that one does."};
  }
  return nothing{};
}

}  // namespace fairlead::raft
