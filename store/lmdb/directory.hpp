#pragma once
// What a store needs of its directory before LMDB is asked: that it is there, and that its names are durable.

#include <string>

#include "messages/error.hpp"

namespace fairlead::store {

/// Creates the directory when its parent exists and it may be written; otherwise says what is missing and what to do.
status prepare_directory(const std::string& directory, bool read_only);

/// Makes the names in a directory durable.
status sync_directory(const std::string& directory);

/// There is nothing to read at this place.
error no_store(const std::string& directory);

}  // namespace fairlead::store
