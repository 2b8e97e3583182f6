#pragma once
// Looks at the expressions of definitions that are to be deployed. Asking the expression worker blocks for as long as that takes, so this is an
// actor with a thread of its own (to be spawned detached): the gateway goes on meanwhile.

#include <functional>
#include <string>
#include <vector>

#include "actors/protocol/handles.hpp"
#include "actors/supervision/supervised.hpp"
#include "messages/error.hpp"

namespace fairlead {

using deployer_actor = caf::typed_actor<
    // Answered with the error of the first expression that does not compile, or with an empty reply. Nothing is deployed.
    caf::replies_to<v1::DeployRequest>::with<v1::DeployReply>>;

struct deployer_setup {
  /// Whether all expressions compile; may block.
  std::function<status(const std::vector<std::string>&)> check_expressions;
};

deployer_actor::behavior_type run_deployer(supervised_pointer<deployer_actor> self, deployer_setup setup);

}  // namespace fairlead
