// What gateways of one cluster make of requests, under CAF's deterministic scheduler.

#define CAF_SUITE gateway_suite

#include "tests/actors/gateway/gateway_world.hpp"

#include "actors/core/cluster/alert_numbers.hpp"
#include "store/rows/alert_rows.hpp"

using namespace fairlead;

CAF_TEST_FIXTURE_SCOPE(gateway_tests, testing::gateway_world)

CAF_TEST(any_gateway_takes_any_submission_and_each_task_goes_to_its_shard) {
  connect();
  for (const auto& whom : {n1, n2, n3}) {
    const auto reply = ask<v1::SubmitReply>(whom, tasks(60));
    CAF_CHECK_EQUAL(reply.error().sentence(), "");
    CAF_REQUIRE_EQUAL(reply.results_size(), 60);
    for (int i = 0; i < 60; ++i) {
      CAF_CHECK_EQUAL(reply.results(i).id(), "t" + std::to_string(i));
      CAF_CHECK_EQUAL(reply.results(i).error().sentence(), "");
      CAF_CHECK_EQUAL(reply.results(i).created(), whom == n1);  // the first time alone
    }
  }
  std::size_t all = 0;
  for (std::uint32_t shard = 0; shard < count; ++shard) {
    for (const auto& id : seen[shard]->tasks) CAF_CHECK_EQUAL(core::shard_of_task(id, count), shard);
    all += seen[shard]->tasks.size();
  }
  CAF_CHECK_EQUAL(all, 60u);
}

CAF_TEST(a_shard_that_nobody_reaches_costs_its_own_tasks_an_error_that_names_it) {
  connect();
  route(n1, 1, gateway_actor{}, "n2", "the connection was lost");
  const auto reply = ask<v1::SubmitReply>(n1, tasks(60));
  for (int i = 0; i < 60; ++i) {
    const bool lost = core::shard_of_task("t" + std::to_string(i), count) == 1;
    CAF_CHECK_EQUAL(reply.results(i).created(), !lost);
    if (!lost) continue;
    CAF_CHECK_EQUAL(reply.results(i).error().code(), v1::ERROR_CODE_UNAVAILABLE);
    CAF_CHECK_EQUAL(reply.results(i).error().sentence(), "shard 1 of node n2 cannot be reached from node n1: the connection was lost");
  }
}

CAF_TEST(a_shard_that_does_not_answer_holds_nobody_up_for_longer_than_the_limit) {
  connect();
  seen[1]->answers = false;
  auto waiting = self->request(n1, caf::infinite, tasks(60));
  consume_messages();
  CAF_CHECK(self->mailbox().empty());
  advance_time(std::chrono::milliseconds{4'100});
  consume_messages();
  const auto reply = get<v1::SubmitReply>(waiting);
  CAF_REQUIRE_EQUAL(reply.results_size(), 60);
  for (int i = 0; i < 60; ++i)
    CAF_CHECK_EQUAL(reply.results(i).error().code(),
                    core::shard_of_task("t" + std::to_string(i), count) == 1 ? v1::ERROR_CODE_UNAVAILABLE : v1::ERROR_CODE_OK);
}

CAF_TEST(what_a_lost_node_was_asked_is_answered_at_once) {
  connect();
  seen[1]->answers = false;
  auto waiting = self->request(n1, caf::infinite, tasks(60));
  consume_messages();
  CAF_CHECK(self->mailbox().empty());
  route(n1, 1, gateway_actor{}, "n2", "the connection was lost");
  consume_messages();
  CAF_CHECK_EQUAL(get<v1::SubmitReply>(waiting).results_size(), 60);
}

CAF_TEST(a_request_of_another_gateway_is_served_here_or_refused_and_never_passed_on) {
  connect();
  auto what = tasks(5);
  what.set_shard(1);
  CAF_CHECK_EQUAL(ask<v1::SubmitReply>(n1, what).error().code(), v1::ERROR_CODE_UNAVAILABLE);
  v1::StatusRequest status;
  status.set_shard(1);
  CAF_CHECK_EQUAL(ask<v1::StatusReply>(n3, status).error().code(), v1::ERROR_CODE_UNAVAILABLE);
  CAF_CHECK_EQUAL(seen[1]->submissions, 0);
  // Two that each believe the other to hold a shard do not play ball.
  route(n1, 1, n3, "n3");
  route(n3, 1, n1, "n1");
  v1::WatchRequest watch;
  watch.set_id(task_of(1));
  CAF_CHECK_EQUAL(ask<v1::WatchReply>(n1, watch).error().code(), v1::ERROR_CODE_UNAVAILABLE);
}

CAF_TEST(a_request_about_the_nodes_of_a_shard_is_refused_where_there_is_nothing_to_change) {
  connect();
  v1::ShardNodesRequest what;
  for (const auto& whom : {n1, n2, n3}) {
    const auto alone = ask<v1::ShardNodesReply>(whom, what).error();
    CAF_CHECK_EQUAL(alone.code(), v1::ERROR_CODE_WRONG_STATE);
    CAF_CHECK(alone.sentence().find("alone") != std::string::npos);
  }
  what.set_shard(count);
  CAF_CHECK_EQUAL(ask<v1::ShardNodesReply>(n1, what).error().code(), v1::ERROR_CODE_NOT_FOUND);
  what.set_shard(1);
  what.set_passed_on(true);
  CAF_CHECK_EQUAL(ask<v1::ShardNodesReply>(n1, what).error().code(), v1::ERROR_CODE_UNAVAILABLE);
  what.set_verb(v1::ShardNodesRequest::JOIN);
  what.mutable_node()->set_name("n4");
  CAF_CHECK_EQUAL(ask<v1::ShardNodesReply>(n1, what).error().code(), v1::ERROR_CODE_INVALID_ARGUMENT);
  what.set_who("ana");
  what.set_cluster("another");
  CAF_CHECK_EQUAL(ask<v1::ShardNodesReply>(n1, what).error().code(), v1::ERROR_CODE_CONFLICT);
  what.clear_cluster();
  what.set_shard_count(count + 1);
  const auto counts = ask<v1::ShardNodesReply>(n1, what).error();
  CAF_CHECK_EQUAL(counts.code(), v1::ERROR_CODE_CONFLICT);
}

CAF_TEST(a_node_without_shards_says_so_until_it_knows_the_cluster) {
  CAF_CHECK_EQUAL(ask<v1::SubmitReply>(n3, tasks(1)).error().code(), v1::ERROR_CODE_UNAVAILABLE);
  const auto alone = ask<v1::StatusReply>(n3, v1::StatusRequest{});
  CAF_CHECK_EQUAL(alone.error().code(), v1::ERROR_CODE_OK);
  CAF_CHECK_EQUAL(alone.node(), "n3");
  connect();
  CAF_CHECK_EQUAL(ask<v1::SubmitReply>(n3, tasks(1)).error().code(), v1::ERROR_CODE_OK);
}

CAF_TEST(requests_by_id_find_the_shard_from_everywhere) {
  connect();
  for (const auto& whom : {n1, n2, n3})
    for (std::uint32_t shard = 0; shard < count; ++shard) {
      v1::WatchRequest what;
      what.set_id(task_of(shard));
      const auto reply = ask<v1::WatchReply>(whom, what);
      CAF_CHECK_EQUAL(reply.reason(), std::to_string(shard) + ":" + what.id());
    }
  v1::OperateRequest what;
  what.mutable_action()->set_verb(v1::OPERATOR_VERB_PAUSE);
  for (const auto shard : {2u, 1u, 0u, 1u}) what.add_ids(task_of(shard));
  const auto reply = ask<v1::OperateReply>(n3, what);
  CAF_REQUIRE_EQUAL(reply.results_size(), 4);
  for (int i = 0; i < 4; ++i) {
    CAF_CHECK_EQUAL(reply.results(i).id(), what.ids(i));
    CAF_CHECK_EQUAL(reply.results(i).reason(), std::string{"2101"}.substr(static_cast<std::size_t>(i), 1));
  }
}

CAF_TEST(a_definition_goes_to_all_shards_or_to_none) {
  connect();
  const auto reply = ask<v1::DeployReply>(n2, v1::DeployRequest{});
  CAF_CHECK(reply.created());
  CAF_CHECK_EQUAL(reply.warnings_size(), 1);
  route(n2, 2, gateway_actor{}, "n1", "the connection was lost");
  CAF_CHECK_EQUAL(ask<v1::DeployReply>(n2, v1::DeployRequest{}).error().code(), v1::ERROR_CODE_UNAVAILABLE);
  for (const auto& one : seen) CAF_CHECK_EQUAL(one->deployments, 1);
}

CAF_TEST(a_workflow_is_deleted_by_all_shards_or_by_none) {
  connect();
  v1::WorkflowDeleteRequest what;
  what.set_name("order");
  CAF_CHECK_EQUAL(ask<v1::WorkflowDeleteReply>(n2, what).error().code(), v1::ERROR_CODE_INVALID_ARGUMENT);  // nobody says who asks
  what.set_who("ann");
  seen[1]->job = "nightly";
  CAF_CHECK_EQUAL(ask<v1::WorkflowDeleteReply>(n2, what).error().code(), v1::ERROR_CODE_WRONG_STATE);
  for (const auto& one : seen) CAF_CHECK_EQUAL(one->workflow_deletions, 0);
  seen[1]->job.clear();
  CAF_CHECK_EQUAL(ask<v1::WorkflowDeleteReply>(n2, what).error().code(), v1::ERROR_CODE_OK);
  for (const auto& one : seen) CAF_CHECK_EQUAL(one->workflow_deletions, 1);
  route(n2, 2, gateway_actor{}, "n1", "the connection was lost");
  CAF_CHECK_EQUAL(ask<v1::WorkflowDeleteReply>(n2, what).error().code(), v1::ERROR_CODE_UNAVAILABLE);
  for (const auto& one : seen) CAF_CHECK_EQUAL(one->workflow_deletions, 1);
}

CAF_TEST(a_node_that_holds_many_shards_takes_a_definition_for_each_at_once) {
  // Checks that are never over, so that all are under way together.
  const auto never = sys.spawn([](deployer_actor::pointer self) -> deployer_actor::behavior_type {
    return {[self](const v1::DeployRequest&) -> caf::result<v1::DeployReply> { return self->make_response_promise<v1::DeployReply>(); }};
  });
  const auto examiner = sys.spawn([](doctor_actor::pointer self) -> doctor_actor::behavior_type {
    return {[self](const v1::DoctorRequest&) -> caf::result<v1::DoctorReply> { return self->make_response_promise<v1::DoctorReply>(); }};
  });
  gateway_setup setup;
  setup.node = "n4";
  setup.time = &time;
  setup.shard_count = 6;
  setup.deployer = never;
  setup.doctor = examiner;
  for (std::uint32_t shard = 0; shard < 6; ++shard) {
    shard_desk desk;
    desk.shard = shard;
    desk.reads = &stores[0];
    desk.scheduler = schedulers[0];
    setup.desks.push_back(std::move(desk));
  }
  const auto n4 = sys.spawn(run_gateway, std::move(setup));
  v1::DeployRequest definition;
  v1::DoctorRequest examination;
  // As the gateway of a node without shards sends them.
  for (std::uint32_t shard = 0; shard < 6; ++shard) {
    definition.set_shard(shard);
    self->send(n4, definition);
    examination.set_shard(shard);
    self->send(n4, examination);
  }
  consume_messages();
  CAF_CHECK(self->mailbox().empty());  // nobody was refused
  // There is an end to it, and to what one who asks for all shards may have under way.
  definition.clear_shard();
  CAF_CHECK_EQUAL(ask<v1::DeployReply>(n4, definition).error().code(), v1::ERROR_CODE_OVERLOADED);
  examination.clear_shard();
  CAF_CHECK_EQUAL(ask<v1::DoctorReply>(n4, examination).error().code(), v1::ERROR_CODE_OVERLOADED);
  caf::anon_send_exit(n4, caf::exit_reason::kill);
  caf::anon_send_exit(never, caf::exit_reason::kill);
  caf::anon_send_exit(examiner, caf::exit_reason::kill);
  consume_messages();
}

CAF_TEST(alerts_are_shown_and_paged_by_the_numbers_of_the_cluster_on_every_node) {
  connect();
  std::vector<std::uint64_t> wanted;  // newest first
  std::int64_t at_unix_ms = 1'700'000'000'000;
  for (std::uint64_t number = 1; number <= 4; ++number)
    for (std::uint32_t shard = 0; shard < count; ++shard) {
      v1::AlertRecord alert;
      alert.set_number(number);
      alert.set_state(v1::ALERT_STATE_OPEN);
      alert.set_raised_at_unix_ms(at_unix_ms += 10);
      keep(shard, [&](store::batch& rows) { store::put_alert(rows, alert); });
      wanted.insert(wanted.begin(), core::alert_number({shard, number}, count));
    }
  for (const auto& whom : {n1, n2, n3}) {
    std::vector<std::uint64_t> listed;
    v1::AlertListRequest what;
    what.set_page_size(5);
    do {
      const auto page = ask<v1::AlertListReply>(whom, what);
      CAF_CHECK_EQUAL(page.error().sentence(), "");
      for (const auto& one : page.items()) listed.push_back(one.number());
      what.set_before(page.before());
    } while (what.before() != 0 && listed.size() < 100);
    CAF_CHECK_EQUAL(listed, wanted);
    v1::AlertShowRequest one;
    one.set_number(core::alert_number({1, 3}, count));
    const auto shown = ask<v1::AlertShowReply>(whom, one);
    CAF_CHECK_EQUAL(shown.alert().number(), one.number());
    CAF_CHECK_EQUAL(shown.alert().raised_at_unix_ms(), 1'700'000'000'080);
    one.set_number(1'000);
    const auto none = ask<v1::AlertShowReply>(whom, one);
    CAF_CHECK_EQUAL(none.error().sentence(), "there is no alert 1000");
  }
}

CAF_TEST(a_task_shows_its_alert_by_the_number_of_the_cluster) {
  connect();
  v1::TaskRecord task;
  task.set_id(task_of(1));
  task.set_number(7);
  task.set_state(v1::TASK_STATE_RUNNING);
  task.set_alert(2);
  keep(1, [&](store::batch& rows) { store::put_task(rows, {}, task); });
  v1::TaskShowRequest what;
  what.set_id(task.id());
  for (const auto& whom : {n1, n2, n3}) CAF_CHECK_EQUAL(ask<v1::TaskShowReply>(whom, what).task().alert(), 5u);
}

CAF_TEST(a_node_is_looked_into_and_told_what_to_do_by_its_own_name) {
  gateway_setup setup;
  setup.node = "n4";
  setup.time = &time;
  setup.shard_count = 1;
  supervision_tree tree{time};
  tree.started("node", core::restart_kind::permanent, "one_for_one");
  setup.tree = &tree;
  std::function<void(v1::NodeOperateReply)> done;
  setup.operate = [&done](const v1::NodeOperateRequest&, std::function<void(v1::NodeOperateReply)> then) { done = std::move(then); };
  const auto n4 = sys.spawn(run_gateway, std::move(setup));
  v1::InspectRequest look;
  for (const auto* name : {"", "n4"}) {
    look.set_node(name);
    const auto seen_there = ask<v1::InspectReply>(n4, look);
    CAF_CHECK_EQUAL(seen_there.node(), "n4");
    CAF_REQUIRE_EQUAL(seen_there.actors_size(), 1);
    CAF_CHECK_EQUAL(seen_there.actors(0).path(), "node");
  }
  look.set_node("n9");
  const auto absent = ask<v1::InspectReply>(n4, look);
  CAF_CHECK_EQUAL(absent.error().sentence(), "node n9 is not connected to node n4");
  v1::NodeOperateRequest what;
  CAF_CHECK_EQUAL(ask<v1::NodeOperateReply>(n4, what).error().code(), v1::ERROR_CODE_INVALID_ARGUMENT);
  what.set_verb(v1::NODE_VERB_DRAIN);
  CAF_CHECK_EQUAL(ask<v1::NodeOperateReply>(n1, what).error().code(), v1::ERROR_CODE_UNAVAILABLE);
  auto waiting = self->request(n4, caf::infinite, what);
  consume_messages();
  CAF_CHECK(self->mailbox().empty());
  CAF_REQUIRE(done);
  v1::NodeOperateReply reply;
  reply.set_held(3);
  std::exchange(done, nullptr)(reply);
  const auto told = get<v1::NodeOperateReply>(waiting);
  CAF_CHECK_EQUAL(told.held(), 3u);
  CAF_CHECK_EQUAL(told.node(), "n4");
  caf::anon_send_exit(n4, caf::exit_reason::user_shutdown);
  consume_messages();
}

CAF_TEST(a_client_is_told_of_the_end_by_the_gateway_that_it_asked) {
  connect();
  ask<v1::SubmitReply>(n3, tasks(60, true));
  v1::FinishedNotice notice;
  for (const auto shard : {0u, 1u}) {
    auto* end = notice.add_items();
    end->set_id(task_of(shard));
    end->set_state(v1::TASK_STATE_COMPLETED);
    CAF_REQUIRE(seen[shard]->subscriber);
    CAF_CHECK(seen[shard]->subscriber != caf::actor_cast<client_sink>(self));
    caf::anon_send(seen[shard]->subscriber, notice);
    consume_messages();
    CAF_REQUIRE(!self->mailbox().empty());
    self->receive([&](const v1::FinishedNotice& told) {
      CAF_REQUIRE_EQUAL(told.items_size(), 1);
      CAF_CHECK_EQUAL(told.items(0).id(), task_of(shard));
    });
  }
  // Told once, though the second notice named the first task again.
  CAF_CHECK(self->mailbox().empty());
}

CAF_TEST(the_holder_of_all_its_tasks_knows_a_client_itself) {
  connect();
  v1::SubmitRequest what;
  what.set_notify(true);
  what.add_items()->set_id(task_of(0));
  ask<v1::SubmitReply>(n1, what);
  CAF_CHECK(seen[0]->subscriber == caf::actor_cast<client_sink>(self));
}

CAF_TEST(the_status_counts_all_shards_and_asks_each_once) {
  connect();
  for (const auto& whom : {n1, n2, n3}) {
    for (const auto& one : seen) one->statuses = 0;
    const auto reply = ask<v1::StatusReply>(whom, v1::StatusRequest{});
    CAF_CHECK_EQUAL(reply.counts().running(), 6u);
    CAF_REQUIRE_EQUAL(reply.shards_size(), 3);
    CAF_CHECK_EQUAL(reply.shards(0).node(), "n1");
    CAF_CHECK_EQUAL(reply.shards(1).node(), "n2");
    CAF_CHECK_EQUAL(reply.shards(1).here(), whom == n2);
    for (const auto& one : seen) CAF_CHECK_EQUAL(one->statuses, 1);
  }
  route(n1, 1, gateway_actor{}, "n2", "the connection was lost");
  const auto reply = ask<v1::StatusReply>(n1, v1::StatusRequest{});
  CAF_CHECK_EQUAL(reply.error().code(), v1::ERROR_CODE_OK);
  CAF_CHECK_EQUAL(reply.counts().running(), 4u);
  CAF_CHECK(!reply.shards(1).up());
}

CAF_TEST(what_is_done_to_agents_and_brakes_is_done_on_all_shards) {
  connect();
  v1::AgentOperateRequest what;
  what.set_verb(v1::AGENT_VERB_DRAIN);
  what.set_instance("n3/pay");
  const auto drained = ask<v1::AgentOperateReply>(n2, what);
  CAF_CHECK_EQUAL(drained.error().sentence(), "");
  CAF_CHECK_EQUAL(drained.held(), 2u);
  CAF_CHECK_EQUAL(ask<v1::BrakeReleaseReply>(n3, v1::BrakeReleaseRequest{}).held(), 3u);
  v1::DoctorRequest forget;
  forget.set_forget_effects(true);
  const auto refused = ask<v1::DoctorReply>(n3, forget);
  CAF_CHECK_EQUAL(refused.error().sentence(), "the request does not give the name of the operator (--by)");
  forget.set_who("ann");
  CAF_CHECK_EQUAL(ask<v1::DoctorReply>(n3, forget).effects_size(), 3);
}

CAF_TEST(the_shard_of_an_agents_name_answers_for_its_workers) {
  connect();
  v1::WorkerSessionRequest what;
  what.set_instance("w/1");
  what.set_who("ann");
  for (int i = 0; i < 20; ++i) {
    what.set_name("agent" + std::to_string(i));
    for (const auto& whom : {n1, n2, n3}) {
      const auto reply = ask<v1::WorkerSessionReply>(whom, what);
      CAF_CHECK_EQUAL(reply.error().sentence(), "");
      CAF_CHECK_EQUAL(reply.incarnation(), core::shard_of_key(what.name(), count) + 1);
    }
  }
  what.clear_who();
  CAF_CHECK_EQUAL(ask<v1::WorkerSessionReply>(n1, what).error().code(), v1::ERROR_CODE_INVALID_ARGUMENT);
}

CAF_TEST(an_instance_registers_with_shards_that_are_here_alone) {
  connect();
  const auto registered = [this](std::uint32_t shard) {
    v1::RegisterAgent what;
    what.set_shard(shard);
    auto waiting = self->request(n1, caf::infinite, what, caf::actor_cast<caf::strong_actor_ptr>(self));
    consume_messages();
    caf::strong_actor_ptr who;
    waiting.receive([&who](v1::AgentWelcome&, caf::strong_actor_ptr& by) { who = by; },
                    [this](const caf::error& why) { CAF_FAIL(sys.render(why)); });
    return who;
  };
  CAF_CHECK(registered(2) == caf::actor_cast<caf::strong_actor_ptr>(schedulers[2]));
  CAF_CHECK(registered(1) == nullptr);
}

CAF_TEST(lists_are_refused_by_foreign_cursors_and_missing_shards) {
  connect();
  v1::TaskListRequest what;
  CAF_CHECK_EQUAL(ask<v1::TaskListReply>(n3, what).error().code(), v1::ERROR_CODE_OK);
  what.set_cursor("00ff");
  CAF_CHECK_EQUAL(ask<v1::TaskListReply>(n3, what).error().code(), v1::ERROR_CODE_INVALID_ARGUMENT);
  what.clear_cursor();
  route(n3, 1, gateway_actor{}, "n2", "the connection was lost");
  const auto reply = ask<v1::TaskListReply>(n3, what);
  CAF_CHECK_EQUAL(reply.error().code(), v1::ERROR_CODE_UNAVAILABLE);
  CAF_CHECK(reply.error().sentence().find("shard 1 of node n2") != std::string::npos);
  CAF_CHECK_EQUAL(ask<v1::StatusReply>(n3, v1::StatusRequest{}).refused_messages(), 1u);
}

CAF_TEST_FIXTURE_SCOPE_END()
