#pragma once
// Turns the node file and the caller's additions into the options of the node's parts.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <caf/actor_system_config.hpp>

#include "actors/agent_host/local_agent.hpp"
#include "actors/expressions/pool.hpp"
#include "actors/shard/shard.hpp"
#include "app/access/audit_list.hpp"
#include "app/config/config.hpp"
#include "app/node/runtime.hpp"
#include "store/disk/disk_stores.hpp"

namespace fairlead::app {

/// Settings that a node needs of CAF 0.17.6 (docs/architecture.md says why), then those of the node file.
class caf_config final : public caf::actor_system_config {
 public:
  caf_config();

  /// Names and values were checked when the file was read.
  void pass_through(const std::vector<std::pair<std::string, std::string>>& settings);
};

/// The agent with its first backend.
result<local_agent> made(const given_agent& given, const std::string& name, std::uint32_t capacity, const agents::agent_settings& settings);

/// The agents of `sections`, which are all or some of those of `config`.
result<std::vector<local_agent>> agents_of(const node_config& config, const std::vector<agent_section>& sections,
                                           const std::vector<given_agent>& given, const std::shared_ptr<const agents::secrets>& secrets,
                                           const std::string& program);

/// The file's agents and the given ones.
result<std::vector<local_agent>> all_agents(const node_config& config, const std::vector<given_agent>& given,
                                            const std::shared_ptr<const agents::secrets>& secrets, const std::string& program);

/// The identity of the node, as far as the file has it.
v1::Hello hello_of(const node_config& config);

/// The place of this node's replica of a shard that several nodes hold.
replica_seat::options seat_of(const node_config& config, std::uint32_t number);
shard_options options_of(const node_config& config, std::uint32_t number);

/// The audit of a node with an API.
status open_audit(const node_config& config, const clock& time, observer& log, std::shared_ptr<audit_log>& out);

expression_pool_options pool_options_of(const node_config& config, const std::string& program);

}  // namespace fairlead::app
