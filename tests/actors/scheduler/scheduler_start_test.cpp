// Submissions that give a start: what is stored, what is refused, and when they run.

#include "store/rows/counters.hpp"
#include "tests/actors/scheduler/scheduler_world.hpp"

namespace fairlead::testing {
namespace {

class start_test : public scheduler_fixture {
 protected:
  start_test() {
    add_agent(agent("n1/svc"));
    deploy(workflow_of({::fairlead::testing::step("only")}, "plain"));
  }

  v1::SubmitResult submit_delayed(const std::string& id, std::int64_t delay_ms) {
    auto what = submission(id, "1", "plain");
    what.set_delay_ms(delay_ms);
    return submit(what);
  }

  /// As the Supervisor asks about a task that is due.
  void due(const std::string& id) {
    v1::RecoverBatch batch;
    batch.add_items()->set_task_number(stored(id)->number());
    node->shell.recover(batch);
    node->settle();
  }
};

TEST_F(start_test, a_task_runs_when_its_delay_is_over) {
  const auto taken = submit_delayed("t1", 60'000);
  EXPECT_TRUE(taken.created());
  EXPECT_EQ(taken.start_at_unix_ms(), to_unix_ms(time.now()) + 60'000);
  EXPECT_TRUE(out.performs.empty());
  EXPECT_EQ(status().counts().pending(), 1u);
  EXPECT_EQ(status().counts().scheduled(), 1u);
  time.now_ms += 60'000;
  due("t1");
  EXPECT_EQ(out.performs.size(), 1u);
  EXPECT_EQ(stored("t1")->state(), v1::TASK_STATE_RUNNING);
  EXPECT_EQ(status().counts().scheduled(), 0u);
}

TEST_F(start_test, others_start_with_their_submission_meanwhile) {
  submit_delayed("t1", 60'000);
  submit(submission("t2", "1", "plain"));
  EXPECT_EQ(stored("t2")->state(), v1::TASK_STATE_RUNNING);
  EXPECT_EQ(stored("t2")->version(), 2u) << "submission and start share one write";
}

TEST_F(start_test, the_start_outlives_a_restart) {
  submit_delayed("t1", 60'000);
  restart();
  add_agent(agent("n1/svc"));
  EXPECT_TRUE(out.performs.empty());
  time.now_ms += 60'000;
  due("t1");
  EXPECT_EQ(out.performs.size(), 1u);
}

TEST_F(start_test, a_task_starts_although_an_answer_before_it_waits_for_a_majority) {
  submit_delayed("t1", 60'000);
  node = std::make_unique<process>(store, time, out, log, scheduler_limits{}, planted_faults{}, nullptr, nullptr, true);
  node->open();
  sweep();
  add_agent(agent("n1/svc"));
  time.now_ms += 60'000;
  node->asked.clear();
  node->shell.answer(v1::WorkflowDeleteRequest{}, next_ticket++);
  node->settle();
  ASSERT_EQ(node->asked.size(), 1u);
  due("t1");
  EXPECT_TRUE(out.performs.empty()) << "effects leave in order";
  node->shell.on_confirmed(node->asked.front(), true);
  node->settle();
  EXPECT_EQ(out.performs.size(), 1u);
}

TEST_F(start_test, the_same_id_with_another_start_is_a_conflict) {
  submit_delayed("t1", 60'000);
  EXPECT_FALSE(submit_delayed("t1", 60'000).created());
  EXPECT_EQ(submit_delayed("t1", 60'000).error().code(), v1::ERROR_CODE_OK);
  EXPECT_EQ(submit_delayed("t1", 61'000).error().code(), v1::ERROR_CODE_CONFLICT);
  EXPECT_EQ(submit_delayed("t1", 0).error().code(), v1::ERROR_CODE_CONFLICT);
}

TEST_F(start_test, nonsense_is_refused) {
  auto both = submission("t1", "1", "plain");
  both.set_delay_ms(1);
  both.set_start_at_unix_ms(to_unix_ms(time.now()) + 1);
  EXPECT_EQ(submit(both).error().code(), v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_EQ(submit_delayed("t1", -1).error().code(), v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_EQ(submit_delayed("t1", std::int64_t{3'661} * 86'400'000).error().code(), v1::ERROR_CODE_INVALID_ARGUMENT);
  auto late = submission("t1", "1", "plain");
  late.set_start_at_unix_ms(253'402'300'800'000);
  EXPECT_EQ(submit(late).error().code(), v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_FALSE(stored("t1").has_value());
}

}  // namespace
}  // namespace fairlead::testing
