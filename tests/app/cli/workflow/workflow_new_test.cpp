#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "app/cli/workflow/starts.hpp"
#include "app/files/workflow_file.hpp"
#include "app/files/workflow_schema.hpp"
#include "tests/app/problems.hpp"

namespace fairlead::app {
namespace {

TEST(workflow_new, writes_files_that_are_sound) {
  ASSERT_EQ(workflow_start_kinds(), (std::vector<std::string>{"order", "poll", "approval", "list"}));
  for (const auto& kind : workflow_start_kinds()) {
    const auto file = parse_workflow("w.yaml", workflow_start(kind, "my-own"), nullptr);
    EXPECT_EQ(shown(file.problems), lines{}) << kind;
    EXPECT_EQ(file.definition.name(), "my-own");
    EXPECT_GE(file.definition.steps_size(), 3) << kind;
  }
}

TEST(workflow_new, has_undo_and_a_pivot_a_step_that_is_repeated_a_signal_and_a_list) {
  const auto step_of = [](const std::string& kind, const std::string& name) {
    const auto file = parse_workflow("w.yaml", workflow_start(kind, "w"), nullptr);
    for (const auto& step : file.definition.steps())
      if (step.name() == name) return step;
    throw std::runtime_error("no step " + name);
  };
  EXPECT_EQ(step_of("order", "charge").undo().call(), "refund");
  EXPECT_TRUE(step_of("order", "ship").pivot());
  EXPECT_TRUE(step_of("poll", "finished").has_repeat());
  EXPECT_EQ(step_of("approval", "approval").signal(), "approve");
  EXPECT_TRUE(step_of("list", "each").for_each().collect());
}

TEST(workflow_new, knows_no_other_kind) { EXPECT_THROW(workflow_start("cron", "w"), std::logic_error); }

TEST(workflow_schema, is_in_the_program) {
  const auto schema = nlohmann::json::parse(workflow_schema());
  EXPECT_EQ(schema["$schema"], "http://json-schema.org/draft-07/schema#");
  EXPECT_TRUE(schema["properties"].contains("steps"));
}

}  // namespace
}  // namespace fairlead::app
