#pragma once
// What holds for all that operators ask of a Scheduler: how much is kept of what they write, and what all requests are refused for.

#include <cstddef>

#include "messages/error.hpp"

namespace fairlead {

inline constexpr std::size_t who_limit = 200;      // bytes of an operator's name
inline constexpr std::size_t reason_limit = 1000;  // and of a reason or a note

inline error node_is_stopping() { return {v1::ERROR_CODE_UNAVAILABLE, "the node is stopping", "try again when it is back"}; }
inline error nobody_asks() { return {v1::ERROR_CODE_INVALID_ARGUMENT, "the request does not say who asks for it", "name the operator"}; }

}  // namespace fairlead
