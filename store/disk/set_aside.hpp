#pragma once
// Damaged stores are set aside, so that the node begins with empty ones. Nothing is deleted but what was set aside before.

#include <filesystem>
#include <optional>
#include <string>

#include "messages/error.hpp"

namespace fairlead::store {

/// Where the store in `directory` is set aside.
inline std::string set_aside_in(const std::string& directory) { return directory + "/set-aside"; }

/// When a store was set aside in `directory` last; nullopt: there is none.
std::optional<std::filesystem::file_time_type> was_set_aside_at(const std::string& directory);

/// What was set aside in `directory` before is deleted.
status forget_set_aside(const std::string& directory);

/// Moves the store in `directory`, with its archives, to its folder `set-aside`. Durable on return. Can be repeated when it was cut short: a store
/// that has been made meanwhile goes, and what is in the folder stays.
status set_store_aside(const std::string& directory);

/// The files of the journal get names that no node reads (segment_pool::put_aside). Durable on return.
status set_journal_aside(const std::string& journal);

}  // namespace fairlead::store
