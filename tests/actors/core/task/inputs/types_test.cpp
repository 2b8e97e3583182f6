// Steps that name Protobuf types for their input and output.

#include "actors/core/types/message_types.hpp"
#include "messages/api.pb.h"
#include "tests/actors/core/task/task_world.hpp"

namespace fairlead::core::testing {
namespace {

/// One step from fairlead.v1.StatesRequest to fairlead.v1.StatesReply.
v1::WorkflowDefinition typed(v1::OnFailure on_failure = v1::ON_FAILURE_PARK, const std::string& with = {}) {
  auto one = with_undo_none(step("a", {}, with));
  one.set_input_type("fairlead.v1.StatesRequest");
  one.set_output_type("fairlead.v1.StatesReply");
  auto out = graph({one});
  out.set_on_failure(on_failure);
  out.set_types(*describe_types({v1::StatesRequest::descriptor(), v1::StatesReply::descriptor()}));
  return out;
}

const std::string fits = R"({"ids":["x"]})";
const std::string does_not = R"({"ids":["x",5]})";

TEST(task_types, what_fits_is_handed_over_and_taken) {
  world w{typed()};
  w.started(fits);
  EXPECT_EQ(w.at(0).state(), v1::STEP_STATE_RUNNING);
  EXPECT_TRUE(w.outcome(0, 1, R"({"items":[{"id":"x","state":"TASK_STATE_COMPLETED"}]})").ended);
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_COMPLETED);
}

TEST(task_types, an_input_that_does_not_fit_fails_the_step_without_an_attempt_and_gives_its_slot_back) {
  world w{typed()};
  w.submit(does_not);
  const auto made = w.apply(task_admitted{});
  EXPECT_TRUE(made.performs.empty());
  EXPECT_EQ(w.at(0).state(), v1::STEP_STATE_FAILED);
  EXPECT_EQ(w.at(0).attempt(), 0U);
  EXPECT_EQ(w.at(0).fault().code(), "input_type");
  EXPECT_EQ(w.at(0).fault().kind(), v1::FAULT_KIND_PERMANENT);
  EXPECT_EQ(w.at(0).fault().message(), "the step's input, ids[1]: expected a string, found 5");
  EXPECT_EQ(w.record.parked_reason(),
            "step a failed (input_type) and another attempt cannot help: the step's input, ids[1]: expected a string, found 5");
  EXPECT_EQ(w.agents.instances.at("n1/svc").held, 0);
}

TEST(task_types, the_workflow_says_what_follows) {
  world undoing{typed(v1::ON_FAILURE_UNDO)};
  undoing.started(does_not);
  EXPECT_EQ(undoing.record.state(), v1::TASK_STATE_UNDONE);
}

TEST(task_types, what_an_expression_gave_is_checked_as_well) {
  world w{typed(v1::ON_FAILURE_PARK, R"({"ids":"${ .input.n }"})")};
  w.started(R"({"n":["a",{}]})");
  EXPECT_EQ(w.at(0).fault().message(), "the step's input, ids[1]: expected a string, found an object");
}

TEST(task_types, an_operator_can_give_an_input_that_fits_and_no_other) {
  world w{typed()};
  w.started(does_not);
  const auto refused = w.operate(v1::OPERATOR_VERB_RETRY, "a", does_not);
  ASSERT_TRUE(refused.refused.has_value());
  EXPECT_EQ(refused.refused->sentence, "the new input of step a, ids[1]: expected a string, found 5");
  EXPECT_FALSE(w.operate(v1::OPERATOR_VERB_RETRY, "a", fits).refused.has_value());
  EXPECT_EQ(w.at(0).state(), v1::STEP_STATE_RUNNING);
}

TEST(task_types, an_output_that_does_not_fit_leaves_doubt_and_is_not_asked_for_again) {
  world w{typed()};
  w.started(fits);
  EXPECT_TRUE(w.outcome(0, 1, R"({"items":[{"id":7}]})").accepted);
  EXPECT_EQ(w.at(0).state(), v1::STEP_STATE_IN_DOUBT);
  EXPECT_TRUE(w.at(0).doubtful());
  EXPECT_TRUE(w.at(0).given_up());
  EXPECT_EQ(w.at(0).fault().code(), "output_type");
  EXPECT_EQ(w.at(0).fault().message(), "the step's output, items[0].id: expected a string, found 7");
  EXPECT_TRUE(w.record.parked());
  EXPECT_EQ(w.at(0).attempt(), 1U);
}

TEST(task_types, no_output_at_all_does_not_fit_a_message) {
  world w{typed()};
  w.started(fits);
  w.outcome(0, 1, "");
  EXPECT_EQ(w.at(0).fault().code(), "output_type");
}

TEST(task_types, a_lookup_may_settle_it_with_an_output_that_fits_and_with_no_other) {
  for (const auto good : {true, false}) {
    world w{typed()};
    w.agents.lookups.insert("do_a");
    w.started(fits);
    w.outcome(0, 1, "5");
    ASSERT_EQ(w.at(0).direction(), v1::DIRECTION_LOOKUP);
    w.outcome_of(0, v1::DIRECTION_LOOKUP, v1::LOOKUP_VERDICT_DONE, good ? R"({"items":[]})" : "5");
    EXPECT_EQ(w.at(0).state(), good ? v1::STEP_STATE_COMPLETED : v1::STEP_STATE_IN_DOUBT);
    EXPECT_EQ(w.record.parked(), !good);
  }
}

TEST(task_types, an_operator_settles_it_with_an_output_that_fits) {
  world w{typed()};
  w.started(fits);
  w.outcome(0, 1, "5");
  const auto refused = w.operate(v1::OPERATOR_VERB_SETTLE_COMPLETED, "a", "5");
  ASSERT_TRUE(refused.refused.has_value());
  EXPECT_EQ(refused.refused->sentence, "the output of step a: expected an object for fairlead.v1.StatesReply, found a number");
  EXPECT_FALSE(w.operate(v1::OPERATOR_VERB_SETTLE_COMPLETED, "a", R"({"items":[]})").refused.has_value());
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_COMPLETED);
}

}  // namespace
}  // namespace fairlead::core::testing
