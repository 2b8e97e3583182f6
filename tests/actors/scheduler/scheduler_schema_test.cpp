// Submissions whose input does not fit the schema of their workflow.

#include "tests/actors/scheduler/scheduler_world.hpp"

namespace fairlead::testing {
namespace {

class scheduler_schema_test : public scheduler_fixture {
 protected:
  scheduler_schema_test() {
    add_agent(agent("n1/svc"));
    deploy(checked(R"({"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]})"));
  }

  static v1::WorkflowDefinition checked(const std::string& schema) {
    auto out = workflow_of({step("a")});
    out.set_input_schema_json(schema);
    return out;
  }

  std::uint64_t stored_tasks() { return store.read()->count(store::table::task); }
};

TEST_F(scheduler_schema_test, an_input_that_does_not_fit_is_refused_and_nothing_is_stored) {
  const auto before = store.read()->get_progress().sequence;
  const auto got = submit(submission("t1", R"({"n":"1"})"));
  EXPECT_EQ(got.error().code(), v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_EQ(got.error().sentence(), "the input does not fit the schema of workflow order: /n: must be an integer, found a string");
  EXPECT_EQ(got.error().remedy(), "correct the input; fairlead workflow show order shows the schema");
  EXPECT_FALSE(got.created());
  EXPECT_EQ(submit(submission("t1", "{}")).error().sentence(), "the input does not fit the schema of workflow order: /n: is missing");
  EXPECT_EQ(submit(submission("t1", "")).error().sentence(),
            "the input does not fit the schema of workflow order: the input must be an object, found null")
      << "no input is null";
  EXPECT_EQ(store.read()->get_progress().sequence, before);
  EXPECT_EQ(stored_tasks(), 0U);
  EXPECT_TRUE(submit(submission("t1", R"({ "n" : 1 })")).created()) << "the id is free";
}

TEST_F(scheduler_schema_test, one_of_many_is_refused_and_the_others_are_taken) {
  const auto ticket = offer({submission("t1", R"({"n":1})"), submission("t2", "[]"), submission("t3", R"({"n":3})")});
  node->settle();
  const auto& results = out.submits.at(ticket).results();
  EXPECT_TRUE(results[0].created());
  EXPECT_NE(results[1].error().sentence().find("does not fit the schema"), std::string::npos) << results[1].error().sentence();
  EXPECT_TRUE(results[2].created());
}

TEST_F(scheduler_schema_test, what_was_taken_is_answered_as_taken_whatever_the_schema_says_now) {
  ASSERT_TRUE(submit(submission("t1", R"({"n":1})")).created());
  deploy(checked(R"({"properties":{"n":{"type":"string"}}})"));
  const auto again = submit(submission("t1", R"({"n":1})"));
  EXPECT_EQ(again.error().code(), v1::ERROR_CODE_OK);
  EXPECT_FALSE(again.created());
  EXPECT_EQ(submit(submission("t1", R"({"n":2})")).error().code(), v1::ERROR_CODE_CONFLICT) << "the id comes before the input";
  EXPECT_EQ(submit(submission("t2", R"({"n":1})")).error().code(), v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_TRUE(submit(submission("t2", R"({"n":"1"})")).created());
}

TEST_F(scheduler_schema_test, the_schema_is_known_after_a_restart) {
  restart();
  add_agent(agent("n1/svc"));
  EXPECT_EQ(submit(submission("t1", "{}")).error().code(), v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_TRUE(submit(submission("t1", R"({"n":1})")).created());
}

TEST_F(scheduler_schema_test, without_a_schema_any_input_is_taken) {
  deploy(workflow_of({step("a")}));
  EXPECT_TRUE(submit(submission("t1", "[1]")).created());
}

TEST_F(scheduler_schema_test, a_schema_that_cannot_be_checked_is_not_deployed) {
  v1::DeployRequest request;
  *request.mutable_definition() = checked(R"({"properties":{"n":{"pattern":"x"}}})");
  node->shell.answer(request, next_ticket);
  node->settle();
  const auto& reply = out.deploys.at(next_ticket++);
  EXPECT_EQ(reply.error().code(), v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_EQ(reply.error().sentence().rfind("workflow order, input.properties.n.pattern: the time that a regular expression takes", 0), 0U)
      << reply.error().sentence();
}

}  // namespace
}  // namespace fairlead::testing
