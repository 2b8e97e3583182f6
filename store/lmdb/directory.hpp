#pragma once
// Prepares a store's directory before LMDB opens it: the directory exists, and its names are durable.

#include <string>

#include "messages/error.hpp"

namespace fairlead::store {

/// Creates the directory if its parent exists and is writable; otherwise the error says what is missing and what to do.
status prepare_directory(const std::string& directory, bool read_only);

/// Makes the names in a directory durable.
status sync_directory(const std::string& directory);

/// The error for a directory without a store.
error no_store(const std::string& directory);

}  // namespace fairlead::store
