#include "app/json/node/task_action.hpp"

#include <gtest/gtest.h>

namespace fairlead::app {
namespace {

std::string misfit(v1::OperatorVerb verb, v1::TaskState state, std::optional<bool> paused = false, bool parked = false) {
  return misfit_of(verb, state, parked, paused);
}

TEST(an_action_on_a_task, that_has_ended_fits_only_an_undo_or_a_deletion) {
  for (const auto state : {v1::TASK_STATE_COMPLETED, v1::TASK_STATE_FAILED, v1::TASK_STATE_UNDONE}) {
    for (const auto verb : {v1::OPERATOR_VERB_RETRY, v1::OPERATOR_VERB_SKIP, v1::OPERATOR_VERB_SETTLE_COMPLETED, v1::OPERATOR_VERB_CANCEL,
                            v1::OPERATOR_VERB_TERMINATE, v1::OPERATOR_VERB_PAUSE, v1::OPERATOR_VERB_RESUME})
      EXPECT_NE(misfit(verb, state), "") << v1::OperatorVerb_Name(verb);
    EXPECT_EQ(misfit(v1::OPERATOR_VERB_DELETE, state), "");
  }
  EXPECT_EQ(misfit(v1::OPERATOR_VERB_UNDO, v1::TASK_STATE_COMPLETED), "");
  EXPECT_EQ(misfit(v1::OPERATOR_VERB_UNDO, v1::TASK_STATE_FAILED), "");
  EXPECT_EQ(misfit(v1::OPERATOR_VERB_UNDO, v1::TASK_STATE_UNDONE), "the task is undone already");
}

TEST(an_action_on_a_task, that_lives_fits_as_its_state_says) {
  EXPECT_EQ(misfit(v1::OPERATOR_VERB_DELETE, v1::TASK_STATE_RUNNING), "the task has not ended");
  EXPECT_EQ(misfit(v1::OPERATOR_VERB_RETRY, v1::TASK_STATE_PENDING), "the task is pending: no step has been tried yet");
  EXPECT_EQ(misfit(v1::OPERATOR_VERB_RETRY, v1::TASK_STATE_RUNNING), "");
  EXPECT_EQ(misfit(v1::OPERATOR_VERB_CANCEL, v1::TASK_STATE_UNDOING), "the task is being undone already");
  EXPECT_EQ(misfit(v1::OPERATOR_VERB_TERMINATE, v1::TASK_STATE_UNDOING), "");
}

TEST(an_action_on_a_task, to_pause_or_resume_it_fits_as_far_as_its_pause_is_known) {
  EXPECT_EQ(misfit(v1::OPERATOR_VERB_PAUSE, v1::TASK_STATE_RUNNING, true), "the task is paused already");
  EXPECT_EQ(misfit(v1::OPERATOR_VERB_PAUSE, v1::TASK_STATE_RUNNING, std::nullopt), "");
  EXPECT_EQ(misfit(v1::OPERATOR_VERB_RESUME, v1::TASK_STATE_RUNNING, true), "");
  EXPECT_EQ(misfit(v1::OPERATOR_VERB_RESUME, v1::TASK_STATE_RUNNING, std::nullopt), "");
  EXPECT_EQ(misfit(v1::OPERATOR_VERB_RESUME, v1::TASK_STATE_RUNNING), "the task is not paused");
  EXPECT_EQ(misfit(v1::OPERATOR_VERB_RESUME, v1::TASK_STATE_RUNNING, false, true), "the task is parked, not paused");
}

TEST(an_action_on_a_task, that_migrates_nothing_names_no_version_not_even_an_empty_one) {
  for (const auto from : {true, false}) {
    asked_action asked;
    asked.verb = "retry";
    (from ? asked.from : asked.to) = "";
    std::string pointer;
    EXPECT_FALSE(asked.read(pointer).ok());
    EXPECT_EQ(pointer, from ? "/from" : "/to");
  }
}

TEST(an_action_on_a_task, that_settles_no_step_gives_the_output_of_the_task) {
  asked_action asked;
  asked.verb = "settle_completed";
  asked.output = R"({"n":1})";
  asked.reason = "seen";
  std::string pointer;
  const auto read = asked.read(pointer);
  ASSERT_TRUE(read.ok()) << read.failure().sentence;
  EXPECT_EQ(read->step(), "");
  EXPECT_EQ(read->json(), R"({"n":1})");
  const auto refused_at = [&asked] {
    std::string at;
    EXPECT_FALSE(asked.read(at).ok());
    return at;
  };
  asked.reason = "";
  EXPECT_EQ(refused_at(), "/reason");
  asked.reason = "seen";
  asked.output = "";
  EXPECT_EQ(refused_at(), "/step") << "neither is given";
  asked.step = "charge";
  EXPECT_EQ(refused_at(), "/output");
  asked.step = "";
  asked.verb = "settle_never_happened";
  EXPECT_EQ(refused_at(), "/step") << "a task as a whole is not in doubt";
}

TEST(an_action_on_a_task, is_no_signal) {
  asked_action asked;
  asked.verb = "signal";
  std::string pointer;
  const auto read = asked.read(pointer);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(pointer, "/verb");
  EXPECT_EQ(read.failure().sentence, "There is no verb 'signal'.");
  EXPECT_EQ(read.failure().remedy.find("signal"), std::string::npos) << read.failure().remedy;
}

TEST(an_action_on_a_list, leaves_children_to_their_parents_where_it_goes_down_to_them) {
  for (const auto verb :
       {v1::OPERATOR_VERB_UNDO, v1::OPERATOR_VERB_CANCEL, v1::OPERATOR_VERB_TERMINATE, v1::OPERATOR_VERB_PAUSE, v1::OPERATOR_VERB_RESUME}) {
    EXPECT_TRUE(left_to_parent(verb, "o-1/ship~1")) << v1::OperatorVerb_Name(verb);
    EXPECT_TRUE(left_to_parent(verb, "o-1/ship~1/pack~2")) << v1::OperatorVerb_Name(verb);
    EXPECT_FALSE(left_to_parent(verb, "o-1/ship")) << "anybody may choose this id";
  }
  for (const auto verb : {v1::OPERATOR_VERB_RETRY, v1::OPERATOR_VERB_SKIP, v1::OPERATOR_VERB_SETTLE_COMPLETED,
                          v1::OPERATOR_VERB_SETTLE_NEVER_HAPPENED, v1::OPERATOR_VERB_DELETE, v1::OPERATOR_VERB_MIGRATE})
    EXPECT_FALSE(left_to_parent(verb, "o-1/ship~1")) << v1::OperatorVerb_Name(verb);
}

}  // namespace
}  // namespace fairlead::app
