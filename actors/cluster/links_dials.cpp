// The addresses that a node connects to by itself.

#include <algorithm>
#include <set>

#include "actors/cluster/links.hpp"

namespace fairlead {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds first_backoff{100};
constexpr milliseconds longest_backoff{5'000};
// Only an operator can repair a refusal.
constexpr milliseconds first_refused_backoff{1'000};
constexpr milliseconds longest_refused_backoff{30'000};
constexpr std::size_t max_logged = 16;

}  // namespace

links::dial links::new_dial(std::string address) const {
  dial out;
  out.address = std::move(address);
  out.since_unix_ms = wall_ms();
  return out;
}

/// Those of the node file, and of the nodes that hold shards which are held here, too.
void links::dial_wanted() {
  auto wanted = options_.peers;
  for (const auto& [shard, addresses] : memory_.holders) wanted.insert(wanted.end(), addresses.begin(), addresses.end());
  const auto is_in = [](const std::vector<std::string>& all, const std::string& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  };
  for (auto& line : dials_) {
    line.wanted = is_in(wanted, line.address);
    if (line.wanted && line.state == dial_state::unwanted) line = new_dial(line.address);
    if (!line.wanted && line.state == dial_state::waiting) line.state = dial_state::unwanted;
  }
  for (const auto& address : wanted) {
    if (std::any_of(dials_.begin(), dials_.end(), [&](const dial& line) { return line.address == address; })) continue;
    dials_.push_back(new_dial(address));
  }
}

void links::on_replica(const v1::ReplicaHello& own) {
  auto& addresses = memory_.holders[own.shard()];
  addresses.clear();
  for (const auto& one : own.nodes().nodes())
    if (one.name() != options_.me.node() && !one.address().empty()) addresses.push_back(one.address());
  dial_wanted();
  tick();
}

void links::on_connected(std::size_t which, gateway_token gateway) {
  auto& line = dials_.at(which);
  if (line.state != dial_state::connecting) return;
  line.state = dial_state::greeting;
  greet({gateway, which, ""});
}

void links::on_not_connected(std::size_t which, const std::string& reason) {
  auto& line = dials_.at(which);
  if (line.state == dial_state::connecting) dial_failed(line, reason, false);
}

void links::link_dial(dial& line, const std::string& node) {
  line.state = dial_state::linked;
  line.node = node;
  line.failures = 0;
  line.refused = false;
  line.reason.clear();
  line.logged.clear();
  line.since_unix_ms = wall_ms();
}

void links::dial_failed(dial& line, std::string reason, bool refused) {
  if (line.refused != refused) line.failures = 0;
  ++line.failures;
  line.state = line.wanted ? dial_state::waiting : dial_state::unwanted;
  line.refused = refused;
  const auto seed = options_.me.node() + " " + line.address;
  line.next_at = now() + (refused ? core::reconnect_delay(first_refused_backoff, longest_refused_backoff, line.failures, seed)
                                  : core::reconnect_delay(first_backoff, longest_backoff, line.failures, seed));
  if (line.reason != reason) line.since_unix_ms = wall_ms();
  line.reason = std::move(reason);
  // A reason that comes and goes is logged only once.
  if (line.logged.size() < max_logged && line.logged.insert(line.reason).second)
    note(note_level::warning, "the peer " + line.address + (refused ? " is refused: " : " is not connected: ") + line.reason);
}

const links::dial* links::dial_of(const std::string& node) const {
  const auto found =
      std::find_if(dials_.begin(), dials_.end(), [&](const dial& line) { return line.node == node && line.state != dial_state::unwanted; });
  return found == dials_.end() ? nullptr : &*found;
}

}  // namespace fairlead
