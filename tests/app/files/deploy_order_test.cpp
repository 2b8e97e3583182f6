#include "app/files/deploy_order.hpp"

#include <gtest/gtest.h>

#include <string>

namespace fairlead::app {
namespace {

/// A workflow whose steps name these sub-workflows.
v1::WorkflowDefinition naming(const std::string& name, const std::vector<std::string>& children = {}) {
  v1::WorkflowDefinition out;
  out.set_name(name);
  out.add_steps()->set_kind(v1::STEP_KIND_VALUE);
  for (const auto& child : children) {
    auto& step = *out.add_steps();
    step.set_kind(v1::STEP_KIND_WORKFLOW);
    step.set_workflow(child);
  }
  return out;
}

std::vector<std::string> ordered(const std::vector<v1::WorkflowDefinition>& all) {
  std::vector<std::string> out;
  for (const auto one : deploy_order(all)) out.push_back(all[one].name());
  return out;
}

using names = std::vector<std::string>;

TEST(deploy_order, has_sub_workflows_before_those_that_name_them) {
  EXPECT_EQ(ordered({naming("a", {"c", "b"}), naming("b", {"d"}), naming("c"), naming("d")}), (names{"c", "d", "b", "a"}));
}

TEST(deploy_order, is_that_of_the_files_where_nothing_is_named) {
  EXPECT_EQ(ordered({naming("b"), naming("a", {"elsewhere"}), naming("c")}), (names{"b", "a", "c"}));
}

TEST(deploy_order, has_each_once_where_workflows_name_each_other) {
  EXPECT_EQ(ordered({naming("a", {"b"}), naming("b", {"a"}), naming("c", {"c"})}), (names{"b", "a", "c"}));
}

TEST(deploy_order, has_both_files_of_one_name) {
  EXPECT_EQ(ordered({naming("a", {"b"}), naming("b"), naming("b")}), (names{"b", "b", "a"}));
}

}  // namespace
}  // namespace fairlead::app
