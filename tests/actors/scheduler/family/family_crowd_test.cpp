// Families with many tasks, and many lists at once: what begins then, and when.

#include "tests/actors/scheduler/family/family_world.hpp"

namespace fairlead::testing {
namespace {

class family_crowd_test : public family_fixture {
 protected:
  family_crowd_test() {
    auto svc = agent("n1/svc");
    svc.set_capacity(100);
    add_agent(svc);
    deploy(undone(workflow_of({kept("load"), each("notify", 8)}, "mailing")));
    deploy(undone(workflow_of({kept("load"), each("notify", 8), each("log", 8)}, "twice")));
  }

  void allow(std::uint64_t family_tasks) {
    scheduler_limits few;
    few.family_tasks = family_tasks;
    restart(few);
    auto svc = agent("n1/svc");
    svc.set_capacity(100);
    add_agent(svc);
  }

  static v1::StepDefinition each(const std::string& name, std::uint32_t at_once) {
    auto out = undoable(name, {"load"});
    out.mutable_for_each()->set_list_json(R"("${ .steps.load }")");
    out.mutable_for_each()->set_at_once(at_once);
    return out;
  }

  void load(const std::string& workflow) {
    ASSERT_TRUE(submit(submission("t1", "{}", workflow)).created());
    done("t1", "load", "[1,2,3,4,5,6,7,8]");
  }
  static std::string item(const std::string& task, std::size_t number, const std::string& step = "notify") {
    return task + "/" + step + "~1." + std::to_string(number);
  }
  std::size_t begun(const std::string& task, const std::string& step = "notify") {
    std::size_t out = 0;
    while (out < 8 && state_of(item(task, out + 1, step)) != "no task") ++out;
    return out;
  }
};

TEST_F(family_crowd_test, a_list_has_one_item_in_progress_until_the_crowd_is_gone) {
  allow(3);
  load("mailing");
  EXPECT_EQ(begun("t1"), 4u) << "one decision may begin four";
  done(item("t1", 1), "notify");
  EXPECT_EQ(begun("t1"), 4u) << "three are left";
  done(item("t1", 2), "notify");
  EXPECT_EQ(begun("t1"), 8u);
}

TEST_F(family_crowd_test, a_crowd_comes_to_its_end) {
  allow(3);
  load("mailing");
  for (std::size_t number = 1; number <= 8; ++number) {
    ASSERT_NE(state_of(item("t1", number)), "no task") << number;
    done(item("t1", number), "notify");
  }
  EXPECT_EQ(state_of("t1"), "COMPLETED");
}

TEST_F(family_crowd_test, no_child_begins_where_twice_as_many_live) {
  allow(2);
  load("twice");
  EXPECT_EQ(begun("t1", "notify"), 4u);
  EXPECT_EQ(begun("t1", "log"), 0u);
  EXPECT_EQ(state_of("t1"), "UNDOING") << "a step has failed";
  EXPECT_NE(message_of("t1", "log").find("there are 4 tasks below the same task already"), std::string::npos) << message_of("t1", "log");
}

TEST_F(family_crowd_test, tasks_that_were_there_before_a_start_count) {
  load("mailing");
  EXPECT_EQ(begun("t1"), 8u);
  allow(3);
  sweep();
  for (std::size_t number = 1; number <= 5; ++number) done(item("t1", number), "notify");
  expect_done(operate(v1::OPERATOR_VERB_TERMINATE, item("t1", 6)));
  EXPECT_EQ(state_of(item("t1", 7)), "RUNNING");
}

TEST_F(family_crowd_test, tasks_that_sleep_over_a_start_count) {
  v1::StepDefinition night;
  night.set_name("night");
  night.set_kind(v1::STEP_KIND_WAIT);
  night.set_with_json(R"("1d")");
  night.mutable_undo()->set_none(true);
  deploy(workflow_of({night}, "night"));
  auto nights = child("nights", "night", {"load"});
  nights.mutable_for_each()->set_list_json(R"("${ .steps.load }")");
  nights.mutable_for_each()->set_at_once(8);
  auto log = each("log", 8);
  log.add_needs("ask");
  deploy(undone(workflow_of({kept("load"), nights, kept("ask", {"load"}), log}, "long")));
  load("long");
  ASSERT_EQ(begun("t1", "nights"), 8u);
  allow(2);
  sweep();
  done("t1", "ask");
  EXPECT_EQ(begun("t1", "log"), 0u) << "four may live, and eight sleep";
  EXPECT_NE(message_of("t1", "log").find("there are 4 tasks below the same task already"), std::string::npos) << message_of("t1", "log");
}

TEST_F(family_crowd_test, lists_of_many_tasks_share_what_may_begin_before_a_commit) {
  constexpr std::size_t tasks = 20;
  std::vector<v1::Outcome> loaded;
  for (std::size_t i = 0; i < tasks; ++i) {
    const auto id = "m" + std::to_string(i);
    ASSERT_TRUE(submit(submission(id, "{}", "mailing")).created());
    loaded.push_back(success(perform_of(id, "load"), "[1,2,3,4,5,6,7,8]"));
  }
  const auto all = [&] {
    std::size_t out = 0;
    for (std::size_t i = 0; i < tasks; ++i) out += begun("m" + std::to_string(i));
    return out;
  };
  node->shell.outcomes(from("n1/svc", loaded));
  node->shell.flush();
  while (!node->waiting.empty() && all() == 0) ASSERT_TRUE(node->commit_one());
  EXPECT_LE(all(), 64u);
  EXPECT_GE(all(), 60u);
  node->settle();
  EXPECT_EQ(all(), tasks * 8);
}

}  // namespace
}  // namespace fairlead::testing
