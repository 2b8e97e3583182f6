#include "store/journaled/store.hpp"

#include <algorithm>
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

constexpr std::uint64_t single_term = 1;  // of shards that are not replicated

std::vector<operation> operations_of(std::string_view bytes) {
  std::vector<operation> out;
  operation one;
  while (batch::next(bytes, one)) out.push_back(one);
  return out;
}

std::vector<operation> operations_of(const std::vector<batch_view>& batches) {
  std::vector<operation> out;
  for (auto one : batches) {
    for (operation next; batch::next(one.operations, next);) out.push_back(next);
  }
  return out;
}

// A transaction changes a page or two for each operation, and needs new pages for all of them. In a small store these must fit what
// admission leaves free.
constexpr std::uint64_t room_of_an_operation = 64 * 8'192;
constexpr std::uint64_t most_operations = 32'768;
constexpr std::uint64_t least_operations = 16;

std::size_t most_operations_at_once(std::uint64_t max_bytes) {
  return static_cast<std::size_t>(std::clamp(max_bytes / room_of_an_operation, least_operations, most_operations));
}

error unreadable_entry(const std::string& place, std::uint64_t index) {
  return {v1::ERROR_CODE_CORRUPT, "Entry " + std::to_string(index) + " of the journal of " + place + " is unreadable.",
          "Restore the node from a backup."};
}

void put_progress(batch& to, std::uint64_t sequence, std::uint64_t epoch, std::string_view shard_state) {
  to.put(table::meta, keys::meta(meta::progress_row), meta::encode_progress(sequence, epoch, shard_state));
}

/// Of operations in order, those that put a row of the meta table whose name begins so.
std::vector<const operation*> puts_of(const std::vector<operation>& sorted, std::string_view rows) {
  const auto key = keys::meta(rows);
  operation wanted;
  wanted.where = table::meta;
  wanted.key = key;
  std::vector<const operation*> out;
  for (auto at = std::lower_bound(sorted.begin(), sorted.end(), wanted, operation_order{});
       at != sorted.end() && at->where == table::meta && at->key.starts_with(key); ++at) {
    if (at->what == operation::kind::put) out.push_back(&*at);
  }
  return out;
}

std::shared_ptr<const run> run_of(const batch& what) {
  auto bytes = std::make_shared<const std::string>(what.bytes());
  auto operations = operations_of(*bytes);
  return run::make({std::move(bytes)}, std::move(operations));
}

}  // namespace

journaled_store::journaled_store(tables& below, journaled_options options)
    : below_(below), options_(std::move(options)), over_(most_operations_at_once(below.tables_usage().max_bytes)) {}

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
  const auto stamp = now->get(table::meta, keys::meta(meta::shard_time_row));
  if (!stamp) return stamp.failure();
  if (stamp->has_value()) {
    const auto last = meta::decode_u64(**stamp);
    if (!last) return damaged_value(table::meta, keys::meta(meta::shard_time_row));
    out->time_.seen(static_cast<std::int64_t>(*last));
  }
  const auto progress = now->get_progress();
  out->sequence_ = progress.sequence;
  out->epoch_ = progress.epoch;
  out->shard_state_ = progress.shard.SerializeAsString();
  if (!row->has_value()) {
    // Epochs become indexes, so indexes begin above both.
    out->last_.index = out->applied_.index = std::max(progress.sequence, progress.epoch);
    return out;
  }
  const auto member = meta::decode_journal(**row);
  if (member) out->named_ = member->journal;
  const auto at = applied->has_value() ? meta::decode_applied(**applied) : std::nullopt;
  if (!out->named_ || !at) return damaged_value(table::meta, keys::meta(out->named_ ? meta::applied_row : meta::journal_row));
  out->last_ = out->applied_ = *at;
  if (out->options_.shard && *out->options_.shard != member->shard) {
    return error{v1::ERROR_CODE_WRONG_STATE,
                 "The store " + out->place() + " is shard " + std::to_string(member->shard) + " of its journal, and not shard " +
                     std::to_string(*out->options_.shard) + ".",
                 "Give each shard the folder that it had."};
  }
  out->shard_ = static_cast<std::uint16_t>(member->shard);
  return out;
}

status journaled_store::replay(const journal_record& record, std::uint64_t group) {
  if (record.type == record_type::base) last_.index = std::max(last_.index, record.index);
  if (!is_entry(record.type) || record.index <= last_.index) return nothing{};
  time_.seen(record.stamp_ms);
  auto bytes = std::make_shared<std::string>(record.payload);
  std::vector<operation> operations;
  // The checksum was right, so only a bug wrote bytes that are no operations. They must not end the process without a word.
  const auto read = [&operations](const auto& from) {
    try {
      operations = from();
    } catch (const std::logic_error&) {
      return false;
    }
    return true;
  };
  if (record.type == record_type::batch) {
    const auto batches = decode_batches(*bytes);
    if (!batches || !read([&] { return operations_of(*batches); })) return unreadable_entry(place(), record.index);
    sequence_ = batches->back().sequence;
    shard_state_ = batches->back().shard_state;
  } else if (record.type == record_type::epoch) {
    epoch_ = record.index;
  } else {
    if (!read([&] { return operations_of(*bytes); })) return unreadable_entry(place(), record.index);
    for (const auto& one : operations) {
      if (one.where != table::meta || one.key != keys::meta(meta::progress_row)) continue;
      const auto payload = verified_payload(one.where, one.key, one.value);
      const auto progress = payload ? meta::decode_progress(*payload) : std::nullopt;
      if (!progress) return unreadable_entry(place(), record.index);
      sequence_ = progress->sequence;
      epoch_ = progress->epoch;
      shard_state_ = progress->shard.SerializeAsString();
    }
  }
  add(std::move(bytes), std::move(operations), {record.index, group, record.stamp_ms});
  return nothing{};
}

status journaled_store::check_whole(const recovered_journal& found, const std::string& path) const {
  return named_ ? check_shard_log(found, path, shard_, applied_) : status(nothing{});
}

void journaled_store::leave() {
  named_.reset();
  last_.group = applied_.group = 0;  // groups of another journal
}

void journaled_store::adopt(std::uint64_t last_index) { last_.index = applied_.index = std::max(last_.index, last_index); }

status journaled_store::settle() {
  if (auto applied = apply_all(); !applied) return applied;
  batch rows;
  rows.put(table::meta, keys::meta(meta::settled_row), meta::encode_u64(last_.index));
  rows.put(table::meta, keys::meta(meta::schema_row), meta::encode_u32(schema_version));
  rows.erase(table::meta, keys::meta(meta::applied_row));
  rows.erase(table::meta, keys::meta(meta::journal_row));
  return below_.apply(run_of(rows)->operations());
}

status journaled_store::note_end() {
  batch row;
  row.put(table::meta, keys::meta(meta::settled_row), meta::encode_u64(last_.index));
  return below_.apply(run_of(row)->operations());
}

status journaled_store::attach(journal& to) {
  if (!named_ || settled_) {
    batch rows;
    rows.put(table::meta, keys::meta(meta::applied_row), meta::encode_applied(applied_));
    rows.put(table::meta, keys::meta(meta::journal_row), meta::encode_journal({to.id(), shard_}));
    rows.put(table::meta, keys::meta(meta::schema_row), meta::encode_u32(journaled_schema_version));
    rows.erase(table::meta, keys::meta(meta::settled_row));
    if (auto written = below_.apply(run_of(rows)->operations()); !written) return written;
    named_ = to.id();
    settled_.reset();
  }
  journal_ = &to;
  return nothing{};
}

/// Shows an entry to readers.
void journaled_store::add(std::shared_ptr<std::string> bytes, std::vector<operation> operations, const entry_position& at) {
  batch progress;
  put_progress(progress, sequence_, epoch_, shard_state_);
  last_ = at;
  // The row goes with the entry's own operations, so that every state that a reader sees has its progress.
  auto row = std::make_shared<const std::string>(progress.bytes());
  operations.push_back(operations_of(*row).front());
  over_.add(run::make({std::move(bytes), std::move(row)}, std::move(operations)), at);
}

status journaled_store::commit(const std::vector<batch>& group) {
  const std::lock_guard lock(commit_guard_);
  if (failed_) return *failed_;
  if (group.empty()) return nothing{};
  auto sequence = this->sequence();
  for (const auto& one : group) {
    if (auto in_order = check_order(one, sequence, epoch_); !in_order) return in_order;
    ++sequence;
  }
  const auto most = journal_->max_append_bytes() - record_bytes(0);
  for (std::size_t begin = 0; begin < group.size();) {
    auto end = begin;
    for (std::size_t bytes = 0; end < group.size(); ++end) {
      bytes += encoded_bytes(group[end]);
      if (end > begin && bytes > most) break;
    }
    auto payload = std::make_shared<std::string>(encode_batches({group.data() + begin, end - begin}));
    auto operations = operations_of(*decode_batches(*payload));
    const auto& last = group[end - 1];
    if (auto done = append(record_type::batch, std::move(payload), std::move(operations), last.sequence, epoch_, last.shard_state); !done)
      return done;
    begin = end;
  }
  return nothing{};
}

/// Journals one entry and shows it. The caller holds the guard.
status journaled_store::append(record_type type, std::shared_ptr<std::string> payload, std::vector<operation> operations,
                               std::uint64_t sequence, std::uint64_t epoch, std::string shard_state) {
  if (failed_) return *failed_;
  if (over_.bytes() > options_.most_unapplied_bytes) {
    if (auto applied = apply(); !applied) return fail(applied.failure());
  }
  journal_record entry;
  entry.type = type;
  entry.payload = *payload;
  entry_position at;
  if (auto written = journal_entry(entry, epoch, at); !written) return fail(written.failure());
  sequence_ = sequence;
  epoch_ = epoch;
  shard_state_ = std::move(shard_state);
  add(std::move(payload), std::move(operations), at);
  commits_.fetch_add(1, std::memory_order_relaxed);
  if (told_) told_();
  return nothing{};
}

/// Makes one entry durable: in one record, or in several if it is too large.
status journaled_store::journal_entry(journal_record entry, std::uint64_t epoch, entry_position& at) {
  entry.shard = shard_;
  entry.index = last_.index + 1;
  entry.term = single_term;
  const auto wall_ms = options_.now_unix_ms();
  entry.stamp_ms = at.stamp_ms = time_.read(wall_ms, options_.boot_ms());
  ahead_ms_.store(entry.stamp_ms - wall_ms, std::memory_order_relaxed);
  std::vector<journal_record> records;
  // An epoch is the index of its entry. For a least epoch beyond the indexes so far, they go on behind it.
  if (epoch > entry.index) {
    auto base = entry;
    base.type = record_type::base;
    base.index = epoch;
    base.payload = {};
    records.push_back(base);
    entry.index = epoch + 1;
  }
  at.index = entry.index;
  const auto whole = entry.payload;
  const auto most = journal_->max_append_bytes() - 2 * record_bytes(part_number_bytes);
  if (whole.size() > most && whole.size() > journal_->max_entry_bytes()) {
    return error{v1::ERROR_CODE_STORE_FULL,
                 "One commit of " + std::to_string(whole.size()) + " bytes does not fit the journal of " + place() + ".",
                 "Raise journal.max_size and start the node again."};
  }
  std::string part;
  for (std::size_t done = 0, number = 0;; ++number) {
    const auto next = std::min(most, whole.size() - done);
    if (next < whole.size()) {
      part.clear();
      append_little_endian(part, static_cast<std::uint32_t>(number));
      part += whole.substr(done, next);
      entry.payload = part;
      entry.continues = number > 0;
      entry.more_follows = done + next < whole.size();
    }
    records.push_back(entry);
    const auto group = journal_->append(records);
    if (!group) return group.failure();
    at.group = *group;
    records.clear();
    done += next;
    if (done == whole.size()) return nothing{};
  }
}

result<std::uint64_t> journaled_store::raise_epoch() {
  const std::lock_guard lock(commit_guard_);
  const auto next = last_.index + 1;
  auto done = append(record_type::epoch, std::make_shared<std::string>(), {}, sequence_, next, shard_state_);
  if (!done) return done.failure();
  return next;
}

status journaled_store::write_meta_rows(const meta_rows& rows, std::uint64_t least_epoch) {
  const std::lock_guard lock(commit_guard_);
  const auto epoch = std::max(epoch_, least_epoch);
  batch all;
  for (const auto& [row, payload] : rows) all.put(table::meta, keys::meta(row), payload);
  put_progress(all, sequence_, epoch, shard_state_);
  auto bytes = std::make_shared<std::string>(all.bytes());
  auto operations = operations_of(*bytes);
  return append(record_type::rows, std::move(bytes), std::move(operations), sequence_, epoch, shard_state_);
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
  const auto moves = puts_of(whole, meta::move_rows), drops = puts_of(whole, meta::drop_rows);
  if (moves.empty() && drops.empty()) return nothing{};
  if (options_.archives == nullptr) {
    return error{v1::ERROR_CODE_INTERNAL, "The store " + place() + " has tasks to archive, and no archives were given to it.",
                 "This is a bug; report it."};
  }
  if (!moves.empty()) {
    const auto state = journaled_snapshot::of(below_.read_tables(), {sealed});
    if (auto done = options_.archives->carry_out(*state, out); !done) return done;
    if (failpoint("apply.archived")) return failpoint_error("apply.archived");
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

status journaled_store::apply() {
  const std::lock_guard lock(applying_);
  const auto sealed = over_.seal();
  if (!sealed) return nothing{};
  batch applied;
  applied.put(
      table::meta, keys::meta(meta::applied_row),
      meta::encode_applied(failpoint("plant.applied_ahead") ? entry_position{sealed->last.index + 1, sealed->last.group} : sealed->last));
  applied.put(table::meta, keys::meta(meta::shard_time_row), meta::encode_u64(static_cast<std::uint64_t>(sealed->last.stamp_ms)));
  // The applied position is written with what it speaks of, in one transaction: etcd once wrote it apart, and its copies diverged
  // (etcd Documentation/postmortems/v3.5-data-inconsistency.md).
  auto runs = sealed->runs;
  runs.push_back(run_of(applied));
  auto whole = run::merged(runs);
  batch erasures;
  if (auto done = do_archive_work(sealed, whole, erasures); !done) {
    if (journal_ != nullptr) journal_->fail(done.failure());
    return done;
  }
  if (!erasures.empty()) {
    runs.push_back(run_of(erasures));
    whole = run::merged(runs);
  }
  if (failpoint("apply.before_txn")) return failpoint_error("apply.before_txn");
  if (failpoint("plant.drop_before_apply")) over_.drop_sealed();
  if (failpoint("plant.applied_written_apart")) {
    if (auto early = below_.apply(run_of(applied)->operations()); !early) return early;
  }
  if (auto written = below_.apply(whole); !written && !failpoint("plant.apply_error_swallowed")) {
    if (journal_ != nullptr) journal_->fail(written.failure());
    return written;
  }
  if (failpoint("apply.after_commit")) return failpoint_error("apply.after_commit");
  over_.drop_sealed();
  if (journal_ != nullptr) journal_->applied(shard_, sealed->last.index);
  applied_ = sealed->last;
  return nothing{};
}

status journaled_store::apply_all() {
  while (over_.operations() > 0) {
    if (auto applied = apply(); !applied) return applied;
  }
  return nothing{};
}

}  // namespace fairlead::store
