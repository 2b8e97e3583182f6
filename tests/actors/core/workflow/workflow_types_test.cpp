// What a client may send as the types of a workflow, which comes past no YAML file.

#include "actors/core/workflow/types.hpp"

#include "actors/core/types/message_types.hpp"
#include "actors/core/workflow/workflow.hpp"
#include "messages/api.pb.h"
#include "tests/actors/core/task/task_world.hpp"

namespace fairlead::core::testing {
namespace {

using lines = std::vector<std::string>;

v1::WorkflowDefinition typed(const std::string& input_type, const std::string& types, const std::string& with = {}) {
  auto one = step("a", {}, with);
  one.set_input_type(input_type);
  auto out = graph({one});
  out.set_types(types);
  return out;
}

std::string carried() { return *describe_types({v1::SubmitRequest::descriptor()}); }

// As the node answers a deploy.
lines problems_of(const v1::WorkflowDefinition& definition) {
  lines out;
  for (const auto& p : check_definition(definition, nullptr)) out.push_back(p.step + "/" + p.field + ": " + p.sentence);
  return out;
}

TEST(workflow_types, are_refused_when_they_cannot_be_read) {
  EXPECT_EQ(problems_of(typed("x.Y", "\xff\xff\xff")), (lines{"/types: the file is not a google.protobuf.FileDescriptorSet"}));
  EXPECT_EQ(problems_of(typed("x.Y", std::string(max_types_bytes + 1, '\n'))),
            (lines{"/types: the descriptor set takes 262145 bytes; at most 262144 are allowed"}));
  EXPECT_EQ(problems_of(typed("", carried())), (lines{"/types: no step uses a type, so types has no effect"}));
}

TEST(workflow_types, a_step_names_one_that_is_there) {
  EXPECT_EQ(problems_of(typed("fairlead.v1.SubmitRequest", carried())), lines{});
  EXPECT_EQ(problems_of(typed("fairlead.v1.SubmitRequest", "")), (lines{"a/input_type: the workflow has no types"}));
  EXPECT_EQ(problems_of(typed("fairlead.v1.Nothing\x1b[31m", carried())),
            (lines{"a/input_type: there is no message fairlead.v1.Nothing?[31m in the workflow's types"}));
  // An enum is no message.
  EXPECT_EQ(problems_of(typed("fairlead.v1.ErrorCode", carried())).size(), 1U);
}

TEST(workflow_types, every_literal_that_does_not_fit_is_named) {
  const auto found =
      problems_of(typed("fairlead.v1.SubmitRequest", carried(),
                        R"({"items":[{"workflow":"${ .input.w }","id":7},{"prioriti":"${ .input.p }","labels":{}}],"more":1})"));
  EXPECT_EQ(found, (lines{"a/with.items[0].id: expected a string, found 7",
                          "a/with.items[1].prioriti: fairlead.v1.Submission has no field prioriti; nearest: priority",
                          "a/with.items[1].labels: expected a list of fairlead.v1.Label, found an object",
                          "a/with.more: fairlead.v1.SubmitRequest has no field more"}));
}

TEST(workflow_types, items_of_a_list_in_the_file_are_looked_at_where_they_are_the_input) {
  auto each = typed("fairlead.v1.SubmitRequest", carried());
  auto& step = *each.mutable_steps(0);
  step.clear_with_json();
  step.mutable_for_each()->set_at_once(1);
  step.mutable_for_each()->set_list_json(R"([{"items":[]},"${ .input }",{"more":1}])");
  EXPECT_EQ(problems_of(each), (lines{"a/for_each.items[2].more: fairlead.v1.SubmitRequest has no field more"}));
  step.set_with_json(R"({"items":["${ .item }"]})");
  EXPECT_EQ(problems_of(each), lines{});
}

TEST(workflow_types, what_was_not_checked_does_not_compile_either) {
  EXPECT_FALSE(workflow::compile(typed("fairlead.v1.SubmitRequest", ""), "hash").ok());
  EXPECT_FALSE(workflow::compile(typed("fairlead.v1.Nothing", carried()), "hash").ok());
  EXPECT_FALSE(workflow::compile(typed("fairlead.v1.SubmitRequest", "\xff"), "hash").ok());
  const auto good = workflow::compile(typed("fairlead.v1.SubmitRequest", carried()), "hash");
  ASSERT_TRUE(good.ok());
  EXPECT_NE((*good)->compiled(0).input_type, nullptr);
  EXPECT_EQ((*good)->compiled(0).output_type, nullptr);
}

}  // namespace
}  // namespace fairlead::core::testing
