#include "store/disk/settle.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "messages/time.hpp"
#include "store/directory.hpp"
#include "store/disk/one_store.hpp"
#include "store/journal/disk_files.hpp"
#include "store/journal/recovery.hpp"
#include "store/journal/segment_pool.hpp"

namespace fairlead::store {

namespace {

namespace fs = std::filesystem;

bool can_be_left(const error& why) { return why.code == v1::ERROR_CODE_CORRUPT || why.code == v1::ERROR_CODE_WRONG_STATE; }

error asks_for_the_journal(error why) {
  why.remedy =
      "Put the journal back, name its directory with --journal, or restore a backup. With --accept-loss the store goes on without what "
      "only "
      "the journal has, as a restored one does.";
  return why;
}

error work_of_another_shard(const std::string& journal, std::uint16_t shard) {
  return {v1::ERROR_CODE_WRONG_STATE, "The journal " + journal + " also has work of shard " + std::to_string(shard) + ".",
          "Settle all stores of the node together: give the directory that store.path in the node file has."};
}

/// The journal, once everything in it is in the stores.
class journal_end {
 public:
  explicit journal_end(std::string path) : path_(std::move(path)) {}

  /// Locks it. There may be none.
  status open() {
    auto opened = disk_files::in(path_, disk_files::access::read);
    if (!opened && opened.failure().code != v1::ERROR_CODE_NOT_FOUND) return opened.failure();
    if (opened) files_ = std::move(*opened);
    return nothing{};
  }
  disk_files* files() const { return files_.get(); }
  const std::string& path() const { return path_; }

  /// Whether it has work of nobody but these stores.
  result<bool> is_of(const std::vector<std::unique_ptr<one_store>>& stores) const {
    const auto id = find_journal_id(*files_);
    if (!id) return id.failure();
    if (!*id) return false;
    const auto names_it = [&](const auto& store) { return store && store->journal() == *id; };
    const bool named = std::any_of(stores.begin(), stores.end(), names_it);
    const auto found = recover_journal(*files_, std::nullopt, [](const journal_record&, std::uint64_t) -> status { return nothing{}; });
    if (!found) return found.failure();
    for (const auto& [shard, log] : (*found)->shards) {
      const auto has_it = [&, shard = shard, last = log.last_index](const auto& store) {
        return store && store->shard() == shard && (store->journal() == *id || store->settled_up_to().value_or(0) >= last);
      };
      if (log.last_index <= log.applied_index || std::any_of(stores.begin(), stores.end(), has_it)) continue;
      if (named) return work_of_another_shard(path_, shard);
      return false;
    }
    return true;
  }

  /// Newest first, each durably: a crash in between leaves a journal that only ends earlier. Only files of a journal go.
  status remove() {
    if (auto gone = segment_pool::remove_all(*files_); !gone) return gone;
    const auto names = files_->list();
    if (!names) return names.failure();
    for (const auto& name : *names) {
      if (!name.ends_with(".tmp") && name != "lock") continue;
      if (auto gone = files_->remove(name); !gone) return gone;
    }
    std::error_code failed;
    fs::remove(path_, failed);  // a directory with other files in it, or a mount point, stays
    return nothing{};
  }

  result<std::string> put_aside() const {
    std::error_code failed;
    auto to = path_ + ".lost";
    for (int n = 2; fs::exists(to, failed); ++n) to = path_ + ".lost" + std::to_string(n);
    fs::rename(path_, to, failed);
    if (failed)
      return error{v1::ERROR_CODE_DISK, "The journal " + path_ + " cannot be put aside: " + failed.message() + ".",
                   "Move it away by hand."};
    if (auto synced = sync_directory(fs::path{path_}.parent_path().string()); !synced) return synced.failure();
    return to;
  }

 private:
  std::string path_;
  std::unique_ptr<disk_files> files_;
};

std::string plain(const std::string& path) {
  auto out = fs::absolute(path).lexically_normal();
  return (out.has_filename() ? out : out.parent_path()).string();
}

}  // namespace

result<settled_node> settle_node(const std::vector<std::string>& directories, std::string journal, bool accept_loss) {
  settled_node out;
  out.journal = plain(journal.empty() ? find_journal(directories.front()) : journal);
  journal_end end(out.journal);
  if (auto opened = end.open(); !opened) return opened.failure();
  std::vector<std::unique_ptr<one_store>> stores;
  for (const auto& directory : directories) {
    auto opened = one_store::open_with(directory, end.files(), end.path(), one_store::access::settle);
    if (!opened && !can_be_left(opened.failure())) return opened.failure();
    if (!opened && !accept_loss) return asks_for_the_journal(opened.failure());
    out.stores.push_back({directory, !opened.ok()});
    stores.push_back(opened ? std::move(*opened) : nullptr);
  }
  const bool lost = std::any_of(out.stores.begin(), out.stores.end(), [](const auto& one) { return one.lost_its_journal; });
  const auto ours = end.files() != nullptr && !lost ? end.is_of(stores) : result<bool>{false};
  if (!ours) return ours.failure();
  for (std::size_t i = 0; i < stores.size(); ++i) {
    auto done = stores[i] ? stores[i]->settle() : leave_journal(directories[i]);
    if (!done) return done.failure();
  }
  if (end.files() == nullptr) return out;
  out.journal_stays = !lost && !*ours;
  if (*ours) {
    if (auto gone = end.remove(); !gone) return gone.failure();
  } else if (lost) {
    auto aside = end.put_aside();
    if (!aside) return aside.failure();
    out.put_aside = std::move(*aside);
  }
  return out;
}

status settle_store(const std::string& directory, const std::string& journal) {
  auto opened = one_store::open(directory, journal, one_store::access::settle);
  return opened ? (*opened)->settle() : opened.failure();
}

status mark_for_restore(const std::string& directory) {
  auto tables = lmdb_store::open(options_of_tool(directory), true);
  return tables ? (*tables)->begin_restore(now_unix_ms()) : tables.failure();
}

status leave_journal(const std::string& directory) {
  auto tables = lmdb_store::open(options_of_tool(directory), true);
  if (!tables) return tables.failure();
  auto alone = journaled_store::open(**tables, {{}, directory, nullptr, {}, {}});
  if (!alone) return alone.failure();
  // First: a store that is out of its journal and does not ask for a restore would start as if nothing were lost.
  if (auto begun = (*tables)->begin_restore(now_unix_ms()); !begun) return begun;
  return (*alone)->settle();
}

}  // namespace fairlead::store
