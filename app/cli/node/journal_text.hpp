#pragma once
// A node's journal as operators see it, in `fairlead status` and `fairlead cluster status`.

#include <string>

#include "messages/status.pb.h"

namespace fairlead::app {

/// `9 of at most 16 files of 64.0 MiB in use, the oldest for shard 3`; while few files are in use `2 files of 64.0 MiB in use`.
std::string journal_files_text(const v1::JournalStatus& journal);

/// Half of the files that the journal may have are in use, and a shard keeps them.
bool is_kept_long(const v1::JournalStatus& journal);

}  // namespace fairlead::app
