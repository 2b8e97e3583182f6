#include "tests/simulation/shard/comparisons.hpp"

#include <algorithm>

#include "actors/core/cluster/state_comparison.hpp"
#include "store/keys.hpp"
#include "store/rows/node_rows.hpp"
#include "tests/simulation/shard/home.hpp"

namespace fairlead::simulation {

namespace {

constexpr auto try_again_us = 200 * millisecond;
// A node that differs has asked by then whether it may begin anew.
constexpr auto ask_every_us = 45 * second;
constexpr int most_tries = 30;

// A row that no release reads.
constexpr std::string_view drift_row = "simulated_drift";

}  // namespace

comparisons::comparisons(world& in, home& of, const std::vector<std::unique_ptr<node>>& nodes)
    : world_(in), home_(of), nodes_(nodes), drifts_(in.settings.seed % 8 == 6) {}

void comparisons::begin(std::int64_t until_us) {
  auto& luck = world_.replicas;
  for (auto more = luck.below(4); more > 0; --more) world_.after(luck.between(0, until_us), [this] { ask(most_tries); });
  if (!drifts_) return;
  for (auto more = luck.between(1, 2); more > 0; --more) world_.after(luck.between(0, until_us), [this] { drift(); });
}

/// What comes of it, each replica says by itself.
void comparisons::ask(int tries) {
  auto* const to = home_.asked();
  if (to != nullptr)
    to->when_awake([this, to] {
      v1::ShardNodesRequest what;
      what.set_verb(v1::ShardNodesRequest::COMPARE);
      what.set_above(store::comparison_in(*to->reads().read()).value_or(v1::StateComparison{}).number());
      world_.count(to->change_nodes(what).ok() ? "comparisons of states that an operator asks for" : "comparisons of states refused");
    });
  else if (tries > 0)
    world_.after(try_again_us, [this, tries] { ask(tries - 1); });
}

/// Its store can be lost, and so can what is wrong in it.
void comparisons::drift() {
  auto* const which = nodes_[world_.replicas.below(nodes_.size())].get();
  if (has_drifted_ || !which->up() || !home_.is_wanted(*which) || !home_.can_lose(*which)) return;
  if (!world_.strikes(concern::replicas, world_.replicas, 1'000)) return;
  has_drifted_ = true;
  world_.count("states that became another");
  world_.tell("fate", which->name(), 0, [] { return std::string{"changes its state"}; });
  which->change_state(std::string{drift_row});
}

void comparisons::heal() {
  if (drifts_) ask_on();
}

void comparisons::ask_on() {
  if (asked_since_healed_ == asked_at_most) return;
  world_.after(ask_every_us, [this] { ask_on(); });
  if (!differs() || is_undecided()) return;
  ++asked_since_healed_;
  ask(most_tries);
}

std::string comparisons::drift_in(const store::snapshot& view) {
  const auto row = view.get(store::table::meta, store::keys::meta(drift_row));
  return row.ok() && *row ? "changed" : "";
}

bool comparisons::leaves_out(std::string_view meta_key) const {
  return meta_key == store::keys::meta(drift_row) && drifts_ && is_undecided();
}

bool comparisons::differs() const {
  // One that has got a copy since is said to differ until the next comparison.
  const auto last = store::comparison_in(*home_.shows_most().reads().read());
  if (last && !core::is_same(*last)) return true;
  std::vector<std::string> all;
  for (const auto& one : nodes_)
    if (home_.is_wanted(*one)) all.push_back(drift_in(*one->reads().read()));
  return std::adjacent_find(all.begin(), all.end(), std::not_equal_to<>{}) != all.end();
}

bool comparisons::is_undecided() const {
  const auto last = store::comparison_in(*home_.shows_most().reads().read());
  return last && last->no_majority() && !core::is_same(*last);
}

bool comparisons::settled() const { return !drifts_ || is_given_up() || !differs(); }

bool comparisons::found(const node& which, const error& why) const {
  world_.judges("states_compared");
  if (!has_drifted_) world::broken("states_compared", which.name() + " says: " + why.sentence);
  if (world_.settings.planted.keep_difference) return false;
  world_.count("states that are said to be another");
  return true;
}

}  // namespace fairlead::simulation
