#pragma once
// The links in CAF, and their branch of the supervision tree.

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/cluster/links.hpp"
#include "actors/protocol/connector.hpp"
#include "actors/protocol/handles.hpp"
#include "actors/supervision/guardian.hpp"
#include "actors/supervision/supervised.hpp"

namespace fairlead {

/// The part of another node's gateway that an introduction needs, so that releases whose gateways differ otherwise can still connect.
using node_door = caf::typed_actor<caf::replies_to<v1::Hello, caf::strong_actor_ptr>::with<v1::HelloReply>>;

/// A Hello that is not answered within this has failed.
inline constexpr duration hello_limit = std::chrono::seconds{3};

/// State that the links keep across crashes, so that subscribers stay subscribed. Used by the living links alone.
struct links_store {
  links_memory memory;
  std::vector<caf::strong_actor_ptr> watchers;
  std::vector<std::pair<gateway_token, caf::strong_actor_ptr>> gateways;
  gateway_token next_token = own_gateway + 1;
};

struct links_setup {
  links_options options;
  caf::strong_actor_ptr gateway;  // this node's, as others are to reach it
  std::function<connector_actor(std::size_t dial)> connector_of;
  std::shared_ptr<links_store> store = std::make_shared<links_store>();
  std::function<void(const v1::ShardClaim& claim)> on_held_elsewhere;  // as links_port::held_elsewhere; may be empty
};

class links_shell;

struct links_state {
  std::shared_ptr<links_shell> shell;
  static inline const char* name = "links";
};

links_actor::behavior_type run_links(supervised_stateful_pointer<links_actor, links_state> self, links_setup setup);

/// The branch `network`: connectors (resolving and connecting block, so they have threads of their own) and the links behind `address`.
/// Sets `setup.connector_of`. Call it once for each node.
guardian_spec network_branch(const guardian_world& world, links_setup setup, std::shared_ptr<stable_address> address);

}  // namespace fairlead
