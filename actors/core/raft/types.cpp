#include "actors/core/raft/types.hpp"

#include <algorithm>

#include "messages/replica.pb.h"

namespace fairlead::raft {

namespace {

bool rises(const std::vector<replica_id>& ids) {
  return std::adjacent_find(ids.begin(), ids.end(), std::greater_equal<>{}) == ids.end() && (ids.empty() || ids.front() > 0);
}

}  // namespace

bool members::votes(replica_id id) const { return std::binary_search(voters.begin(), voters.end(), id); }

bool members::has(replica_id id) const { return votes(id) || std::binary_search(standbys.begin(), standbys.end(), id); }

std::vector<replica_id> members::others(replica_id self) const {
  std::vector<replica_id> out;
  for (const auto* ids : {&voters, &standbys})
    for (const auto id : *ids)
      if (id != self) out.push_back(id);
  return out;
}

std::shared_ptr<const std::string> encode(const members& in) {
  v1::ShardMembers out;
  for (const auto id : in.voters) out.add_voters(id);
  for (const auto id : in.standbys) out.add_standbys(id);
  return std::make_shared<const std::string>(out.SerializeAsString());
}

std::optional<members> decode_members(std::string_view bytes) {
  v1::ShardMembers in;
  if (!in.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return std::nullopt;
  members out{{in.voters().begin(), in.voters().end()}, {in.standbys().begin(), in.standbys().end()}};
  const auto both = std::any_of(out.standbys.begin(), out.standbys.end(), [&](replica_id id) { return out.votes(id); });
  if (out.voters.size() + out.standbys.size() > max_replicas) return std::nullopt;
  if (out.voters.empty() || both || !rises(out.voters) || !rises(out.standbys)) return std::nullopt;
  return out;
}

bool one_voter_apart(const members& before, const members& after) {
  std::vector<replica_id> differ;
  std::set_symmetric_difference(before.voters.begin(), before.voters.end(), after.voters.begin(), after.voters.end(),
                                std::back_inserter(differ));
  return differ.size() <= 1;
}

}  // namespace fairlead::raft
