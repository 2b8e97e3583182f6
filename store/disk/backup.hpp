#pragma once
// A backup of one store, also of a running node's.

#include <string>

#include "messages/error.hpp"

namespace fairlead::store {

/// Copies the store in `from` with its archives to the directory `to`, which must not exist. The copy is a state that was committed, of a
/// running node usually some 100 ms old; it needs no journal, and no node takes it before a restore. The names in `to` are not synced yet.
///
/// The tables are copied before the archives: a task that moves in between is in both, as after a crash, and never in neither.
/// Errors: not_found, store_in_use (by a program that is no node), wrong_state (the node ended by a crash, and only its journal has some of
/// the work), corrupt, disk.
status back_up_store(const std::string& from, const std::string& to);

}  // namespace fairlead::store
