#pragma once
// Steps that are carried out once for each item of a list.

#include <string>

#include "messages/workflow.pb.h"
#include "tests/simulation/world/world.hpp"

namespace fairlead::simulation {

/// Which steps of generated workflows have `for_each`: drawn once for a run, among those that have children.
class item_plan {
 public:
  item_plan(const options& settings, bool has_children);

  /// Some steps of the workflow get a list. `luck`: of this workflow alone.
  void add_to(v1::WorkflowDefinition& to, random_stream luck) const;
  /// What the submitter of a task may give as `list`, in JSON.
  static std::string given_list(random_stream& luck);

 private:
  void make_one(v1::WorkflowDefinition& in, int index, random_stream& luck) const;
  std::string list_of(const v1::WorkflowDefinition& in, const v1::StepDefinition& step, random_stream& luck) const;
  std::string input_of(const v1::StepDefinition& step, random_stream& luck) const;
  std::string undo_input_of(const v1::StepDefinition& step, random_stream& luck) const;

  const options& settings_;
  bool any_ = false;
};

}  // namespace fairlead::simulation
