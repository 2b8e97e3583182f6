#include "store/disk/backup.hpp"

#include <filesystem>

#include "store/directory.hpp"
#include "store/disk/settle.hpp"
#include "store/journaled/store.hpp"
#include "store/keys.hpp"
#include "store/lmdb/archive.hpp"
#include "store/lmdb/copy.hpp"
#include "store/lmdb/store.hpp"

namespace fairlead::store {

namespace {

namespace fs = std::filesystem;

/// The tables of a running node follow its journal. Those of a node that ended by a crash would stay behind it.
status check_followed(const std::string& from) {
  auto tables = lmdb_store::open(options_of_tool(from, true), true);
  if (!tables) {
    const bool node_runs = tables.failure().code == v1::ERROR_CODE_STORE_IN_USE && !directory_lock::is_taken_to_read(from);
    return node_runs ? status(nothing{}) : tables.failure();
  }
  auto alone = journaled_store::open(**tables, {{}, from, nullptr, {}, {}});
  if (!alone) return alone.failure();
  if (!(*alone)->journal_of_tables() || (*alone)->is_settled((*alone)->position().applied_index)) return nothing{};
  if ((*alone)->replica())
    return error{v1::ERROR_CODE_WRONG_STATE,
                 "The node of the store " + from +
                     " does not run, and other nodes can hold its shard, too: the journal may have work that the "
                     "store does not have yet.",
                 "Start the node, then back up; or back up the store of another node of the shard."};
  return error{v1::ERROR_CODE_WRONG_STATE,
               "The node of the store " + from + " did not end in order: its journal may have work that the store does not have yet.",
               "Start the node, then back up; or run `fairlead store settle` on the node's store.path first."};
}

error not_made(const std::string& directory, const std::error_code& why) {
  return {v1::ERROR_CODE_DISK, "The directory " + directory + " cannot be created: " + why.message() + ".",
          "Check the disk and the permissions, or use another directory."};
}

/// A day whose time is over may be removed meanwhile.
status copy_archives(const std::string& from, const std::string& to) {
  const auto all = archive(archives_in(from)).all();
  if (!all) return all.failure();
  for (const auto& which : *all) {
    const auto copy = archives_in(to) + "/" + which.name();
    std::error_code failed;
    fs::create_directories(copy, failed);
    if (failed) return not_made(copy, failed);
    if (auto copied = copy_environment(archives_in(from) + "/" + which.name(), copy); !copied) {
      if (copied.failure().code != v1::ERROR_CODE_NOT_FOUND) return copied;
      fs::remove(copy, failed);
    }
  }
  return nothing{};
}

/// The archives were copied after the tables. What they have of tasks that the tables do not know yet goes: after a restore nobody would
/// know these records.
status forget_later_tasks(const std::string& to) {
  auto tables = lmdb_store::open(options_of_tool(to, true), true);
  if (!tables) return tables.failure();
  const auto first_unknown = keys::task(default_namespace, (*tables)->read()->get_progress().shard.next_task_number());
  archive copies(archives_in(to));
  const auto all = copies.all();
  if (!all) return all.failure();
  std::vector<std::uint64_t> later;
  for (const auto& which : *all) {
    status scanned = nothing{};
    const auto looked = copies.visit(which, [&](const snapshot& in) {
      scanned = in.scan(table::task, first_unknown, {}, [&](std::string_view key, std::string_view) {
        if (const auto at = keys::decode_task(key)) later.push_back(at->number);
        return true;
      });
    });
    if (!looked || !scanned) return looked ? scanned : looked;
  }
  return later.empty() ? status(nothing{}) : copies.erase(later);
}

}  // namespace

status back_up_store(const std::string& from, const std::string& to) {
  if (auto followed = check_followed(from); !followed) return followed;
  std::error_code failed;
  if (!fs::create_directory(to, failed)) return not_made(to, failed ? failed : std::make_error_code(std::errc::file_exists));
  if (auto copied = copy_environment(from, to); !copied) return copied;
  if (auto copied = copy_archives(from, to); !copied) return copied;
  if (auto gone = forget_later_tasks(to); !gone) return gone;
  return leave_journal(to);
}

}  // namespace fairlead::store
