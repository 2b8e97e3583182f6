#include "store/journaled/stores.hpp"

#include <algorithm>
#include <utility>

#include "store/journal/recovery.hpp"
#include "store/journal/segment_pool.hpp"

namespace fairlead::store {

namespace {

error foreign_entries(const std::string& path, const journaled_stores::member& here) {
  return {v1::ERROR_CODE_WRONG_STATE,
          "The journal " + path + " has work of shard " + std::to_string(here.shard) + ", but the store " + here.place +
              " never belonged to it: its data file is another one, or was made new.",
          here.replicated ? "Put the data file back that belongs to this journal. If the shard goes on at the other nodes, empty the data "
                            "folder but for the file node, and the journal: the node gets all from them."
                          : "Put the data file back that belongs to this journal, or restore the node from a backup."};
}

error store_left_out(const std::string& path, std::uint16_t shard) {
  return {v1::ERROR_CODE_WRONG_STATE,
          "The journal " + path + " has work of shard " + std::to_string(shard) +
              " that is not in its store yet, and this node no longer has it.",
          "Give the node that shard back, and start it once; afterwards the shard can leave."};
}

error of_another_journal(const std::string& place, const std::string& other) {
  return {v1::ERROR_CODE_WRONG_STATE, "The stores " + place + " and " + other + " belong to different journals.",
          "Give the node the stores and the journal that it wrote."};
}

const shard_log* log_of(const recovered_journal& found, std::uint16_t shard) {
  const auto known = found.shards.find(shard);
  return known != found.shards.end() ? &known->second : nullptr;
}

/// Whether the journal itself holds entries, and not only the news of earlier ones.
bool has_entries(const shard_log& log) { return log.first_index != 0 && log.last_index >= log.first_index; }

/// Files that the journal can go on with.
result<std::size_t> count_spares(journal_files& files, const recovered_journal& found, std::uint64_t segment_bytes) {
  auto names = found.staged;
  names.insert(names.end(), found.retired.begin(), found.retired.end());
  return segment_pool::count_usable(files, names, segment_bytes);
}

}  // namespace

error missing_journal(const std::string& path, const std::string& place) {
  return {v1::ERROR_CODE_WRONG_STATE,
          "The journal of the store " + place + " is missing in " + path + "; it holds the last work that was acknowledged.",
          "Put the journal back, or restore the node from a backup."};
}

error unreadable_journal(const std::string& path, const std::string& place) {
  return {v1::ERROR_CODE_CORRUPT,
          "The journal of the store " + place + " in " + path +
              " is damaged: the head of its file is unreadable; it holds the last work that was "
              "acknowledged.",
          "Put the journal back, or restore the node from a backup."};
}

result<std::unique_ptr<journaled_stores>> journaled_stores::open(std::unique_ptr<journal_files> files, const std::vector<member>& members,
                                                                 journal_options options) {
  std::unique_ptr<journaled_stores> out(new journaled_stores);
  out->files_ = std::move(files);
  std::optional<journal_id> expected;
  const member* first = nullptr;
  for (const auto& one : members) {
    journaled_options how{one.shard, one.place, one.archives, options.now_unix_ms, options.boot_ms, one.replicated};
    how.reads = one.reads;
    auto opened = journaled_store::open(*one.below, std::move(how));
    if (!opened) return opened.failure();
    const auto& named = (*opened)->journal_of_tables();
    if (named && !(*opened)->is_settled((*opened)->position().applied_index)) {
      if (expected && !(*expected == *named)) return of_another_journal(first->place, one.place);
      if (!expected) first = &one;
      expected = named;
    }
    out->stores_.push_back(std::move(*opened));
  }
  if (!expected) {
    const auto here = find_journal_id(*out->files_);
    if (!here) return here.failure();
    const auto names_it = [&](const auto& one) { return *here && one->journal_of_tables() == *here; };
    if (std::any_of(out->stores_.begin(), out->stores_.end(), names_it)) expected = *here;
  }
  // A shard that ended cleanly is whole, so it may come from another node.
  for (auto& one : out->stores_) {
    if (one->journal_of_tables() && one->journal_of_tables() != expected) one->leave();
  }
  const auto replay = [&](const journal_record& record, std::uint64_t group) -> status {
    for (std::size_t i = 0; i < members.size(); ++i) {
      // What the journal has of a store that is not in it is refused below, or counts no more.
      if (members[i].shard == record.shard && out->stores_[i]->journal_of_tables()) return out->stores_[i]->replay(record, group);
    }
    return nothing{};
  };
  auto recovered = recover_journal(*out->files_, expected, replay);
  // A journal that no store names concerns none that is whole. What can be read of it is looked at below, what is damaged is kept.
  const auto is_whole = [](const auto& one) { return one->is_settled(one->position().applied_index); };
  if (!recovered && !expected && recovered.failure().code == v1::ERROR_CODE_CORRUPT &&
      std::all_of(out->stores_.begin(), out->stores_.end(), is_whole)) {
    if (auto kept = segment_pool::put_aside(*out->files_); !kept) return kept.failure();
    recovered = std::optional<recovered_journal>{};
  }
  if (!recovered) return recovered.failure();
  auto found = std::move(*recovered);
  if (expected && !found) {
    const auto unreadable = has_unreadable_segment(*out->files_);
    if (!unreadable) return unreadable.failure();
    return *unreadable ? unreadable_journal(out->files_->path(), first->place) : missing_journal(out->files_->path(), first->place);
  }
  if (found && options.check_found)
    if (auto latest = options.check_found({found->id, found->end.next_group - 1}); !latest) return latest.failure();
  std::vector<shard_position> positions;
  // Each store is looked at before anything is written.
  for (std::size_t i = 0; i < members.size(); ++i) {
    auto& store = *out->stores_[i];
    if (const auto* log = found ? log_of(*found, members[i].shard) : nullptr; log != nullptr && !store.journal_of_tables()) {
      // The index alone proves nothing: a store that was never behind this journal may have counted further.
      const bool foreign = has_entries(*log) || log->last_index > store.position().applied_index;
      if (foreign && !store.is_settled(log->last_index)) return foreign_entries(out->files_->path(), members[i]);
      store.adopt(log->last_index);
    }
    positions.push_back(store.needs());
    if (!found) continue;
    if (auto whole = store.check_whole(*found, out->files_->path()); !whole) return whole.failure();
  }
  for (const auto& [shard, log] : found ? found->shards : std::map<std::uint16_t, shard_log>{}) {
    const auto is_here = [shard = shard](const member& one) { return one.shard == shard; };
    if (log.last_index > log.applied_index && std::none_of(members.begin(), members.end(), is_here))
      return store_left_out(out->files_->path(), shard);
  }
  // Each opening takes another file. If starts fail again and again, the files in use must not fill the disk; and if there are few others, the
  // first checkpoint has to free those in use, because the disk may have no room for more.
  const bool many_used = found && found->used.size() >= options.most_segments() / 2;
  const auto spares = found ? count_spares(*out->files_, *found, options.segment_bytes) : result<std::size_t>{std::size_t{0}};
  if (!spares) return spares.failure();
  if (found && (many_used || *spares < 2)) {
    for (std::size_t i = 0; i < members.size(); ++i) {
      // Tables without room are the applier's affair, once more: the store is open until then.
      if (auto applied = out->stores_[i]->apply_all(); !applied && (many_used || applied.failure().code != v1::ERROR_CODE_STORE_FULL))
        return applied.failure();
      positions[i] = out->stores_[i]->needs();
    }
  }
  if (expected) {
    out->healed_ = found->damages;
  } else {
    // A journal that no store names, and without an entry, is that of a first start that ended before the stores took note of it.
    found.reset();
    if (auto gone = segment_pool::remove_all(*out->files_); !gone) return gone.failure();
  }
  auto begun = journal::open(*out->files_, std::move(found), positions, std::move(options));
  if (!begun) return begun.failure();
  out->journal_ = std::move(*begun);
  for (auto& one : out->stores_) {
    if (auto attached = one->attach(*out->journal_); !attached) return attached.failure();
  }
  return out;
}

status journaled_stores::close() {
  for (auto& one : stores_) {
    if (auto applied = one->apply_all(); !applied) return applied;
  }
  if (auto ended = journal_->close(); !ended) return ended;
  for (auto& one : stores_) {
    if (auto noted = one->note_end(); !noted) return noted;
  }
  return nothing{};
}

}  // namespace fairlead::store
