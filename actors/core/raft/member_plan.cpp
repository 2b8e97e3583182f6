#include "actors/core/raft/member_plan.hpp"

#include <algorithm>
#include <functional>
#include <tuple>

namespace fairlead::raft {

namespace {

void insert(std::vector<replica_id>& to, replica_id id) { to.insert(std::lower_bound(to.begin(), to.end(), id), id); }

class planner {
 public:
  planner(const members& now, replica_id self, bool declines, const std::vector<known_member>& others,
          const std::vector<node_replica>& of_nodes)
      : now_(now), self_(self), self_declines_(declines), others_(others), of_nodes_(of_nodes) {}

  std::optional<members> next() const {
    for (const auto id : now_.standbys) {
      if (leaves(id)) return without_standby(id);
      if (!is_of_a_node(id) || !follows(id)) continue;
      if (auto out = give_a_vote(id)) return out;
    }
    if (auto out = take_a_vote()) return out;
    for (const auto& one : of_nodes_)
      if (one.present && !one.leaves && !now_.has(one.id) && now_.voters.size() + now_.standbys.size() < max_replicas)
        return with_standby(one.id);
    // Its store was lost in its turn, before it got a vote.
    const auto lost = longest_lost(now_.standbys);
    return lost ? std::optional{without_standby(*lost)} : std::nullopt;
  }

 private:
  const node_replica* node_of(replica_id id) const {
    const auto found = std::find_if(of_nodes_.begin(), of_nodes_.end(), [&](const auto& one) { return one.id == id; });
    return found == of_nodes_.end() ? nullptr : &*found;
  }
  bool is_of_a_node(replica_id id) const { return node_of(id) != nullptr; }
  bool leaves(replica_id id) const {
    const auto* const its = node_of(id);
    return its != nullptr && its->leaves;
  }
  const known_member* find(replica_id id) const {
    const auto found = std::find_if(others_.begin(), others_.end(), [&](const auto& one) { return one.id == id; });
    return found == others_.end() ? nullptr : &*found;
  }
  bool follows(replica_id id) const {
    const auto* const one = find(id);
    return one != nullptr && one->follows;
  }
  bool declines(replica_id id) const {
    if (id == self_) return self_declines_;
    const auto* const one = find(id);
    return one != nullptr && one->declines;
  }
  std::int64_t silent_ms(replica_id id) const {
    const auto* const one = find(id);
    return one != nullptr ? one->silent_ms : 0;
  }

  /// How many votes there are to be.
  std::size_t wanted_voters() const {
    const auto stay = std::count_if(of_nodes_.begin(), of_nodes_.end(), [](const auto& one) { return !one.leaves; });
    return votes_of(static_cast<std::size_t>(stay));
  }
  /// Votes that nobody is about to take away.
  std::size_t staying_voters() const {
    const auto stays = [&](replica_id id) { return !leaves(id); };
    return static_cast<std::size_t>(std::count_if(now_.voters.begin(), now_.voters.end(), stays));
  }

  bool any_voter_stays(const std::function<bool(replica_id)>& and_is_so) const {
    return std::any_of(now_.voters.begin(), now_.voters.end(), [&](replica_id id) { return !leaves(id) && and_is_so(id); });
  }
  /// The lead is about to go to another one.
  bool hands_over() const {
    return self_declines_ && any_voter_stays([this](replica_id id) { return id != self_ && follows(id) && !declines(id); });
  }
  /// The only one that is to vote does not want to lead, and this one does.
  bool takes_the_only_vote(replica_id standby) const {
    return wanted_voters() == 1 && staying_voters() == 1 && !declines(standby) &&
           any_voter_stays([this](replica_id id) { return declines(id); });
  }

  /// A majority of these voters would decide the next entry at once.
  bool can_decide(const members& which) const {
    const auto sound = std::count_if(which.voters.begin(), which.voters.end(), [&](replica_id id) { return id == self_ || follows(id); });
    return static_cast<std::size_t>(sound) > which.voters.size() / 2;
  }
  std::optional<members> if_it_can_decide(members out) const { return can_decide(out) ? std::optional{std::move(out)} : std::nullopt; }
  /// Those decide without any that declines to lead: it is about to end, to be started again or to begin anew. One that leaves stays until it may go.
  bool needs_none_that_declines(const members& which) const {
    const auto stay = std::count_if(which.voters.begin(), which.voters.end(),
                                    [&](replica_id id) { return id == self_ || (follows(id) && (leaves(id) || !declines(id))); });
    return static_cast<std::size_t>(stay) > which.voters.size() / 2;
  }
  bool can_do_without(replica_id voter) const { return needs_none_that_declines(without_voter(voter)); }

  /// Another one is about to get a vote, too.
  bool another_follows(replica_id standby) const {
    return std::any_of(now_.standbys.begin(), now_.standbys.end(),
                       [&](replica_id id) { return id != standby && is_of_a_node(id) && !leaves(id) && follows(id); });
  }

  /// Nodes that are to have a vote get what the shard has, so many that the votes are odd with them.
  bool enough_come() const {
    const auto come = std::count_if(of_nodes_.begin(), of_nodes_.end(),
                                    [&](const auto& one) { return one.present && !one.leaves && !now_.votes(one.id); });
    return come >= (staying_voters() % 2 == 0 ? 1 : 2);
  }

  std::optional<members> give_a_vote(replica_id standby) const {
    const auto votes = staying_voters();
    if (votes >= wanted_voters()) {
      if (const auto lost = longest_lost(now_.voters)) return if_it_can_decide(without_voter(*lost));
      if (!takes_the_only_vote(standby)) return std::nullopt;
    } else if (votes % 2 == 1 && !another_follows(standby)) {
      return std::nullopt;
    }
    auto out = without_standby(standby);
    insert(out.voters, standby);
    // It may have been told that the others go on without it, and be gone. Where the votes are odd in number, one more vote of it demands one more of
    // the others.
    if (declines(standby) && now_.voters.size() % 2 == 1 && !needs_none_that_declines(out)) return std::nullopt;
    return if_it_can_decide(std::move(out));
  }

  /// From one that leaves, or where there are too many votes for the nodes.
  std::optional<members> take_a_vote() const {
    // The one that leaves keeps its vote until another has it: without it the shard may outlive the loss of fewer nodes.
    const bool wait = staying_voters() < wanted_voters() && enough_come();
    for (const auto id : now_.voters)
      if (!wait && id != self_ && leaves(id) && can_do_without(id)) return without_voter(id);
    if (staying_voters() <= wanted_voters() || hands_over()) return std::nullopt;
    if (const auto lost = longest_lost(now_.voters)) return if_it_can_decide(without_voter(*lost));
    // It may be of a node that leaves, or have been lost.
    if (!std::all_of(now_.voters.begin(), now_.voters.end(), [&](replica_id id) { return is_of_a_node(id); })) return std::nullopt;
    const auto least = std::min_element(now_.voters.begin(), now_.voters.end(), [&](replica_id one, replica_id other) {
      const auto rank = [&](replica_id id) { return std::tuple{id == self_ || leaves(id), follows(id), !declines(id)}; };
      return rank(one) < rank(other);
    });
    if (*least == self_ || leaves(*least)) return std::nullopt;
    auto out = without_voter(*least);
    insert(out.standbys, *least);
    return if_it_can_decide(std::move(out));
  }

  members with_standby(replica_id id) const {
    auto out = now_;
    insert(out.standbys, id);
    return out;
  }
  members without_standby(replica_id id) const {
    auto out = now_;
    std::erase(out.standbys, id);
    return out;
  }
  members without_voter(replica_id id) const {
    auto out = now_;
    std::erase(out.voters, id);
    return out;
  }

  /// The one of these that no node has any more. Not while the replica of some node that stays is not known: it may be that one.
  std::optional<replica_id> longest_lost(const std::vector<replica_id>& of) const {
    std::optional<replica_id> out;
    if (std::any_of(of_nodes_.begin(), of_nodes_.end(), [](const auto& one) { return one.id == 0 && !one.leaves; })) return out;
    for (const auto id : of) {
      if (is_of_a_node(id) || silent_ms(id) < lost_after_ms) continue;
      if (!out || silent_ms(id) > silent_ms(*out)) out = id;
    }
    return out;
  }

  const members& now_;
  const replica_id self_;
  const bool self_declines_;
  const std::vector<known_member>& others_;
  const std::vector<node_replica>& of_nodes_;
};

}  // namespace

std::optional<members> next_members(const members& now, replica_id self, bool declines, const std::vector<known_member>& others,
                                    const std::vector<node_replica>& of_nodes) {
  return planner(now, self, declines, others, of_nodes).next();
}

}  // namespace fairlead::raft
