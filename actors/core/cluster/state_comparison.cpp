#include "actors/core/cluster/state_comparison.hpp"

#include <algorithm>
#include <map>

namespace fairlead::core {

bool is_due(const std::optional<v1::StateComparison>& last, std::int64_t now_unix_ms, std::int64_t led_ms) {
  if (!last) return led_ms >= compare_first_ms;
  const auto since_ms = now_unix_ms - last->asked_at_unix_ms();
  // A clock that was set back far must not put it off for as long.
  return since_ms >= (is_same(*last) ? compare_every_ms : compare_again_ms) || since_ms < -compare_every_ms;
}

v1::StateComparison ended(v1::StateComparison asked, std::uint64_t index, const std::vector<replica_answer>& all, std::uint64_t leader,
                          std::int64_t now_unix_ms) {
  using hash = std::pair<std::uint64_t, std::uint64_t>;
  const auto sound_index = [&](std::uint64_t replica) {
    const auto is_it = [&](const auto& one) { return one.replica() == replica; };
    const auto found = std::find_if(asked.replicas().begin(), asked.replicas().end(), is_it);
    return found == asked.replicas().end() ? 0 : found->sound_index();
  };
  const auto witnesses = [&](const replica_answer& one) { return one.hash && one.copied_index <= sound_index(one.replica); };
  std::map<hash, std::size_t> votes;
  std::size_t voters = 0;
  std::optional<hash> right;
  for (const auto& one : all) {
    voters += one.votes ? 1 : 0;
    if (one.votes && witnesses(one)) ++votes[*one.hash];
    if (one.hash && (one.replica == leader || !right)) right = one.hash;
  }
  const auto most = std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  // One vote alone is the majority of one, and says nothing of which of two is right.
  const auto agree = [&](const hash& with) {
    return std::count_if(all.begin(), all.end(), [&](const auto& one) { return witnesses(one) && one.hash == with; });
  };
  const bool has_majority = most != votes.end() && most->second > voters / 2 && agree(most->first) > 1;
  if (has_majority) right = most->first;
  const bool is_known = has_majority || std::all_of(all.begin(), all.end(), [&](const auto& one) { return one.hash && one.hash == right; });

  auto out = asked;
  out.set_index(index);
  out.set_ended_at_unix_ms(std::max<std::int64_t>(now_unix_ms, 1));
  out.set_no_majority(!has_majority);
  out.clear_replicas();
  for (const auto& one : all) {
    auto* line = out.add_replicas();
    line->set_replica(one.replica);
    line->set_node(one.node);
    line->set_answered(one.hash.has_value());
    line->set_differs(one.hash && one.hash != right);
    line->set_sound_index(is_known && one.hash && one.hash == right ? index : sound_index(one.replica));
  }
  return out;
}

bool is_same(const v1::StateComparison& what) {
  return std::none_of(what.replicas().begin(), what.replicas().end(), [](const auto& one) { return one.differs(); });
}

std::string difference_of(const v1::StateComparison& what, std::uint64_t replica) {
  for (const auto& one : what.replicas())
    if (one.replica() == replica && one.differs())
      return what.no_majority() ? "its state is not that of the node that led, and no majority of the votes says whose is right"
                                : "its state is not that of the other nodes";
  return {};
}

}  // namespace fairlead::core
