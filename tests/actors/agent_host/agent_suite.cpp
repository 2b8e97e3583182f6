// An agent host as an actor, with shards that the test plays.

#define CAF_SUITE agent_suite

#include "tests/actors/suite_world.hpp"

namespace {

using namespace fairlead;

struct shard_log {
  std::vector<v1::RegisterAgent> registrations;
  std::vector<v1::Beacon> beacons;
  std::vector<v1::OutcomeBatch> outcomes;
  caf::strong_actor_ptr agent;
  caf::actor scheduler;
  std::string refusal;
};

caf::behavior play_scheduler(caf::event_based_actor*, shard_log* log) {
  return {[=](const v1::Beacon& what) { log->beacons.push_back(what); },
          [=](const v1::OutcomeBatch& what) { log->outcomes.push_back(what); }};
}

caf::behavior play_gateway(caf::event_based_actor*, shard_log* log) {
  return {[=](const v1::RegisterAgent& what, const caf::strong_actor_ptr& who) -> caf::result<v1::AgentWelcome, caf::strong_actor_ptr> {
    log->registrations.push_back(what);
    log->agent = who;
    v1::AgentWelcome out;
    out.set_shard(what.shard());
    out.set_epoch(1);
    out.set_revision(what.revision());
    if (log->refusal.empty()) return {out, caf::actor_cast<caf::strong_actor_ptr>(log->scheduler)};
    *out.mutable_error() = error{v1::ERROR_CODE_UNAVAILABLE, log->refusal, ""}.to_proto();
    return {out, caf::strong_actor_ptr{}};
  }};
}

struct agent_world : test_coordinator_fixture<testing::suite_config> {
  shard_log shard;
  caf::actor gateway;
  agent_actor agent;
  testing::manual_clock time;
  std::shared_ptr<testing::fake_backend> backend = std::make_shared<testing::fake_backend>(true);

  agent_world() {
    shard.scheduler = sys.spawn(play_scheduler, &shard);
    gateway = sys.spawn(play_gateway, &shard);
    agent_setup setup;
    setup.who = {"svc", "n1/svc", 3, "native", {}, nullptr};
    setup.backend = backend;
    setup.time = &time;
    setup.node = "n1";
    agent = sys.spawn(run_agent, std::move(setup));
  }

  ~agent_world() {
    for (const auto& one : {caf::actor_cast<caf::actor>(agent), gateway, shard.scheduler})
      caf::anon_send_exit(one, caf::exit_reason::user_shutdown);
    shard.scheduler = nullptr;
  }

  void route(const caf::actor& via, std::uint32_t number = 0) {
    caf::anon_send(agent, shard_route{number, caf::actor_cast<caf::strong_actor_ptr>(via), "n2", ""});
    consume_messages();
  }

  void pass(std::int64_t ms) {
    for (; ms > 0; ms -= 50) {
      time.now_ms += 50;
      advance_time(std::chrono::milliseconds{50});
      consume_messages();
    }
  }

  void hand_over(std::uint64_t task) {
    v1::PerformBatch what;
    what.set_epoch(1);
    auto* one = what.add_items();
    one->set_task_number(task);
    one->set_attempt(1);
    one->set_call("do");
    one->set_complete_by_unix_ms(time.now_ms + 60'000);
    caf::anon_send(agent, what);
    consume_messages();
  }
};

}  // namespace

CAF_TEST_FIXTURE_SCOPE(agent_tests, agent_world)

CAF_TEST(registers_where_it_is_told_a_route_and_says_that_it_is_there) {
  CAF_CHECK(shard.registrations.empty());
  route(gateway);
  CAF_REQUIRE_EQUAL(shard.registrations.size(), 1u);
  CAF_CHECK_EQUAL(shard.registrations[0].instance(), "n1/svc");
  CAF_CHECK_EQUAL(shard.registrations[0].node(), "n1");
  CAF_CHECK_EQUAL(shard.registrations[0].capacity(), 10u);
  CAF_CHECK_EQUAL(shard.registrations[0].revision(), 1u);
  CAF_CHECK_EQUAL(shard.registrations[0].beacon_ms(), time.now_ms);
  CAF_CHECK(shard.agent == caf::actor_cast<caf::strong_actor_ptr>(agent));
  route(gateway);
  CAF_CHECK_EQUAL(shard.registrations.size(), 1u);
  pass(1'000);
  CAF_REQUIRE(shard.beacons.size() >= 2);
  CAF_CHECK_EQUAL(shard.beacons.back().incarnation(), 3u);
  CAF_CHECK(shard.beacons.back().beacon_ms() > shard.beacons.front().beacon_ms());
}

CAF_TEST(takes_the_word_of_the_scheduler_that_it_is_registered_with_and_of_no_other) {
  route(gateway);
  CAF_REQUIRE_EQUAL(shard.registrations.size(), 1u);
  v1::BeaconAck unknown;
  unknown.set_sent_unix_ms(time.now_ms);
  unknown.set_anchor_ms(time.now_ms);
  // A former leader that stood still answers what it was told long ago.
  self->send(agent, unknown);
  consume_messages();
  pass(100);
  CAF_CHECK_EQUAL(shard.registrations.size(), 1u);
  caf::send_as(shard.scheduler, agent, unknown);
  consume_messages();
  pass(100);
  CAF_CHECK_EQUAL(shard.registrations.size(), 2u);
}

CAF_TEST(keeps_an_outcome_while_no_scheduler_is_there_and_delivers_it_to_the_next) {
  route(gateway);
  caf::anon_send_exit(shard.scheduler, caf::exit_reason::kill);
  shard.refusal = "it is starting";
  consume_messages();
  CAF_CHECK_EQUAL(shard.registrations.size(), 1u);
  pass(300);
  CAF_CHECK(shard.registrations.size() >= 2);
  hand_over(1);
  CAF_CHECK_EQUAL(backend->started.size(), 1u);
  CAF_CHECK(shard.outcomes.empty());
  shard.scheduler = sys.spawn(play_scheduler, &shard);
  shard.refusal.clear();
  pass(2'100);
  CAF_REQUIRE(!shard.outcomes.empty());
  CAF_CHECK_EQUAL(shard.outcomes[0].items(0).task_number(), 1u);
  CAF_CHECK_EQUAL(shard.outcomes[0].incarnation(), 3u);
}

CAF_TEST(registers_anew_on_another_route_and_rests_without_one) {
  route(gateway);
  route(nullptr);
  const auto beacons = shard.beacons.size();
  pass(3'000);
  CAF_CHECK_EQUAL(shard.registrations.size(), 1u);
  CAF_CHECK_EQUAL(shard.beacons.size(), beacons);
  route(gateway);
  CAF_CHECK_EQUAL(shard.registrations.size(), 2u);
}

CAF_TEST(takes_no_orders_for_a_shard_that_it_was_never_told_of) {
  hand_over(1);
  CAF_CHECK(backend->started.empty());
}

CAF_TEST(says_that_it_drains_and_how_much_it_holds) {
  route(gateway);
  pass(100);
  auto asked = self->request(agent, caf::infinite, drain_atom_v, true);
  consume_messages();
  // Its shard has not answered yet.
  asked.receive([](std::uint32_t held) { CAF_CHECK_EQUAL(held, 1u); }, [this](const caf::error& why) { CAF_FAIL(sys.render(why)); });
  CAF_REQUIRE_EQUAL(shard.registrations.size(), 2u);
  CAF_CHECK(shard.registrations[1].draining());
}

CAF_TEST(counts_as_held_what_no_shard_has_recorded_while_it_drains) {
  route(gateway);
  pass(100);
  hand_over(1);
  CAF_REQUIRE_EQUAL(shard.outcomes.size(), 1u);
  const auto held = [this] {
    std::uint32_t out = 99;
    auto asked = self->request(agent, caf::infinite, drain_atom_v, true);
    consume_messages();
    asked.receive([&out](std::uint32_t said) { out = said; }, [this](const caf::error& why) { CAF_FAIL(sys.render(why)); });
    return out;
  };
  held();  // the shards hear of the drain (see 2)
  pass(200);
  CAF_CHECK_EQUAL(held(), 1u);
  v1::OutcomeAckBatch taken;
  auto* one = taken.add_items();
  one->set_task_number(1);
  one->set_attempt(1);
  one->set_accepted(true);
  caf::anon_send(agent, taken);
  consume_messages();
  CAF_CHECK_EQUAL(held(), 0u);
}

CAF_TEST(shuts_its_backend_down_when_it_ends) {
  caf::anon_send_exit(agent, caf::exit_reason::user_shutdown);
  consume_messages();
  CAF_CHECK(backend->was_shut_down);
}

CAF_TEST_FIXTURE_SCOPE_END()
