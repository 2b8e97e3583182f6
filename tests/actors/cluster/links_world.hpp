#pragma once
// Nodes whose links speak with each other over a network that the test cuts, without CAF: messages arrive when the test lets them.

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actors/cluster/links.hpp"

namespace fairlead::testing {

class links_clock final : public clock {
 public:
  moment now() const override { return from_unix_ms(1'700'000'000'000 + ms); }
  moment steady() const override { return from_unix_ms(50'000 + ms); }
  std::int64_t ms = 0;
};

class links_observer final : public observer {
 public:
  void on_transition(const transition&) override {}
  void on_note(note_level level, std::string_view, std::string_view sentence) override {
    if (level >= note_level::info) notes.emplace_back(sentence);
  }
  int count(const std::string& part) const {
    int out = 0;
    for (const auto& note : notes) out += note.find(part) != std::string::npos ? 1 : 0;
    return out;
  }
  std::vector<std::string> notes;
};

class links_world;

/// One node: its links, and what they have told.
class linked_node final : public links_port {
 public:
  linked_node(links_world& world, std::string address, v1::Hello me, std::vector<std::string> peers);

  /// As after a crash of the links: what they remember and their gateways stay.
  void restart_links();

  void connect(std::size_t dial, const std::string& address) override;
  void greet(std::uint64_t ticket, gateway_token gateway, const v1::Hello& hello) override;
  void watch(gateway_token gateway) override { watched.insert(gateway); }
  void forget(gateway_token gateway) override { watched.erase(gateway); }
  void tell(const link_route& route) override {
    told.push_back(route);
    routes[route.shard] = route;
  }
  void held_elsewhere(const v1::ShardClaim& claim) override { outlived.push_back(claim.shard()); }
  void tell_total(std::uint32_t count) override { totals.push_back(count); }

  gateway_token token_of(linked_node* other);
  void connection_lost(linked_node* other);

  v1::PeerStatus peer(std::size_t index) const { return shell->peers().at(index); }
  bool sees(const std::string& name) const {
    for (const auto& [node, token] : shell->gateways())
      if (node == name) return true;
    return false;
  }
  std::string holder(std::uint32_t shard) const {
    const auto found = routes.find(shard);
    return found == routes.end() || found->second.via == no_gateway ? "" : found->second.node;
  }

  links_world& world;
  std::string address;
  links_options options;
  links_memory memory;
  links_observer log;
  std::unique_ptr<links> shell;
  bool alive = true;
  bool answers = true;  // false: its gateway is stuck
  std::map<linked_node*, gateway_token> tokens;
  gateway_token next_token = own_gateway + 1;
  std::set<gateway_token> watched;
  std::vector<link_route> told;
  std::map<std::uint32_t, link_route> routes;
  std::vector<std::uint32_t> totals;
  std::vector<std::uint32_t> outlived;  // shards that several other nodes hold
  std::vector<std::string> dialled;
};

class links_world {
 public:
  linked_node& add(const std::string& name, const std::vector<std::string>& peers, const std::function<void(v1::Hello&)>& change = {}) {
    v1::Hello me;
    me.set_protocol(core::protocol_version);
    me.set_least_protocol(core::least_protocol_version);
    me.set_cluster("blue");
    me.set_node(name);
    me.set_node_id("id-" + name);
    me.set_incarnation(1);
    me.set_run_id("run-" + name + "-" + std::to_string(nodes.size()));
    me.set_version("1.0");
    me.set_shard_count(4);
    if (change) change(me);
    // A node that takes the address of one that has died.
    nodes.push_back(std::make_unique<linked_node>(*this, name, me, peers));
    auto& out = *nodes.back();
    out.shell->start({});
    run();
    return out;
  }

  static v1::ShardClaim claim(std::uint32_t shard, const std::string& store = "store") {
    v1::ShardClaim out;
    out.set_shard(shard);
    out.set_store_id(store + std::to_string(shard));
    out.set_epoch(1);
    return out;
  }

  linked_node* at(const std::string& address) const {
    for (auto it = nodes.rbegin(); it != nodes.rend(); ++it)
      if ((*it)->alive && (*it)->address == address) return it->get();
    return nullptr;
  }

  bool cut(const linked_node* a, const linked_node* b) const { return cuts.count({a, b}) != 0 || cuts.count({b, a}) != 0; }
  /// Cuts two nodes off from one another; both notice.
  void part(linked_node& a, linked_node& b) {
    cuts.insert({&a, &b});
    a.connection_lost(&b);
    b.connection_lost(&a);
    run();
  }
  void mend() { cuts.clear(); }

  void kill(linked_node& one) {
    one.alive = false;
    for (const auto& other : nodes)
      if (other.get() != &one && other->alive) other->connection_lost(&one);
    run();
  }

  void run() {
    while (!queue.empty()) {
      const auto next = std::move(queue.front());
      queue.pop_front();
      next();
    }
  }

  /// Lets time pass in steps; reminders come as they are asked for.
  void pass(std::int64_t ms) {
    for (const auto end = time.ms + ms; time.ms < end;) {
      time.ms += 10;
      for (const auto& one : nodes)
        if (one->alive && one->shell->next_due() <= time.steady()) one->shell->tick();
      for (auto it = late.begin(); it != late.end();) {
        if (it->first > time.ms) break;
        queue.push_back(std::move(it->second));
        it = late.erase(it);
      }
      run();
    }
  }

  links_clock time;
  std::vector<std::unique_ptr<linked_node>> nodes;
  std::deque<std::function<void()>> queue;
  std::multimap<std::int64_t, std::function<void()>> late;
  std::set<std::pair<const linked_node*, const linked_node*>> cuts;
};

inline linked_node::linked_node(links_world& w, std::string at, v1::Hello me, std::vector<std::string> peers)
    : world(w), address(std::move(at)) {
  options.me = std::move(me);
  options.peers = std::move(peers);
  options.time = &world.time;
  options.log = &log;
  shell = std::make_unique<links>(options, memory, *this);
}

inline void linked_node::restart_links() {
  std::vector<gateway_token> known(watched.begin(), watched.end());
  watched.clear();
  shell = std::make_unique<links>(options, memory, *this);
  shell->start(known);
  world.run();
}

inline gateway_token linked_node::token_of(linked_node* other) {
  if (other == this) return own_gateway;
  auto& out = tokens[other];
  if (out == no_gateway) out = next_token++;
  return out;
}

inline void linked_node::connection_lost(linked_node* other) {
  const auto found = tokens.find(other);
  if (found == tokens.end()) return;
  const auto token = found->second;
  tokens.erase(found);
  if (watched.erase(token) != 0) world.queue.push_back([this, token] { shell->on_down(token, "the connection was lost"); });
}

inline void linked_node::connect(std::size_t dial, const std::string& to) {
  dialled.push_back(to);
  world.queue.push_back([this, dial, to] {
    auto* other = world.at(to);
    if (other == nullptr || world.cut(this, other))
      shell->on_not_connected(dial, "Connection refused");
    else
      shell->on_connected(dial, token_of(other));
  });
}

inline void linked_node::greet(std::uint64_t ticket, gateway_token gateway, const v1::Hello& hello) {
  linked_node* to = gateway == own_gateway ? this : nullptr;
  for (const auto& [node, token] : tokens)
    if (token == gateway) to = node;
  const auto silence = [this, ticket] { shell->on_no_reply(ticket, "its gateway does not answer"); };
  if (to == nullptr || !to->alive || !to->answers || world.cut(this, to)) {
    world.late.emplace(world.time.ms + 3'000, silence);
    return;
  }
  world.queue.push_back([this, to, ticket, hello] {
    auto reply = to->shell->on_hello(hello, to->token_of(this));
    world.queue.push_back([this, ticket, reply = std::move(reply)] { shell->on_reply(ticket, reply); });
  });
}

}  // namespace fairlead::testing
