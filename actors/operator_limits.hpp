#pragma once
// How much is kept of what operators write.

#include <cstddef>

namespace fairlead {

inline constexpr std::size_t who_limit = 200;      // bytes of an operator's name
inline constexpr std::size_t reason_limit = 1000;  // and of a reason or a note

}  // namespace fairlead
