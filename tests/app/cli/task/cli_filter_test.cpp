// Options that select tasks by their parents.

#include "app/cli/task/filter.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "app/cli/task/operate.hpp"

namespace fairlead::app {
namespace {

std::string refusal(const task_filter& filter) {
  const auto read = list_request(filter);
  if (read) return "";
  EXPECT_EQ(read.failure().code, v1::ERROR_CODE_INVALID_ARGUMENT) << read.failure().sentence;
  return read.failure().sentence;
}

/// The filter that these words of a command give.
task_filter parsed(std::vector<std::string> words) {
  CLI::App app;
  task_filter out;
  add_filter_options(app, out);
  std::reverse(words.begin(), words.end());
  app.parse(std::move(words));
  return out;
}

TEST(task_filter, takes_tasks_without_a_parent_or_the_children_of_one) {
  EXPECT_FALSE(parsed({}).given());
  const auto top_level = list_request(parsed({"--top-level", "--state", "running"}));
  ASSERT_TRUE(top_level.ok()) << top_level.failure().sentence;
  EXPECT_TRUE(top_level->top_level());
  EXPECT_EQ(top_level->parent(), "");
  EXPECT_EQ(top_level->states_size(), 1);
  const auto children = list_request(parsed({"--parent", "order-7/ship~1", "--parked"}));
  ASSERT_TRUE(children.ok()) << children.failure().sentence;
  EXPECT_FALSE(children->top_level());
  EXPECT_EQ(children->parent(), "order-7/ship~1");
  EXPECT_TRUE(children->parked_only());
}

TEST(task_filter, that_no_task_can_meet_or_that_names_no_parent_is_refused) {
  task_filter filter;
  filter.parent = "";
  EXPECT_EQ(refusal(filter), "--parent is empty") << "a script's variable that is not set";
  filter.parent = "a b";
  EXPECT_EQ(refusal(filter), "--parent is not a task id.");
  filter.parent = std::string(481, 'x');
  EXPECT_EQ(refusal(filter), "--parent is not a task id.");
  filter.parent = "order-7";
  EXPECT_EQ(refusal(filter), "");
  filter.top_level = true;
  EXPECT_EQ(refusal(filter), "--parent and --top-level are both given, and no child is without a parent.");
}

TEST(task_filter, without_children_is_not_enough_to_act_on_all_tasks) {
  operate_options options;
  options.verb = "cancel";
  options.by = "ana";
  options.filter.top_level = true;
  auto read = read_operation(options);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.failure().sentence, "--top-level is the only filter, and would mean nearly all tasks");
  options.words = {"order-7"};
  EXPECT_EQ(read_operation(options).failure().sentence, "Both 'order-7' and a filter are given");
  options.words.clear();
  options.filter.workflow = "order";
  read = read_operation(options);
  ASSERT_TRUE(read.ok()) << read.failure().sentence;
  EXPECT_TRUE(read->which->top_level());
  EXPECT_EQ(read->which->workflow(), "order");
}

TEST(task_filter, may_name_the_children_that_are_to_be_acted_on) {
  operate_options options;
  options.verb = "retry";
  options.by = "ana";
  options.filter.parent = "order-7";
  const auto read = read_operation(options);
  ASSERT_TRUE(read.ok()) << read.failure().sentence;
  ASSERT_TRUE(read->which);
  EXPECT_EQ(read->which->parent(), "order-7");
}

TEST(task_filter, whose_conditions_an_earlier_release_leaves_out_is_noticed_by_its_answer) {
  v1::TaskListRequest what;
  v1::TaskListReply answer;
  what.set_workflow("order");
  EXPECT_FALSE(conditions_left_out(what, answer)) << "every release knows workflows";
  auto top_level = what, children = what, of_job = what;
  top_level.set_top_level(true);
  children.set_parent("order-7");
  of_job.set_job("nightly");
  for (const auto& one : {top_level, children, of_job}) {
    const auto why = conditions_left_out(one, answer);
    ASSERT_TRUE(why) << one.ShortDebugString();
    EXPECT_EQ(why->code, v1::ERROR_CODE_UNAVAILABLE);
  }
  answer.set_by("workflow");
  EXPECT_FALSE(conditions_left_out(top_level, answer));
  answer.clear_by();
  answer.add_missing();
  EXPECT_FALSE(conditions_left_out(children, answer)) << "no shard has answered that could say";
}

}  // namespace
}  // namespace fairlead::app
