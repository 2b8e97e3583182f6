// Agents on another node: how a Scheduler gets to know them, tells them the time, and notices that they are gone.

#define CAF_SUITE presence_suite

#include "tests/actors/suite_world.hpp"

using namespace fairlead;

namespace {

struct heard_by_agent {
  std::vector<v1::BeaconAck> beacons;
  std::vector<v1::PerformBatch> performs;
};

struct two_nodes : point_to_point_fixture<test_coordinator_fixture<testing::suite_config>> {
  std::unique_ptr<testing::suite_shard> shard;
  scheduler_actor scheduler;  // as mars sees it
  std::shared_ptr<heard_by_agent> heard = std::make_shared<heard_by_agent>();
  caf::actor agent;

  two_nodes() {
    prepare_connection(earth, mars, "earth", 8080);
    shard = std::make_unique<testing::suite_shard>(earth.sys, false, false, false);
    settle();
    earth.publish(shard->scheduler, 8080);
    scheduler = mars.remote_actor<scheduler_actor>("earth", 8080);
    agent = mars.sys.spawn([heard = heard](caf::event_based_actor* self) -> caf::behavior {
      self->set_default_handler(caf::drop);
      return {
          [heard](const v1::BeaconAck& what) { heard->beacons.push_back(what); },
          [heard](const v1::PerformBatch& what) { heard->performs.push_back(what); },
      };
    });
  }

  ~two_nodes() {
    caf::anon_send_exit(agent, caf::exit_reason::user_shutdown);
    shard->end();
    settle();
  }

  void settle() { testing::settle(earth, mars); }

  v1::AgentWelcome enlist(std::uint64_t incarnation, std::int64_t beacon_ms) {
    v1::RegisterAgent what;
    what.set_agent("far");
    what.set_instance("mars/far");
    what.set_node("mars");
    what.set_incarnation(incarnation);
    what.set_capacity(3);
    what.set_beacon_ms(beacon_ms);
    auto waiting = mars.self->request(scheduler, caf::infinite, std::move(what), caf::actor_cast<caf::strong_actor_ptr>(agent));
    settle();
    v1::AgentWelcome out;
    bool answered = false;
    waiting.receive(
        [&](v1::AgentWelcome& welcome, const caf::strong_actor_ptr& whom) {
          out = std::move(welcome);
          answered = true;
          CAF_CHECK_EQUAL(whom != nullptr, out.error().code() == v1::ERROR_CODE_OK);
          if (whom) CAF_CHECK_EQUAL(whom->address(), scheduler.address());
        },
        [this](const caf::error& why) { CAF_FAIL(mars.sys.render(why)); });
    CAF_REQUIRE(answered);
    return out;
  }

  void send_beacon(std::uint64_t incarnation, std::int64_t beacon_ms, std::uint32_t of_shard = 0) {
    v1::Beacon what;
    what.set_instance("mars/far");
    what.set_incarnation(incarnation);
    what.set_beacon_ms(beacon_ms);
    what.set_shard(of_shard);
    caf::send_as(agent, scheduler, std::move(what));
    settle();
  }

  v1::StatusReply status() {
    auto waiting = earth.self->request(shard->scheduler, caf::infinite, v1::StatusRequest{});
    settle();
    v1::StatusReply out;
    waiting.receive([&out](v1::StatusReply& reply) { out = std::move(reply); },
                    [this](const caf::error& why) { CAF_FAIL(earth.sys.render(why)); });
    return out;
  }

  v1::AgentStatus far_away() {
    const auto now = status();
    for (const auto& one : now.agents())
      if (one.instance() == "mars/far") return one;
    CAF_CHECK_EQUAL(now.ShortDebugString(), "mars/far is known");
    return {};
  }
};

}  // namespace

CAF_TEST_FIXTURE_SCOPE(presence_tests, two_nodes)

CAF_TEST(an_agent_on_another_node_is_told_what_its_own_clock_shows) {
  const auto welcome = enlist(1, 77'000);
  CAF_CHECK_EQUAL(welcome.error().sentence(), "");
  CAF_CHECK_EQUAL(welcome.anchor_ms(), 77'000);
  CAF_CHECK_EQUAL(welcome.sent_unix_ms(), shard->time.now_ms);
  const auto far = far_away();
  CAF_CHECK_EQUAL(far.node(), "mars");
  shard->time.now_ms += 400;
  send_beacon(1, 77'390);
  CAF_REQUIRE_EQUAL(heard->beacons.size(), 1u);
  CAF_CHECK(heard->beacons[0].known());
  CAF_CHECK_EQUAL(heard->beacons[0].anchor_ms(), 77'390);
  CAF_CHECK_EQUAL(heard->beacons[0].sent_unix_ms(), shard->time.now_ms);
}

CAF_TEST(who_has_not_registered_is_told_to) {
  send_beacon(1, 5);
  CAF_REQUIRE_EQUAL(heard->beacons.size(), 1u);
  CAF_CHECK(!heard->beacons[0].known());
  enlist(2, 5);
  send_beacon(1, 5);
  CAF_CHECK(!heard->beacons.back().known());
  send_beacon(2, 5);
  CAF_CHECK(heard->beacons.back().known());
  send_beacon(2, 5, 9);
  CAF_CHECK_EQUAL(heard->beacons.size(), 3u);  // what is meant for another shard is counted and dropped
  CAF_CHECK_EQUAL(status().traffic().misdirected(), 1u);
}

CAF_TEST(an_older_process_is_refused_with_a_sentence) {
  enlist(4, 5);
  const auto refused = enlist(3, 5);
  CAF_CHECK_EQUAL(refused.error().code(), v1::ERROR_CODE_CONFLICT);
  CAF_CHECK(refused.error().sentence().find("incarnation 4") != std::string::npos);
}

CAF_TEST(an_agent_whose_handle_is_down_is_away) {
  enlist(1, 5);
  CAF_CHECK(!far_away().away());
  caf::anon_send_exit(agent, caf::exit_reason::kill);
  settle();
  CAF_CHECK(far_away().away());
}

CAF_TEST(an_agent_that_falls_silent_is_away_until_it_registers_again) {
  enlist(1, 1'000);
  const auto pass = [this](int ticks, bool beacons) {
    for (int i = 0; i < ticks; ++i) {
      shard->time.now_ms += 250;
      earth.sched.advance_time(std::chrono::milliseconds{250});
      settle();
      if (beacons) send_beacon(1, 1'000 + i);
    }
  };
  pass(40, true);
  CAF_CHECK(!far_away().away());
  pass(11, false);
  CAF_CHECK(!far_away().away());
  pass(3, false);
  CAF_CHECK(far_away().away());
  send_beacon(1, 9'000);
  CAF_CHECK(!heard->beacons.back().known());
  // It may still hold attempts, and hears what the shard's clock shows.
  CAF_CHECK_EQUAL(heard->beacons.back().anchor_ms(), 9'000);
  CAF_CHECK_EQUAL(heard->beacons.back().sent_unix_ms(), shard->time.now_ms);
  enlist(1, 9'000);
  CAF_CHECK(!far_away().away());
  send_beacon(1, 9'500);
  CAF_CHECK(heard->beacons.back().known());
}

CAF_TEST_FIXTURE_SCOPE_END()
