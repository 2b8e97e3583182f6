#pragma once
// The files that the sections `access` and `api` of a node file name: looked at before a node does anything else.

#include <vector>

#include "app/config/config.hpp"
#include "messages/error.hpp"

namespace fairlead::app {

/// What is wrong with the file of tokens, and with the certificates of TLS and their key. None, if the node has no API.
std::vector<problem> check_access_files(const node_config& config);

/// The same for a node that starts: the first problem. Error: invalid_argument.
status sound_access_files(const node_config& config);

}  // namespace fairlead::app
