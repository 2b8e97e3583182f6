#pragma once
// A copy of an LMDB environment that another process may be writing to.

#include <string>

#include "messages/error.hpp"

namespace fairlead::store {

/// Copies `from`/data.mdb, as one read transaction sees it and without its free pages, to the existing directory `to`. The bytes are on disk
/// on return. Takes no lock of the store, only LMDB's own, so a node goes on writing; what it frees meanwhile is used again only after the
/// copy. This process must not have `from` open itself.
/// Errors: not_found (there is no environment, or no more), corrupt, disk.
status copy_environment(const std::string& from, const std::string& to);

}  // namespace fairlead::store
