#include "store/journaled/store.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "store/checksum.hpp"
#include "store/failpoint.hpp"
#include "store/integers.hpp"
#include "store/journaled/snapshot.hpp"
#include "store/keys.hpp"
#include "store/load.hpp"
#include "store/meta_rows.hpp"

namespace fairlead::store {

namespace {

constexpr std::uint64_t first_term = 1;  // of entries that were written before consensus had one
constexpr std::uint64_t keep_nothing = std::numeric_limits<std::uint64_t>::max();

// A transaction changes a page or two for each operation, and needs new pages for all of them. In a small store these must fit what
// admission leaves free.
constexpr std::uint64_t room_of_an_operation = 64 * 8'192;
constexpr std::uint64_t most_operations = 32'768;
constexpr std::uint64_t least_operations = 16;

std::size_t most_operations_at_once(std::uint64_t max_bytes) {
  return static_cast<std::size_t>(std::clamp(max_bytes / room_of_an_operation, least_operations, most_operations));
}

/// Of operations in order, those of this kind on rows of the meta table whose names begin so.
std::vector<const operation*> rows_of(const std::vector<operation>& sorted, std::string_view rows, operation::kind what) {
  const auto key = keys::meta(rows);
  operation wanted;
  wanted.where = table::meta;
  wanted.key = key;
  std::vector<const operation*> out;
  for (auto at = std::lower_bound(sorted.begin(), sorted.end(), wanted, operation_order{});
       at != sorted.end() && at->where == table::meta && at->key.starts_with(key); ++at) {
    if (at->what == what) out.push_back(&*at);
  }
  return out;
}

}  // namespace

journaled_store::journaled_store(tables& below, journaled_options options)
    : below_(below),
      options_(std::move(options)),
      replicated_(options_.replicated),
      over_(most_operations_at_once(below.tables_usage().max_bytes)),
      keep_above_(keep_nothing) {}

result<std::unique_ptr<journaled_store>> journaled_store::open(tables& below, journaled_options options) {
  std::unique_ptr<journaled_store> out(new journaled_store(below, std::move(options)));
  out->shard_ = out->options_.shard.value_or(0);
  const auto now = below.read_tables();
  const auto row = now->get(table::meta, keys::meta(meta::journal_row));
  if (!row) return row.failure();
  const auto applied = now->get(table::meta, keys::meta(meta::applied_row));
  if (!applied) return applied.failure();
  const auto settled = now->get(table::meta, keys::meta(meta::settled_row));
  if (!settled) return settled.failure();
  if (settled->has_value()) {
    out->settled_ = meta::decode_u64(**settled);
    if (!out->settled_) return damaged_value(table::meta, keys::meta(meta::settled_row));
  }
  const auto copy = now->get(table::meta, keys::meta(meta::replica_row));
  if (!copy) return copy.failure();
  if (copy->has_value()) {
    out->replica_ = meta::decode_replica(**copy);
    if (!out->replica_) return damaged_value(table::meta, keys::meta(meta::replica_row));
    out->replicated_ = true;
  }
  if (out->replicated_) out->keep_above_ = 0;
  const auto installed = now->get(table::meta, keys::meta(meta::installed_row));
  if (!installed) return installed.failure();
  if (installed->has_value()) {
    out->installed_ = meta::decode_installed(**installed);
    if (!out->installed_) return damaged_value(table::meta, keys::meta(meta::installed_row));
    out->copied_index_ = out->installed_->index;
  }
  const auto stamp = now->get(table::meta, keys::meta(meta::shard_time_row));
  if (!stamp) return stamp.failure();
  if (stamp->has_value()) {
    const auto last = meta::decode_u64(**stamp);
    if (!last) return damaged_value(table::meta, keys::meta(meta::shard_time_row));
    out->time_.seen(static_cast<std::int64_t>(*last));
    out->log_.base_stamp_ms = static_cast<std::int64_t>(*last);
  }
  const auto ahead = now->get(table::meta, keys::meta(meta::clock_ahead_row));
  if (!ahead) return ahead.failure();
  if (ahead->has_value()) {
    out->noted_clock_ = meta::decode_clock(**ahead);
    if (!out->noted_clock_) return damaged_value(table::meta, keys::meta(meta::clock_ahead_row));
  }
  const auto progress = now->get_progress();
  out->sequence_ = progress.sequence;
  out->epoch_ = progress.epoch;
  out->shard_state_ = progress.shard.SerializeAsString();
  if (!row->has_value()) {
    // Epochs become indexes, so indexes begin above both.
    out->stand_at({std::max(progress.sequence, progress.epoch), 0, 0});
    return out;
  }
  const auto member = meta::decode_journal(**row);
  if (member) out->named_ = member->journal;
  const auto at = applied->has_value() ? meta::decode_applied(**applied) : std::nullopt;
  if (!out->named_ || !at) return damaged_value(table::meta, keys::meta(out->named_ ? meta::applied_row : meta::journal_row));
  out->stand_at(*at);
  if (const auto& copied = out->installed_) {
    out->log_.base_index = copied->index;
    out->log_.base_term = copied->term;
    out->log_.base_stamp_ms = copied->stamp_ms;
    out->log_.base_members = copied->members;
  }
  if (out->options_.shard && *out->options_.shard != member->shard) {
    return error{v1::ERROR_CODE_WRONG_STATE,
                 "The store " + out->place() + " is shard " + std::to_string(member->shard) + " of its journal, and not shard " +
                     std::to_string(*out->options_.shard) + ".",
                 "Give each shard the folder that it had."};
  }
  out->shard_ = static_cast<std::uint16_t>(member->shard);
  return out;
}

/// The tables have all up to there, and nothing is known of what lies behind it.
void journaled_store::stand_at(const entry_position& where) {
  applied_ = where;
  written_index_ = log_.base_index = log_.applied_index = where.index;
  shown_index_ = applied_index_ = where.index;
}

status journaled_store::check_whole(const recovered_journal& found, const std::string& path) const {
  if (!named_) return nothing{};
  // A vote, or a cut, may have been in it. One that forgets what it has promised must not take part again.
  for (const auto& damage : found.damages) {
    if (!replica_ || !damage.records_lost) continue;
    return error{v1::ERROR_CODE_CORRUPT,
                 "The journal " + path + " is damaged (" + place_of(damage) + "), and what this replica of shard " +
                     std::to_string(shard_) + " has promised to the others may have been in it.",
                 "Give the node an empty store; the other replicas have what is acknowledged."};
  }
  // The process may have ended before it wrote that the log goes on behind a copy.
  auto at = applied_;
  const auto known = found.shards.find(shard_);
  if (installed_ && installed_->index == at.index)
    at.index = std::min(at.index, known != found.shards.end() ? known->second.last_index : 0);
  return check_shard_log(found, path, shard_, at);
}

void journaled_store::leave() {
  named_.reset();
  applied_.group = 0;  // of another journal
}

void journaled_store::adopt(std::uint64_t last_index) { stand_at({std::max(written_index_, last_index), applied_.group, 0}); }

status journaled_store::settle() {
  if (auto applied = apply_all(); !applied) return applied;
  if (replicated_ && written_index_ > applied_.index) {
    return error{v1::ERROR_CODE_WRONG_STATE,
                 "The journal has entries of " + place() + " of which only the other replicas know whether they count.",
                 "Start the node, let it catch up, and stop it in order."};
  }
  batch rows;
  rows.put(table::meta, keys::meta(meta::settled_row), meta::encode_u64(written_index_));
  rows.put(table::meta, keys::meta(meta::schema_row), meta::encode_u32(schema_version));
  rows.erase(table::meta, keys::meta(meta::applied_row));
  rows.erase(table::meta, keys::meta(meta::journal_row));
  // Without its journal it does not know what it has promised to the other replicas, so it is none of them any more.
  rows.erase(table::meta, keys::meta(meta::replica_row));
  // Nor may it go on as one that has lived on one node: the others have its lineage.
  if (replica_) rows.put(table::meta, keys::meta(meta::restoring_row), meta::encode_u64(1));
  rows.erase(table::meta, keys::meta(meta::clock_ahead_row));
  rows.erase(table::meta, keys::meta(meta::installed_row));
  return below_.apply(run::of(rows)->operations());
}

status journaled_store::note_end() {
  if (replicated_) return nothing{};  // without the journal it would not know its term
  batch row;
  row.put(table::meta, keys::meta(meta::settled_row), meta::encode_u64(written_index_));
  return below_.apply(run::of(row)->operations());
}

status journaled_store::be_replica(std::uint64_t id, const std::string& members, const std::string& nodes, std::uint64_t term) {
  if (!members.empty()) {
    if (term > log_.term) {
      log_.term = term;
      log_.vote = 0;
    }
    // It counts, as nobody else has a vote. What the journal says of an earlier log of the shard must not be taken for this one's.
    const auto end = log_end();
    if (auto accepted = accept_log(); !accepted) return accepted;
    if (auto applied = apply_all(); !applied) return applied;
    log_.base_index = log_.applied_index = written_index_;
    log_.base_term = std::max({first_term, log_.term, end.term});
    log_.base_stamp_ms = time_.last_ms();
    log_.base_members = members;
    const log_record base{record_type::base, log_.base_index, log_.base_term, log_.base_stamp_ms,
                          std::make_shared<const std::string>(members)};
    const auto noted = journal_->append({as_journal_record(base)});
    if (!noted) return noted.failure();
    last_group_ = *noted;
  }
  if (!replicated_.exchange(true)) keep_above_ = log_.base_index;
  replica_ = meta::replica_identity{id, members};
  batch rows;
  rows.put(table::meta, keys::meta(meta::replica_row), meta::encode_replica(*replica_));
  if (!nodes.empty()) rows.put(table::meta, keys::meta(meta::nodes_row), nodes);
  return below_.apply(run::of(rows)->operations());
}

status journaled_store::begin_shard(const std::string& members, const meta::shard_identity& shard, const v1::Lineage& lineage,
                                    const std::string& nodes) {
  replica_->members = members;
  batch rows;
  rows.put(table::meta, keys::meta(meta::replica_row), meta::encode_replica(*replica_));
  rows.put(table::meta, keys::meta(meta::shard_row), meta::encode_shard(shard));
  rows.put(table::meta, keys::meta(meta::lineage_row), meta::encode_lineage(lineage));
  if (!nodes.empty()) rows.put(table::meta, keys::meta(meta::nodes_row), nodes);
  return below_.apply(run::of(rows)->operations());
}

status journaled_store::attach(journal& to) {
  if (!named_ || settled_) {
    batch rows;
    rows.put(table::meta, keys::meta(meta::applied_row), meta::encode_applied(applied_));
    rows.put(table::meta, keys::meta(meta::journal_row), meta::encode_journal({to.id(), shard_}));
    rows.put(table::meta, keys::meta(meta::schema_row), meta::encode_u32(journaled_schema_version));
    rows.erase(table::meta, keys::meta(meta::settled_row));
    if (auto written = below_.apply(run::of(rows)->operations()); !written) return written;
    named_ = to.id();
    settled_.reset();
  }
  journal_ = &to;
  // The process before may have ended when the copy was in place, and the journal did not know of it.
  return installed_ && written_index_ == installed_->index ? note_copy() : status(nothing{});
}

void journaled_store::keep_above(std::uint64_t index) {
  keep_above_ = std::max(keep_above_.load(), index);
  release_applied();
}

/// What the tables have, and no other replica can need, the journal need not keep.
void journaled_store::release_applied() {
  if (journal_ != nullptr) journal_->applied(shard_, std::min<std::uint64_t>(applied_index_, keep_above_));
}

status journaled_store::fail(const error& why) {
  failed_ = why;
  return why;
}

std::unique_ptr<snapshot> journaled_store::read() const { return journaled_snapshot::take(over_, below_); }

usage journaled_store::get_usage() const {
  auto out = below_.tables_usage();
  out.used_bytes += 2 * over_.bytes();  // what is not applied will take room, and pages take more than their rows
  return out;
}

/// What the generation says about archives. `out` gets what its transaction has to erase besides.
status journaled_store::do_archive_work(const std::shared_ptr<const generation>& sealed, const std::vector<operation>& whole, batch& out) {
  const auto moves = rows_of(whole, meta::move_rows, operation::kind::put);
  const auto drops = rows_of(whole, meta::drop_rows, operation::kind::put);
  // The leader's archiver has erased its copies of deleted tasks before it has this row erased. Those of the others go with the row.
  const auto deleted = replicated_ ? rows_of(whole, meta::deletion_rows, operation::kind::erase) : std::vector<const operation*>{};
  if (moves.empty() && drops.empty() && deleted.empty()) return nothing{};
  if (options_.archives == nullptr) {
    return error{v1::ERROR_CODE_INTERNAL, "The store " + place() + " has tasks to archive, and no archives were given to it.",
                 "This is a bug; report it."};
  }
  if (!moves.empty()) {
    const auto state = journaled_snapshot::of(below_.read_tables(), {sealed});
    if (auto done = options_.archives->carry_out(*state, out); !done) return done;
    if (failpoint("apply.archived")) return failpoint_error("apply.archived");
  }
  if (!deleted.empty()) {
    std::vector<std::uint64_t> numbers;
    for (const auto* one : deleted) {
      const auto number = meta::number_of_row(one->key);
      if (!number) return damaged_value(one->where, one->key);
      numbers.push_back(*number);
    }
    // Behind the moves: one of these may be in the same generation.
    if (auto done = options_.archives->erase(numbers); !done) return done;
  }
  for (const auto* one : drops) {
    const auto payload = verified_payload(one->where, one->key, one->value);
    const auto keep_days = meta::number_of_row(one->key);
    const auto before_day = payload ? meta::decode_u64(*payload) : std::nullopt;
    if (!keep_days || !before_day) return damaged_value(one->where, one->key);
    // An archive that stays longer harms nobody; the archiver says so and has it dropped again.
    (void)options_.archives->drop_before(static_cast<std::int64_t>(*before_day), static_cast<std::uint32_t>(*keep_days));
    if (failpoint("apply.dropped")) return failpoint_error("apply.dropped");
  }
  return nothing{};
}

/// What the row says of the clock from now on.
std::optional<meta::clock_note> journaled_store::clock_to_note() const {
  // In this order: what a record says that comes in between is at least as new.
  const auto group = last_group_.load();
  const auto ahead_ms = clock_ahead_ms_.load();
  if (ahead_ms == never_noted) return noted_clock_;
  return replicated_ ? std::optional<meta::clock_note>{{ahead_ms, options_.now_unix_ms(), group}} : std::nullopt;
}

status journaled_store::apply() {
  const std::lock_guard lock(applying_);
  const auto sealed = over_.seal();
  if (!sealed) return nothing{};
  batch applied;
  applied.put(
      table::meta, keys::meta(meta::applied_row),
      meta::encode_applied(failpoint("plant.applied_ahead") ? entry_position{sealed->last.index + 1, sealed->last.group} : sealed->last));
  applied.put(table::meta, keys::meta(meta::shard_time_row), meta::encode_u64(static_cast<std::uint64_t>(sealed->last.stamp_ms)));
  if (const auto ahead = clock_to_note()) applied.put(table::meta, keys::meta(meta::clock_ahead_row), meta::encode_clock(*ahead));
  // The applied position is written with what it speaks of, in one transaction: etcd once wrote it apart, and its copies diverged
  // (etcd Documentation/postmortems/v3.5-data-inconsistency.md).
  auto runs = sealed->runs;
  runs.push_back(run::of(applied));
  auto whole = run::merged(runs);
  batch erasures;
  if (auto done = do_archive_work(sealed, whole, erasures); !done) {
    if (journal_ != nullptr) journal_->fail(done.failure());
    return done;
  }
  if (!erasures.empty()) {
    runs.push_back(run::of(erasures));
    whole = run::merged(runs);
  }
  if (failpoint("apply.before_txn")) return failpoint_error("apply.before_txn");
  if (failpoint("plant.drop_before_apply")) over_.drop_sealed();
  if (failpoint("plant.applied_written_apart")) {
    if (auto early = below_.apply(run::of(applied)->operations()); !early) return early;
  }
  if (auto written = below_.apply(whole); !written && !failpoint("plant.apply_error_swallowed")) {
    if (journal_ != nullptr) journal_->fail(written.failure());
    return written;
  }
  if (failpoint("apply.after_commit")) return failpoint_error("apply.after_commit");
  // Nobody else writes to the tables meanwhile, and the entry that asks for their state closes its generation.
  if (is_mark(sealed->last.index)) {
    auto state = below_.read_tables();
    const std::lock_guard marking(marking_);
    if (marked_ && marked_->index == sealed->last.index) marked_->state = std::move(state);
  }
  over_.drop_sealed();
  applied_ = sealed->last;
  applied_index_ = sealed->last.index;
  release_applied();
  return nothing{};
}

status journaled_store::apply_all() {
  while (over_.operations() > 0) {
    if (auto applied = apply(); !applied) return applied;
  }
  return nothing{};
}

}  // namespace fairlead::store
