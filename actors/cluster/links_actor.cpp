#include "actors/cluster/links_actor.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

namespace fairlead {

namespace {

/// Name resolution may take this long; then the next try begins.
constexpr std::chrono::seconds connect_answer_limit{30};
/// Dials beyond these share threads.
constexpr std::size_t max_connectors = 8;
/// The node file need not name the nodes that a shard here names.
constexpr std::size_t least_connectors = 1;

using route_watcher = caf::typed_actor<caf::reacts_to<shard_route>, caf::reacts_to<shard_total>>;

std::string words_of_down(const caf::error& reason) {
  if (reason == caf::exit_reason::remote_link_unreachable) return "the connection was lost";
  return "its gateway has ended";
}

std::string words_of_silence(const caf::error& failure) {
  if (failure == caf::sec::request_timeout) return "its gateway does not answer";
  if (failure == caf::sec::unexpected_message) return "it takes no other nodes";
  return "the connection was lost";
}

}  // namespace

class links_shell final : public links_port {
 public:
  using self_pointer = supervised_stateful_pointer<links_actor, links_state>;

  links_shell(self_pointer self, links_setup setup)
      : self_(self), setup_(std::move(setup)), links_(setup_.options, setup_.store->memory, *this) {}

  void begin() {
    std::vector<gateway_token> known;
    for (const auto& [token, handle] : setup_.store->gateways) known.push_back(token);
    for (const auto& watcher : setup_.store->watchers) self_->monitor(watcher);
    links_.start(known);
    drop_unwatched();
    arm();
  }

  v1::HelloReply on_hello(const v1::Hello& you, const caf::strong_actor_ptr& gateway) {
    if (!gateway) {
      v1::HelloReply out;
      *out.mutable_error() = error{v1::ERROR_CODE_INVALID_ARGUMENT, "a node introduced itself without its gateway", ""}.to_proto();
      return out;
    }
    auto out = links_.on_hello(you, token_of(gateway));
    drop_unwatched();
    arm();
    return out;
  }

  void on_watch(const caf::strong_actor_ptr& who) {
    if (!who) return;
    auto& watchers = setup_.store->watchers;
    if (std::find(watchers.begin(), watchers.end(), who) == watchers.end()) {
      watchers.push_back(who);
      self_->monitor(who);
    }
    const auto to = caf::actor_cast<route_watcher>(who);
    if (links_.shard_count() != 0) self_->send(to, shard_total{links_.shard_count()});
    for (const auto& [shard, route] : setup_.store->memory.told) self_->send(to, shown(route));
  }

  link_report report() const {
    link_report out;
    out.peers = links_.peers();
    for (const auto& [name, token] : links_.gateways())
      if (auto handle = handle_of(token)) out.gateways.emplace_back(name, std::move(handle));
    out.refused_messages = links_.refused_messages();
    out.lineages = setup_.store->memory.lineages;
    return out;
  }

  v1::NodeOperateReply forget(const v1::NodeOperateRequest& what) {
    auto out = links_.forget(what);
    arm();
    return out;
  }

  void on_claim(const v1::ShardClaim& claim) {
    links_.on_claim(claim);
    arm();
  }

  void on_replica(const v1::ReplicaHello& own) {
    links_.on_replica(own);
    arm();
  }

  void on_reminder() {
    // A reminder overtaken by an earlier one. The tolerance is for the two kinds of clocks, which do not tick in step.
    if (armed_for_ && setup_.options.time->steady() + std::chrono::milliseconds{20} < *armed_for_) return;
    armed_for_.reset();
    links_.tick();
    arm();
  }

  void on_down(const caf::down_msg& down) {
    auto& watchers = setup_.store->watchers;
    watchers.erase(std::remove_if(watchers.begin(), watchers.end(), [&](const auto& one) { return down.source == one; }), watchers.end());
    auto& gateways = setup_.store->gateways;
    const auto found = std::find_if(gateways.begin(), gateways.end(), [&](const auto& one) { return down.source == one.second; });
    if (found == gateways.end()) return;
    const auto token = found->first;
    gateways.erase(found);
    watched_.erase(token);
    links_.on_down(token, words_of_down(down.reason));
    arm();
  }

  void held_elsewhere(const v1::ShardClaim& claim) override {
    if (setup_.on_held_elsewhere) setup_.on_held_elsewhere(claim);
  }

  void connect(std::size_t dial, const std::string& address) override {
    auto known = parse_client_address(address);
    if (!known) return links_.on_not_connected(dial, known.failure().sentence);
    connect_order order{dial, std::move(*known), self_->system().message_types<node_door>()};
    self_->request(setup_.connector_of(dial), connect_answer_limit, std::move(order))
        .then([this, dial](const connect_outcome& outcome) { on_outcome(dial, outcome); },
              [this, dial](const caf::error&) {
                links_.on_not_connected(dial, "its name could not be resolved in time");
                arm();
              });
  }

  void greet(std::uint64_t ticket, gateway_token gateway, const v1::Hello& hello) override {
    self_->request(caf::actor_cast<node_door>(handle_of(gateway)), hello_limit, hello, setup_.gateway)
        .then(
            [this, ticket](const v1::HelloReply& reply) {
              links_.on_reply(ticket, reply);
              arm();
            },
            [this, ticket](const caf::error& failure) {
              links_.on_no_reply(ticket, words_of_silence(failure));
              arm();
            });
  }

  void watch(gateway_token gateway) override {
    watched_.insert(gateway);
    self_->monitor(handle_of(gateway));
  }

  void forget(gateway_token gateway) override {
    watched_.erase(gateway);
    auto& gateways = setup_.store->gateways;
    const auto found = std::find_if(gateways.begin(), gateways.end(), [&](const auto& one) { return one.first == gateway; });
    if (found == gateways.end()) return;
    self_->demonitor(caf::actor_cast<caf::actor_addr>(found->second));
    gateways.erase(found);
  }

  void tell(const link_route& route) override {
    for (const auto& watcher : setup_.store->watchers) self_->send(caf::actor_cast<route_watcher>(watcher), shown(route));
  }

  void tell_total(std::uint32_t count) override {
    for (const auto& watcher : setup_.store->watchers) self_->send(caf::actor_cast<route_watcher>(watcher), shard_total{count});
  }

 private:
  void on_outcome(std::size_t dial, const connect_outcome& outcome) {
    if (outcome.gateway)
      links_.on_connected(dial, token_of(caf::actor_cast<caf::strong_actor_ptr>(outcome.gateway)));
    else
      links_.on_not_connected(dial, outcome.reason);
    drop_unwatched();
    arm();
  }

  gateway_token token_of(const caf::strong_actor_ptr& handle) {
    if (handle == setup_.gateway) return own_gateway;
    auto& gateways = setup_.store->gateways;
    const auto found = std::find_if(gateways.begin(), gateways.end(), [&](const auto& one) { return one.second == handle; });
    if (found != gateways.end()) return found->first;
    gateways.emplace_back(setup_.store->next_token++, handle);
    return gateways.back().first;
  }

  caf::strong_actor_ptr handle_of(gateway_token token) const {
    if (token == own_gateway) return setup_.gateway;
    for (const auto& [known, handle] : setup_.store->gateways)
      if (known == token) return handle;
    return nullptr;
  }

  /// Drops handles that came with refused messages.
  void drop_unwatched() {
    auto& gateways = setup_.store->gateways;
    gateways.erase(std::remove_if(gateways.begin(), gateways.end(), [this](const auto& one) { return watched_.count(one.first) == 0; }),
                   gateways.end());
  }

  shard_route shown(const link_route& route) const { return {route.shard, handle_of(route.via), route.node, route.reason, route.several}; }

  void arm() {
    const auto due = links_.next_due();
    if (armed_for_ && *armed_for_ <= due) return;
    armed_for_ = due;
    const auto wait = std::max(due - setup_.options.time->steady(), duration{0}) + duration{1};
    self_->delayed_send(self_, wait, link_atom_v);
  }

  self_pointer self_;
  links_setup setup_;
  std::set<gateway_token> watched_;
  links links_;
  std::optional<moment> armed_for_;
};

links_actor::behavior_type run_links(supervised_stateful_pointer<links_actor, links_state> self, links_setup setup) {
  end_on_bug(self, "links");
  auto* shell = (self->state.shell = std::make_shared<links_shell>(self, std::move(setup))).get();
  self->set_down_handler([shell](caf::down_msg& down) { shell->on_down(down); });
  shell->begin();
  return {
      [shell](const v1::Hello& you, const caf::strong_actor_ptr& gateway) { return shell->on_hello(you, gateway); },
      [shell](watch_atom, const caf::strong_actor_ptr& who) { shell->on_watch(who); },
      [shell](report_atom) { return shell->report(); },
      [shell](const v1::NodeOperateRequest& what) { return shell->forget(what); },
      [shell](const v1::ShardClaim& claim) { shell->on_claim(claim); },
      [shell](const v1::ReplicaHello& own) { shell->on_replica(own); },
      [shell](link_atom) { shell->on_reminder(); },
  };
}

namespace {

connector_actor::behavior_type run_connector(supervised_pointer<connector_actor> self) {
  end_on_bug(self, "connector");
  return make_connector(self);
}

}  // namespace

guardian_spec network_branch(const guardian_world& world, links_setup setup, std::shared_ptr<stable_address> address) {
  guardian_spec out;
  out.id = "network";
  auto* system = world.system;
  std::vector<std::shared_ptr<stable_address>> connectors;
  for (std::size_t i = 0; i < std::clamp(setup.options.peers.size(), least_connectors, max_connectors); ++i) {
    connectors.push_back(std::make_shared<stable_address>(*system));
    child_spec child;
    child.id = "connector-" + std::to_string(i + 1);
    child.start = [system]() -> result<caf::strong_actor_ptr> {
      return caf::actor_cast<caf::strong_actor_ptr>(system->spawn<caf::detached>(run_connector));
    };
    child.address = connectors.back();
    out.children.push_back(std::move(child));
  }
  setup.connector_of = [connectors](std::size_t dial) { return connectors[dial % connectors.size()]->as<connector_actor>(); };
  child_spec child;
  child.id = "links";
  child.start = [system, setup]() -> result<caf::strong_actor_ptr> {
    return caf::actor_cast<caf::strong_actor_ptr>(system->spawn(run_links, setup));
  };
  child.address = std::move(address);
  out.children.push_back(std::move(child));
  return out;
}

}  // namespace fairlead
