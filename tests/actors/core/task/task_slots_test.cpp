// What the task machine asks of the registry, and what it tells it.

#include "tests/actors/core/task/task_world.hpp"

namespace fairlead::core {
namespace {

using namespace testing;
using words = std::vector<std::string>;

TEST(task_slots, are_asked_for_with_the_input_only_where_a_limit_counts_by_it) {
  world w{graph({step("a", {}, R"({"customer":"${ .input.customer }"})"), step("b", {"a"})})};
  w.agents.counted_by_input = {"do_a"};
  w.started(R"({"customer":"c-7"})");
  w.outcome(0, 1);
  EXPECT_EQ(w.agents.told, (words{R"(claim do_a by {"customer":"c-7"})", "step 0 succeeded"}));
}

TEST(task_slots, that_are_not_free_leave_no_trace_of_the_input_that_was_looked_at) {
  world w{graph({step("a", {}, R"({"customer":"${ .input.customer }"})")})};
  w.agents.counted_by_input = {"do_a"};
  w.agents.instances["n1/svc"].capacity = 0;
  w.started(R"({"customer":"c-7"})");
  EXPECT_FALSE(w.at(0).has_input());
  EXPECT_FALSE(w.apply(slot_freed{}).changed) << "to wait is no change";
  w.agents.instances["n1/svc"].capacity = 1;
  const auto made = w.apply(slot_freed{});
  ASSERT_EQ(made.performs.size(), 1u);
  EXPECT_EQ(made.performs[0].message.input(), R"({"customer":"c-7"})");
}

TEST(task_slots, are_given_back_with_what_the_end_says_of_the_service) {
  world w{graph({step("a")})};
  w.started();
  w.fault(0, 1, v1::FAULT_KIND_TRANSIENT);
  w.advance_ms(10'000);
  w.apply(recovery_requested{0, 1, 1});
  w.fault(0, 2, v1::FAULT_KIND_IN_DOUBT);
  w.advance_ms(10'000);
  w.apply(recovery_requested{0, 2, 2});
  w.advance_ms(5'000);
  w.apply(recovery_requested{0, 3, 2});
  EXPECT_EQ(w.agents.told, (words{"step 0 failed", "step 0 failed", "step 0 expired"}));
}

TEST(task_slots, tell_a_service_that_refuses_from_one_that_fails) {
  world w{graph({step("a")})};
  w.started();
  w.fault(0, 1, v1::FAULT_KIND_PERMANENT);
  EXPECT_EQ(w.agents.told, words{"step 0 answered"});
}

TEST(task_slots, of_a_dead_process_say_nothing_of_its_service) {
  world w{graph({step("a")})};
  w.started();
  w.agents.replace("n1/svc");
  w.apply(agent_replaced{"n1/svc", 2});
  EXPECT_EQ(w.agents.told, words{"step 0 lost"});
  EXPECT_EQ(w.agents.instances["n1/svc"].held, 1) << "the next attempt";
}

TEST(task_slots, are_unused_when_the_input_cannot_be_rendered) {
  world w{graph({step("a", {}, R"({"customer":"${ .input.nobody }"})")})};
  w.started();
  EXPECT_TRUE(w.record.parked());
  EXPECT_EQ(w.agents.told, words{"step 0 unused"});
}

TEST(task_slots, that_many_steps_want_alike_are_asked_for_once) {
  std::vector<v1::StepDefinition> steps;
  for (int i = 0; i < 20; ++i) {
    steps.push_back(step("s" + std::to_string(i)));
    steps.back().set_call("work");
  }
  world w{graph(steps)};
  w.agents.instances["n1/svc"].capacity = 0;
  w.submit();
  const auto made = w.apply(task_admitted{});
  EXPECT_EQ(made.waiting.size(), 1u);
  EXPECT_TRUE(made.found_no_instance);
}

TEST(task_slots, with_labels_of_their_own_each_wait_in_their_own_queue) {
  auto near = step("near");
  auto* zone = near.add_labels();
  zone->set_key("zone");
  zone->set_value("eu");
  auto far = step("far");
  far.set_call(near.call());
  world w{graph({near, far})};
  w.agents.instances["n1/svc"].capacity = 0;
  w.submit();
  const auto made = w.apply(task_admitted{});
  ASSERT_EQ(made.waiting.size(), 2u);
  EXPECT_EQ(made.waiting[0].step, 0u);
  EXPECT_EQ(made.waiting[1].step, 1u);
}

}  // namespace
}  // namespace fairlead::core
