#include "store/disk/settle.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "messages/time.hpp"
#include "store/directory.hpp"
#include "store/disk/one_store.hpp"
#include "store/disk/working_mark.hpp"
#include "store/journal/disk_files.hpp"
#include "store/journal/recovery.hpp"
#include "store/journal/segment_pool.hpp"

namespace fairlead::store {

namespace {

namespace fs = std::filesystem;

using opened_stores = std::vector<std::unique_ptr<one_store>>;

bool can_be_left(const error& why) { return why.code == v1::ERROR_CODE_CORRUPT || why.code == v1::ERROR_CODE_WRONG_STATE; }

error asks_for_the_journal(error why) {
  why.remedy =
      "Put the journal back, name its directory with --journal, or restore a backup. With --accept-loss the store goes on without what "
      "only the journal has, as a restored one does.";
  return why;
}

error more_stores(const std::string& journal, const std::string& other) {
  return {v1::ERROR_CODE_WRONG_STATE, "The journal " + journal + " may have work of " + other + ", too.",
          "Settle all stores of the node together: give the directory that store.path in the node file has."};
}

std::string plain(const std::string& path) {
  const auto out = fs::absolute(path).lexically_normal();
  return (out.has_filename() ? out : out.parent_path()).string();
}

/// All stores of a node share its journal.
status check_complete(const std::vector<std::string>& directories, const std::string& journal) {
  std::vector<std::string> given;
  for (const auto& one : directories) given.push_back(plain(one));
  for (const auto& one : given) {
    if (!fs::path(one).filename().string().starts_with("shard-")) continue;
    for (const auto& other : stores_in(fs::path(one).parent_path().string()))
      if (std::find(given.begin(), given.end(), other) == given.end()) return more_stores(journal, "the store " + other);
  }
  return nothing{};
}

/// Whether the journal can go once these stores are settled: it is theirs, and each shard that it knows is among them.
result<bool> is_done_with(journal_files& files, const std::string& path, const journal_id& id, const opened_stores& stores) {
  const bool named = std::any_of(stores.begin(), stores.end(), [&](const auto& store) { return store->journal() == id; });
  if (!named) return false;
  const auto found = recover_journal(files, id, [](const journal_record&, std::uint64_t) -> status { return nothing{}; });
  if (!found) return found.failure();
  for (const auto& [shard, log] : (*found)->shards) {
    // A shard that has left the node left with everything applied.
    const auto is_it = [shard = shard](const auto& store) { return store->shard() == shard; };
    if (log.last_index > log.applied_index && std::none_of(stores.begin(), stores.end(), is_it))
      return more_stores(path, "shard " + std::to_string(shard));
  }
  return true;
}

}  // namespace

result<settled_node> settle_node(const std::vector<std::string>& directories, const std::string& journal, bool accept_loss) {
  settled_node out;
  out.journal = plain(journal.empty() ? find_journal(directories.front()) : journal);
  if (auto complete = check_complete(directories, out.journal); !complete) return complete.failure();
  auto files = disk_files::in(out.journal, disk_files::access::read);
  if (!files && files.failure().code != v1::ERROR_CODE_NOT_FOUND) return files.failure();
  auto* const there = files ? files->get() : nullptr;
  const auto id = there != nullptr ? find_journal_id(*there) : result<std::optional<journal_id>>{std::optional<journal_id>{}};
  if (!id) return id.failure();

  opened_stores stores;
  bool lost = false, lost_this_one = false;
  for (const auto& directory : directories) {
    auto opened = one_store::open_tables(directory, one_store::access::settle);
    if (!opened) return opened.failure();
    const auto joined = (*opened)->join(there, out.journal, *id);
    if (!joined && !can_be_left(joined.failure())) return joined.failure();
    if (!joined && !accept_loss) return asks_for_the_journal(joined.failure());
    out.stores.push_back({directory, !joined.ok()});
    lost = lost || !joined.ok();
    // A header that cannot be read any more is that of the journal that is missing.
    lost_this_one = lost_this_one || (!joined && there != nullptr && (!*id || (*opened)->journal() == *id));
    stores.push_back(std::move(*opened));
  }
  const auto done = there != nullptr && *id && !lost ? is_done_with(*there, out.journal, **id, stores) : result<bool>{false};
  if (!done) return done.failure();

  for (std::size_t i = 0; i < stores.size(); ++i) {
    if (!out.stores[i].lost_its_journal) {
      if (auto settled = stores[i]->settle(); !settled) return settled.failure();
      continue;
    }
    stores[i].reset();  // its lock
    if (auto left = leave_journal(directories[i]); !left) return left.failure();
  }
  if (there == nullptr) return out;
  if (lost_this_one) {
    if (auto kept = segment_pool::put_aside(*there); !kept) return kept.failure();
    out.outcome = settled_journal::kept;
  } else if (*done) {
    if (auto gone = segment_pool::remove_all(*there); !gone) return gone.failure();
    std::error_code failed;
    fs::remove(out.journal + "/lock", failed);
    fs::remove(out.journal, failed);  // a directory with other files in it, or a mount point, stays
    out.outcome = settled_journal::removed;
  } else if (*id) {
    out.outcome = settled_journal::foreign;
  }
  return out;
}

status settle_store(const std::string& directory, const std::string& journal, bool accept_log) {
  auto opened = one_store::open(directory, journal, one_store::access::settle);
  return opened ? (*opened)->settle(accept_log) : opened.failure();
}

status mark_for_restore(const std::string& directory) {
  auto tables = lmdb_store::open(options_of_tool(directory), true);
  return tables ? (*tables)->begin_restore(now_unix_ms()) : tables.failure();
}

status mark_for_recovery(const std::string& directory) {
  auto tables = lmdb_store::open(options_of_tool(directory), true);
  return tables ? (*tables)->begin_recovery(now_unix_ms()) : tables.failure();
}

status leave_journal(const std::string& directory) {
  auto tables = lmdb_store::open(options_of_tool(directory), true);
  if (!tables) return tables.failure();
  auto alone = journaled_store::open(**tables, {{}, directory, nullptr, {}, {}});
  if (!alone) return alone.failure();
  // First: a store that is out of its journal and does not ask for a restore would start as if nothing were lost.
  if (auto begun = (*tables)->begin_restore(now_unix_ms()); !begun) return begun;
  auto left = (*alone)->settle();
  if (left) remove_working_mark(directory);
  return left;
}

}  // namespace fairlead::store
