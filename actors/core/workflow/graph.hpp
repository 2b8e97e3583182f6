#pragma once
// The `needs` of a workflow definition as a graph. Tolerates any input: unknown names are left out, cycles are listed.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "messages/workflow.pb.h"

namespace fairlead::core {

class needs_graph {
 public:
  /// The first of several steps with one name gets the name. The constructor keeps no views into `definition`.
  explicit needs_graph(const v1::WorkflowDefinition& definition);

  /// Index of a step by name, or -1.
  int index_of(const std::string& name) const;

  /// The direct needs of a step that are other known steps.
  const std::vector<int>& needs(int step) const { return needs_[static_cast<std::size_t>(step)]; }

  /// True when `step` needs `other`, directly or through others. Meaningless if there are cycles.
  bool reaches(int step, int other) const;

  /// Each cycle as the indices of its steps, in the direction of `needs`; at most `limit` cycles. Steps that need themselves are not
  /// listed.
  std::vector<std::vector<int>> cycles(std::size_t limit) const;

 private:
  std::unordered_map<std::string, int> index_;
  std::vector<std::vector<int>> needs_;
  std::vector<std::vector<std::uint64_t>> closure_;  // [step], then a bit for each other step
};

}  // namespace fairlead::core
