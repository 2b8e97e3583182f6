#pragma once
// The names that a workflow has, against which those in a test file are checked.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/yaml/reader.hpp"
#include "messages/workflow.pb.h"

namespace fairlead::app {

/// A step as a test file names it: `ship`, or `ship[2]`, which is an item of a step with `for_each`, counted from 0 as `.index` is.
struct step_or_item {
  std::string step;
  std::optional<std::uint32_t> item;
};

class workflow_names {
 public:
  explicit workflow_names(const v1::WorkflowDefinition& definition);

  const v1::WorkflowDefinition& definition() const { return *definition_; }
  /// null: the workflow has no such step.
  const v1::StepDefinition* step(const std::string& name) const;
  /// `payment.charge` is what some step performs, or what undoes it.
  bool has_call(const std::string& key) const;
  /// Some step that awaits a callback performs the call.
  bool has_callback(const std::string& call) const;
  const std::vector<std::string>& calls() const { return calls_; }
  const std::vector<std::string>& steps() const { return steps_; }

  /// Each complains at the node where the workflow has no such name.
  bool check_step(const yaml_node& node, const std::string& name) const;
  /// As check_step, also of the items of a step.
  std::optional<step_or_item> step_or_item_of(const yaml_node& node, const std::string& text) const;
  bool check_signal(const yaml_node& node, const std::string& name) const;

 private:
  const v1::WorkflowDefinition* definition_;
  std::vector<std::string> steps_, calls_, signals_, callback_calls_;
};

/// The value of a map's entry, placed at its key: for problems with the key.
yaml_node at_key(const yaml_node& map, std::size_t index, yaml_node value);

/// Why the step's list, which has `count` items, has no such item, and what to write in its place.
std::pair<std::string, std::string> beyond_list(const step_or_item& what, std::size_t count);

/// `did you mean charge?`, or which names there are; without a full stop.
std::string names_remedy(const std::string& unknown, const std::vector<std::string>& known, const std::string& what);

}  // namespace fairlead::app
