// The Scheduler over ports: what it acknowledges, what it refuses, and when anything leaves.

#include "store/rows/archive_rows.hpp"
#include "tests/actors/scheduler/scheduler_world.hpp"

namespace fairlead::testing {
namespace {

class scheduler_shell_test : public scheduler_fixture {
 protected:
  scheduler_shell_test() {
    deploy(workflow_of({step("a"), step("b", {"a"}, R"({"v":"${ .steps.a.v }"})")}));
    add_agent(agent("n1/svc"));
  }
};

TEST_F(scheduler_shell_test, acknowledges_a_submission_only_when_it_is_durable) {
  const auto ticket = offer({submission("t1")});
  EXPECT_TRUE(out.submits.empty());
  node->shell.flush();
  EXPECT_TRUE(out.submits.empty()) << "handed to the store is not durable";
  ASSERT_EQ(node->waiting.size(), 1u);
  EXPECT_TRUE(out.performs.empty());
  node->commit_one();
  EXPECT_TRUE(out.submits.at(ticket).results(0).created());
  ASSERT_EQ(out.performs.size(), 1u);
  EXPECT_EQ(out.performs[0].epoch, node->shell.epoch());
  EXPECT_EQ(stored("t1")->steps(0).state(), v1::STEP_STATE_RUNNING);
}

TEST_F(scheduler_shell_test, runs_a_task_to_its_end) {
  EXPECT_TRUE(submit(submission("t1")).created());
  answer(success(out.performs[0].what, R"({"v":12345678901234567890})"));
  ASSERT_EQ(out.performs.size(), 2u);
  EXPECT_EQ(out.performs[1].what.input(), R"({"v":12345678901234567890})");
  answer(success(out.performs[1].what));
  EXPECT_EQ(stored("t1")->state(), v1::TASK_STATE_COMPLETED);
  EXPECT_EQ(out.acks.size(), 2u);
  EXPECT_TRUE(out.acks[1].second.accepted());
  EXPECT_EQ(status().counts().completed(), 1u);
  EXPECT_EQ(status().counts().running(), 0u);
  EXPECT_EQ(store.read()->count(store::table::due), 0u);
  EXPECT_EQ(log.transitions.front(), "t1  pending");
  EXPECT_EQ(log.transitions.back(), "t1  completed");
}

TEST_F(scheduler_shell_test, takes_the_same_submission_again_as_the_same_task) {
  const auto first = offer({submission("t1")});
  node->shell.flush();
  const auto second = offer({submission("t1", "{ \"n\" : 1 }")});  // white space is not content
  node->shell.flush();
  EXPECT_TRUE(out.submits.empty()) << "the second rests on the first, which is not durable";
  node->commit_one();
  EXPECT_TRUE(out.submits.at(first).results(0).created());
  ASSERT_EQ(out.submits.count(second), 1u);
  EXPECT_FALSE(out.submits.at(second).results(0).created());
  EXPECT_EQ(out.submits.at(second).results(0).error().code(), v1::ERROR_CODE_OK);

  EXPECT_FALSE(submit(submission("t1")).created());
  finish_everything();
  EXPECT_FALSE(submit(submission("t1")).created()) << "also when it is over";
  EXPECT_EQ(status().counts().completed(), 1u);
}

TEST_F(scheduler_shell_test, takes_an_id_once_within_one_request) {
  const auto ticket = offer({submission("t1"), submission("t1"), submission("t1", "2")});
  node->settle();
  const auto& results = out.submits.at(ticket).results();
  EXPECT_TRUE(results[0].created());
  EXPECT_FALSE(results[1].created());
  EXPECT_EQ(results[1].error().code(), v1::ERROR_CODE_OK);
  EXPECT_EQ(results[2].error().code(), v1::ERROR_CODE_CONFLICT);
}

TEST_F(scheduler_shell_test, is_not_settled_while_a_batch_is_on_its_way) {
  offer({submission("t1")});
  EXPECT_FALSE(node->shell.settled());
  node->shell.flush();
  EXPECT_FALSE(node->shell.settled());
  node->commit_one();
  EXPECT_TRUE(node->shell.settled());
}

TEST_F(scheduler_shell_test, acknowledges_each_outcome_once_as_accepted) {
  submit(submission("t1"));
  const auto perform = out.performs[0].what;
  node->shell.outcomes(from("n1/svc", {success(perform), success(perform)}));
  node->settle();
  ASSERT_EQ(out.acks.size(), 2u);
  EXPECT_TRUE(out.acks[0].second.accepted());
  EXPECT_FALSE(out.acks[1].second.accepted());
  auto stranger = perform;
  stranger.set_task_number(4'711);
  answer(success(stranger));
  EXPECT_FALSE(out.acks[2].second.accepted()) << "nobody's outcome is refused for good";
}

TEST_F(scheduler_shell_test, takes_an_output_that_is_not_json_or_too_large_for_a_step_in_doubt) {
  scheduler_limits limits;
  limits.output_bytes = 100;
  restart(limits);
  add_agent(agent("n1/svc"));
  submit(submission("t1"));
  submit(submission("t2"));
  answer(success(out.performs[0].what, "{\"v\":"));
  answer(success(out.performs[1].what, "\"" + std::string(100, 'x') + "\""));
  EXPECT_EQ(stored("t1")->steps(0).state(), v1::STEP_STATE_IN_DOUBT);
  EXPECT_EQ(stored("t1")->steps(0).fault().code(), "output_not_json");
  EXPECT_EQ(stored("t2")->steps(0).fault().code(), "output_too_large");
}

TEST_F(scheduler_shell_test, stores_what_an_agent_says_of_a_fault_as_readable_bounded_text) {
  submit(submission("t1"));
  answer(failure(out.performs[0].what, v1::FAULT_KIND_PERMANENT, "bad\xff", "caf\xe9 " + std::string(10'000, 'x')));
  const auto task = stored("t1");
  ASSERT_TRUE(task.has_value()) << "a row with text that is no UTF-8 could never be read again";
  EXPECT_TRUE(task->parked());
  EXPECT_EQ(task->steps(0).fault().code(), "bad\xef\xbf\xbd");
  EXPECT_LE(task->steps(0).fault().message().size(), 1'024u);
}

TEST_F(scheduler_shell_test, tells_everyone_who_submitted_the_same_task_and_each_of_them_once) {
  submit(submission("t1"), 7);
  submit(submission("t1"), 8);
  submit(submission("t1"), 8);
  submit(submission("t1"), 9);
  node->shell.unsubscribe(9);
  answer(success(out.performs[0].what, R"({"v":1})"));
  answer(success(out.performs[1].what));
  std::vector<std::uint64_t> told;
  for (const auto& [subscriber, end] : out.notices) {
    EXPECT_EQ(end.id(), "t1");
    EXPECT_EQ(end.state(), v1::TASK_STATE_COMPLETED);
    told.push_back(subscriber);
  }
  std::sort(told.begin(), told.end());
  EXPECT_EQ(told, (std::vector<std::uint64_t>{7, 8})) << "the ninth is gone";
}

TEST_F(scheduler_shell_test, tells_those_who_asked_when_a_task_ends_or_parks) {
  submit(submission("t1"), 7);
  submit(submission("t2"), 8);
  submit(submission("t3"));
  answer(failure(out.performs[1].what, v1::FAULT_KIND_PERMANENT));
  ASSERT_EQ(out.notices.size(), 1u);
  EXPECT_EQ(out.notices[0].first, 8u);
  EXPECT_EQ(out.notices[0].second.id(), "t2");
  EXPECT_TRUE(out.notices[0].second.parked());
  answer(success(out.performs[0].what, R"({"v":1})"));
  answer(success(out.performs[3].what));
  ASSERT_EQ(out.notices.size(), 2u);
  EXPECT_EQ(out.notices[1].first, 7u);
  EXPECT_EQ(out.notices[1].second.state(), v1::TASK_STATE_COMPLETED);
}

TEST_F(scheduler_shell_test, tells_of_an_end_only_when_it_is_durable) {
  deploy(workflow_of({step("a")}, "short"));
  submit(submission("t1", "1", "short"), 7);
  node->shell.outcomes(from("n1/svc", {success(out.performs[0].what)}));
  node->shell.flush();
  EXPECT_TRUE(out.notices.empty());
  EXPECT_TRUE(out.acks.empty());
  const auto again = offer({submission("t1", "1", "short")}, 9);
  node->shell.flush();
  EXPECT_TRUE(out.notices.empty());
  node->settle();
  ASSERT_EQ(out.notices.size(), 2u) << "the one who asked while the end was on its way as well";
  EXPECT_EQ(out.notices[0].first, 7u);
  EXPECT_EQ(out.notices[1].first, 9u);
  EXPECT_EQ(out.submits.count(again), 1u);
  submit(submission("t1", "1", "short"), 10);
  EXPECT_EQ(out.notices.back().first, 10u) << "and the one who asks long after";
}

TEST_F(scheduler_shell_test, answers_a_watch_at_once_later_or_when_its_time_is_over) {
  submit(submission("t1"));
  const auto watch = [this](std::uint64_t after, std::int64_t wait_ms, const std::string& id = "t1") {
    v1::WatchRequest what;
    what.set_id(id);
    what.set_after_sequence(after);
    what.set_wait_ms(wait_ms);
    node->shell.answer(what, next_ticket);
    return next_ticket++;
  };
  const auto known = out.watches.size();
  const auto all = watch(0, 1'000);
  ASSERT_EQ(out.watches.size(), known + 1) << "there is something to tell";
  EXPECT_EQ(out.watches.at(all).events(0).sequence(), 1u);
  const auto seen = out.watches.at(all).events(out.watches.at(all).events_size() - 1).sequence();

  const auto next = watch(seen, 10'000);
  EXPECT_EQ(out.watches.count(next), 0u);
  EXPECT_TRUE(node->shell.watched());
  node->shell.outcomes(from("n1/svc", {success(out.performs[0].what, R"({"v":1})")}));
  node->shell.flush();
  EXPECT_EQ(out.watches.count(next), 0u) << "not durable yet";
  node->settle();
  ASSERT_EQ(out.watches.count(next), 1u);
  EXPECT_EQ(out.watches.at(next).events(0).sequence(), seen + 1);
  EXPECT_EQ(out.watches.at(next).step_paths(1), "b");

  const auto patient = watch(out.watches.at(next).events().rbegin()->sequence(), 60'000);
  time.now_ms += 29'999;
  node->shell.expire_watches();
  EXPECT_EQ(out.watches.count(patient), 0u);
  time.now_ms += 1;  // 30 s is the longest wait
  node->shell.expire_watches();
  ASSERT_EQ(out.watches.count(patient), 1u);
  EXPECT_TRUE(out.watches.at(patient).events().empty());
  EXPECT_FALSE(node->shell.watched());

  const auto nobody = watch(0, 1'000, "nobody");
  EXPECT_EQ(out.watches.at(nobody).error().code(), v1::ERROR_CODE_NOT_FOUND);
  finish_everything();
  const auto over = watch(1'000, 30'000);
  EXPECT_EQ(out.watches.at(over).state(), v1::TASK_STATE_COMPLETED) << "nothing more will come";
}

TEST_F(scheduler_shell_test, answers_a_watch_for_events_that_the_task_does_not_have_at_once_if_asked_to) {
  submit(submission("t1"));
  const auto latest = stored("t1")->history_size();
  v1::WatchRequest what;
  what.set_id("t1");
  what.set_wait_ms(10'000);
  what.set_after_sequence(latest + 1);
  node->shell.answer(what, 500);
  EXPECT_EQ(out.watches.count(500), 0u) << "a client of an earlier release would ask again and again";
  what.set_answer_if_ahead(true);
  node->shell.answer(what, 501);
  ASSERT_EQ(out.watches.count(501), 1u);
  EXPECT_EQ(out.watches.at(501).latest(), latest);
  EXPECT_TRUE(out.watches.at(501).events().empty());
  what.set_after_sequence(latest);
  node->shell.answer(what, 502);
  EXPECT_EQ(out.watches.count(502), 0u) << "the next one comes behind it";
}

TEST_F(scheduler_shell_test, lets_a_watch_wait_for_a_task_that_is_still_on_its_way_to_the_disk) {
  offer({submission("t1")});
  node->shell.flush();
  v1::WatchRequest what;
  what.set_id("t1");
  what.set_wait_ms(10'000);
  node->shell.answer(what, 500);
  EXPECT_EQ(out.watches.count(500), 0u);
  node->settle();
  ASSERT_EQ(out.watches.count(500), 1u);
  EXPECT_GE(out.watches.at(500).events_size(), 3);
}

TEST_F(scheduler_shell_test, counts_archived_tasks_out_and_answers_for_them) {
  submit(submission("t1"));
  finish_everything();
  const auto number = stored("t1")->number();
  archive_rows moved;
  store::put_move(moved.rows, *stored("t1"), {19'000, 0});
  moved.rows.erase(store::table::task, store::keys::task(store::default_namespace, number));  // as if it were done
  moved.rows.epoch = node->shell.epoch();
  moved.ended[v1::TASK_STATE_COMPLETED] = 1;
  node->shell.archive(moved);
  node->settle();
  EXPECT_EQ(status().counts().completed(), 0u);
  EXPECT_EQ(status().counts().archived(), 1u);
  EXPECT_FALSE(stored("t1").has_value());
  const auto again = submit(submission("t1"), 5);
  EXPECT_FALSE(again.created()) << "the id outlives the task";
  EXPECT_EQ(again.error().code(), v1::ERROR_CODE_OK);
  ASSERT_EQ(out.notices.size(), 1u);
  EXPECT_EQ(out.notices[0].second.state(), v1::TASK_STATE_COMPLETED);
  v1::WatchRequest what;
  what.set_id("t1");
  what.set_wait_ms(10'000);
  node->shell.answer(what, 600);
  EXPECT_EQ(out.watches.at(600).state(), v1::TASK_STATE_COMPLETED) << "at once, not after ten seconds";
}

TEST_F(scheduler_shell_test, stops_the_node_when_the_store_cannot_be_read) {
  submit(submission("t1"));
  submit(submission("t2"));
  ASSERT_TRUE(store.damage(store::table::task, store::keys::task(store::default_namespace, 1)));
  restart();
  add_agent(agent("n1/svc"));
  node->shell.outcomes(from("n1/svc", {success(out.performs[0].what)}));
  ASSERT_TRUE(node->shell.fatal().has_value());
  EXPECT_EQ(node->shell.fatal()->code, v1::ERROR_CODE_CORRUPT);
  EXPECT_NE(node->shell.fatal()->sentence.find("task 1"), std::string::npos) << node->shell.fatal()->sentence;
  const auto before = out.effects;
  node->settle();
  EXPECT_EQ(out.effects, before) << "nothing leaves any more";
}

TEST_F(scheduler_shell_test, deploys_a_workflow_once_and_warns_of_agents_that_are_not_there) {
  v1::DeployRequest request;
  auto with_strangers = step("a");
  with_strangers.set_agent("nobody");
  *request.mutable_definition() = workflow_of({with_strangers, step("b")}, "w2");
  node->shell.answer(request, 700);
  node->shell.answer(request, 701);
  EXPECT_EQ(out.deploys.count(700), 0u) << "not before it is durable";
  node->settle();
  EXPECT_TRUE(out.deploys.at(700).created());
  EXPECT_EQ(out.deploys.at(700).content_hash().size(), 16u);
  ASSERT_EQ(out.deploys.at(700).warnings_size(), 1);
  EXPECT_NE(out.deploys.at(700).warnings(0).find("nobody.do"), std::string::npos);
  EXPECT_FALSE(out.deploys.at(701).created());
  request.mutable_definition()->mutable_steps(0)->add_needs("a");
  node->shell.answer(request, 702);
  node->settle();
  EXPECT_EQ(out.deploys.at(702).error().code(), v1::ERROR_CODE_INVALID_ARGUMENT);
}

TEST_F(scheduler_shell_test, warns_at_deployment_of_labels_that_no_instance_carries) {
  const auto warnings_for = [this](const std::string& zone, std::uint64_t ticket) {
    v1::DeployRequest request;
    auto labelled = step("a");
    labelled.add_labels()->set_key("zone");
    labelled.mutable_labels(0)->set_value(zone);
    *request.mutable_definition() = workflow_of({labelled}, "in-" + zone);
    node->shell.answer(request, ticket);
    node->settle();
    return out.deploys.at(ticket).warnings_size() == 0 ? std::string{} : out.deploys.at(ticket).warnings(0);
  };
  auto there = agent("n2/svc");
  there.add_labels()->set_key("zone");
  there.mutable_labels(0)->set_value("eu");
  add_agent(there);
  EXPECT_EQ(warnings_for("eu", 710), "");
  EXPECT_NE(warnings_for("mars", 711).find("no agent svc carries zone=mars"), std::string::npos) << out.deploys.at(711).warnings(0);
}

TEST_F(scheduler_shell_test, keeps_a_task_on_the_definition_it_was_submitted_with) {
  submit(submission("t1"));
  deploy(workflow_of({step("a")}));
  restart();
  add_agent(agent("n1/svc", 10, 2));
  sweep();
  answer(success(out.performs.back().what, R"({"v":1})"));
  EXPECT_EQ(stored("t1")->state(), v1::TASK_STATE_RUNNING) << "step b of the older definition is still to come";
  EXPECT_EQ(out.performs.back().what.step_path(), "b");
  submit(submission("t2"));
  EXPECT_EQ(stored("t2")->steps_size(), 1);
}

}  // namespace
}  // namespace fairlead::testing
