#include "actors/core/raft/member_plan.hpp"

#include <algorithm>

namespace fairlead::raft {

namespace {

void insert(std::vector<replica_id>& to, replica_id id) { to.insert(std::lower_bound(to.begin(), to.end(), id), id); }

class planner {
 public:
  planner(const members& now, replica_id self, const std::vector<known_member>& others, const std::vector<node_replica>& of_nodes)
      : now_(now), self_(self), others_(others), of_nodes_(of_nodes) {}

  std::optional<members> next() const {
    for (const auto id : now_.standbys)
      if (has_node(id) && follows(id)) return give_a_vote(id);
    for (const auto& one : of_nodes_)
      if (one.present && !now_.has(one.id) && now_.voters.size() + now_.standbys.size() < max_replicas) return with_standby(one.id);
    return without_lost_standby();
  }

 private:
  /// Whether some node has this one. With 0: whether some node has not introduced itself.
  bool has_node(replica_id id) const {
    return std::any_of(of_nodes_.begin(), of_nodes_.end(), [&](const auto& one) { return one.id == id; });
  }
  const known_member* find(replica_id id) const {
    const auto found = std::find_if(others_.begin(), others_.end(), [&](const auto& one) { return one.id == id; });
    return found == others_.end() ? nullptr : &*found;
  }
  bool follows(replica_id id) const {
    const auto* const one = find(id);
    return one != nullptr && one->follows;
  }
  std::int64_t silent_ms(replica_id id) const {
    const auto* const one = find(id);
    return one != nullptr ? one->silent_ms : 0;
  }

  /// A majority of these voters would decide the next entry at once.
  bool can_decide(const members& which) const {
    const auto sound = std::count_if(which.voters.begin(), which.voters.end(), [&](replica_id id) { return id == self_ || follows(id); });
    return static_cast<std::size_t>(sound) > which.voters.size() / 2;
  }

  std::optional<members> give_a_vote(replica_id standby) const {
    auto out = now_;
    if (now_.voters.size() < of_nodes_.size()) {
      std::erase(out.standbys, standby);
      insert(out.voters, standby);
    } else if (const auto lost = longest_lost(now_.voters)) {
      std::erase(out.voters, *lost);
    } else {
      return std::nullopt;
    }
    return can_decide(out) ? std::optional{out} : std::nullopt;
  }

  members with_standby(replica_id id) const {
    auto out = now_;
    insert(out.standbys, id);
    return out;
  }

  /// Its store was lost in its turn, before it got a vote.
  std::optional<members> without_lost_standby() const {
    const auto lost = longest_lost(now_.standbys);
    if (!lost) return std::nullopt;
    auto out = now_;
    std::erase(out.standbys, *lost);
    return out;
  }

  /// The one of these that no node has any more. Not while the replica of some node is not known: it may be that one.
  std::optional<replica_id> longest_lost(const std::vector<replica_id>& of) const {
    std::optional<replica_id> out;
    if (has_node(0)) return out;
    for (const auto id : of) {
      if (has_node(id) || silent_ms(id) < lost_after_ms) continue;
      if (!out || silent_ms(id) > silent_ms(*out)) out = id;
    }
    return out;
  }

  const members& now_;
  const replica_id self_;
  const std::vector<known_member>& others_;
  const std::vector<node_replica>& of_nodes_;
};

}  // namespace

std::optional<members> next_members(const members& now, replica_id self, const std::vector<known_member>& others,
                                    const std::vector<node_replica>& of_nodes) {
  return planner(now, self, others, of_nodes).next();
}

}  // namespace fairlead::raft
