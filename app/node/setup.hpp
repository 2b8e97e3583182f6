#pragma once
// From the node file, and what whoever starts the node adds to it, to what the parts of a node are started with.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <caf/actor_system_config.hpp>

#include "actors/agent_host/local_agent.hpp"
#include "actors/expressions/pool.hpp"
#include "actors/shard/shard.hpp"
#include "app/config/config.hpp"
#include "app/node/runtime.hpp"

namespace fairlead::app {

/// Settings that CAF 0.17.6 needs for a node to behave (docs/architecture.md says why), then what the node file says.
class caf_config final : public caf::actor_system_config {
 public:
  caf_config();

  /// The names and values were checked when the file was read.
  void pass_through(const std::vector<std::pair<std::string, std::string>>& settings);
};

/// The agent with its first backend.
result<local_agent> made(const given_agent& given, const std::string& name, std::uint32_t capacity, const agents::agent_settings& settings);

/// The file's agents and the given ones.
result<std::vector<local_agent>> all_agents(const node_config& config, const std::vector<given_agent>& given,
                                            const std::shared_ptr<const agents::secrets>& secrets, const std::string& program);

/// Who the node is, as far as the file says.
v1::Hello hello_of(const node_config& config);

shard_options options_of(const node_config& config, std::uint32_t number);

expression_pool_options pool_options_of(const node_config& config, const std::string& program);

}  // namespace fairlead::app
