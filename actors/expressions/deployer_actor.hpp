#pragma once
// Checks the expressions of definitions before their deployment. A request to the expression worker blocks, so the actor has its own thread
// (spawn it detached) and the gateway goes on.

#include <functional>
#include <string>
#include <vector>

#include "actors/protocol/handles.hpp"
#include "actors/supervision/supervised.hpp"
#include "messages/error.hpp"

namespace fairlead {

using deployer_actor = caf::typed_actor<
    // The reply has the error of the first expression that does not compile, or is empty. Nothing is deployed.
    caf::replies_to<v1::DeployRequest>::with<v1::DeployReply>>;

struct deployer_setup {
  /// Whether all expressions compile; may block.
  std::function<status(const std::vector<std::string>&)> check_expressions;
};

deployer_actor::behavior_type run_deployer(supervised_pointer<deployer_actor> self, deployer_setup setup);

}  // namespace fairlead
