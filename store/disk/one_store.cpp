#include "store/disk/one_store.hpp"

#include <filesystem>
#include <utility>

#include "store/directory.hpp"
#include "store/disk/working_mark.hpp"
#include "store/journal/disk_files.hpp"
#include "store/journaled/stores.hpp"
#include "store/keys.hpp"
#include "store/meta_rows.hpp"
#include "store/rows/node_rows.hpp"

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
  if (auto known = check_format(*out->tables_->read(), "The store " + directory); !known) return known.failure();
  out->archives_ = std::make_unique<archive>(archives_in(directory));
  auto joined = journaled_store::open(*out->tables_, {{}, directory, out->archives_.get(), {}, {}});
  if (!joined) return joined.failure();
  out->joined_ = std::move(*joined);
  return out;
}

/// A store that ended cleanly, was settled or restored has everything.
bool one_store::is_whole() const { return !joined_->journal_of_tables() || joined_->is_settled(joined_->position().applied_index); }

status one_store::settle(bool accept_log) {
  if (accept_log)
    if (auto accepted = joined_->accept_log(); !accepted) return accepted;
  auto done = joined_->journal_of_tables() ? joined_->settle() : status(nothing{});
  if (done) remove_working_mark(directory_);
  return done;
}

std::uint16_t one_store::shard() const {
  if (joined_->journal_of_tables()) return joined_->shard();
  const auto now = tables_->read();
  const auto row = now->get(table::meta, keys::meta(meta::shard_row));
  const auto known = row.ok() && *row ? meta::decode_shard(**row) : std::nullopt;
  return static_cast<std::uint16_t>(known ? known->shard : 0);
}

status one_store::join(journal_files* files, const std::string& path, const std::optional<journal_id>& id) {
  const auto& named = joined_->journal_of_tables();
  // Another journal beside a whole store concerns it as little as none.
  if (is_whole() && (!named || named != id)) return nothing{};
  if (files == nullptr) return missing_journal(path, directory_);
  auto found = recover_journal(*files, named, [&](const journal_record& record, std::uint64_t group) -> status {
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
  if (!out || !(*out)->journal()) return out;
  if (journal.empty()) journal = find_journal(directory);
  auto files = disk_files::in(journal, disk_files::access::read);
  const bool missing = !files && files.failure().code == v1::ERROR_CODE_NOT_FOUND;
  // Somebody else's journal may be in use.
  if (!files && !missing && !(*out)->is_whole()) return files.failure();
  auto* const there = files ? files->get() : nullptr;
  const auto id = there != nullptr ? find_journal_id(*there) : result<std::optional<journal_id>>{std::optional<journal_id>{}};
  if (!id) return id.failure();
  if (auto joined = (*out)->join(there, journal, *id); !joined) return joined.failure();
  return out;
}

}  // namespace fairlead::store
