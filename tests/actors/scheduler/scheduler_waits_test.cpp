// Waits in vain: a Supervisor and a Scheduler over one store find a task that waits for what nobody will give it, whatever that is.

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "actors/supervisor/supervisor.hpp"
#include "store/rows/alert_rows.hpp"
#include "tests/actors/scheduler/scheduler_world.hpp"

namespace fairlead::testing {
namespace {

constexpr auto computed = R"({"m":"${ .input.n + 1 }"})";

class scheduler_waits_test : public scheduler_fixture {
 protected:
  void restart_with(planted_faults faults) {
    node.reset();
    out.asked.clear();
    out.at_worker.clear();
    node = std::make_unique<process>(store, time, out, log, scheduler_limits{}, faults);
    node->open();
    watch_ = std::make_unique<watch>(time, store, log);
    add_agent(agent("n1/svc"));
    sweep();
    node->shell.flush();
  }

  void SetUp() override { sweep(); }

  /// Scan period after scan period; what the Supervisor asks for and asks about reaches the Scheduler.
  void scan(int times = 1) {
    for (; times > 0; --times) {
      time.now_ms += 1'000;
      ASSERT_TRUE(watch_->shell.scan().ok());
      ASSERT_TRUE(watch_->shell.go_round().ok());
      for (const auto& batch : std::exchange(watch_->out.recoveries, {})) node->shell.recover(batch);
      for (const auto& ask : std::exchange(watch_->out.waiting_seen, {})) node->shell.look_at_waits(ask);
      node->settle();
    }
  }

  void give_input(const std::string& result = "2") {
    v1::EvaluateReply reply;
    reply.set_ticket(out.asked.front().ticket());
    reply.add_results(result);
    out.asked.pop_front();
    out.at_worker.erase(reply.ticket());
    node->shell.evaluated(reply);
    node->settle();
  }

  void operate(v1::OperatorVerb verb) {
    v1::OperateRequest request;
    request.add_ids("t1");
    request.mutable_action()->set_verb(verb);
    request.mutable_action()->set_who("ann");
    node->shell.answer(request, next_ticket++);
    node->settle();
  }

  /// The worker has let go of everything and will answer none of it.
  void worker_forgets() {
    out.asked.clear();
    out.at_worker.clear();
  }

  std::vector<v1::AlertRecord> stalls() {
    std::vector<v1::AlertRecord> found;
    EXPECT_TRUE(store::for_each_unresolved(*store.read(), [&](const v1::AlertRecord& one) {
                  if (one.kind() == v1::ALERT_KIND_STALLED) found.push_back(one);
                  return true;
                }).ok());
    return found;
  }

  struct watch {
    watch(const clock& time, const store::store& reads, observer& log) : shell({&time, &reads, &out, &log}, std::chrono::seconds{1}) {}
    recorder out;
    supervisor shell;
  };
  std::unique_ptr<watch> watch_ = std::make_unique<watch>(time, store, log);
};

TEST_F(scheduler_waits_test, an_input_that_the_worker_has_forgotten_is_asked_for_anew_and_alerted_within_two_scans) {
  deploy(workflow_of({step("a", {}, computed)}));
  add_agent(agent("n1/svc"));
  submit(submission("t1"));
  ASSERT_EQ(out.asked.size(), 1u);
  worker_forgets();
  scan(2);
  ASSERT_EQ(out.asked.size(), 1u) << "asked for anew";
  ASSERT_EQ(stalls().size(), 1u);
  EXPECT_EQ(stalls()[0].task_id(), "t1");
  EXPECT_EQ(stalls()[0].sentence(),
            "task t1 made no progress: step a waited for its input, but nothing would have triggered this; it has been requested again");
  give_input();
  finish_everything();
  EXPECT_EQ(stored("t1")->state(), v1::TASK_STATE_COMPLETED);
}

TEST_F(scheduler_waits_test, so_is_the_input_of_an_undo) {
  auto first = step("a");
  first.mutable_undo()->set_call("do");
  first.mutable_undo()->set_with_json(computed);
  first.mutable_undo()->set_timeout_ms(5'000);
  first.mutable_undo()->set_attempts(1);
  *first.mutable_undo()->mutable_backoff() = first.backoff();
  deploy(workflow_of({first}));
  add_agent(agent("n1/svc"));
  submit(submission("t1"));
  finish_everything();
  operate(v1::OPERATOR_VERB_UNDO);
  ASSERT_EQ(out.asked.size(), 1u);
  worker_forgets();
  scan(2);
  ASSERT_EQ(out.asked.size(), 1u);
  ASSERT_EQ(stalls().size(), 1u);
  give_input();
  finish_everything();
  EXPECT_EQ(stored("t1")->state(), v1::TASK_STATE_UNDONE);
}

TEST_F(scheduler_waits_test, one_step_that_waits_in_vain_is_found_beside_one_that_is_at_work) {
  auto slow = step("slow");
  slow.set_timeout_ms(3'600'000);
  deploy(workflow_of({slow, step("a", {}, computed)}));
  add_agent(agent("n1/svc"));
  submit(submission("t1"));
  worker_forgets();
  scan(4);
  EXPECT_EQ(out.asked.size(), 1u);
  EXPECT_EQ(stalls().size(), 1u);
}

TEST_F(scheduler_waits_test, an_answer_that_is_on_its_way_is_not_lost) {
  deploy(workflow_of({step("a", {}, computed)}));
  add_agent(agent("n1/svc"));
  submit(submission("t1"));
  out.at_worker.clear();
  scan();
  give_input();
  scan(3);
  EXPECT_TRUE(stalls().empty());
  EXPECT_EQ(out.performs.size(), 1u);
}

TEST_F(scheduler_waits_test, what_is_asked_for_may_take_as_long_as_it_takes) {
  deploy(workflow_of({step("a", {}, computed), step("b")}));
  submit(submission("t1"));
  scan(100);
  EXPECT_TRUE(stalls().empty()) << "the worker is at it, and no agent is there";
}

TEST_F(scheduler_waits_test, a_worker_that_is_away_is_asked_again_by_the_next_wake_up) {
  deploy(workflow_of({step("a", {}, computed)}));
  add_agent(agent("n1/svc"));
  submit(submission("t1"));
  v1::EvaluateReply away;
  away.set_ticket(out.asked.front().ticket());
  *away.mutable_error() = error{v1::ERROR_CODE_UNAVAILABLE, "there is no worker", ""}.to_proto();
  worker_forgets();
  node->shell.evaluated(away);
  node->settle();
  scan(29);
  EXPECT_TRUE(out.asked.empty());
  scan(2);
  EXPECT_EQ(out.asked.size(), 1u);
  EXPECT_TRUE(stalls().empty());
}

TEST_F(scheduler_waits_test, nothing_is_asked_for_in_the_name_of_a_task_that_is_held) {
  deploy(workflow_of({step("a", {}, computed)}));
  submit(submission("t1"));
  operate(v1::OPERATOR_VERB_PAUSE);
  worker_forgets();
  scan(5);
  EXPECT_TRUE(stalls().empty());
  EXPECT_TRUE(out.asked.empty());
}

TEST_F(scheduler_waits_test, a_step_that_is_in_no_queue_for_an_instance_is_parked_in_plain_sight) {
  deploy(workflow_of({step("a")}));
  planted_faults fault;
  fault.lose_slot_wait = true;
  node.reset();
  node = std::make_unique<process>(store, time, out, log, scheduler_limits{}, fault);
  node->open();
  sweep();
  submit(submission("t1"));
  scan(2);
  EXPECT_TRUE(stored("t1")->parked());
  EXPECT_EQ(stored("t1")->parked_reason(), "step a waited for an instance of its agent, and requesting it again did not help");
}

TEST_F(scheduler_waits_test, an_attempt_without_a_lease_is_in_doubt_and_tried_again) {
  deploy(workflow_of({step("a")}));
  planted_faults fault;
  fault.lose_lease = true;
  restart_with(fault);
  submit(submission("t1"));
  ASSERT_EQ(out.performs.size(), 1u);
  restart_with({});
  scan(2);
  ASSERT_EQ(out.performs.size(), 2u);
  EXPECT_EQ(out.performs[1].what.attempt(), 2u);
  ASSERT_EQ(stalls().size(), 1u);
  answer(success(out.performs[1].what));
  EXPECT_EQ(stored("t1")->state(), v1::TASK_STATE_COMPLETED);
}

TEST_F(scheduler_waits_test, a_step_that_failed_and_was_given_no_moment_for_its_recovery_is_tried_again) {
  deploy(workflow_of({step("a")}));
  planted_faults fault;
  fault.lose_recovery = true;
  restart_with(fault);
  submit(submission("t1"));
  answer(failure(out.performs[0].what, v1::FAULT_KIND_TRANSIENT));
  restart_with({});
  scan(2);
  ASSERT_EQ(out.performs.size(), 2u);
  ASSERT_EQ(stalls().size(), 1u);
  answer(success(out.performs[1].what));
  EXPECT_EQ(stored("t1")->state(), v1::TASK_STATE_COMPLETED);
}

TEST_F(scheduler_waits_test, a_task_that_waits_in_vain_again_and_again_is_parked) {
  deploy(workflow_of({step("a", {}, computed)}));
  add_agent(agent("n1/svc"));
  submit(submission("t1"));
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(stored("t1")->parked());
    worker_forgets();
    scan(3);
  }
  EXPECT_TRUE(stored("t1")->parked());
  EXPECT_EQ(stalls().size(), 3u);
}

TEST_F(scheduler_waits_test, a_parent_that_was_not_told_of_its_child_is_told_again_after_a_restart_and_without_one) {
  v1::StepDefinition part;
  part.set_name("part");
  part.set_kind(v1::STEP_KIND_WORKFLOW);
  part.set_workflow("inner");
  deploy(workflow_of({step("only")}, "inner"));
  deploy(workflow_of({part}));
  planted_faults faults;
  faults.lose_child_end = true;
  restart_with(faults);
  submit(submission("t1"));
  finish_everything();
  ASSERT_EQ(stored("t1/part~1")->state(), v1::TASK_STATE_COMPLETED);
  ASSERT_EQ(stored("t1")->steps(0).state(), v1::STEP_STATE_RUNNING);
  scan(3);
  EXPECT_EQ(stored("t1")->state(), v1::TASK_STATE_COMPLETED);
  ASSERT_EQ(stalls().size(), 1u);
  EXPECT_EQ(stalls()[0].task_id(), "t1");
  submit(submission("t2"));
  finish_everything();
  restart_with({});
  ASSERT_EQ(stored("t2")->steps(0).state(), v1::STEP_STATE_RUNNING);
  scan(3);
  EXPECT_EQ(stored("t2")->state(), v1::TASK_STATE_COMPLETED);
}

TEST_F(scheduler_waits_test, a_parent_whose_child_works_or_is_parked_does_not_wait_in_vain) {
  v1::StepDefinition part;
  part.set_name("part");
  part.set_kind(v1::STEP_KIND_WORKFLOW);
  part.set_workflow("inner");
  deploy(workflow_of({step("only")}, "inner"));
  deploy(workflow_of({part}));
  add_agent(agent("n1/svc"));
  submit(submission("t1"));
  scan(4);
  EXPECT_TRUE(stalls().empty());
  answer(failure(out.performs.back().what, v1::FAULT_KIND_PERMANENT));
  ASSERT_TRUE(stored("t1")->parked());
  scan(4);
  EXPECT_TRUE(stalls().empty());
}

}  // namespace
}  // namespace fairlead::testing
