// Operators delete ended tasks and workflows.

#include "actors/queries/task_queries.hpp"
#include "actors/queries/workflow_queries.hpp"
#include "store/check/check.hpp"
#include "store/memory/memory_archive.hpp"
#include "store/rows/archive_rows.hpp"
#include "store/rows/deletion_rows.hpp"
#include "tests/actors/scheduler/scheduler_world.hpp"

namespace fairlead::testing {
namespace {

class delete_test : public scheduler_fixture {
 protected:
  delete_test() {
    add_agent(agent("n1/svc"));
    deploy(workflow_of({::fairlead::testing::step("only")}, "plain"));
  }

  void ended(const std::string& id) {
    submit(submission(id, "1", "plain"));
    finish_everything();
  }

  v1::OperateResult remove(const std::string& id) {
    v1::OperateRequest request;
    request.mutable_action()->set_verb(v1::OPERATOR_VERB_DELETE);
    request.mutable_action()->set_who("ann");
    request.add_ids(id);
    node->shell.answer(request, next_ticket);
    node->settle();
    return out.operations.at(next_ticket++).results(0);
  }

  v1::WorkflowDeleteReply remove_workflow(const std::string& name, bool check_only = false) {
    v1::WorkflowDeleteRequest request;
    request.set_name(name);
    request.set_who("ann");
    request.set_check_only(check_only);
    node->shell.answer(request, next_ticket);
    node->settle();
    return out.workflow_deletions.at(next_ticket++);
  }

  v1::TaskShowReply show(const std::string& id) {
    v1::TaskShowRequest what;
    what.set_id(id);
    return show_task(what, *store.read(), archives);
  }

  std::size_t deletions() {
    std::size_t out = 0;
    EXPECT_TRUE(store::for_each_deletion(*store.read(), [&](std::uint64_t) { return ++out > 0; }).ok());
    return out;
  }

  /// The archiver moves the task.
  void archive(const std::string& id) {
    archive_rows moved;
    moved.numbers = {stored(id)->number()};
    moved.read_at_sequence = store.read()->get_progress().sequence;
    store::put_move(moved.rows, *stored(id), {100, 0});
    moved.rows.epoch = node->shell.epoch();
    moved.ended[v1::TASK_STATE_COMPLETED] = 1;
    in_flight = moved;
  }
  void arrive() {
    node->shell.archive(in_flight);
    node->settle();
  }
  /// What was said to move is done, as by whoever applies it.
  void apply() {
    store::batch done;
    ASSERT_TRUE(archives.carry_out(*store.read(), done).ok());
    std::vector<store::operation> sorted;
    done.for_each([&](const store::operation& op) { sorted.push_back(op); });
    ASSERT_TRUE(store.apply(sorted).ok());
  }

  store::memory_archive archives;
  archive_rows in_flight;
};

TEST_F(delete_test, a_definition_that_is_only_checked_is_not_deployed) {
  v1::DeployRequest request;
  *request.mutable_definition() = workflow_of({step("a")}, "new");
  request.set_check_only(true);
  node->shell.answer(request, next_ticket);
  node->settle();
  const auto checked = out.deploys.at(next_ticket++);
  EXPECT_EQ(checked.error().code(), v1::ERROR_CODE_OK) << checked.error().sentence();
  EXPECT_TRUE(checked.created()) << "it would be new";
  EXPECT_EQ(remove_workflow("new", true).error().code(), v1::ERROR_CODE_NOT_FOUND);
  request.mutable_definition()->mutable_steps(0)->add_needs("nowhere");
  node->shell.answer(request, next_ticket);
  node->settle();
  EXPECT_EQ(out.deploys.at(next_ticket++).error().code(), v1::ERROR_CODE_INVALID_ARGUMENT);
}

TEST_F(delete_test, nothing_but_the_id_is_left_of_an_ended_task) {
  ended("t1");
  const auto done = remove("t1");
  EXPECT_EQ(done.error().code(), v1::ERROR_CODE_OK) << done.error().sentence();
  EXPECT_EQ(done.state(), v1::TASK_STATE_COMPLETED);
  EXPECT_FALSE(stored("t1").has_value());
  for (const auto table : {store::table::history, store::table::payload, store::table::finished, store::table::by_workflow})
    EXPECT_EQ(store.read()->count(table), 0u) << store::table_name(table);
  EXPECT_EQ(status().counts().completed(), 0u);
  EXPECT_EQ(deletions(), 1u) << "archives may have copies";
  EXPECT_TRUE(store::check(*store.read()).clean());
  const auto shown = show("t1");
  EXPECT_EQ(shown.error().code(), v1::ERROR_CODE_NOT_FOUND);
  EXPECT_NE(shown.error().sentence().find("task t1 was completed, and ann deleted its record at "), std::string::npos);
}

TEST_F(delete_test, the_id_stays_taken_and_its_end_is_known) {
  ended("t1");
  remove("t1");
  EXPECT_FALSE(submit(submission("t1", "1", "plain")).created());
  EXPECT_EQ(submit(submission("t1", "2", "plain")).error().code(), v1::ERROR_CODE_CONFLICT);
  v1::StatesRequest what;
  what.add_ids("t1");
  EXPECT_EQ(states_of(what, *store.read()).items(0).state(), v1::TASK_STATE_COMPLETED);
  v1::WatchRequest watch;
  watch.set_id("t1");
  watch.set_wait_ms(10'000);
  node->shell.answer(watch, 600);
  EXPECT_EQ(out.watches.at(600).state(), v1::TASK_STATE_COMPLETED);
  EXPECT_EQ(out.watches.at(600).latest(), 0u) << "its events are gone";
}

TEST_F(delete_test, a_task_that_has_not_ended_is_refused) {
  submit(submission("t1", "1", "plain"));
  const auto refused = remove("t1");
  EXPECT_EQ(refused.error().code(), v1::ERROR_CODE_WRONG_STATE);
  EXPECT_EQ(refused.error().sentence(), "task t1 is running, and only an ended task can be deleted");
  EXPECT_TRUE(stored("t1").has_value());
  EXPECT_EQ(remove("nobody").error().code(), v1::ERROR_CODE_NOT_FOUND);
}

TEST_F(delete_test, a_second_deletion_is_done_already_and_counts_nothing) {
  ended("t1");
  EXPECT_FALSE(remove("t1").repeated());
  const auto again = remove("t1");
  EXPECT_FALSE(again.has_error()) << again.error().sentence();
  EXPECT_TRUE(again.repeated());
  EXPECT_EQ(again.state(), v1::TASK_STATE_COMPLETED);
  EXPECT_EQ(status().counts().archived(), 0u);
  EXPECT_EQ(deletions(), 1u);
}

TEST_F(delete_test, waits_for_an_end_that_is_not_durable) {
  submit(submission("t1", "1", "plain"));
  node->shell.outcomes(from("n1/svc", {success(out.performs.back().what, R"({"v":1})")}, 1));
  EXPECT_EQ(remove("t1").error().code(), v1::ERROR_CODE_UNAVAILABLE);
  EXPECT_EQ(stored("t1")->state(), v1::TASK_STATE_COMPLETED);
  EXPECT_EQ(remove("t1").error().code(), v1::ERROR_CODE_OK);
}

TEST_F(delete_test, the_same_task_twice_in_one_request_is_deleted_once) {
  ended("t1");
  v1::OperateRequest request;
  request.mutable_action()->set_verb(v1::OPERATOR_VERB_DELETE);
  request.mutable_action()->set_who("ann");
  for (int i = 0; i < 2; ++i) request.add_ids("t1");
  node->shell.answer(request, next_ticket);
  node->settle();
  const auto& done = out.operations.at(next_ticket++);
  EXPECT_EQ(done.results(0).error().code(), v1::ERROR_CODE_OK);
  EXPECT_EQ(done.results(1).error().code(), v1::ERROR_CODE_UNAVAILABLE);
  EXPECT_EQ(status().counts().completed(), 0u);
  EXPECT_TRUE(store::check(*store.read()).clean());
}

TEST_F(delete_test, an_archived_task_is_known_by_its_id_alone) {
  ended("t1");
  archive("t1");
  arrive();
  EXPECT_EQ(status().counts().archived(), 1u);
  EXPECT_EQ(status().counts().completed(), 0u);
  EXPECT_FALSE(show("t1").archived()) << "it is found where it was until the move is done";
  EXPECT_EQ(show("t1").task().id(), "t1");
  EXPECT_TRUE(store::check(*store.read(), {}, 100, &archives).clean());
  EXPECT_EQ(remove("t1").error().code(), v1::ERROR_CODE_UNAVAILABLE);
  apply();
  EXPECT_TRUE(store::check(*store.read(), {}, 100, &archives).clean());
  EXPECT_TRUE(show("t1").archived());
  EXPECT_EQ(remove("t1").state(), v1::TASK_STATE_COMPLETED);
  EXPECT_EQ(status().counts().archived(), 0u);
  EXPECT_EQ(show("t1").error().code(), v1::ERROR_CODE_NOT_FOUND);
  EXPECT_EQ(deletions(), 1u);
}

TEST_F(delete_test, a_copy_on_its_way_to_the_archive_does_not_bring_the_task_back) {
  ended("t1");
  archive("t1");
  EXPECT_EQ(remove("t1").error().code(), v1::ERROR_CODE_OK);
  arrive();
  EXPECT_EQ(status().counts().archived(), 0u);
  EXPECT_EQ(show("t1").error().code(), v1::ERROR_CODE_NOT_FOUND);
}

TEST_F(delete_test, a_deleted_workflow_takes_no_tasks_and_its_tasks_go_on) {
  submit(submission("t1", "1", "plain"));
  EXPECT_EQ(remove_workflow("plain", true).error().code(), v1::ERROR_CODE_OK);
  EXPECT_EQ(list_workflows(*store.read()).items_size(), 1) << "it was only asked";
  EXPECT_EQ(remove_workflow("plain").error().code(), v1::ERROR_CODE_OK);
  EXPECT_EQ(list_workflows(*store.read()).items_size(), 0);
  EXPECT_EQ(submit(submission("t2", "1", "plain")).error().code(), v1::ERROR_CODE_NOT_FOUND);
  EXPECT_EQ(remove_workflow("plain").error().code(), v1::ERROR_CODE_NOT_FOUND);
  restart();
  add_agent(agent("n1/svc"));
  finish_everything();
  EXPECT_EQ(stored("t1")->state(), v1::TASK_STATE_COMPLETED);
  deploy(workflow_of({::fairlead::testing::step("only")}, "plain"));
  EXPECT_TRUE(submit(submission("t2", "1", "plain")).created());
}

TEST_F(delete_test, a_workflow_that_a_job_launches_stays_also_when_the_job_is_not_durable_yet) {
  v1::JobApplyRequest apply;
  apply.set_who("ann");
  auto& job = *apply.add_jobs();
  job.set_name("nightly");
  job.set_schedule("0 3 * * *");
  job.set_workflow("plain");
  node->shell.answer(apply, next_ticket++);
  const auto refused = remove_workflow("plain");
  EXPECT_EQ(refused.error().code(), v1::ERROR_CODE_WRONG_STATE);
  EXPECT_EQ(refused.error().sentence(), "job nightly launches workflow plain");
  EXPECT_EQ(list_workflows(*store.read()).items_size(), 1);
}

}  // namespace
}  // namespace fairlead::testing
