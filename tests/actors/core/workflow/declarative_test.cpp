#include "actors/core/workflow/declarative.hpp"

#include "tests/actors/core/task/task_world.hpp"

namespace fairlead::core::testing {
namespace {

struct answer {
  std::vector<std::uint32_t> ready;
  bool over;
};

/// One letter a step: p(ending) r(unning) c(ompleted) f(ailed) d(oubt) s(kipped).
answer ask(const v1::WorkflowDefinition& definition, const std::string& states) {
  const auto compiled = workflow::compile(definition, "hash");
  v1::TaskRecord record;
  const declarative_engine engine;
  engine.begin(**compiled, record);
  for (std::size_t i = 0; i < states.size(); ++i) {
    const auto at = std::string{"prcfds"}.find(states[i]);
    record.mutable_steps(static_cast<int>(i))->set_state(static_cast<v1::StepState>(at + 1));
  }
  next_steps next;
  next.ready = {99};
  engine.next(**compiled, record, next);
  return {next.ready, next.over};
}

using indices = std::vector<std::uint32_t>;

TEST(declarative, begins_with_every_step_pending_in_the_order_of_the_source) {
  const auto compiled = workflow::compile(graph({step("b"), step("a", {"b"})}), "hash");
  v1::TaskRecord record;
  declarative_engine{}.begin(**compiled, record);
  ASSERT_EQ(record.steps_size(), 2);
  EXPECT_EQ(record.steps(0).path(), "b");
  EXPECT_EQ(record.steps(1).path(), "a");
  EXPECT_EQ(record.steps(1).definition(), 1u);
  EXPECT_EQ(record.steps(1).state(), v1::STEP_STATE_PENDING);
}

TEST(declarative, says_which_steps_are_ready) {
  const auto diamond = graph({step("a"), step("b", {"a"}), step("c", {"a"}), step("d", {"b", "c"})});
  struct row {
    const char* states;
    indices ready;
    bool over;
  };
  const row rows[] = {
      {"pppp", {0}, false}, {"rppp", {}, false},  {"cppp", {1, 2}, false}, {"crpp", {2}, false}, {"ccpp", {2}, false},
      {"cccp", {3}, false}, {"cscp", {3}, false}, {"cfcp", {}, false},     {"cdcp", {}, false},  {"cccr", {}, false},
      {"cccc", {}, true},   {"cscs", {}, true},   {"sppp", {1, 2}, false}, {"fppp", {}, false},
  };
  for (const auto& [states, ready, over] : rows) {
    const auto got = ask(diamond, states);
    EXPECT_EQ(got.ready, ready) << states;
    EXPECT_EQ(got.over, over) << states;
  }
}

TEST(declarative, starts_independent_steps_together) {
  EXPECT_EQ(ask(graph({step("a"), step("b"), step("c")}), "ppp").ready, (indices{0, 1, 2}));
  EXPECT_EQ(ask(graph({step("a"), step("b"), step("c")}), "cpf").ready, (indices{1}));
}

TEST(declarative, allows_needs_on_steps_that_stand_later_in_the_source) {
  EXPECT_EQ(ask(graph({step("b", {"a"}), step("a")}), "pp").ready, (indices{1}));
  EXPECT_EQ(ask(graph({step("b", {"a"}), step("a")}), "pc").ready, (indices{0}));
}

TEST(workflow, refuses_a_need_that_is_no_step) {
  const auto compiled = workflow::compile(graph({step("a", {"nobody"})}), "hash");
  ASSERT_FALSE(compiled.ok());
  EXPECT_EQ(compiled.failure().sentence, "step a needs nobody, which is not a step");
}

TEST(workflow, names_the_step_whose_template_does_not_parse) {
  const auto compiled = workflow::compile(graph({step("a"), step("b", {}, R"("${ .input.[ }")")}), "hash");
  ASSERT_FALSE(compiled.ok());
  EXPECT_EQ(compiled.failure().sentence.rfind("step b: ", 0), 0u) << compiled.failure().sentence;
}

TEST(workflow, a_stored_schema_that_cannot_be_compiled_counts_for_submissions_only) {
  auto definition = graph({step("a")});
  definition.set_input_schema_json(R"({"laterKeyword":1})");
  const auto compiled = workflow::compile(definition, "hash");
  ASSERT_TRUE(compiled.ok());
  EXPECT_TRUE((*compiled)->usable());
  const auto why = (*compiled)->refuse_input("{}");
  ASSERT_TRUE(why);
  EXPECT_EQ(why->code, v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_NE(why->sentence.find("laterKeyword"), std::string::npos) << why->sentence;
  EXPECT_EQ(why->remedy, "deploy the workflow again");
}

TEST(workflow, an_input_whose_request_has_no_steps_left_is_refused_for_now) {
  auto definition = graph({step("a")});
  definition.set_input_schema_json("{}");
  const auto compiled = workflow::compile(definition, "hash");
  ASSERT_TRUE(compiled.ok());
  comparison_budget budget{1};
  EXPECT_FALSE((*compiled)->refuse_input("1", &budget));
  const auto why = (*compiled)->refuse_input("1", &budget);
  ASSERT_TRUE(why);
  EXPECT_EQ(why->code, v1::ERROR_CODE_OVERLOADED);
  EXPECT_EQ(why->sentence, "the request has used up what comparing inputs may take");
  EXPECT_EQ(why->remedy, "submit the rest again");
}

}  // namespace
}  // namespace fairlead::core::testing
