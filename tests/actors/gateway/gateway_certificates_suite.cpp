// Reports about certificates on their way to the leader of shard 0. Over CAF's two virtual nodes: shard 0 is on mars; earth is another
// node, or a client.

#define CAF_SUITE gateway_certificates_suite

#include "tests/actors/gateway/gateway_world.hpp"

using namespace fairlead;

namespace {

links_actor::behavior_type introduced_links(links_actor::pointer, std::shared_ptr<link_report> known) {
  return {
      [known](const v1::Hello& what, const caf::strong_actor_ptr& who) {
        known->gateways.emplace_back(what.node(), who);
        return v1::HelloReply{};
      },
      [](watch_atom, const caf::strong_actor_ptr&) {},
      [known](report_atom) { return *known; },
      [](const v1::NodeOperateRequest&) { return v1::NodeOperateReply{}; },
      [](const v1::ShardClaim&) {},
      [](const v1::ReplicaHello&) {},
      [](link_atom) {},
  };
}

struct certificates_world : point_to_point_fixture<test_coordinator_fixture<testing::suite_config>> {
  certificates_world() {
    prepare_connection(mars, earth, "mars", 7103);
    links = mars.sys.spawn(introduced_links, known);
    scheduler = mars.sys.spawn(testing::made_up_scheduler, 0u, seen);
    auto holds = setup_of("mars");
    holds.links = links;
    shard_desk desk;
    desk.reads = &store;
    desk.scheduler = scheduler;
    holds.desks.push_back(std::move(desk));
    on_mars = mars.sys.spawn(run_gateway, std::move(holds));
    on_earth = earth.sys.spawn(run_gateway, setup_of("earth"));
    settle();
    mars.publish(on_mars, 7103);
    mars_from_earth = earth.remote_actor<gateway_actor>("mars", 7103);
    caf::anon_send(on_earth, shard_route{0, caf::actor_cast<caf::strong_actor_ptr>(mars_from_earth), "mars", {}, false});
    settle();
  }
  ~certificates_world() {
    caf::anon_send_exit(on_earth, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(on_mars, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(scheduler, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(links, caf::exit_reason::user_shutdown);
    settle();
  }

  gateway_setup setup_of(const std::string& node) const {
    gateway_setup out;
    out.node = node;
    out.time = &time;
    out.shard_count = 1;
    return out;
  }
  void settle() { testing::settle(earth, mars); }

  static v1::CertificateReport report_of(const std::string& node) {
    v1::CertificateReport out;
    out.set_node(node);
    out.set_use(v1::CERTIFICATE_USE_API);
    out.set_ends_at_unix_ms(1);
    return out;
  }
  /// As the API of the node does.
  void report(const gateway_actor& whom, const std::string& node) {
    caf::send_as(whom, whom, report_of(node));
    settle();
  }
  /// The gateway of earth introduces itself under this name.
  void introduce(const std::string& name) {
    v1::Hello hello;
    hello.set_node(name);
    caf::scoped_actor asker{earth.sys};
    auto pending = asker->request(mars_from_earth, caf::infinite, std::move(hello), caf::actor_cast<caf::strong_actor_ptr>(on_earth));
    settle();
    pending.receive([](const v1::HelloReply&) {}, [](const caf::error&) { CAF_FAIL("no answer"); });
  }
  std::vector<std::string> reported() const {
    std::vector<std::string> out;
    for (const auto& one : seen->certificates) out.push_back(one.node());
    return out;
  }
  using names = std::vector<std::string>;

  testing::manual_clock time;
  store::memory_store store;
  std::shared_ptr<testing::made_up> seen = std::make_shared<testing::made_up>();
  std::shared_ptr<link_report> known = std::make_shared<link_report>();
  links_actor links;
  scheduler_actor scheduler;
  gateway_actor on_mars, on_earth;
  gateway_actor mars_from_earth;
};

}  // namespace

CAF_TEST_FIXTURE_SCOPE(gateway_certificates_tests, certificates_world)

CAF_TEST(the_scheduler_of_shard_0_hears_of_its_own_node_and_of_others) {
  report(on_mars, "mars");
  CAF_CHECK_EQUAL(reported(), names{"mars"});
  introduce("earth");
  report(on_earth, "earth");
  CAF_CHECK_EQUAL(reported(), (names{"mars", "earth"}));
}

CAF_TEST(nobody_speaks_for_a_node_but_that_node) {
  report(on_earth, "earth");
  CAF_CHECK_EQUAL(reported(), names{});
  introduce("earth");
  report(on_earth, "mars");
  CAF_CHECK_EQUAL(reported(), names{});
  known->gateways.clear();
  // Of a client the sender is its own actor, or nobody.
  caf::scoped_actor client{earth.sys};
  client->send(mars_from_earth, report_of("earth"));
  caf::anon_send(mars_from_earth, report_of("earth"));
  settle();
  CAF_CHECK_EQUAL(reported(), names{});
}

CAF_TEST(a_report_that_finds_no_leader_is_dropped) {
  introduce("earth");
  caf::anon_send(on_earth, shard_route{0, nullptr, {}, "the connection was lost", false});
  settle();
  report(on_earth, "earth");
  CAF_CHECK_EQUAL(reported(), names{});
}

CAF_TEST(a_gateway_of_an_earlier_release_does_no_harm) {
  introduce("earth");
  const auto earlier = earth.sys.spawn([](caf::event_based_actor* self) -> caf::behavior {
    self->set_default_handler(
        [](caf::scheduled_actor*, caf::message_view&) -> caf::result<caf::message> { return caf::sec::unexpected_message; });
    return {[](int) {}};
  });
  caf::anon_send(on_earth, shard_route{0, caf::actor_cast<caf::strong_actor_ptr>(earlier), "mars", {}, false});
  settle();
  report(on_earth, "earth");
  caf::anon_send(on_earth, shard_route{0, caf::actor_cast<caf::strong_actor_ptr>(mars_from_earth), "mars", {}, false});
  settle();
  report(on_earth, "earth");
  CAF_CHECK_EQUAL(reported(), names{"earth"});
  caf::anon_send_exit(earlier, caf::exit_reason::user_shutdown);
}

CAF_TEST_FIXTURE_SCOPE_END()
