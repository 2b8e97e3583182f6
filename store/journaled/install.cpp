// A copy of another replica's tables takes the place of a shard's own.
//
// The commit point is incoming_copy::take_over. What is the store's own, and not the shard's, is written into the copy before it, and with that
// which records of the journal belong to the log that is replaced: after a crash in between a start finds the former tables and all of the former
// log, or the copy and none of it.

#include <limits>
#include <utility>

#include "messages/replica.pb.h"
#include "store/failpoint.hpp"
#include "store/journaled/state_hash.hpp"
#include "store/journaled/store.hpp"
#include "store/keys.hpp"

namespace fairlead::store {

namespace {

error refused(const std::string& place, const std::string& why, error_code code = v1::ERROR_CODE_WRONG_STATE) {
  return {code, "The copy that came for " + place + " is not taken: " + why + ".", "Nothing was changed."};
}

}  // namespace

status journaled_store::check_copy(incoming_copy& from, const log_base& behind) const {
  const auto opened = from.open();
  if (!opened) return opened.failure();
  if (auto whole = state_reader{(*opened)->read_tables()}.step(std::numeric_limits<std::size_t>::max()); !whole) return whole.failure();
  const auto copied = (*opened)->read_tables();
  const auto own = below_.read_tables();
  for (const auto row : {meta::schema_row, meta::shard_row, meta::lineage_row}) {
    const auto here = own->get(table::meta, keys::meta(row));
    const auto there = copied->get(table::meta, keys::meta(row));
    if (!here || !there) return here ? there.failure() : here.failure();
    if (*here != *there) return refused(place(), "its row " + std::string{row} + " is another one");
  }
  // Tables that this release does not know are not looked at above.
  const auto listed = copied->get(table::meta, keys::meta(meta::nodes_row));
  if (!listed) return listed.failure();
  v1::ShardNodes nodes;
  if (*listed && nodes.ParseFromString(std::string(**listed)) && nodes.format() > options_.reads)
    return refused(place(), "it is written in format " + std::to_string(nodes.format()) + ", and this release knows " +
                                std::to_string(options_.reads));
  const auto row = copied->get(table::meta, keys::meta(meta::applied_row));
  if (!row) return row.failure();
  const auto at = row->has_value() ? meta::decode_applied(**row) : std::nullopt;
  if (!at || at->index != behind.index) return refused(place(), "it does not end with entry " + std::to_string(behind.index));
  return nothing{};
}

status journaled_store::install(incoming_copy& from, const log_base& behind) {
  const std::lock_guard lock(commit_guard_);
  if (failed_) return *failed_;
  if (behind.index <= shown_index()) return refused(place(), "it is older than what is here");
  const auto opened = from.open();
  if (!opened) return opened.failure();
  const auto reached = (*opened)->read_tables()->get_progress();
  // An empty group, which says how far the former log goes.
  const auto group = journal_->append({});
  if (!group) return fail(group.failure());
  const auto former = journal_->log_end(shard_);
  const meta::installed_copy installed{behind.index, behind.term, behind.stamp_ms, *group, former.index, former.term, behind.members};
  // Not while the journal may wait for room, which only the applier makes.
  std::unique_lock nobody_applies(applying_);
  const entry_position at{behind.index, *group, behind.stamp_ms};
  batch rows;
  if (replica_) rows.put(table::meta, keys::meta(meta::replica_row), meta::encode_replica(*replica_));
  rows.put(table::meta, keys::meta(meta::journal_row), meta::encode_journal({journal_->id(), shard_}));
  rows.put(table::meta, keys::meta(meta::applied_row), meta::encode_applied(at));
  rows.put(table::meta, keys::meta(meta::installed_row), meta::encode_installed(installed));
  rows.erase(table::meta, keys::meta(meta::clock_ahead_row));
  if (const auto own = clock_to_note()) rows.put(table::meta, keys::meta(meta::clock_ahead_row), meta::encode_clock(*own));
  // Nothing has changed yet.
  const auto written = failpoint("install.rows") ? status(failpoint_error("install.rows")) : (*opened)->apply(run::of(rows)->operations());
  if (!written) return refused(place(), written.failure().sentence, v1::ERROR_CODE_UNAVAILABLE);
  if (failpoint("install.before")) return fail(failpoint_error("install.before"));
  if (auto taken = from.take_over(); !taken) return fail(taken.failure());
  if (failpoint("install.after")) return fail(failpoint_error("install.after"));
  installed_ = installed;
  copied_index_ = behind.index;
  {
    const std::lock_guard marking(marking_);
    marked_.reset();
  }
  over_.clear();
  written_.clear();
  stand_at(at);
  time_.seen(at.stamp_ms);
  sequence_ = reached.sequence;
  epoch_ = reached.epoch;
  shard_state_ = reached.shard.SerializeAsString();
  nobody_applies.unlock();
  if (auto noted = note_copy(); !noted) return fail(noted.failure());
  if (failpoint("install.noted")) return fail(failpoint_error("install.noted"));
  release_applied();
  return nothing{};
}

/// The log goes on behind the copy, as far as the journal is concerned.
status journaled_store::note_copy() {
  const auto& it = *installed_;
  const log_record base{record_type::base, it.index, it.term, it.stamp_ms, std::make_shared<const std::string>(it.members)};
  const auto noted = journal_->append({as_journal_record(base)});
  if (!noted) return noted.failure();
  last_group_ = *noted;
  return nothing{};
}

}  // namespace fairlead::store
