#pragma once
// A transition: the only way in which a state changes. It has a name, source states and one destination. The tables of steps and tasks are
// in task/transitions.hpp, that of launches is in job/transitions.hpp; docs/architecture.md draws them.

#include <cstdint>

namespace fairlead::core {

template <class State>
struct transition {
  const char* name;
  std::uint32_t sources;  // a bit for each state
  State to;

  constexpr bool may_leave(State from) const { return (sources >> from & 1U) != 0; }
};

template <class... States>
constexpr std::uint32_t any_of(States... states) {
  return ((std::uint32_t{1} << states) | ...);
}

}  // namespace fairlead::core
