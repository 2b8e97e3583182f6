#pragma once
// The rows of deleted tasks whose copies in archives are still to be erased: one each, in the meta table, by the task's number. The archiver
// erases the copies, and then has the row erased.

#include <cstdint>
#include <functional>

#include "store/batch.hpp"
#include "store/store.hpp"

namespace fairlead::store {

void put_deletion(batch& out, std::uint64_t number);
void erase_deletion(batch& out, std::uint64_t number);

/// Calls `visit` with each number, in ascending order, until `visit` returns false.
status for_each_deletion(const snapshot& from, const std::function<bool(std::uint64_t number)>& visit);

}  // namespace fairlead::store
