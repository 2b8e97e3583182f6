#include "store/disk/one_store.hpp"

#include <filesystem>
#include <utility>

#include "messages/time.hpp"
#include "store/directory.hpp"
#include "store/journal/disk_files.hpp"
#include "store/journaled/stores.hpp"

namespace fairlead::store {

namespace {

namespace fs = std::filesystem;

std::string find_journal(const std::string& directory) {
  std::error_code failed;
  auto own = journal_in(directory);
  if (fs::is_directory(own, failed)) return own;
  const auto parent = fs::path(directory).lexically_normal();
  const auto beside = journal_in((parent.has_filename() ? parent : parent.parent_path()).parent_path().string());
  return fs::is_directory(beside, failed) ? beside : own;
}

}  // namespace

result<std::unique_ptr<one_store>> one_store::open(const std::string& directory, std::string journal, access how) {
  std::unique_ptr<one_store> out(new one_store);
  env_options options;
  options.directory = directory;
  options.read_only = how == access::read;
  auto tables = lmdb_store::open(options, true);
  if (!tables) return tables.failure();
  out->tables_ = std::move(*tables);
  auto joined = journaled_store::open(*out->tables_, {{}, directory, {}});
  if (!joined) return joined.failure();
  out->joined_ = std::move(*joined);
  const auto& named = out->joined_->journal_of_tables();
  if (!named) return out;
  if (journal.empty()) journal = find_journal(directory);
  auto files = disk_files::in(journal, disk_files::access::read);
  const bool missing = !files && files.failure().code == v1::ERROR_CODE_NOT_FOUND;
  if (!files && !missing) return files.failure();
  std::optional<recovered_journal> found;
  if (files) {
    auto recovered = recover_journal(**files, named, [&](const journal_record& record, std::uint64_t group) -> status {
      return record.shard == out->joined_->shard() ? out->joined_->replay(record, group) : status(nothing{});
    });
    if (!recovered) return recovered.failure();
    found = std::move(*recovered);
  }
  if (!found) {
    if (out->joined_->is_settled(out->joined_->position().applied_index)) return out;
    return missing_journal(journal, directory);
  }
  if (auto whole = out->joined_->check_whole(*found, journal); !whole) return whole.failure();
  out->damages_ = found->damages;
  return out;
}

status settle_store(const std::string& directory, const std::string& journal) {
  auto opened = one_store::open(directory, journal, one_store::access::settle);
  return opened ? (*opened)->settle() : opened.failure();
}

status leave_journal(const std::string& directory) {
  env_options options;
  options.directory = directory;
  auto tables = lmdb_store::open(options, true);
  if (!tables) return tables.failure();
  auto alone = journaled_store::open(**tables, {{}, directory, {}});
  if (!alone) return alone.failure();
  // First: a store that is out of its journal and does not ask for a restore would start as if nothing were lost.
  if (auto begun = (*tables)->begin_restore(now_unix_ms()); !begun) return begun;
  return (*alone)->settle();
}

}  // namespace fairlead::store
