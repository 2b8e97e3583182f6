// One record that nothing can be decided about stops nobody else: not at a start, not later. It is parked by name, operators are answered with a
// sentence, and it goes on once what was wrong is put right.

#include "actors/scheduler/books/workflow_catalog.hpp"
#include "store/content_hash.hpp"
#include "store/rows/alert_rows.hpp"
#include "store/rows/counters.hpp"
#include "tests/actors/scheduler/jobs/scheduler_jobs_world.hpp"

namespace fairlead::testing {
namespace {

const auto every_verb = {v1::OPERATOR_VERB_RETRY,
                         v1::OPERATOR_VERB_SKIP,
                         v1::OPERATOR_VERB_SETTLE_COMPLETED,
                         v1::OPERATOR_VERB_SETTLE_NEVER_HAPPENED,
                         v1::OPERATOR_VERB_UNDO,
                         v1::OPERATOR_VERB_CANCEL,
                         v1::OPERATOR_VERB_PAUSE,
                         v1::OPERATOR_VERB_RESUME};

class scheduler_poison_test : public scheduler_jobs_test {
 protected:
  scheduler_poison_test() {
    deploy(good());
    deploy(workflow_of({::fairlead::testing::step("fine")}, "plain"));
  }

  static v1::WorkflowDefinition good() {
    return workflow_of({::fairlead::testing::step("a"), ::fairlead::testing::step("b", {"a"}, R"({"v":"${ .steps.a.v }"})")});
  }

  /// Changes the store under no process.
  void plant(store::batch what) {
    const auto progress = store.read()->get_progress();
    what.sequence = progress.sequence + 1;
    what.epoch = progress.epoch;
    auto counters = progress.shard;
    store::seal_counters(what, counters);
    ASSERT_TRUE(store.commit({what}).ok());
    store.sync();
  }

  /// The row of the version that tasks of `order` are pinned to, as a release might have written it that took what this one does not.
  void plant_version(const std::optional<v1::WorkflowDefinition>& definition) {
    const auto hash = store::definition_hash(good());
    const auto key = store::keys::workflow_version(store::default_namespace, "order", hash);
    store::batch one;
    if (definition) {
      v1::DeployedWorkflow row;
      *row.mutable_definition() = *definition;
      row.set_content_hash(hash);
      one.put(store::table::workflow_version, key, row.SerializeAsString());
    } else {
      one.erase(store::table::workflow_version, key);
    }
    plant(std::move(one));
  }

  /// The process before is gone; its agents live on.
  void start_on(const std::optional<v1::WorkflowDefinition>& definition) {
    node.reset();
    plant_version(definition);
    restart();
    ASSERT_FALSE(node->shell.fatal().has_value());
    add_agent(agent("n1/svc"));
    sweep();
  }

  static v1::WorkflowDefinition not_taken() {
    auto out = good();
    out.mutable_steps(1)->set_with_json(R"({"v":"${ .steps.a.v | @nothing_like_it }"})");
    return out;
  }

  v1::OperateResult task_order(v1::OperatorVerb verb, const std::string& id, const std::string& step = {}) {
    v1::OperateRequest request;
    request.mutable_action()->set_verb(verb);
    request.mutable_action()->set_who("ann");
    request.mutable_action()->set_step(step);
    if (verb == v1::OPERATOR_VERB_SETTLE_COMPLETED) request.mutable_action()->set_json("{}");
    request.add_ids(id);
    node->shell.answer(request, next_ticket);
    node->settle();
    return out.operations.at(next_ticket++).results(0);
  }

  void expect_others_run() {
    ASSERT_FALSE(node->shell.fatal().has_value()) << node->shell.fatal()->sentence;
    const auto id = "other-" + std::to_string(next_ticket);
    submit(submission(id, "1", "plain"));
    answer(success(out.performs.back().what));
    ASSERT_TRUE(stored(id).has_value());
    EXPECT_EQ(stored(id)->state(), v1::TASK_STATE_COMPLETED);
  }

  v1::Perform perform_of(const std::string& id) {
    for (auto one = out.performs.rbegin(); one != out.performs.rend(); ++one)
      if (one->what.task_id() == id) return one->what;
    ADD_FAILURE() << id << " was never handed over";
    return {};
  }
};

TEST_F(scheduler_poison_test, a_version_that_does_not_compile_parks_its_tasks_by_name_and_stops_nobody_else) {
  submit(submission("t1"));
  start_on(not_taken());
  const auto task = *stored("t1");
  ASSERT_TRUE(task.parked());
  EXPECT_EQ(task.parked_reason().rfind(
                "this release cannot use version " + store::to_hex(task.workflow_hash()).substr(0, 12) + " of workflow order: ", 0),
            0u)
      << task.parked_reason();
  EXPECT_NE(task.parked_reason().find("step b"), std::string::npos) << task.parked_reason();
  const auto alert = *store::load_alert(*store.read(), task.alert());
  EXPECT_EQ(alert->kind(), v1::ALERT_KIND_TASK_PARKED);
  EXPECT_EQ(alert->task_id(), "t1");
  expect_others_run();
  for (int again = 0; again < 3; ++again) {
    start_on(not_taken());
    expect_others_run();
  }
}

TEST_F(scheduler_poison_test, an_outcome_that_comes_while_its_version_is_unusable_counts_and_a_retry_after_the_upgrade_goes_on) {
  submit(submission("t1"));
  const auto first = perform_of("t1");
  start_on(not_taken());
  ASSERT_TRUE(stored("t1")->parked());
  answer(success(first, R"({"v":5})"));
  EXPECT_TRUE(out.acks.back().second.accepted());
  EXPECT_EQ(stored("t1")->steps(0).state(), v1::STEP_STATE_COMPLETED);
  EXPECT_EQ(stored("t1")->steps(1).state(), v1::STEP_STATE_PENDING);

  start_on(good());
  EXPECT_TRUE(stored("t1")->parked()) << "an operator decides when";
  const auto retried = task_order(v1::OPERATOR_VERB_RETRY, "t1");
  EXPECT_FALSE(retried.has_error()) << retried.error().sentence();
  EXPECT_EQ(perform_of("t1").input(), R"({"v":5})");
  answer(success(perform_of("t1")));
  EXPECT_EQ(stored("t1")->state(), v1::TASK_STATE_COMPLETED);
}

TEST_F(scheduler_poison_test, every_order_about_a_task_whose_version_is_unusable_is_answered_with_a_sentence) {
  submit(submission("t1"));
  answer(failure(perform_of("t1"), v1::FAULT_KIND_TRANSIENT));
  start_on(not_taken());
  time.now_ms += 5'000;
  supervisor watcher{{&time, &store, &out, &log}};
  ASSERT_TRUE(watcher.scan().ok());
  for (; !out.recoveries.empty(); out.recoveries.pop_front()) node->shell.recover(out.recoveries.front());
  node->settle();
  ASSERT_TRUE(stored("t1")->parked());
  for (const auto verb : every_verb) {
    const auto reply = task_order(verb, "t1", verb == v1::OPERATOR_VERB_UNDO || verb == v1::OPERATOR_VERB_CANCEL ? "" : "a");
    EXPECT_EQ(reply.error().code(), v1::ERROR_CODE_WRONG_STATE) << v1::OperatorVerb_Name(verb);
    EXPECT_NE(reply.error().sentence().find("this release cannot use version"), std::string::npos) << reply.error().sentence();
    EXPECT_TRUE(stored("t1")->parked());
  }
  expect_others_run();
}

TEST_F(scheduler_poison_test, a_lease_ends_and_a_pending_task_is_parked_in_its_turn_though_their_version_is_unusable) {
  submit(submission("held"));
  scheduler_limits one_at_a_time;
  one_at_a_time.running_tasks = 1;
  restart(one_at_a_time);
  add_agent(agent("n1/svc"));
  sweep();
  submit(submission("waits"));
  ASSERT_EQ(stored("waits")->state(), v1::TASK_STATE_PENDING);
  start_on(not_taken());
  EXPECT_TRUE(stored("waits")->parked());
  EXPECT_TRUE(stored("held")->parked());
  EXPECT_EQ(status().counts().pending(), 0u);
  time.now_ms += 6'000;
  supervisor watcher{{&time, &store, &out, &log}};
  ASSERT_TRUE(watcher.scan().ok());
  for (; !out.recoveries.empty(); out.recoveries.pop_front()) node->shell.recover(out.recoveries.front());
  node->settle();
  EXPECT_EQ(stored("held")->steps(0).state(), v1::STEP_STATE_IN_DOUBT);
  EXPECT_EQ(status().agents(0).held(), 0u) << "its slot comes back";
  expect_others_run();
}

TEST_F(scheduler_poison_test, a_version_that_is_missing_parks_its_tasks_until_it_is_deployed_again) {
  submit(submission("t1"));
  const auto first = perform_of("t1");
  start_on(std::nullopt);
  ASSERT_TRUE(stored("t1")->parked());
  EXPECT_NE(stored("t1")->parked_reason().find("its definition is missing"), std::string::npos) << stored("t1")->parked_reason();
  answer(failure(first, v1::FAULT_KIND_IN_DOUBT));
  EXPECT_TRUE(task_order(v1::OPERATOR_VERB_RETRY, "t1").has_error());
  expect_others_run();
  deploy(good());
  EXPECT_FALSE(task_order(v1::OPERATOR_VERB_RETRY, "t1").has_error());
  EXPECT_FALSE(stored("t1")->parked());
}

TEST_F(scheduler_poison_test, submissions_and_jobs_of_an_unusable_version_are_refused_and_launches_are_skipped_with_the_reason) {
  auto spec = job("nightly");
  spec.set_workflow("order");
  ASSERT_FALSE(apply(spec).has_error());
  start_on(not_taken());
  const auto refused = submit(submission("t1"));
  EXPECT_EQ(refused.error().code(), v1::ERROR_CODE_WRONG_STATE);
  EXPECT_NE(refused.error().sentence().find("this release cannot use version"), std::string::npos) << refused.error().sentence();
  tick(first_minute_ms);
  ASSERT_FALSE(node->shell.fatal().has_value()) << node->shell.fatal()->sentence;
  const auto rows = launches("nightly");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].skip(), v1::SKIP_REASON_NO_WORKFLOW);
  EXPECT_NE(rows[0].reason().find("this release cannot use version"), std::string::npos) << rows[0].reason();
  auto other = job("weekly");
  other.set_workflow("order");
  EXPECT_NE(apply(other).error().sentence().find("this release cannot use version"), std::string::npos);
  expect_others_run();
  deploy(workflow_of({::fairlead::testing::step("a")}));
  tick(first_minute_ms + minute_ms);
  EXPECT_EQ(launches("nightly").back().state(), v1::LAUNCH_STATE_STARTED);
  finish_everything();
}

TEST_F(scheduler_poison_test, a_payload_that_is_missing_parks_its_task_and_stops_nobody_else) {
  const auto big = "\"" + std::string(6'000, 'x') + "\"";
  submit(submission("t1", big));
  node.reset();
  const auto task = *stored("t1");
  store::batch without;
  store::batch with;
  for (std::uint32_t slot = 1; slot < task.next_slot(); ++slot) {
    without.erase(store::table::payload, store::keys::payload(store::default_namespace, task.number(), slot));
    store::put_payload(with, task.number(), slot, big);
  }
  plant(std::move(without));
  restart();
  add_agent(agent("n1/svc", 10, 2));  // another process, so the attempt is made anew, with its input
  sweep();
  ASSERT_FALSE(node->shell.fatal().has_value()) << node->shell.fatal()->sentence;
  ASSERT_TRUE(stored("t1")->parked());
  EXPECT_NE(stored("t1")->parked_reason().find("of task t1 is missing"), std::string::npos) << stored("t1")->parked_reason();
  expect_others_run();
  for (const auto verb : every_verb) task_order(verb, "t1", "a");
  expect_others_run();
  node.reset();
  plant(std::move(with));  // so that the store is whole at the end
}

TEST_F(scheduler_poison_test, a_record_that_names_a_step_which_its_workflow_lacks_is_parked) {
  submit(submission("t1"));
  node.reset();
  auto record = *stored("t1");
  record.mutable_steps(1)->set_definition(9);
  store::batch one;
  one.put(store::table::task, store::keys::task(store::default_namespace, record.number()), record.SerializeAsString());
  plant(std::move(one));
  restart();
  add_agent(agent("n1/svc"));
  sweep();
  ASSERT_TRUE(stored("t1")->parked());
  EXPECT_EQ(stored("t1")->parked_reason(), "its record names step 10 of workflow order, which has 2");
  expect_others_run();
}

}  // namespace
}  // namespace fairlead::testing
