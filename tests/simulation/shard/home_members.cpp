// Nodes that are to hold the shard come and go.

#include <algorithm>
#include <utility>

#include "actors/core/cluster/shard_nodes.hpp"
#include "store/rows/node_rows.hpp"
#include "tests/simulation/shard/home.hpp"

namespace fairlead::simulation {

namespace {

constexpr auto ask_again_us = 200 * millisecond;

}  // namespace

/// The places with which the shard begins.
std::vector<std::size_t> home::first_places() const {
  std::vector<std::size_t> out;
  for (std::size_t place = 0; place < begins_with_; ++place) out.push_back(place);
  return out;
}

/// By what is committed: the places that are to hold the shard; of those that leave it none.
std::vector<std::size_t> home::wanted_places() const {
  const auto row = store::nodes_in(*shows_most().reads().read());
  if (!row) return first_places();
  std::vector<std::size_t> out;
  for (std::size_t place = 0; place < replicas_; ++place)
    if (const auto* const one = core::find_node(*row, name_of(place)); one != nullptr && !one->leaves()) out.push_back(place);
  return out;
}

bool home::has_leaving() const {
  const auto row = store::nodes_in(*shows_most().reads().read());
  return row && std::any_of(row->nodes().begin(), row->nodes().end(), [](const auto& one) { return one.leaves(); });
}

bool home::is_wanted(const node& which) const {
  const auto all = wanted_places();
  return std::find(all.begin(), all.end(), which.place()) != all.end();
}

/// Each node that is to hold the shard has a member, which votes if the votes are odd in number with it, and nobody else is one.
bool home::all_vote() const {
  const auto* const known = leader();
  if (known == nullptr) return false;
  if (!store::nodes_in(*known->reads().read()) || has_leaving()) return false;
  const auto members = known->members();
  std::vector<raft::replica_id> wanted, now = members.voters;
  for (const auto place : wanted_places()) wanted.push_back(ids_[place]);
  const auto votes = now.size();
  now.insert(now.end(), members.standbys.begin(), members.standbys.end());
  std::sort(now.begin(), now.end());
  std::sort(wanted.begin(), wanted.end());
  return now == wanted && votes == wanted.size() - (wanted.size() % 2 == 0 ? 1 : 0);
}

/// One of them is to hold the shard, too, or no longer.
void home::change_nodes(bool joins_only) {
  if (!changes_.empty()) return;
  // What was lost is replaced first: lose_disk().
  auto* const leads = leader();
  if (leads == nullptr) return;
  const auto now = leads->members();
  auto members = now.voters;
  members.insert(members.end(), now.standbys.begin(), now.standbys.end());
  if (std::any_of(members.begin(), members.end(), [this](auto id) { return ids_[static_cast<std::size_t>(id - 1) % replicas_] != id; }))
    return;
  const auto all = wanted_places();
  auto* which = nodes_[world_.replicas.below(replicas_)].get();
  if (world_.replicas.chance(300)) which = leads;
  if (joins_only) {
    const auto place = which->place();
    for (std::size_t i = 0; i < replicas_ && is_wanted(*which); ++i) which = nodes_[(place + i) % replicas_].get();
    if (is_wanted(*which)) return;
  }
  const bool joins = std::find(all.begin(), all.end(), which->place()) == all.end();
  if (joins) {
    // What it once held, it does not bring along.
    if (leads == which) return;
    auto born = settings_of(which->place());
    born.born_with = leads->members();
    if (born.born_with.has(born.self)) return;
    born.self = ids_[which->place()] += replicas_;
    which->lose_disk(born);
  }
  // The last node would have to lead in spite of its damage, and nobody could mend it.
  if (!joins && all.size() == 2 && !damages_.settled()) return;
  // Nor is one taken away while the store of another is lost and not replaced: its loss may not have been seen, and its vote be counted on.
  const auto is_lost = [which](const auto& one) { return one.get() != which && one->waits(); };
  if (!joins && std::any_of(nodes_.begin(), nodes_.end(), is_lost)) return;
  v1::ShardNodesRequest what;
  what.set_verb(joins ? v1::ShardNodesRequest::JOIN : v1::ShardNodesRequest::LEAVE);
  what.mutable_node()->set_name(which->name());
  what.mutable_node()->set_replica(ids_[which->place()]);
  what.set_reads(which->known_format());
  world_.count(joins ? "nodes that are to join" : "nodes that are to leave");
  world_.tell("fate", which->name(), 0, [&] { return std::string{joins ? "is to join" : "is to leave"}; });
  changes_.push_back({which->place(), std::move(what)});
  ask_for_change();
}

/// Whoever takes it for the leader's asks until there is an answer.
void home::ask_for_change() {
  if (changes_.empty()) return;
  world_.after(ask_again_us, [this] { ask_for_change(); });
  auto* const to = asked();
  if (to == nullptr) return;
  to->when_awake([this, to] {
    if (changes_.empty()) return;
    const auto& now = changes_.front();
    const bool joins = now.what.verb() == v1::ShardNodesRequest::JOIN;
    // Its disk was lost meanwhile, and what has joined is another store.
    const bool outdated = joins && now.what.node().replica() != ids_[now.place];
    const auto answer = outdated ? result<std::optional<v1::ShardNodes>>{invalid("outdated")} : to->change_nodes(now.what);
    if (answer.ok() ? !*answer : answer.failure().code == v1::ERROR_CODE_UNAVAILABLE) return;
    if (answer.ok()) {
      world_.count(joins ? "nodes that joined" : "nodes that left");
      promised_[now.place] = joins;
    } else {
      world_.count("changes of nodes refused");
      // It may have been made all the same, when an answer before was lost with the node that gave it.
      promised_.erase(now.place);
    }
    changes_.clear();
  });
}

void home::damage(node& which) {
  if (!is_wanted(which) || which.waits()) return;
  world_.count("stores damaged");
  world_.tell("fate", which.name(), 0, [] { return std::string{"damages its store"}; });
  which.wait_with_start(true);
  which.die();
  ask_to_rebuild(which);
}

void home::fall_out(std::int64_t for_ms) {
  for (auto& one : nodes_)
    if (one->up()) one->die();
  for (auto& one : clocks_) one->jump(for_ms);
  time_.jump(for_ms);
  world_.note_clock_setting();
}

void home::said_different(node& which, const error& why) {
  if (comparisons_.found(which, why)) damages_.differs(which, why);
}

v1::ShardNodesRequest home::request_to_rebuild(const node& which, bool asks) const {
  v1::ShardNodesRequest what;
  what.set_verb(v1::ShardNodesRequest::JOIN);
  what.mutable_node()->set_name(which.name());
  what.mutable_node()->set_replica(ids_[which.place()] + replicas_);
  what.set_instead_of_damaged(true);
  what.set_only_ask(asks);
  what.set_reads(which.known_format());
  *what.mutable_lineage() = lineage_;
  return what;
}

void home::ask_to_rebuild(node& which) {
  world_.after(ask_again_us, [this, &which] {
    // It has lost its disk, or another fate has come over it, and it has begun anew.
    if (!which.waits()) return;
    ask_to_rebuild(which);
    auto* const to = asked();
    if (to == nullptr) return;
    to->when_awake([this, &which, to] {
      if (!which.waits()) return;
      const auto answer = to->change_nodes(request_to_rebuild(which, false));
      const auto code = answer.ok() ? v1::ERROR_CODE_OK : answer.failure().code;
      if (answer.ok() && *answer) {
        world_.count("damaged stores replaced");
        auto born = settings_of(which.place());
        born.born_with = to->members();
        born.self = ids_[which.place()] += replicas_;
        which.wait_with_start(false);
        which.lose_disk(born);
      } else if (code == v1::ERROR_CODE_NOT_FOUND || code == v1::ERROR_CODE_CONFLICT) {
        // The shard was taken away from it meanwhile, or goes on without it. What was damaged turns out to be whole.
        which.wait_with_start(false);
      } else if (code != v1::ERROR_CODE_OK) {
        world_.count("damaged stores that wait");
      }
    });
  });
}

bool home::lose_majority() {
  const auto* const known = leader();
  if (known == nullptr || known->members().voters.size() < 3) return false;
  const auto members = known->members();
  std::vector<std::size_t> left;
  for (const auto id : members.voters)
    if (const auto place = static_cast<std::size_t>(id - 1) % replicas_; ids_[place] == id && !nodes_[place]->waits())
      left.push_back(place);
  const auto most = (members.voters.size() - 1) / 2;
  const auto several = 1 + world_.restores.below(most);
  for (auto i = left.size(); i > 1; --i) std::swap(left[i - 1], left[world_.restores.below(i)]);
  left.resize(std::min<std::size_t>(left.size(), several));
  if (left.empty()) return false;
  world_.count("majorities lost");
  world_.tell("fate", me_, left.size(), [] { return std::string{"loses the majority of its nodes"}; });
  const auto lost = shows_most().reads().read();
  for (auto& one : nodes_)
    if (one->up()) one->die();
  const auto end_of = [this](std::size_t place) {
    const auto end = nodes_[place]->store().own().log_end();
    return std::pair{end.term, end.index};
  };
  const auto place = *std::max_element(left.begin(), left.end(), [&](auto one, auto other) { return end_of(one) < end_of(other); });
  for (auto& one : nodes_) {
    if (std::find(left.begin(), left.end(), one->place()) != left.end()) continue;
    auto born = settings_of(one->place());
    born.born_with = members;
    born.self = ids_[one->place()] += replicas_;
    one->wait_with_start(false);
    one->lose_disk(born);
  }
  auto& which = *nodes_[place];
  const auto since_us = [this](std::uint64_t sequence) {
    return sequence < committed_us_.size() ? committed_us_[sequence] : world_.now_us();
  };
  lineage_ = which.recover(ids_[place] += replicas_, *lost, since_us);
  committed_ = which.store().sequence();
  committed_us_.resize(committed_, world_.now_us());
  decided_.clear();
  changes_.clear();
  promised_.clear();
  newest_term_ = 0;
  clock_of_ = 0;
  upgrades_.recovered();
  recovered_ = true;
  auto& luck = world_.restores;
  for (auto more = luck.between(1, 4); more > 0; --more) world_.after(luck.between(1, 15) * second, [this] { change_nodes(true); });
  return true;
}

/// What an operator was told of the nodes holds.
void home::judge_nodes() const {
  const auto all = wanted_places();
  for (const auto& [place, holds] : promised_) {
    world_.judges("nodes_differ");
    if ((std::find(all.begin(), all.end(), place) != all.end()) != holds)
      world::broken("nodes_differ",
                    name_of(place) + (holds ? " has joined, and is none of the nodes" : " has left, and is one of the nodes"));
  }
}

}  // namespace fairlead::simulation
