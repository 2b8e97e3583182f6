#include "store/disk/backup.hpp"

#include <filesystem>

#include "store/directory.hpp"
#include "store/disk/one_store.hpp"
#include "store/lmdb/copy.hpp"

namespace fairlead::store {

namespace {

namespace fs = std::filesystem;

/// The tables of a running node follow its journal. Those of a node that ended by a crash would stay behind it.
status check_followed(const std::string& from) {
  env_options options;
  options.directory = from;
  options.read_only = true;
  auto tables = lmdb_store::open(options, true);
  if (!tables) return tables.failure().code == v1::ERROR_CODE_STORE_IN_USE ? status(nothing{}) : tables.failure();
  auto alone = journaled_store::open(**tables, {{}, from, {}});
  if (!alone) return alone.failure();
  if (!(*alone)->journal_of_tables() || (*alone)->is_settled((*alone)->position().applied_index)) return nothing{};
  return error{v1::ERROR_CODE_WRONG_STATE,
               "The node of the store " + from + " did not end in order: its journal may have work that the store does not have yet.",
               "Start the node, then back up; or run `fairlead store settle` first."};
}

error not_made(const std::string& directory, const std::error_code& why) {
  return {v1::ERROR_CODE_DISK, "The directory " + directory + " cannot be created: " + why.message() + ".",
          "Check the disk and the permissions, or use another directory."};
}

/// A day whose time is over may be removed meanwhile.
status copy_archives(const std::string& from, const std::string& to) {
  std::error_code failed;
  fs::recursive_directory_iterator it{from + "/archive", failed};
  if (failed == std::errc::no_such_file_or_directory) return nothing{};
  for (const fs::recursive_directory_iterator end; !failed && it != end; it.increment(failed)) {
    if (it->path().filename() != "data.mdb") continue;
    const auto day = it->path().parent_path();
    const auto copy = fs::path{to} / fs::relative(day, from);
    std::error_code unmade;
    fs::create_directories(copy, unmade);
    if (unmade) return not_made(copy.string(), unmade);
    if (auto copied = copy_environment(day.string(), copy.string()); !copied) {
      if (copied.failure().code != v1::ERROR_CODE_NOT_FOUND) return copied;
      fs::remove(copy, unmade);
    }
  }
  if (!failed || failed == std::errc::no_such_file_or_directory) return nothing{};
  return error{v1::ERROR_CODE_DISK, "The archives in " + from + " cannot be read: " + failed.message() + ".",
               "Check the disk and the permissions."};
}

}  // namespace

status back_up_store(const std::string& from, const std::string& to) {
  if (auto followed = check_followed(from); !followed) return followed;
  std::error_code failed;
  if (!fs::create_directory(to, failed)) return not_made(to, failed ? failed : std::make_error_code(std::errc::file_exists));
  if (auto copied = copy_environment(from, to); !copied) return copied;
  if (auto copied = copy_archives(from, to); !copied) return copied;
  return leave_journal(to);
}

}  // namespace fairlead::store
