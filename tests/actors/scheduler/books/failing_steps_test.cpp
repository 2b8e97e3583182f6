// The alerts that tasks share which end without a step of the end.

#include "store/rows/alert_rows.hpp"
#include "tests/actors/scheduler/scheduler_world.hpp"

namespace fairlead::testing {
namespace {

class end_alerts_test : public scheduler_fixture {
 protected:
  end_alerts_test() {
    add_agent(agent("n1/svc"));
    deploy(workflow_of({::fairlead::testing::step("work"), of_the_end("unlock")}, "locked"));
    deploy(workflow_of({::fairlead::testing::step("work"), of_the_end("tell")}, "told"));
  }

  static v1::StepDefinition of_the_end(const std::string& name) {
    auto out = ::fairlead::testing::step(name);
    out.set_finally(v1::FINALLY_ALWAYS);
    out.mutable_undo()->set_none(true);
    return out;
  }

  /// A task that completes without its step of the end.
  void complete_without(const std::string& id, const std::string& workflow) {
    submit(submission(id, "1", workflow));
    answer(success(out.performs.back().what));
    answer(failure(out.performs.back().what, v1::FAULT_KIND_PERMANENT));
    EXPECT_EQ(stored(id)->state(), v1::TASK_STATE_COMPLETED);
  }

  v1::AlertRecord alert(std::uint64_t number) {
    const auto found = store::load_alert(*store.read(), number);
    return found.ok() && *found ? **found : v1::AlertRecord{};
  }

  std::uint64_t unresolved() { return status().counts().unresolved_alerts(); }
};

TEST_F(end_alerts_test, an_alert_outlives_its_task) {
  complete_without("t1", "locked");
  EXPECT_EQ(stored("t1")->alert(), 0u);
  ASSERT_EQ(unresolved(), 1u);
  const auto raised = alert(1);
  EXPECT_EQ(raised.kind(), v1::ALERT_KIND_FINALLY_FAILED);
  EXPECT_EQ(raised.state(), v1::ALERT_STATE_OPEN);
  EXPECT_EQ(raised.task_id(), "t1");
  EXPECT_EQ(raised.step(), "unlock");
  EXPECT_EQ(raised.agent(), "svc");
  EXPECT_EQ(raised.tasks(), 1u);
}

TEST_F(end_alerts_test, one_alert_counts_the_tasks_and_names_the_first_and_the_last) {
  complete_without("t1", "locked");
  complete_without("t2", "locked");
  complete_without("t3", "told");
  EXPECT_EQ(unresolved(), 2u) << "one for each step";
  EXPECT_EQ(alert(2).task_id(), "t3");

  restart();
  sweep();
  add_agent(agent("n1/svc"));
  complete_without("t4", "locked");
  EXPECT_EQ(unresolved(), 2u) << "also after a restart";
  const auto shared = alert(1);
  EXPECT_EQ(shared.tasks(), 3u);
  EXPECT_EQ(shared.task_id(), "t1");
  EXPECT_NE(shared.sentence().find("3 tasks of workflow locked end without their step unlock: the first was t1 at "), std::string::npos)
      << shared.sentence();
  EXPECT_NE(shared.sentence().find("the last is t4 at "), std::string::npos) << shared.sentence();
  EXPECT_NE(shared.remedy().find("fairlead task show t4 "), std::string::npos) << shared.remedy();
}

TEST_F(end_alerts_test, what_happens_after_an_acknowledgement_is_told_anew) {
  complete_without("t1", "locked");
  v1::AlertAckRequest request;
  request.add_numbers(1);
  node->shell.answer(request, next_ticket++);
  node->settle();
  EXPECT_EQ(alert(1).state(), v1::ALERT_STATE_RESOLVED);
  complete_without("t2", "locked");
  EXPECT_EQ(alert(1).tasks(), 1u);
  EXPECT_EQ(alert(2).task_id(), "t2");
  EXPECT_EQ(alert(2).state(), v1::ALERT_STATE_OPEN);
}

}  // namespace
}  // namespace fairlead::testing
