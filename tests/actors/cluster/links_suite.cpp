// Links over CAF's two virtual nodes: the Hello crosses the network, and the loss of the other gateway is noticed.

#define CAF_SUITE links_suite

#include "actors/cluster/links_actor.hpp"
#include "tests/actors/suite_world.hpp"

using namespace fairlead;

namespace {

class moving_clock final : public fairlead::clock {
 public:
  moment now() const override { return from_unix_ms(1'700'000'000'000 + ms); }
  moment steady() const override { return from_unix_ms(1'000 + ms); }
  std::int64_t ms = 0;
};

/// What a node shows here: a door that passes each Hello to its links.
node_door::behavior_type run_door(node_door::pointer self, links_actor links) {
  return {[self, links](const v1::Hello& you, const caf::strong_actor_ptr& gateway) -> caf::result<v1::HelloReply> {
    return self->delegate(links, you, gateway);
  }};
}

/// Stands for the connector: the test has connected already.
connector_actor::behavior_type run_connected(connector_actor::pointer, std::shared_ptr<caf::strong_actor_ptr> there) {
  return {[there](const connect_order& order) -> caf::result<connect_outcome> {
    if (!*there) return connect_outcome{order.index, {}, "Connection refused"};
    return connect_outcome{order.index, caf::actor_cast<gateway_actor>(*there), ""};
  }};
}

using told_routes = std::shared_ptr<std::map<std::uint32_t, shard_route>>;
using watcher_actor = caf::typed_actor<caf::reacts_to<shard_route>, caf::reacts_to<shard_total>>;

watcher_actor::behavior_type run_watcher(watcher_actor::pointer, told_routes told, std::shared_ptr<std::uint32_t> total) {
  return {[told](const shard_route& route) { (*told)[route.shard] = route; }, [total](const shard_total& what) { *total = what.count; }};
}

/// One node: a door with links behind it, the way a stable address leads to a gateway.
struct linked {
  void start(caf::actor_system& sys, const fairlead::clock& time, const std::string& name, std::uint32_t shards, bool dials,
             const std::string& cluster = "blue") {
    system = &sys;
    links_setup setup;
    auto& me = setup.options.me;
    me.set_protocol(core::protocol_version);
    me.set_least_protocol(core::least_protocol_version);
    me.set_cluster(cluster);
    me.set_node(name);
    me.set_node_id("id-" + name);
    me.set_incarnation(1);
    me.set_run_id("run-" + name);
    me.set_shard_count(shards);
    if (dials) setup.options.peers = {"127.0.0.1:7101"};
    setup.options.time = &time;
    setup.options.log = &log;
    address = std::make_unique<stable_address>(sys);
    door = sys.spawn(run_door, address->as<links_actor>());
    setup.gateway = caf::actor_cast<caf::strong_actor_ptr>(door);
    connector = sys.spawn(run_connected, there);
    setup.connector_of = [this](std::size_t) { return connector; };
    make = [this, setup] {
      links = system->spawn(run_links, setup);
      address->lead_to(caf::actor_cast<caf::strong_actor_ptr>(links));
    };
    make();
    watcher = sys.spawn(run_watcher, told, total);
    caf::anon_send(address->as<links_actor>(), watch_atom_v, caf::actor_cast<caf::strong_actor_ptr>(watcher));
  }

  void end() {
    for (const auto& one : {caf::actor_cast<caf::actor>(links), caf::actor_cast<caf::actor>(door), caf::actor_cast<caf::actor>(connector),
                            caf::actor_cast<caf::actor>(watcher)})
      caf::anon_send_exit(one, caf::exit_reason::user_shutdown);
    if (address) address->close();
  }

  caf::actor_system* system = nullptr;
  testing::quiet_observer log;
  std::unique_ptr<stable_address> address;
  std::function<void()> make;
  links_actor links;
  node_door door;
  connector_actor connector;
  watcher_actor watcher;
  std::shared_ptr<caf::strong_actor_ptr> there = std::make_shared<caf::strong_actor_ptr>();
  told_routes told = std::make_shared<std::map<std::uint32_t, shard_route>>();
  std::shared_ptr<std::uint32_t> total = std::make_shared<std::uint32_t>(0);
};

struct fixture : point_to_point_fixture<test_coordinator_fixture<testing::suite_config>> {
  fixture() { prepare_connection(mars, earth, "mars", 7101); }
  ~fixture() {
    on_earth.end();
    on_mars.end();
    settle();
  }

  void settle() { testing::settle(earth, mars); }

  void pass(std::int64_t ms) {
    time.ms += ms;
    earth.sched.advance_time(std::chrono::milliseconds{ms});
    mars.sched.advance_time(std::chrono::milliseconds{ms});
    settle();
  }

  /// Two nodes of which the one on earth dials. The connection has to stand first: to make it, the fixture fires every reminder there is.
  void join(std::uint32_t shards_on_earth = 2, const std::string& cluster_on_mars = "blue") {
    on_mars.start(mars.sys, time, "mars", 2, false, cluster_on_mars);
    settle();
    mars.publish(on_mars.door, 7101);
    *on_earth.there = caf::actor_cast<caf::strong_actor_ptr>(earth.remote_actor<node_door>("mars", 7101));
    on_earth.start(earth.sys, time, "earth", shards_on_earth, true);
    settle();
    pass(10);
  }

  template <class Planet>
  link_report report_of(Planet& planet, linked& one) {
    caf::scoped_actor asker{planet.sys};
    link_report out;
    auto pending = asker->request(one.links, caf::infinite, report_atom_v);
    settle();
    pending.receive([&](const link_report& report) { out = report; }, [](const caf::error&) { CAF_FAIL("no report"); });
    return out;
  }

  moving_clock time;
  linked on_earth;
  linked on_mars;
};

v1::ShardClaim claim(std::uint32_t shard) {
  v1::ShardClaim out;
  out.set_shard(shard);
  out.set_store_id("store");
  out.set_epoch(1);
  return out;
}

}  // namespace

CAF_TEST_FIXTURE_SCOPE(links_tests, fixture)

CAF_TEST(both_sides_know_each_other_and_where_the_shards_are) {
  join();
  caf::anon_send(on_mars.links, claim(1));
  settle();
  CAF_REQUIRE_EQUAL(report_of(earth, on_earth).gateways.size(), 1u);
  CAF_REQUIRE_EQUAL(report_of(mars, on_mars).gateways.size(), 1u);
  const auto seen_on_earth = report_of(earth, on_earth);
  const auto seen_on_mars = report_of(mars, on_mars);
  CAF_CHECK_EQUAL(seen_on_earth.peers.at(0).node(), "mars");
  CAF_CHECK_EQUAL(seen_on_mars.peers.at(0).node(), "earth");
  CAF_CHECK_EQUAL((*on_earth.told)[1].node, "mars");
  CAF_CHECK((*on_earth.told)[1].via == *on_earth.there);
  CAF_CHECK((*on_mars.told)[1].via == caf::actor_cast<caf::strong_actor_ptr>(on_mars.door));
}

CAF_TEST(the_end_of_the_other_gateway_takes_its_routes_back) {
  join();
  caf::anon_send(on_mars.links, claim(1));
  settle();
  CAF_REQUIRE_EQUAL((*on_earth.told)[1].node, "mars");
  CAF_REQUIRE((*on_earth.told)[1].via != nullptr);
  *on_earth.there = nullptr;
  caf::anon_send_exit(on_mars.door, caf::exit_reason::kill);
  settle();
  CAF_CHECK((*on_earth.told)[1].via == nullptr);
  CAF_CHECK((*on_earth.told)[1].reason.find("node mars, which has the shard, is not connected") == 0);
  CAF_CHECK(report_of(earth, on_earth).gateways.empty());
}

CAF_TEST(a_refusal_crosses_the_network_with_its_sentence) {
  join(2, "red");
  CAF_CHECK(report_of(earth, on_earth).gateways.empty());
  CAF_CHECK(report_of(mars, on_mars).gateways.empty());
  const auto seen_on_earth = report_of(earth, on_earth);
  const auto seen_on_mars = report_of(mars, on_mars);
  CAF_CHECK(seen_on_earth.peers.at(0).refused());
  CAF_CHECK(seen_on_earth.peers.at(0).reason().find("node earth is of cluster blue, node mars of cluster red") == 0);
  CAF_CHECK_EQUAL(seen_on_mars.peers.at(0).reason(), "node earth is of cluster blue, node mars of cluster red");
}

CAF_TEST(a_node_without_shards_is_told_their_number) {
  join(0);
  CAF_CHECK_EQUAL(*on_earth.total, 2u);
  CAF_CHECK_EQUAL(on_earth.told->size(), 2u);
}

CAF_TEST(links_that_are_started_again_know_their_watchers_and_find_the_others) {
  join();
  caf::anon_send(on_mars.links, claim(1));
  settle();
  const auto before = (*on_earth.told)[1].via;
  CAF_REQUIRE(before != nullptr);
  caf::anon_send_exit(on_earth.links, caf::exit_reason::kill);
  on_earth.address->lead_to(nullptr);
  settle();
  on_earth.make();
  settle();
  CAF_CHECK_EQUAL(report_of(earth, on_earth).gateways.size(), 1u);
  CAF_CHECK((*on_earth.told)[1].via == before);
  // Nobody has asked again to be told, and still hears of it.
  *on_earth.there = nullptr;
  caf::anon_send_exit(on_mars.door, caf::exit_reason::kill);
  settle();
  pass(5'000);
  CAF_CHECK((*on_earth.told)[1].via == nullptr);
}

CAF_TEST_FIXTURE_SCOPE_END()
