#include "store/disk/set_aside.hpp"

#include "store/directory.hpp"
#include "store/journal/disk_files.hpp"
#include "store/journal/segment_pool.hpp"

namespace fairlead::store {

namespace {

namespace fs = std::filesystem;

// Of docs/operations.md, The store directory. The data file last: without it there is no store.
constexpr const char* parts_of_a_store[] = {"archive", "incoming", "outgoing", "working", "lock.mdb", "data.mdb"};

error refused_by_system(const std::string& what, const std::error_code& why) {
  return {v1::ERROR_CODE_DISK, what + ": " + why.message() + ".", "Check the disk and the permissions there."};
}

}  // namespace

std::optional<fs::file_time_type> was_set_aside_at(const std::string& directory) {
  std::error_code failed;
  const auto at = fs::last_write_time(set_aside_in(directory), failed);
  return failed ? std::nullopt : std::optional{at};
}

status forget_set_aside(const std::string& directory) {
  std::error_code failed;
  fs::remove_all(set_aside_in(directory), failed);
  if (failed) return refused_by_system("The directory " + set_aside_in(directory) + " cannot be removed", failed);
  return nothing{};
}

status set_store_aside(const std::string& directory) {
  if (auto there = prepare_directory(directory, false); !there) return there;
  const auto lock = directory_lock::take(directory, false);
  if (!lock) return lock.failure();
  const auto to = set_aside_in(directory);
  if (auto made = prepare_directory(to, false); !made) return made;
  for (const auto* part : parts_of_a_store) {
    const auto here = directory + "/" + part;
    const auto there = to + "/" + part;
    std::error_code failed;
    if (!fs::exists(here, failed)) continue;
    if (fs::exists(there, failed))
      fs::remove_all(here, failed);
    else
      fs::rename(here, there, failed);
    if (failed) return refused_by_system(here + " cannot be set aside", failed);
  }
  if (auto synced = sync_directory(to); !synced) return synced;
  return sync_directory(directory);
}

status set_journal_aside(const std::string& journal) {
  auto files = disk_files::in(journal);
  if (!files) return files.failure();
  return segment_pool::put_aside(**files);
}

}  // namespace fairlead::store
