#pragma once
// Lists of a backend's calls, from a map of its prepared calls by name.

#include <cstdint>
#include <string>
#include <vector>

#include "messages/agent.pb.h"

namespace fairlead::agents {

/// The names of the calls for which `counts` is true.
template <class Calls, class Counts>
std::vector<std::string> names_of(const Calls& calls, Counts counts) {
  std::vector<std::string> out;
  for (const auto& [name, call] : calls)
    if (counts(*call)) out.push_back(name);
  return out;
}

template <class Calls>
std::vector<std::string> names_of(const Calls& calls) {
  return names_of(calls, [](const auto&) { return true; });
}

/// Policies of the calls whose service drops keys after `valid_for_ms`; 0: never.
template <class Calls, class ValidFor>
std::vector<v1::CallPolicy> policies_of(const Calls& calls, ValidFor valid_for_ms) {
  std::vector<v1::CallPolicy> out;
  for (const auto& [name, call] : calls) {
    const std::int64_t valid_for = valid_for_ms(*call);
    if (valid_for == 0) continue;
    auto& policy = out.emplace_back();
    policy.set_call(name);
    policy.set_key_valid_for_ms(valid_for);
  }
  return out;
}

}  // namespace fairlead::agents
