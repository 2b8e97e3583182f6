#pragma once
// Reads the values of a node file's `secrets:`.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actors/agents/secrets/secrets.hpp"
#include "app/config/config.hpp"

namespace fairlead::app {

/// The problems, each with its place, that keep a file's secrets from being read on this machine. Changes nothing in the environment.
std::vector<problem> check_secret_values(const node_config& config);

/// The node's secrets; null: the file declares none. Removes their variables from the process's environment for good: neither children nor
/// /proc show them. A node that starts again in the same process still has them. With secrets, core files are forbidden from then on. Call
/// before threads start that could read the environment. The error names the place of the first problem.
///
/// `warn` is called, from any thread, when a file no longer gives a value, and when it does again.
result<std::shared_ptr<const agents::secrets>> make_secrets(const node_config& config,
                                                            std::function<void(const std::string& sentence)> warn = {});

}  // namespace fairlead::app
