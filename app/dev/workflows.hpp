#pragma once
// Deploys the workflows of a node as their files change, and registers scripted agents for their
// calls.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "actors/client/client.hpp"
#include "actors/core/workflow/check.hpp"
#include "actors/expressions/pool.hpp"
#include "app/dev/files.hpp"
#include "app/dev/scripts.hpp"
#include "app/files/workflow_file.hpp"
#include "app/node/runtime.hpp"

namespace fairlead::app {

class dev_workflows {
 public:
  using sayer = std::function<void(const std::string& line)>;

  /// `provided` are the agents that the node already has.
  dev_workflows(node_runtime& node, client& to, core::agent_catalog provided, std::shared_ptr<const scripts> told, sayer say);

  /// Changes that were found at the same time.
  void take(const std::vector<watched_files::change>& changes);

  /// An input to propose for each deployed workflow, by its name.
  std::map<std::string, std::string> proposals() const;
  /// Calls that have a script but are in no workflow.
  std::set<std::string> idle_scripts() const;

 private:
  bool provided(const std::string& agent, const std::string& call) const;
  status add_agents(const v1::WorkflowDefinition& definition);
  void forget(const std::string& path);
  /// nullopt: it cannot be deployed, and that was said.
  std::optional<workflow_file> read(const watched_files::change& change);
  void deploy(const workflow_file& file);

  node_runtime& node_;
  client& client_;
  const core::agent_catalog provided_;
  const std::shared_ptr<const scripts> told_;
  const sayer say_;
  expression_pool expressions_;
  std::map<std::string, std::set<std::string>> scripted_;  // calls by agent
  std::map<std::string, std::uint32_t> instances_;         // the number of scripted instances by agent
  std::map<std::string, std::string> workflow_of_;         // by file
  std::map<std::string, std::string> proposals_;           // by workflow, also of those whose file is gone
};

}  // namespace fairlead::app
