#pragma once
// From the `secrets:` of a node file to their values.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actors/agents/secrets/secrets.hpp"
#include "app/config/config.hpp"

namespace fairlead::app {

/// What keeps the secrets of a file from being read here and now, each with its place. Takes nothing out of the environment.
std::vector<problem> check_secret_values(const node_config& config);

/// The node's secrets; null when the file declares none. Takes their variables out of the process's environment, for good: neither children
/// nor /proc show them, and a node that is started again in the same process still has them. Where there are secrets, core files are forbidden
/// from then on. To be called before threads are started that could read the environment. The error names the place of the first problem.
///
/// `warn` is told, from any thread, when a file gives no value any more, and when it does again.
result<std::shared_ptr<const agents::secrets>> make_secrets(const node_config& config,
                                                            std::function<void(const std::string& sentence)> warn = {});

}  // namespace fairlead::app
