#pragma once
// Three nodes that are to hold a shard, as actors in one system under CAF's deterministic scheduler. For suites: CAF_SUITE is defined before.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/replication/replica_actor.hpp"
#include "messages/lineage.hpp"
#include "store/journaled/stores.hpp"
#include "store/memory/memory_disk.hpp"
#include "tests/actors/suite_world.hpp"

namespace fairlead::testing {

inline const std::vector<std::string> names{"n1", "n2", "n3"};

/// Says that all nodes are connected whose actors it is told of, and of which lineages it has heard.
inline links_actor::behavior_type links_of(links_actor::pointer, const std::map<std::string, caf::strong_actor_ptr>* gateways,
                                           const std::map<std::uint32_t, v1::Lineage>* lineages) {
  return {
      [](const v1::Hello&, const caf::strong_actor_ptr&) { return v1::HelloReply{}; },
      [](watch_atom, const caf::strong_actor_ptr&) {},
      [gateways, lineages](report_atom) {
        link_report out;
        out.lineages = *lineages;
        out.gateways.assign(gateways->begin(), gateways->end());
        return out;
      },
      [](const v1::NodeOperateRequest&) { return v1::NodeOperateReply{}; },
      [](const v1::ShardClaim&) {},
      [](const v1::ReplicaHello&) {},
      [](link_atom) {},
  };
}

struct replicas_fixture : asking_fixture {
  struct node {
    std::unique_ptr<store::memory_disk> disk;
    std::unique_ptr<store::memory_store> tables;
    std::unique_ptr<store::journaled_stores> stores;
    std::unique_ptr<replica_seat> seat;
    replica_actor actor;
    std::vector<bool> led;
    std::optional<error> fatal;
    raft::replica_id id = 0;
    std::uint32_t reads = 1;
  };

  std::int64_t boot_ms = 1'000'000;
  std::int64_t upgrade_after_ms = 1'000'000;
  manual_clock time;
  quiet_observer log;
  std::map<std::string, caf::strong_actor_ptr> gateways;
  std::map<std::uint32_t, v1::Lineage> lineages;  // heard of, by shard
  links_actor links;
  std::map<std::string, node> nodes;

  replicas_fixture() {
    links = sys.spawn(links_of, &gateways, &lineages);
    for (const auto& name : names) {
      get_disk(name, static_cast<raft::replica_id>(name.back()));
      begin(name);
    }
  }

  /// An empty one. A store that is made on it gets the id.
  void get_disk(const std::string& name, raft::replica_id id) {
    nodes[name].disk = std::make_unique<store::memory_disk>(names.size());
    nodes[name].tables = std::make_unique<store::memory_store>();
    nodes[name].id = id;
  }

  ~replicas_fixture() override {
    for (const auto& name : names) stop(name);
    caf::anon_send_exit(links, caf::exit_reason::user_shutdown);
    consume_messages();
    gateways.clear();
  }

  std::unique_ptr<store::journaled_stores> open(const std::string& name, bool replicated) {
    auto& one = nodes[name];
    store::journal_options options;
    options.segment_bytes = std::uint64_t{256} << 10;
    options.max_bytes = options.segment_bytes * 64;
    options.release = "test";
    options.now_unix_ms = [this] { return time.now_ms; };
    options.boot_ms = [this] { return boot_ms; };
    options.random = [name, last = std::uint64_t{0}]() mutable { return std::hash<std::string>{}(name + std::to_string(++last)); };
    auto opened = store::journaled_stores::open(std::make_unique<store::lent_disk>(*one.disk),
                                                {{0, name, one.tables.get(), nullptr, replicated}}, options);
    CAF_REQUIRE(opened.ok());
    return std::move(*opened);
  }

  void begin(const std::string& name) {
    auto& one = nodes[name];
    one.stores = open(name, true);
    // As a node does with a store that is new.
    if (auto& own = one.stores->at(0); !own.replica()) CAF_REQUIRE(own.be_replica(one.id).ok());
    replica_seat::options how;
    how.node = name;
    how.nodes = names;
    how.how.election_ms = 1'000;
    how.how.heartbeat_ms = 100;
    how.how.seed = static_cast<std::uint64_t>(name.back());
    how.release = "0." + std::to_string(one.reads);
    how.reads = one.reads;
    how.upgrade_after_ms = upgrade_after_ms;
    one.seat = std::make_unique<replica_seat>(one.stores->at(0), how, time, [this] { return boot_ms; });
    replica_setup setup;
    setup.seat = one.seat.get();
    setup.time = &time;
    setup.log = &log;
    setup.links = links;
    setup.on_fatal = [&one](const error& why) { one.fatal = why; };
    setup.on_leads = [&one](bool now) { one.led.push_back(now); };
    one.actor = sys.spawn(run_replica, std::move(setup));
  }

  /// The process ends; what is on its disk stays.
  void stop(const std::string& name) {
    auto& one = nodes[name];
    gateways.erase(name);
    if (one.actor) caf::anon_send_exit(one.actor, caf::exit_reason::user_shutdown);
    consume_messages();
    one.actor = nullptr;
    consume_messages();
    one.seat.reset();
    one.stores.reset();
    one.led.clear();
  }

  void connect(const std::string& name) { gateways[name] = caf::actor_cast<caf::strong_actor_ptr>(nodes[name].actor); }
  void connect_all() {
    for (const auto& name : names) connect(name);
  }

  void pass(std::int64_t ms) {
    for (std::int64_t passed = 0; passed < ms; passed += 50) {
      boot_ms += 50;
      time.now_ms += 50;
      advance_time(std::chrono::milliseconds{50});
      consume_messages();
    }
  }

  bool leads(const std::string& name) const {
    const auto& led = nodes.at(name).led;
    return !led.empty() && led.back();
  }
  std::string leader() const {
    std::string out;
    for (const auto& name : names)
      if (leads(name)) out += (out.empty() ? "" : " and ") + name;
    return out;
  }
  bool asks(const std::string& name) {
    bool out = false;
    auto waiting = self->request(nodes[name].actor, caf::infinite, confirm_atom_v, std::uint64_t{0});
    consume_messages();
    pass(200);
    waiting.receive([&](bool led) { out = led; }, [](const caf::error&) {});
    return out;
  }
  v1::ShardNodesReply change(const std::string& at, v1::ShardNodesRequest::Verb verb, const std::string& node, bool only_ask = false) {
    v1::ShardNodesRequest what;
    what.set_verb(verb);
    what.mutable_node()->set_name(node);
    if (nodes.count(node) != 0) what.mutable_node()->set_replica(nodes[node].id);
    what.set_only_ask(only_ask);
    return change(at, std::move(what));
  }
  /// The node, whose store is damaged, asks for a place with a new one.
  v1::ShardNodesReply rebuild(const std::string& at, const std::string& node, raft::replica_id id, const v1::Lineage& lineage) {
    v1::ShardNodesRequest what;
    what.set_verb(v1::ShardNodesRequest::JOIN);
    what.mutable_node()->set_name(node);
    what.mutable_node()->set_replica(id);
    what.set_instead_of_damaged(true);
    *what.mutable_lineage() = lineage;
    return change(at, std::move(what));
  }
  v1::ShardNodesReply change(const std::string& at, v1::ShardNodesRequest what) {
    what.set_who("ana");
    v1::ShardNodesReply out;
    auto waiting = self->request(nodes[at].actor, caf::infinite, what);
    consume_messages();
    pass(4'000);
    waiting.receive([&](v1::ShardNodesReply& said) { out = std::move(said); },
                    [this](const caf::error& why) { CAF_FAIL(sys.render(why)); });
    return out;
  }
  std::string nodes_of(const v1::ShardNodesReply& reply) {
    auto out = std::to_string(reply.error().code()) + reply.error().sentence();
    for (const auto& one : reply.nodes().nodes()) out += " " + one.name() + (one.leaves() ? "-" : "");
    return out;
  }
  v1::ReplicaWelcome introduce(const std::string& to, const v1::ReplicaHello& you, const caf::strong_actor_ptr& who) {
    v1::ReplicaWelcome out;
    auto waiting = self->request(nodes[to].actor, caf::infinite, you, who);
    consume_messages();
    waiting.receive([&](v1::ReplicaWelcome& said, const caf::strong_actor_ptr&) { out = std::move(said); },
                    [this](const caf::error& why) { CAF_FAIL(sys.render(why)); });
    return out;
  }
};

}  // namespace fairlead::testing
