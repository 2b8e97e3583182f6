#pragma once
// Actions on tasks as values: what makes two of them the same, and what a callback names. Pure.

#include <optional>
#include <string>

#include "actors/core/task/decision.hpp"
#include "messages/api.pb.h"
#include "messages/error.hpp"
#include "messages/tickets.hpp"

namespace fairlead {

/// Equal for the same action, whoever asks for it and under whichever conditions. Empty: it has no token, and is no callback.
std::string hash_of(v1::OperatorAction action);

core::performance_name performance_of(const std::optional<callback_name>& called);

/// For a text that the shard has not made.
error no_callback();

}  // namespace fairlead
