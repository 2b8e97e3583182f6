#pragma once
// A node file of two sound lines and what a test adds.

#include <string>

#include "app/config/config.hpp"
#include "tests/app/problems.hpp"

namespace fairlead::app {

inline const std::string head = "node: { name: n }\nstore: { path: data }\n";

/// `more` begins on line 3.
inline config_file parsed(const std::string& more, const std::string& path = "n.yaml") {
  return parse_node_config(path, head + more + "\n");
}
inline lines problems_of(const std::string& more) { return shown(parsed(more).problems); }

}  // namespace fairlead::app
