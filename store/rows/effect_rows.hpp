#pragma once
// The rows of effects without a task: one each, in the meta table, by number.

#include <cstdint>
#include <functional>
#include <string_view>

#include "messages/agent.pb.h"
#include "store/batch.hpp"
#include "store/store.hpp"

namespace fairlead::store {

void put_effect(batch& out, const v1::EffectRecord& record);
void erase_effect(batch& out, std::uint64_t number);

/// Calls `visit` for each effect, oldest first, until `visit` returns false.
status for_each_effect(const snapshot& from, const std::function<bool(const v1::EffectRecord&)>& visit);

/// Whether a row of the meta table is an effect.
bool is_effect(std::string_view key);

}  // namespace fairlead::store
