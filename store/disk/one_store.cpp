#include "store/disk/one_store.hpp"

#include <filesystem>
#include <utility>

#include "store/directory.hpp"
#include "store/journal/disk_files.hpp"
#include "store/journaled/stores.hpp"

namespace fairlead::store {

namespace fs = std::filesystem;

std::string find_journal(const std::string& directory) {
  std::error_code failed;
  auto own = journal_in(directory);
  if (fs::is_directory(own, failed)) return own;
  const auto here = fs::absolute(directory).lexically_normal();
  const auto beside = journal_in((here.has_filename() ? here : here.parent_path()).parent_path().string());
  return fs::is_directory(beside, failed) ? beside : own;
}

result<std::unique_ptr<one_store>> one_store::open_tables(const std::string& directory, access how) {
  std::unique_ptr<one_store> out(new one_store);
  out->directory_ = directory;
  auto tables = lmdb_store::open(options_of_tool(directory, how == access::read), true);
  if (!tables) return tables.failure();
  out->tables_ = std::move(*tables);
  out->archives_ = std::make_unique<archive>(archives_in(directory));
  auto joined = journaled_store::open(*out->tables_, {{}, directory, out->archives_.get(), {}, {}});
  if (!joined) return joined.failure();
  out->joined_ = std::move(*joined);
  return out;
}

/// A store that ended cleanly, was settled or restored has everything. The journal may have gone on without it.
bool one_store::needs_journal() const { return joined_->journal_of_tables() && !joined_->is_settled(joined_->position().applied_index); }

status one_store::join(journal_files* files, const std::string& path) {
  if (!needs_journal()) return nothing{};
  if (files == nullptr) return missing_journal(path, directory_);
  auto found = recover_journal(*files, joined_->journal_of_tables(), [&](const journal_record& record, std::uint64_t group) -> status {
    return record.shard == joined_->shard() ? joined_->replay(record, group) : status(nothing{});
  });
  if (!found) return found.failure();
  if (!*found) return missing_journal(path, directory_);
  if (auto whole = joined_->check_whole(**found, path); !whole) return whole;
  damages_ = (*found)->damages;
  return nothing{};
}

result<std::unique_ptr<one_store>> one_store::open(const std::string& directory, std::string journal, access how) {
  auto out = open_tables(directory, how);
  if (!out || !(*out)->needs_journal()) return out;
  if (journal.empty()) journal = find_journal(directory);
  auto files = disk_files::in(journal, disk_files::access::read);
  if (!files && files.failure().code != v1::ERROR_CODE_NOT_FOUND) return files.failure();
  if (auto joined = (*out)->join(files ? files->get() : nullptr, journal); !joined) return joined.failure();
  return out;
}

result<std::unique_ptr<one_store>> one_store::open_with(const std::string& directory, journal_files* files, const std::string& path,
                                                        access how) {
  auto out = open_tables(directory, how);
  if (!out) return out;
  if (auto joined = (*out)->join(files, path); !joined) return joined.failure();
  return out;
}

}  // namespace fairlead::store
