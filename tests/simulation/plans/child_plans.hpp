#pragma once
// Steps that are tasks of their own, and the workflows of such tasks.

#include <string>
#include <vector>

#include "messages/workflow.pb.h"
#include "tests/simulation/world/world.hpp"

namespace fairlead::simulation {

/// Fits none of the schemas that generated workflows have.
inline constexpr const char* unfit_input = R"({"unfit":true})";

/// A name that is never deployed.
inline constexpr const char* missing_workflow = "wx";

/// Which workflows the steps of generated ones may name: drawn once for a run.
class child_plan {
 public:
  explicit child_plan(const options& settings);

  /// Of workflows that are made for the tasks of steps.
  const std::vector<std::string>& names() const { return names_; }
  /// Whether a workflow is one of these.
  static bool is_one(const std::string& name) { return name.starts_with("c"); }
  /// Some steps of the workflow become tasks. `luck`: of this workflow alone.
  void add_to(v1::WorkflowDefinition& to, random_stream luck) const;
  /// It mostly gives a number that the next steps can read.
  static void give_output(v1::WorkflowDefinition& to, random_stream luck, const options& settings);

 private:
  std::string name_for(const std::string& parent, random_stream& luck) const;
  void make_one(v1::WorkflowDefinition& in, int index, const std::string& name, random_stream& luck) const;
  static std::string input_of(const v1::StepDefinition& step, bool sums, random_stream& luck);

  const options& settings_;
  std::vector<std::string> names_;
  std::string recursive_;  // the workflow of which one step names itself; empty: none
};

}  // namespace fairlead::simulation
