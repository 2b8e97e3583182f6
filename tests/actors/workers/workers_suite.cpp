// The workers that a node carries, as actors, with a shard that the test plays.

#define CAF_SUITE workers_suite

#include "actors/workers/workers.hpp"
#include "messages/tickets.hpp"
#include "tests/actors/suite_world.hpp"

namespace {

using namespace fairlead;
using session = agents::worker_session;

struct played_shard {
  std::vector<v1::RegisterAgent> registrations;
  std::vector<v1::Outcome> outcomes;
  caf::strong_actor_ptr host;
  caf::actor scheduler;
  caf::actor gateway;
  bool supersedes = false;
};

caf::behavior play_scheduler(caf::event_based_actor*, played_shard* shard) {
  return {[](const v1::Beacon&) {},
          [=](const v1::OutcomeBatch& what) { shard->outcomes.insert(shard->outcomes.end(), what.items().begin(), what.items().end()); }};
}

caf::behavior play_gateway(caf::event_based_actor*, played_shard* shard) {
  return {[=](const v1::RegisterAgent& what, const caf::strong_actor_ptr& who) -> caf::result<v1::AgentWelcome, caf::strong_actor_ptr> {
    shard->registrations.push_back(what);
    shard->host = who;
    v1::AgentWelcome out;
    out.set_shard(what.shard());
    out.set_epoch(1);
    out.set_revision(what.revision());
    out.set_superseded(shard->supersedes);
    return {out, caf::actor_cast<caf::strong_actor_ptr>(shard->scheduler)};
  }};
}

/// An agent of the node: notes each drain and its end.
caf::behavior play_agent(caf::event_based_actor*, std::vector<bool>* drains) {
  return {[=](drain_atom, bool on) -> std::uint32_t {
    drains->push_back(on);
    return 0;
  }};
}

/// Tells whoever subscribes the only route.
caf::behavior play_links(caf::event_based_actor* self, played_shard* shard) {
  return {[=](watch_atom, const caf::strong_actor_ptr& who) {
    self->send(caf::actor_cast<caf::actor>(who), shard_route{0, caf::actor_cast<caf::strong_actor_ptr>(shard->gateway), "n1", ""});
  }};
}

struct workers_world : test_coordinator_fixture<testing::suite_config> {
  played_shard shard;
  testing::manual_clock time;
  caf::actor links;
  caf::actor agent;
  std::vector<bool> drains;  // of the agent
  std::shared_ptr<workers> all;

  workers_world() {
    agent = sys.spawn(play_agent, &drains);
    shard.scheduler = sys.spawn(play_scheduler, &shard);
    shard.gateway = sys.spawn(play_gateway, &shard);
    links = sys.spawn(play_links, &shard);
    all = std::make_shared<workers>(workers::world{&sys, &time, nullptr, "n1", caf::actor_cast<links_actor>(links)});
  }

  ~workers_world() {
    all->pause(true);
    for (const auto& one : {links, agent, shard.gateway, shard.scheduler}) caf::anon_send_exit(one, caf::exit_reason::user_shutdown);
    consume_messages();
    shard = {};
  }

  static workers::beginning mail(std::uint64_t moves = 0) {
    workers::beginning out;
    out.as.set_agent("mailer");
    out.as.set_instance("mail-1");
    out.as.set_incarnation(9);
    out.as.add_calls("send");
    out.as.set_capacity(4);
    out.as.set_session("signed");
    out.moves = moves;
    out.moved = moves > 0;
    out.owner = "token ann";
    return out;
  }

  std::string carry(std::uint64_t moves = 0) {
    auto id = all->carry(mail(moves));
    CAF_REQUIRE(id.ok());
    consume_messages();
    return *id;
  }

  void stand_in_for(const std::string& name) {
    all->add_stand_in(name, caf::actor_cast<agent_actor>(agent));
    consume_messages();
  }

  void leave(const std::string& id) {
    all->call(id, "token ann", [](session* worker) { CAF_CHECK(worker->leave(false).ok()); });
    consume_messages();
    pass(2'200);
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
    auto* const one = what.add_items();
    one->set_task_number(task);
    one->set_attempt(1);
    one->set_call("send");
    one->set_ticket(make_ticket("key", {0, task, 0, v1::DIRECTION_PERFORM, 1}, "mail-1", 9));
    one->set_complete_by_unix_ms(time.now_ms + 60'000);
    caf::anon_send(caf::actor_cast<agent_actor>(shard.host), what);
    consume_messages();
  }

  using taken = std::shared_ptr<std::optional<result<session::take_answer>>>;
  taken take(const std::string& id, std::uint64_t after = 0) {
    const auto out = std::make_shared<std::optional<result<session::take_answer>>>();
    all->call(id, "token ann", [=, this](session* worker) {
      if (worker == nullptr)
        *out = error{v1::ERROR_CODE_NOT_FOUND, "gone", ""};
      else
        worker->take({4, duration{30'000}, after, time.steady()}, [out](result<session::take_answer> said) { *out = std::move(said); });
    });
    consume_messages();
    return out;
  }
};

}  // namespace

CAF_TEST_FIXTURE_SCOPE(workers_tests, workers_world)

CAF_TEST(is_an_instance_of_its_agent_that_offers_what_the_worker_asks_for) {
  const auto id = carry();
  CAF_REQUIRE(!shard.registrations.empty());
  const auto first = shard.registrations.front();
  CAF_CHECK_EQUAL(first.agent(), "mailer");
  CAF_CHECK_EQUAL(first.instance(), "mail-1");
  CAF_CHECK_EQUAL(first.incarnation(), 9u);
  CAF_CHECK_EQUAL(first.kind(), "worker");
  CAF_CHECK_EQUAL(first.session(), "signed");
  CAF_CHECK_EQUAL(first.capacity(), 0u);
  take(id);
  pass(1'100);
  CAF_CHECK_EQUAL(shard.registrations.back().capacity(), 4u);
}

CAF_TEST(gives_several_attempts_of_one_message_in_one_answer) {
  const auto id = carry();
  const auto took = take(id);
  hand_over(1);
  CAF_REQUIRE(took->has_value());
  CAF_CHECK_EQUAL((**took)->attempts.size(), 1u);
}

CAF_TEST(gives_back_what_nobody_takes) {
  const auto id = carry();
  hand_over(1);
  pass(2'100);
  CAF_REQUIRE(!shard.outcomes.empty());
  CAF_CHECK(shard.outcomes[0].not_begun());
}

CAF_TEST(registers_above_all_that_went_before_once_it_has_moved) {
  carry();
  const auto before = shard.registrations.back().revision();
  time.now_ms -= 1'000'000;  // the clock of the other node
  carry(1);
  CAF_CHECK(shard.registrations.back().revision() > before);
}

CAF_TEST(ends_the_earlier_host_of_an_instance_that_comes_again) {
  const auto former = carry();
  const auto waits = take(former);
  const auto id = carry(1);
  CAF_REQUIRE(waits->has_value());
  CAF_CHECK(!(**waits).ok());
  CAF_CHECK_EQUAL(all->count(), 1u);
  CAF_CHECK(!take(id)->has_value());
  CAF_CHECK_EQUAL((**take(former)).failure().code, v1::ERROR_CODE_NOT_FOUND);
}

CAF_TEST(ends_without_a_word_of_its_attempts_when_the_worker_goes_on_elsewhere) {
  const auto id = carry();
  const auto waits = take(id);
  hand_over(1);
  shard.supersedes = true;
  take(id, 1);
  pass(5'000);
  CAF_CHECK(shard.outcomes.empty());
  CAF_CHECK_EQUAL(all->count(), 0u);
  CAF_CHECK_EQUAL((**take(id)).failure().code, v1::ERROR_CODE_NOT_FOUND);
}

CAF_TEST(is_there_for_its_owner_alone) {
  const auto id = carry();
  bool asked = false;
  all->call(id, "token bob", [&](session* worker) { asked = worker == nullptr; });
  CAF_CHECK(asked);
  asked = false;
  all->call("another", "token ann", [&](session* worker) { asked = worker == nullptr; });
  CAF_CHECK(asked);
  CAF_CHECK(all->is_of_another(id, "token bob"));
  CAF_CHECK(!all->is_of_another(id, "token ann"));
  CAF_CHECK(!all->is_of_another("another", "token bob"));
}

CAF_TEST(tells_a_caller_that_the_host_has_crashed_and_forgets_it) {
  const auto id = carry();
  const auto waits = take(id);
  caf::anon_send_exit(caf::actor_cast<caf::actor>(shard.host), caf::exit_reason::kill);
  consume_messages();
  CAF_REQUIRE(waits->has_value());
  CAF_CHECK(!(**waits).ok());
  CAF_CHECK_EQUAL(all->count(), 0u);
}

CAF_TEST(takes_none_while_its_node_drains_and_sends_those_away_that_are_here) {
  const auto id = carry();
  hand_over(1);
  all->pause(true);
  consume_messages();
  CAF_CHECK_EQUAL(all->count(), 0u);
  CAF_REQUIRE(!shard.outcomes.empty());
  CAF_CHECK(shard.outcomes[0].not_begun());
  CAF_CHECK_EQUAL((**take(id)).failure().code, v1::ERROR_CODE_NOT_FOUND);
  CAF_CHECK(!all->carry(mail()).ok());
  all->pause(false);
  CAF_CHECK(all->carry(mail()).ok());
}

CAF_TEST(leaves_the_shards_once_the_worker_says_so) {
  const auto id = carry();
  all->call(id, "token ann", [](session* worker) { CAF_CHECK(worker->leave(false).ok()); });
  consume_messages();
  pass(1'100);
  CAF_CHECK(shard.registrations.back().leaving());
  pass(1'100);
  CAF_CHECK_EQUAL(all->count(), 0u);
}

CAF_TEST(has_a_stand_in_step_aside_from_the_first_worker_to_the_end_of_the_last) {
  stand_in_for("mailer");
  CAF_CHECK(drains == std::vector<bool>{false});
  carry();
  CAF_CHECK((drains == std::vector<bool>{false, true}));
  CAF_CHECK(all->carries("mailer"));
  const auto id = carry(1);  // ends the former
  CAF_CHECK_EQUAL(all->count(), 1u);
  CAF_CHECK((drains == std::vector<bool>{false, true}));
  leave(id);
  CAF_CHECK_EQUAL(all->count(), 0u);
  CAF_CHECK(!all->carries("mailer"));
  CAF_CHECK((drains == std::vector<bool>{false, true, false}));
}

CAF_TEST(has_a_stand_in_step_aside_that_comes_after_the_worker) {
  carry();
  stand_in_for("mailer");
  CAF_CHECK(drains == std::vector<bool>{true});
}

CAF_TEST(leaves_stand_ins_for_other_agents_alone) {
  stand_in_for("printer");
  carry();
  CAF_CHECK(drains == std::vector<bool>{false});
}

CAF_TEST(lets_a_stand_in_take_work_again_after_the_drain_of_the_node) {
  stand_in_for("mailer");
  carry();
  all->pause(true);
  consume_messages();
  CAF_CHECK_EQUAL(all->count(), 0u);
  CAF_CHECK((drains == std::vector<bool>{false, true}));  // the node drains it with all others
  all->pause(false);
  consume_messages();
  CAF_CHECK((drains == std::vector<bool>{false, true, false}));
}

CAF_TEST_FIXTURE_SCOPE_END()
