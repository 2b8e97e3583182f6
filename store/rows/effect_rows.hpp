#pragma once
// How effects without a task become rows: one each, in the table of meta rows, by their number.

#include <cstdint>
#include <functional>
#include <string_view>

#include "messages/agent.pb.h"
#include "store/batch.hpp"
#include "store/store.hpp"

namespace fairlead::store {

void put_effect(batch& out, const v1::EffectRecord& record);
void erase_effect(batch& out, std::uint64_t number);

/// Calls `visit` for each, oldest first, until it gives false.
status for_each_effect(const snapshot& from, const std::function<bool(const v1::EffectRecord&)>& visit);

/// Whether a row of the meta table is one of these.
bool is_effect(std::string_view key);

}  // namespace fairlead::store
