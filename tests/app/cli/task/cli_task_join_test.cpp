// What people are shown of steps with a join, and of steps that these do not need.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/cli/task/text.hpp"
#include "app/json/remedies.hpp"
#include "app/json/task.hpp"
#include "app/json/waits.hpp"
#include "tests/app/order_task.hpp"

namespace fairlead::app {
namespace {

/// `ship` needs one of the two others.
v1::TaskShowReply joined_task() {
  auto out = order_task();
  auto& steps = *out.mutable_definition()->mutable_steps();
  steps[1].clear_needs();
  steps[2].clear_needs();
  steps[2].clear_pivot();
  for (const auto* need : {"reserve", "charge"}) steps[2].add_needs(need);
  steps[2].set_join(1);
  return out;
}

known_agents everybody() {
  std::map<std::string, agent_wait> out;
  for (const auto* name : {"reserve_agent", "charge_agent", "ship_agent"}) out[name].there = true;
  return out;
}

TEST(task_join, says_how_many_needs_are_missing) {
  auto reply = joined_task();
  EXPECT_EQ(waits_for(reply, 2, everybody()), "needs 1 of reserve, charge");
  step_of(reply, 0).set_state(v1::STEP_STATE_FAILED);
  step_of(reply, 0).set_passed_over(true);
  EXPECT_EQ(waits_for(reply, 2, everybody()), "needs 1 of charge");
  step_of(reply, 0).clear_passed_over();
  step_of(reply, 0).set_state(v1::STEP_STATE_COMPLETED);
  EXPECT_EQ(waits_for(reply, 2, everybody()), "waits for agent ship_agent") << "the join is met";
}

TEST(task_join, a_dropped_step_waits_for_its_undo) {
  auto reply = joined_task();
  step_of(reply, 0).set_state(v1::STEP_STATE_COMPLETED);
  auto& charge = step_of(reply, 1);
  charge.set_state(v1::STEP_STATE_COMPLETED);
  EXPECT_EQ(waits_for(reply, 1, everybody()), "");
  charge.set_dropped(true);
  EXPECT_EQ(waits_for(reply, 1, everybody()), "to be undone");
  EXPECT_NE(task_show_text(reply).find("completed, dropped"), std::string::npos) << task_show_text(reply);
  const auto json = nlohmann::json::parse(task_show_json(reply));
  EXPECT_EQ(json["steps"][0]["dropped"], false);
  EXPECT_EQ(json["steps"][1]["dropped"], true);
}

TEST(task_join, what_helps_an_undo_helps_that_of_a_dropped_step) {
  auto reply = joined_task();
  reply.mutable_task()->set_parked(true);
  reply.mutable_task()->set_parked_reason("step charge could not be undone (gone) after 1 attempt: told by the service");
  step_of(reply, 0).set_state(v1::STEP_STATE_COMPLETED);
  auto& charge = step_of(reply, 1);
  charge.set_state(v1::STEP_STATE_UNDOING);
  charge.set_direction(v1::DIRECTION_UNDO);
  charge.set_given_up(true);
  charge.set_dropped(true);
  EXPECT_EQ(stuck_steps(reply.task()), std::vector<int>{1});
  std::vector<std::string> commands;
  for (const auto& one : remedies_of(reply.task(), reply.definition())) commands.push_back(one.command);
  ASSERT_GE(commands.size(), 2U);
  EXPECT_EQ(commands[0], "fairlead task retry o-1 charge");
  EXPECT_EQ(commands[1], "fairlead task skip o-1 charge --reason TEXT");
}

}  // namespace
}  // namespace fairlead::app
