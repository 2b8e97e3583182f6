// The links as operators see them.

#include "actors/cluster/links.hpp"

namespace fairlead {

namespace {

void describe(const v1::Hello& who, v1::PeerStatus& out) {
  out.set_node(who.node());
  out.set_version(who.version());
  out.set_incarnation(who.incarnation());
  *out.mutable_roles() = who.roles();
  out.clear_shards();
  for (const auto& claim : who.shards()) out.add_shards(claim.shard());
  out.set_listens_on(who.listens_on());
}

}  // namespace

std::vector<v1::PeerStatus> links::peers() const {
  std::vector<v1::PeerStatus> out;
  const auto connects = [this](const std::string& node) {
    const auto found = memory_.connects.find(node);
    return found == memory_.connects.end() ? 0 : found->second;
  };
  for (const auto& line : dials_) {
    if (line.state == dial_state::unwanted) continue;
    v1::PeerStatus shown;
    shown.set_address(line.address);
    shown.set_node(line.node);
    if (const auto known = nodes_.find(line.node); known != nodes_.end()) describe(known->second.hello, shown);
    if (const auto known = refusals_.find(line.node); known != refusals_.end() && line.refused) describe(known->second.who, shown);
    shown.set_connected(line.state == dial_state::linked);
    shown.set_refused(line.refused);
    shown.set_reason(line.reason);
    shown.set_since_unix_ms(line.since_unix_ms);
    shown.set_connects(connects(line.node));
    out.push_back(std::move(shown));
  }
  for (const auto& [name, one] : nodes_) {
    const auto* line = dial_of(name);
    // A node that connected to this one while its configured address does not answer is connected all the same.
    if (line != nullptr && (line->state == dial_state::linked || !one.connected)) continue;
    v1::PeerStatus shown;
    describe(one.hello, shown);
    shown.set_connected(one.connected);
    shown.set_reason(one.reason);
    shown.set_since_unix_ms(one.since_unix_ms);
    shown.set_connects(connects(name));
    out.push_back(std::move(shown));
  }
  for (const auto& [name, refused] : refusals_) {
    const auto* line = dial_of(name);
    if (line != nullptr && line->refused) continue;
    v1::PeerStatus shown;
    describe(refused.who, shown);
    shown.set_refused(true);
    shown.set_reason(refused.reason);
    shown.set_since_unix_ms(refused.since_unix_ms);
    shown.set_connects(connects(name));
    out.push_back(std::move(shown));
  }
  return out;
}

std::vector<std::pair<std::string, gateway_token>> links::gateways() const {
  std::vector<std::pair<std::string, gateway_token>> out;
  for (const auto& [name, one] : nodes_)
    if (one.connected) out.emplace_back(name, one.gateway);
  return out;
}

}  // namespace fairlead
