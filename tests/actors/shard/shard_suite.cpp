// A shard of real actors under CAF's deterministic scheduler: each test reads as an ordered script of messages.

#define CAF_SUITE shard_suite

#include "actors/shard/store_actor.hpp"
#include "tests/actors/suite_world.hpp"

using namespace fairlead;

namespace {

struct fixture : testing::asking_fixture {
  std::unique_ptr<testing::suite_shard> shard;

  ~fixture() override {
    if (shard) shard->end();
    consume_messages();
  }

  void start(bool completes, bool supervised = false, agents::agent_settings settings = {}) {
    shard = std::make_unique<testing::suite_shard>(sys, completes, supervised, true, std::move(settings));
    consume_messages();
    const auto deployed = ask<v1::DeployReply>(shard->scheduler, testing::suite_shard::two_steps());
    CAF_REQUIRE_EQUAL(deployed.error().sentence(), "");
    shard->store.groups.clear();
  }

  void pass(std::int64_t ms) {
    shard->time.now_ms += ms;
    advance_time(std::chrono::milliseconds{ms});
  }

  /// One commit by the script: from the Scheduler's own reminder to the news that it is durable.
  void commit() {
    expect((flush_atom), from(shard->scheduler).to(shard->scheduler));
    expect((commit_request), from(shard->scheduler).to(shard->commits));
    expect((flush_atom), from(shard->commits).to(shard->commits));
    expect((committed), from(shard->commits).to(shard->scheduler));
  }
};

}  // namespace

CAF_TEST_FIXTURE_SCOPE(shard_tests, fixture)

CAF_TEST(a_submission_is_committed_then_acknowledged_then_handed_over) {
  start(true);
  auto reply = self->request(shard->gateway, caf::infinite, testing::suite_shard::order("t1"));
  expect((v1::SubmitRequest), from(self).to(shard->gateway));
  expect((v1::SubmitRequest), from(self).to(shard->scheduler));
  expect((flush_atom), from(shard->scheduler).to(shard->scheduler));
  expect((commit_request), from(shard->scheduler).to(shard->commits));
  CAF_CHECK(self->mailbox().empty());
  CAF_CHECK_EQUAL(shard->state_of("t1"), v1::TASK_STATE_UNSPECIFIED);
  expect((flush_atom), from(shard->commits).to(shard->commits));
  CAF_CHECK_EQUAL(shard->state_of("t1"), v1::TASK_STATE_RUNNING);
  CAF_CHECK(self->mailbox().empty());
  expect((committed), from(shard->commits).to(shard->scheduler));
  CAF_CHECK(get<v1::SubmitReply>(reply).results(0).created());

  for (int step = 0; step < 2; ++step) {
    expect((v1::PerformBatch), from(shard->scheduler).to(shard->agent));
    if (step > 0) expect((v1::OutcomeAckBatch), from(shard->scheduler).to(shard->agent));
    CAF_CHECK_EQUAL(shard->backend->started.size(), static_cast<std::size_t>(step + 1));
    expect((flush_atom), from(shard->agent).to(shard->agent));
    expect((v1::OutcomeBatch), from(shard->agent).to(shard->scheduler));
    commit();
  }
  expect((v1::OutcomeAckBatch), from(shard->scheduler).to(shard->agent));
  CAF_CHECK_EQUAL(shard->state_of("t1"), v1::TASK_STATE_COMPLETED);
  CAF_CHECK_EQUAL(shard->store.groups.size(), 3u);
  CAF_CHECK_EQUAL(consume_messages(), 0u);
}

CAF_TEST(a_client_that_asked_is_told_of_the_end) {
  start(true);
  const auto reply = ask<v1::SubmitReply>(shard->gateway, testing::suite_shard::order("t1", true));
  CAF_CHECK(reply.results(0).created());
  v1::FinishedNotice notice;
  self->receive([&notice](v1::FinishedNotice& got) { notice = got; });
  CAF_REQUIRE_EQUAL(notice.items_size(), 1);
  CAF_CHECK_EQUAL(notice.items(0).id(), "t1");
  CAF_CHECK_EQUAL(notice.items(0).state(), v1::TASK_STATE_COMPLETED);
}

CAF_TEST(the_gateway_gives_an_id_to_who_has_none_and_answers_reads_itself) {
  start(true);
  const auto reply = ask<v1::SubmitReply>(shard->gateway, testing::suite_shard::order(""));
  CAF_CHECK_EQUAL(reply.results(0).id().size(), 36u);
  v1::StatesRequest states;
  states.add_ids(reply.results(0).id());
  CAF_CHECK_EQUAL(ask<v1::StatesReply>(shard->gateway, states).items(0).state(), v1::TASK_STATE_COMPLETED);
  CAF_CHECK_EQUAL(ask<v1::TaskListReply>(shard->gateway, v1::TaskListRequest{}).items_size(), 1);
  CAF_CHECK_EQUAL(ask<v1::WorkflowListReply>(shard->gateway, v1::WorkflowListRequest{}).items_size(), 1);
  const auto status = ask<v1::StatusReply>(shard->gateway, v1::StatusRequest{});
  CAF_CHECK_EQUAL(status.node(), "n1");
  CAF_CHECK_EQUAL(status.store().path(), "memory");
  CAF_CHECK_EQUAL(status.counts().completed(), 1u);
  CAF_CHECK_EQUAL(status.agents(0).instance(), "n1/svc");
}

CAF_TEST(a_status_says_unavailable_when_the_scheduler_is_gone) {
  start(true);
  caf::anon_send_exit(shard->scheduler, caf::exit_reason::kill);
  consume_messages();
  CAF_CHECK_EQUAL(ask<v1::StatusReply>(shard->gateway, v1::StatusRequest{}).error().code(), v1::ERROR_CODE_UNAVAILABLE);
}

CAF_TEST(an_expired_lease_is_found_by_the_scan_and_the_step_is_tried_again) {
  start(false, true);
  ask<v1::SubmitReply>(shard->gateway, testing::suite_shard::order("t1"));
  CAF_REQUIRE_EQUAL(shard->backend->started.size(), 1u);
  for (int second = 0; second < 4; ++second) {
    pass(1'000);
    consume_messages();
    CAF_CHECK_EQUAL(shard->backend->started.size(), 1u);
    CAF_CHECK(shard->backend->stopped.empty());
  }
  pass(1'000);
  consume_messages();
  CAF_CHECK_EQUAL(shard->backend->stopped.size(), 1u);
  CAF_CHECK_EQUAL(shard->backend->started.size(), 1u);
  pass(200);  // the longest that the first backoff can be
  consume_messages();
  CAF_REQUIRE_EQUAL(shard->backend->started.size(), 2u);
  CAF_CHECK_EQUAL(shard->backend->started[1].attempt(), 2u);
  CAF_CHECK_EQUAL(shard->backend->started[1].idempotency_key(), shard->backend->started[0].idempotency_key());
}

CAF_TEST(steps_that_wait_for_their_rate_are_handed_over_at_that_rate_though_the_clock_has_fallen_back) {
  v1::LimitPolicy slow;
  slow.set_rate(1);
  slow.set_rate_per_ms(10'000);
  agents::agent_settings settings;
  settings.limits.push_back(slow);
  start(true, false, settings);
  for (const auto* id : {"t1", "t2"}) ask<v1::SubmitReply>(shard->gateway, testing::suite_shard::order(id));
  CAF_REQUIRE_EQUAL(shard->backend->started.size(), 1u);
  const auto seconds = [this](int count) {
    for (int i = 0; i < count; ++i) {
      pass(1'000);
      consume_messages();
    }
  };
  constexpr std::int64_t hour_ms = 3'600'000;
  shard->time.now_ms -= hour_ms;
  seconds(1);
  CAF_CHECK_EQUAL(shard->backend->started.size(), 2u);  // seen by a look that nobody had asked for so early
  seconds(9);
  CAF_CHECK_EQUAL(shard->backend->started.size(), 2u);
  seconds(1);
  CAF_CHECK_EQUAL(shard->backend->started.size(), 3u);
  shard->time.now_ms += hour_ms;
  seconds(1);
  CAF_CHECK_EQUAL(shard->backend->started.size(), 4u);
}

CAF_TEST(a_watch_is_answered_when_its_time_is_over) {
  start(false);
  ask<v1::SubmitReply>(shard->gateway, testing::suite_shard::order("t1"));
  v1::WatchRequest what;
  what.set_id("t1");
  what.set_after_sequence(ask<v1::WatchReply>(shard->gateway, what).events().rbegin()->sequence());
  what.set_wait_ms(500);
  auto waiting = self->request(shard->gateway, caf::infinite, what);
  consume_messages();
  CAF_CHECK(self->mailbox().empty());
  for (int tick = 0; tick < 2; ++tick) {
    pass(250);
    consume_messages();
  }
  CAF_CHECK_EQUAL(get<v1::WatchReply>(waiting).state(), v1::TASK_STATE_RUNNING);
}

CAF_TEST(draining_waits_for_attempts_that_are_out) {
  start(false);
  ask<v1::SubmitReply>(shard->gateway, testing::suite_shard::order("t1"));
  self->send(shard->scheduler, drain_atom_v);
  consume_messages();
  CAF_CHECK(self->mailbox().empty());
  const auto& held = shard->backend->started.at(0);
  self->send(shard->agent, attempt_finished{{held.task_number(), held.step(), held.direction(), held.attempt()}, {"7", std::nullopt, 1}});
  consume_messages();
  bool answered = false;
  self->receive([&answered](bool done) { answered = done; });
  CAF_CHECK(answered);
  CAF_CHECK_EQUAL(shard->backend->started.size(), 1u);
}

CAF_TEST(draining_is_answered_once_everything_decided_is_durable) {
  start(true);
  auto reply = self->request(shard->gateway, caf::infinite, testing::suite_shard::order("t1"));
  expect((v1::SubmitRequest), from(self).to(shard->gateway));
  expect((v1::SubmitRequest), from(self).to(shard->scheduler));
  auto drained = self->request(shard->scheduler, caf::infinite, drain_atom_v);
  expect((flush_atom), from(shard->scheduler).to(shard->scheduler));
  expect((drain_atom), from(self).to(shard->scheduler));
  CAF_CHECK(self->mailbox().empty());
  consume_messages();
  CAF_CHECK(get<v1::SubmitReply>(reply).results(0).created());
  bool answered = false;
  drained.receive([&answered](bool) { answered = true; }, [](const caf::error&) {});
  CAF_CHECK(answered);
  CAF_CHECK_EQUAL(ask<v1::SubmitReply>(shard->gateway, testing::suite_shard::order("t2")).error().code(), v1::ERROR_CODE_UNAVAILABLE);
}

CAF_TEST(the_store_actor_makes_one_transaction_of_all_that_has_gathered) {
  testing::counting_store store;
  std::optional<error> failure;
  const auto epoch = *store.raise_epoch();
  commit_gauge gauge;
  auto commits = sys.spawn(
      run_store, static_cast<store::store*>(&store), [&failure](const error& why) { failure = why; }, &gauge);
  const auto send = [&](std::uint64_t sequence) {
    commit_request request;
    request.what.sequence = sequence;
    request.what.epoch = epoch;
    request.what.put(store::table::meta, "key" + std::to_string(sequence), "value");
    self->send(commits, std::move(request));
  };
  for (std::uint64_t i = 1; i <= 5; ++i) send(i);
  consume_messages();
  CAF_REQUIRE_EQUAL(store.groups.size(), 1u);
  CAF_CHECK_EQUAL(store.groups[0], 5u);
  self->receive([](const committed& what) { CAF_CHECK_EQUAL(what.sequence, 5u); });
  CAF_CHECK(self->mailbox().empty());
  send(6);
  consume_messages();
  self->receive([](const committed& what) { CAF_CHECK_EQUAL(what.sequence, 6u); });

  store.broken = true;
  send(7);
  send(8);
  consume_messages();
  CAF_REQUIRE(failure);
  CAF_CHECK_EQUAL(failure->code, v1::ERROR_CODE_DISK);
  CAF_CHECK(self->mailbox().empty());
  store.broken = false;
  send(9);
  consume_messages();
  CAF_CHECK_EQUAL(store.groups.size(), 3u);  // a failed store is never tried again
  caf::anon_send_exit(commits, caf::exit_reason::user_shutdown);
}

CAF_TEST(a_disk_error_ends_in_the_fatal_handler_and_nothing_is_acknowledged) {
  start(true);
  shard->store.broken = true;
  self->send(shard->gateway, testing::suite_shard::order("t1"));
  consume_messages();
  CAF_REQUIRE(shard->failure);
  CAF_CHECK_EQUAL(shard->failure->code, v1::ERROR_CODE_DISK);
  CAF_CHECK(self->mailbox().empty());
  CAF_CHECK(shard->backend->started.empty());
}

CAF_TEST(an_agent_that_ends_shuts_its_backend_down) {
  start(true);
  caf::anon_send_exit(shard->agent, caf::exit_reason::user_shutdown);
  consume_messages();
  CAF_CHECK(shard->backend->was_shut_down);
}

CAF_TEST_FIXTURE_SCOPE_END()

namespace {

struct two_nodes : point_to_point_fixture<test_coordinator_fixture<testing::suite_config>> {
  std::unique_ptr<testing::suite_shard> shard;

  two_nodes() {
    prepare_connection(earth, mars, "earth", 8080);
    shard = std::make_unique<testing::suite_shard>(earth.sys, true, false, false);
    settle();
  }

  void settle() { testing::settle(earth, mars); }

  ~two_nodes() {
    shard->end();
    settle();
  }
};

}  // namespace

CAF_TEST_FIXTURE_SCOPE(network_tests, two_nodes)

CAF_TEST(a_client_on_another_node_submits_and_is_told_of_the_end) {
  earth.publish(shard->gateway, 8080);
  const auto gateway = mars.remote_actor<gateway_actor>("earth", 8080);
  shard->enlist();
  caf::anon_send(shard->scheduler, testing::suite_shard::two_steps());
  settle();
  auto waiting = mars.self->request(gateway, caf::infinite, testing::suite_shard::order("t1", true));
  settle();
  bool created = false;
  waiting.receive([&created](v1::SubmitReply& reply) { created = reply.results(0).created(); },
                  [this](const caf::error& why) { CAF_FAIL(mars.sys.render(why)); });
  CAF_CHECK(created);
  settle();
  CAF_REQUIRE(!mars.self->mailbox().empty());
  mars.self->receive([](const v1::FinishedNotice& notice) { CAF_CHECK_EQUAL(notice.items(0).state(), v1::TASK_STATE_COMPLETED); });
  CAF_CHECK_EQUAL(shard->state_of("t1"), v1::TASK_STATE_COMPLETED);
}

CAF_TEST_FIXTURE_SCOPE_END()
