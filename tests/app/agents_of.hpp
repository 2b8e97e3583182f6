#pragma once
// The agents of one kind in a node file.

#include <vector>

#include "app/config/config.hpp"

namespace fairlead::app {

template <class Kind>
std::vector<Kind> agents_of(const node_config& config) {
  std::vector<Kind> out;
  for (const auto& one : config.agents)
    if (const auto* agent = std::get_if<Kind>(&one)) out.push_back(*agent);
  return out;
}

}  // namespace fairlead::app
