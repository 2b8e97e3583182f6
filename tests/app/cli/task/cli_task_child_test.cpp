// What people are shown of steps with a sub-workflow, and of the tasks that carry them out.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/cli/task/text.hpp"
#include "app/json/remedies.hpp"
#include "app/json/task.hpp"
#include "app/json/waits.hpp"
#include "tests/app/order_task.hpp"

namespace fairlead::app {
namespace {

using commands = std::vector<std::string>;

/// `charge` is carried out by task `o-1/charge~1`.
v1::TaskShowReply order_with_child(v1::StepState state = v1::STEP_STATE_RUNNING) {
  auto out = order_task();
  auto& charge = *out.mutable_definition()->mutable_steps(1);
  charge.set_kind(v1::STEP_KIND_WORKFLOW);
  charge.set_workflow("payment");
  charge.clear_agent();
  charge.clear_attempts();
  charge.clear_undo();
  step_of(out, 0).set_state(v1::STEP_STATE_COMPLETED);
  auto& step = step_of(out, 1);
  step.set_kind(v1::STEP_KIND_WORKFLOW);
  step.set_state(state);
  step.set_attempt(1);
  step.mutable_child()->set_id("o-1/charge~1");
  return out;
}

v1::TaskShowReply held_up() {
  auto out = order_with_child();
  step_of(out, 1).mutable_child()->set_parked(true);
  out.mutable_task()->set_parked(true);
  out.mutable_task()->set_parked_for_child(true);
  out.mutable_task()->set_parked_reason("task o-1/charge~1 is parked");
  return out;
}

v1::TaskShowReply failed_for_good(bool stands) {
  auto out = order_with_child(v1::STEP_STATE_FAILED);
  auto& step = step_of(out, 1);
  step.set_given_up(true);
  step.mutable_child()->set_stands(stands);
  step.mutable_fault()->set_code("child_failed");
  out.mutable_task()->set_parked(true);
  out.mutable_task()->set_parked_reason("step charge failed (child_failed): task o-1/charge~1 has failed");
  return out;
}

commands commands_of(const v1::TaskShowReply& reply) {
  commands out;
  for (const auto& one : remedies_of(reply.task(), reply.definition())) out.push_back(one.command);
  return out;
}

commands choices(const v1::TaskRecord& task) {
  commands out;
  for (const auto& one : choices_of(task, {}, false)) out.push_back(one.command);
  return out;
}

TEST(task_child, a_step_waits_for_its_task) {
  auto reply = order_with_child();
  EXPECT_EQ(waits_for(reply, 1, {}), "waits for task o-1/charge~1");
  EXPECT_EQ(waits_for(held_up(), 1, {}), "waits for task o-1/charge~1, which is parked");
  reply.mutable_task()->set_state(v1::TASK_STATE_UNDOING);
  step_of(reply, 1).set_state(v1::STEP_STATE_UNDOING);
  EXPECT_EQ(waits_for(reply, 1, {}), "waits for the undo of task o-1/charge~1");
  step_of(reply, 1).set_direction(v1::DIRECTION_UNDO);
  step_of(reply, 1).set_given_up(true);
  reply.mutable_task()->set_parked(true);
  EXPECT_EQ(waits_for(reply, 1, {}), "given up: waits for an operator");
}

TEST(task_child, a_completed_step_is_undone_by_no_agent) {
  auto reply = order_with_child(v1::STEP_STATE_COMPLETED);
  reply.mutable_task()->set_state(v1::TASK_STATE_UNDOING);
  const std::map<std::string, agent_wait> nobody;
  EXPECT_EQ(waits_for(reply, 1, nobody), "to be undone");
  EXPECT_EQ(waits_for(reply, 1, {}), "to be undone");
  reply.mutable_definition()->mutable_steps(1)->mutable_undo()->set_none(true);
  EXPECT_EQ(waits_for(reply, 1, nobody), "");
}

TEST(task_child, is_named_by_its_parent_and_names_it) {
  auto reply = order_with_child(v1::STEP_STATE_COMPLETED);
  auto json = nlohmann::json::parse(task_show_json(reply));
  EXPECT_EQ(json["parent"], nullptr);
  EXPECT_EQ(json["steps"][0]["child"], nullptr);
  EXPECT_EQ(json["steps"][1]["child"], "o-1/charge~1");
  const auto text = task_show_text(reply);
  EXPECT_NE(text.find("o-1/charge~1"), std::string::npos) << text;
  EXPECT_EQ(text.find("\nparent "), std::string::npos) << text;

  auto child = order_task("o-1/charge~1");
  child.mutable_task()->mutable_parent()->set_id("o-1");
  json = nlohmann::json::parse(task_show_json(child));
  EXPECT_EQ(json["parent"], "o-1");
  EXPECT_NE(task_show_text(child).find("\nparent    o-1\n"), std::string::npos) << task_show_text(child);
  EXPECT_EQ(task_show_text(child).find("TASK"), std::string::npos) << "none of its steps has a task";
}

TEST(task_child, that_is_parked_is_what_helps_its_parent) {
  EXPECT_EQ(commands_of(held_up()),
            (commands{"fairlead task show o-1/charge~1", "fairlead task undo o-1", "fairlead task terminate o-1 --reason TEXT"}));
  auto two = held_up();
  step_of(two, 0).set_state(v1::STEP_STATE_FAILED);
  step_of(two, 0).set_given_up(true);
  EXPECT_EQ(commands_of(two)[0], "fairlead task show o-1/charge~1");
  EXPECT_EQ(commands_of(two)[1], "fairlead task retry o-1 reserve") << "it has failed for a reason of its own";
  auto cannot = held_up();
  cannot.mutable_definition()->mutable_steps(0)->clear_undo();
  EXPECT_EQ(commands_of(cannot), (commands{"fairlead task show o-1/charge~1", "fairlead task terminate o-1 --reason TEXT"}));
}

TEST(task_child, that_has_failed_is_begun_anew_once_nothing_of_it_stands) {
  EXPECT_EQ(commands_of(failed_for_good(false)),
            (commands{"fairlead task retry o-1 charge", "fairlead task retry o-1 charge --input JSON",
                      "fairlead task settle o-1 charge --completed JSON --reason TEXT", "fairlead task skip o-1 charge --reason TEXT",
                      "fairlead task undo o-1", "fairlead task terminate o-1 --reason TEXT"}));
  EXPECT_EQ(commands_of(failed_for_good(true)),
            (commands{"fairlead task undo o-1/charge~1", "fairlead task settle o-1 charge --completed JSON --reason TEXT",
                      "fairlead task undo o-1", "fairlead task terminate o-1 --reason TEXT"}));
  auto gone = failed_for_good(true);
  step_of(gone, 1).mutable_fault()->set_code("child_gone");
  EXPECT_EQ(commands_of(gone)[0], "fairlead task settle o-1 charge --completed JSON --reason TEXT") << "there is no task to undo";
  auto reply = failed_for_good(false);
  EXPECT_EQ(remedies_of(reply.task(), reply.definition())[0].effect, "begins another task of workflow payment");
}

TEST(task_child, whose_undo_is_refused_is_looked_at_before_it_is_left) {
  auto reply = order_with_child(v1::STEP_STATE_UNDOING);
  reply.mutable_task()->set_state(v1::TASK_STATE_UNDOING);
  reply.mutable_task()->set_parked(true);
  step_of(reply, 1).set_direction(v1::DIRECTION_UNDO);
  step_of(reply, 1).set_given_up(true);
  EXPECT_EQ(commands_of(reply), (commands{"fairlead task show o-1/charge~1", "fairlead task retry o-1 charge",
                                          "fairlead task skip o-1 charge --reason TEXT", "fairlead task terminate o-1 --reason TEXT"}));
}

TEST(task_child, that_has_ended_belongs_to_its_parent) {
  v1::TaskRecord task;
  task.set_id("o-1/charge~1");
  task.set_state(v1::TASK_STATE_COMPLETED);
  EXPECT_EQ(choices(task), (commands{"fairlead task undo o-1/charge~1", "fairlead task delete o-1/charge~1"}));
  task.mutable_parent()->set_id("o-1");
  EXPECT_EQ(choices(task), commands{});
  task.set_state(v1::TASK_STATE_FAILED);
  EXPECT_EQ(choices(task), commands{"fairlead task undo o-1/charge~1"}) << "nobody goes on with it";
}

}  // namespace
}  // namespace fairlead::app
