#pragma once
// Values for the inputs of tasks and the outputs of calls: those of a test file, or made from what the workflow reads.

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
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

  using path_of_keys = std::vector<std::string>;
  using leaves_by_path = std::map<path_of_keys, std::vector<json>>;  // what paths are compared with

  void note_step(const v1::StepDefinition& step);
  void note_list(const v1::StepDefinition& step);
  void note_reads(const std::string& expression, bool whole, const std::string& own_output = {});
  void note_path(path_of_keys path, const std::vector<json>& values, const std::string& own_output);
  static json made(const leaves_by_path& leaves, dice& roll);
  json value_of(const std::string& whose, dice& roll) const;
  const leaves_by_path* list_at(const std::string& whose, const path_of_keys& path) const;
  static std::int64_t size_of_list(std::int64_t least, std::int64_t most, dice& roll);
  static json list_of(const leaves_by_path& element, dice& roll);
  void put_lists(const std::string& whose, json& into, bool only_missing, dice& roll) const;
  json by_schema(const json& schema, const json& defs, const std::vector<std::string>& path, dice& roll, int depth) const;

  std::map<std::string, std::vector<std::string>> passes_on_;            // by step without an agent: the steps whose outputs it gives
  std::set<std::string> with_items_;                                     // steps with `for_each`, whose outputs nobody makes up
  std::map<std::string, leaves_by_path> reads_;                          // by step, `` for the input
  std::map<std::string, std::map<path_of_keys, leaves_by_path>> lists_;  // the same, of lists for `for_each`: what is read of an item
  std::optional<json> schema_;
  std::vector<std::string> inputs_;                              // JSON texts; empty: they are made
  std::map<std::string, std::vector<std::string>> outputs_;      // by step or `AGENT.CALL`
  std::map<std::string, std::vector<std::string>> called_back_;  // the same, of steps with `callback`: what callbacks give
};

}  // namespace fairlead::app::simulate
