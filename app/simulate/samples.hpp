#pragma once
// Values for the inputs of tasks and the outputs of calls: those of a test file, or made from what the workflow reads.

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/simulate/weather.hpp"
#include "app/workflow_test/test_file.hpp"
#include "messages/workflow.pb.h"

namespace fairlead::app::simulate {

class samples {
 public:
  explicit samples(const v1::WorkflowDefinition& of);

  /// Inputs of its cases, and the outputs that its answers give.
  void read(const test_file& from);
  /// All tasks get this input.
  void give_input(std::string json) { inputs_ = {std::move(json)}; }

  /// JSON text.
  std::string input(dice roll) const;
  std::string output(const v1::StepDefinition& of, dice roll) const;

 private:
  using json = nlohmann::json;

  void note_reads(const std::string& expression, bool whole);
  void note_path(std::vector<std::string> path, const std::vector<json>& values);
  static json made(const std::map<std::vector<std::string>, std::vector<json>>& leaves, dice& roll);
  json by_schema(const json& schema, const json& defs, const std::vector<std::string>& path, dice& roll, int depth) const;

  std::map<std::string, std::vector<std::string>> passes_on_;  // by step without an agent: the steps whose outputs it gives
  std::map<std::string, std::map<std::vector<std::string>, std::vector<json>>>
      reads_;  // by step, `` for the input: paths and what is compared
  std::optional<json> schema_;
  std::vector<std::string> inputs_;                          // JSON texts; empty: they are made
  std::map<std::string, std::vector<std::string>> outputs_;  // by step or `AGENT.CALL`
};

}  // namespace fairlead::app::simulate
