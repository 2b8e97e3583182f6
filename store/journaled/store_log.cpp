// The log of a shard: what recovery finds of it, what is written, and what of it is shown.

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "messages/replica.pb.h"
#include "store/checksum.hpp"
#include "store/integers.hpp"
#include "store/journaled/store.hpp"
#include "store/keys.hpp"
#include "store/meta_rows.hpp"

namespace fairlead::store {

namespace {

/// Of batches together: every replica's journal takes that, also a small one, and heartbeats do not wait behind it for long.
constexpr std::size_t most_replicated_entry_bytes = std::size_t{1} << 20;

std::vector<operation> operations_of(const std::vector<batch_view>& batches) {
  std::vector<operation> out;
  for (auto one : batches) {
    for (operation next; batch::next(one.operations, next);) out.push_back(next);
  }
  return out;
}

error driven_by_consensus(const std::string& place) {
  return {v1::ERROR_CODE_INTERNAL, "The log of " + place + " is written by consensus, and by nobody else.", "This is a bug; report it."};
}

error unreadable_entry(const std::string& place, std::uint64_t index) {
  return {v1::ERROR_CODE_CORRUPT, "Entry " + std::to_string(index) + " of the journal of " + place + " is unreadable.",
          "Restore the node from a backup."};
}

error of_a_later_release(const std::string& place, std::uint64_t index, const std::string& what) {
  return {v1::ERROR_CODE_STORE_NEWER,
          "Entry " + std::to_string(index) + " of " + place + " has a " + what + ", which this release does not know.",
          "Run the release that wrote it, or a later one."};
}

void put_progress(batch& to, std::uint64_t sequence, std::uint64_t epoch, std::string_view shard_state) {
  to.put(table::meta, keys::meta(meta::progress_row), meta::encode_progress(sequence, epoch, shard_state));
}

}  // namespace

status journaled_store::replay(const journal_record& record, std::uint64_t group) {
  last_group_ = std::max(last_group_.load(), group);
  // Of the log that a copy has replaced only terms and votes count, and what the clock of this node showed.
  const bool counts = !installed_ || group > installed_->group;
  if (!counts && record.type != record_type::hard && record.type != record_type::standing && record.type != record_type::clock)
    return nothing{};
  switch (record.type) {
    case record_type::base:
      written_index_ = replicated_ ? record.index : std::max(written_index_, record.index);
      if (!replicated_) return nothing{};
      log_.entries.clear();
      written_.clear();
      log_.base_index = record.index;
      log_.base_term = record.term;
      log_.base_stamp_ms = record.stamp_ms;
      log_.base_members = record.payload;
      return nothing{};
    case record_type::hard:
    case record_type::standing:
    case record_type::cut: return replay_term(record, counts);
    case record_type::clock:
      // The row in the tables is of the last apply. Indexes say nothing of what is newer: a cut lowers them.
      if (!noted_clock_ || group > noted_clock_->group) noted_clock_ = {record.stamp_ms, static_cast<std::int64_t>(record.term), group};
      return nothing{};
    default: break;
  }
  if (!is_entry(record.type)) return nothing{};
  time_.seen(record.stamp_ms);
  log_record entry{record.type, record.index, record.term, record.stamp_ms, std::make_shared<const std::string>(record.payload)};
  if (replicated_) {
    // All that the journal has is kept, also what is applied: other replicas may lack it.
    if (log_.entries.empty() && record.index <= log_.base_index) log_.base_index = record.index - 1;
    if (record.index <= log_.base_index) return nothing{};
    written_index_ = record.index;
    if (record.index > applied_.index) written_.emplace_back(record.index, group);
    log_.entries.push_back(std::move(entry));
    return nothing{};
  }
  if (record.index >= log_.base_index) {
    log_.base_index = record.index;
    log_.base_term = record.term;
    log_.base_stamp_ms = record.stamp_ms;
  }
  if (record.index <= written_index_) return nothing{};
  // Nothing is shown behind a gap. check_whole() says where it is, and ends the start.
  gap_ = gap_ || record.index != written_index_ + 1;
  written_index_ = record.index;
  if (gap_) return nothing{};
  if (auto taken = take(entry, group); !taken)
    return taken.failure().code == v1::ERROR_CODE_STORE_NEWER ? taken : unreadable_entry(place(), record.index);
  return nothing{};
}

/// Records about the shard's log that are no entries.
status journaled_store::replay_term(const journal_record& record, bool counts) {
  log_standing said;
  if (!said.take(record)) return unreadable_entry(place(), record.index);
  if (record.type == record_type::cut) {
    // It may be older than what has been applied since in place of what it removes.
    while (!log_.entries.empty() && log_.entries.back().index >= record.index) log_.entries.pop_back();
    while (!written_.empty() && written_.back().first >= record.index) written_.pop_back();
    written_index_ = record.index - 1;
    if (log_.entries.empty() && written_index_ <= log_.base_index) {
      log_.base_index = written_index_;
      log_.base_term = record.term;
    }
    // The head of a segment may have named members that are cut away here.
    if (log_.entries.empty() && !record.payload.empty()) log_.base_members = record.payload;
    return nothing{};
  }
  log_.term = said.term();
  log_.vote = said.vote();
  if (record.type != record_type::standing || !log_.entries.empty() || !counts) return nothing{};
  // The journal did not know of the copy yet when the segment began.
  const auto of_former_log = [&](const meta::installed_copy& copy) {
    return record.index < copy.index || (record.index == copy.former_index && record.term == copy.former_term);
  };
  if (installed_ && of_former_log(*installed_)) return nothing{};
  if (!replicated_ && record.index != log_.base_index) return nothing{};
  log_.base_index = record.index;
  log_.base_term = record.term;
  log_.base_stamp_ms = record.stamp_ms;
  // A process that was about to make it one of several may have ended before that was durable.
  if (replicated_) log_.base_members = said.members();
  return nothing{};
}

log_base journaled_store::log_end() const {
  log_base out{log_.base_index, log_.base_term, log_.base_stamp_ms, log_.base_members};
  for (const auto& one : log_.entries) {
    out.index = one.index;
    out.term = one.term;
    out.stamp_ms = one.stamp_ms;
    if (one.type == record_type::members && one.payload) out.members = *one.payload;
  }
  if (out.members.empty() && replica_) out.members = replica_->members;
  return out;
}

status journaled_store::accept_log() {
  for (const auto& one : std::exchange(log_.entries, {})) {
    if (one.index <= applied_.index) continue;
    if (auto shown = show(one); !shown) return shown;
  }
  return nothing{};
}

recovered_log journaled_store::take_log() {
  const std::lock_guard lock(commit_guard_);
  taken_ = true;
  return std::move(log_);
}

std::int64_t journaled_store::read_time() {
  const auto wall_ms = options_.now_unix_ms();
  const auto out = time_.read(wall_ms, options_.boot_ms());
  ahead_ms_.store(out - wall_ms, std::memory_order_relaxed);
  return out;
}

std::size_t journaled_store::journal_files_left() const {
  return journal_ != nullptr ? journal_->files_left() : std::numeric_limits<std::size_t>::max();
}

bool journaled_store::fits_one_append(const std::vector<log_record>& records) const {
  std::size_t bytes = 0;
  for (const auto& one : records) bytes += record_bytes(one.payload ? one.payload->size() : 0);
  return journal_ != nullptr && bytes <= journal_->max_append_bytes();
}

status journaled_store::write(const std::vector<log_record>& records) {
  if (failed_) return *failed_;
  std::vector<journal_record> gathered;
  std::size_t bytes = 0;
  std::vector<std::uint64_t> indexes;
  const auto most = journal_->max_append_bytes();
  const auto flush = [&]() -> status {
    if (gathered.empty()) return nothing{};
    const auto group = journal_->append(gathered);
    if (!group) return fail(group.failure());
    last_group_ = *group;
    for (const auto index : indexes) written_.emplace_back(index, *group);
    gathered.clear();
    indexes.clear();
    bytes = 0;
    return nothing{};
  };
  for (const auto& one : records) {
    const auto own = record_bytes(one.payload ? one.payload->size() : 0);
    // A cut begins an append, and the entry behind it is in the same one.
    const bool follows_cut = !gathered.empty() && gathered.back().type == record_type::cut;
    if (one.type == record_type::cut || (bytes + own > most && !follows_cut)) {
      if (auto done = flush(); !done) return done;
    }
    if (one.type == record_type::cut) {
      while (!written_.empty() && written_.back().first >= one.index) written_.pop_back();
      std::erase_if(indexes, [&](std::uint64_t index) { return index >= one.index; });
      written_index_ = one.index - 1;
    }
    if (is_entry(one.type)) {
      written_index_ = one.index;
      if (bytes + own > most) {
        if (auto done = write_entry(one, gathered); !done) return done;
        bytes = 0;
        continue;
      }
      indexes.push_back(one.index);
    }
    gathered.push_back(as_journal_record(one));
    bytes += own;
  }
  return flush();
}

journal_record journaled_store::as_journal_record(const log_record& of) const {
  journal_record out;
  out.type = of.type;
  out.shard = shard_;
  out.index = of.index;
  out.term = of.term;
  out.stamp_ms = of.stamp_ms;
  if (of.payload) out.payload = *of.payload;
  return out;
}

/// Makes one entry durable, with what has to come before it: in one record, or in several if it is too large.
status journaled_store::write_entry(const log_record& entry, std::vector<journal_record>& before) {
  auto record = as_journal_record(entry);
  const auto whole = record.payload;
  std::size_t taken = 0;
  for (const auto& one : before) taken += record_bytes(one.payload.size());
  const auto most = journal_->max_append_bytes() - taken - 2 * record_bytes(part_number_bytes);
  if (whole.size() > most && whole.size() > journal_->max_entry_bytes()) {
    return fail(error{v1::ERROR_CODE_STORE_FULL,
                      "One commit of " + std::to_string(whole.size()) + " bytes does not fit the journal of " + place() + ".",
                      "Raise journal.max_size and start the node again."});
  }
  std::string part;
  for (std::size_t done = 0, number = 0;; ++number) {
    const auto next = std::min(most, whole.size() - done);
    if (next < whole.size()) {
      part.clear();
      append_little_endian(part, static_cast<std::uint32_t>(number));
      part += whole.substr(done, next);
      record.payload = part;
      record.continues = number > 0;
      record.more_follows = done + next < whole.size();
    }
    before.push_back(record);
    const auto group = journal_->append(before);
    before.clear();
    if (!group) return fail(group.failure());
    last_group_ = *group;
    done += next;
    if (done < whole.size()) continue;
    written_.emplace_back(entry.index, *group);
    return nothing{};
  }
}

status journaled_store::show(const log_record& entry) {
  const std::lock_guard lock(commit_guard_);
  return show_written(entry);
}

/// The caller holds the guard.
status journaled_store::show_written(const log_record& entry) {
  if (failed_) return *failed_;
  if (over_.bytes() > options_.most_unapplied_bytes) {
    if (auto applied = apply(); !applied) return fail(applied.failure());
  }
  if (written_.empty() || written_.front().first != entry.index) {
    return fail(error{v1::ERROR_CODE_INTERNAL,
                      "Entry " + std::to_string(entry.index) + " of " + place() + " is to count and was not written.",
                      "This is a bug; report it."});
  }
  const auto group = written_.front().second;
  written_.pop_front();
  if (auto taken = take(entry, group); !taken) return fail(taken.failure());
  commits_.fetch_add(1, std::memory_order_relaxed);
  if (told_) told_();
  return nothing{};
}

/// Shows an entry to readers.
status journaled_store::take(const log_record& entry, std::uint64_t group) {
  static const auto nothing_in_it = std::make_shared<const std::string>();
  const auto& bytes = entry.payload ? entry.payload : nothing_in_it;
  std::vector<operation> operations;
  // Only a bug wrote bytes that are no operations. They must not end the process without a word.
  try {
    if (entry.type == record_type::batch) {
      const auto batches = decode_batches(*bytes);
      if (!batches) return unreadable_entry(place(), entry.index);
      auto sequence = this->sequence();
      for (const auto& one : *batches) {
        if (auto in_order = check_order(one.sequence, one.epoch, sequence, epoch_); !in_order) return in_order;
        sequence = one.sequence;
      }
      operations = operations_of(*batches);
      sequence_ = sequence;
      shard_state_ = batches->back().shard_state;
    } else if (entry.type == record_type::epoch) {
      epoch_ = entry.index;
    } else if (entry.type == record_type::rows) {
      operations = operations_of(*bytes);
      if (auto rows = take_rows(operations, entry.index); !rows) return rows;
    }
  } catch (const unknown_operation& why) {
    return of_a_later_release(place(), entry.index, why.what());
  } catch (const std::logic_error&) {
    return unreadable_entry(place(), entry.index);
  }
  batch progress;
  put_progress(progress, sequence_, epoch_, shard_state_);
  // The row goes with the entry's own operations, so that every state that a reader sees has its progress.
  auto row = std::make_shared<const std::string>(progress.bytes());
  operations.push_back(operations_of(*row).front());
  over_.add(run::make({bytes, std::move(row)}, std::move(operations)), {entry.index, group, entry.stamp_ms},
            entry.type == record_type::rows && is_mark(entry.index));
  shown_index_.store(entry.index, std::memory_order_relaxed);
  return nothing{};
}

/// What rows of the store itself say of its progress, and whether they ask for its state.
status journaled_store::take_rows(const std::vector<operation>& rows, std::uint64_t index) {
  for (const auto& one : rows) {
    if (one.where != table::meta) continue;
    if (one.key == keys::meta(meta::compared_row)) {
      const auto payload = verified_payload(one.where, one.key, one.value);
      v1::StateComparison what;
      if (!payload || !what.ParseFromString(std::string{*payload})) return unreadable_entry(place(), index);
      const std::lock_guard lock(marking_);
      if (what.ended_at_unix_ms() == 0) marked_ = marked_state{what.number(), index, nullptr};
    }
    if (one.key != keys::meta(meta::progress_row)) continue;
    const auto payload = verified_payload(one.where, one.key, one.value);
    const auto progress = payload ? meta::decode_progress(*payload) : std::nullopt;
    if (!progress) return unreadable_entry(place(), index);
    sequence_ = progress->sequence;
    epoch_ = progress->epoch;
    shard_state_ = progress->shard.SerializeAsString();
  }
  return nothing{};
}

bool journaled_store::is_mark(std::uint64_t index) {
  const std::lock_guard lock(marking_);
  return marked_ && marked_->index == index;
}

std::uint64_t journaled_store::marks_number() {
  const std::lock_guard lock(marking_);
  return marked_ ? marked_->number : 0;
}

std::optional<marked_state> journaled_store::take_marked() {
  const std::lock_guard lock(marking_);
  if (!marked_ || !marked_->state) return std::nullopt;
  return std::exchange(marked_, std::nullopt);
}

result<std::vector<std::shared_ptr<const std::string>>> journaled_store::payloads_of(const std::vector<batch>& group,
                                                                                     std::uint64_t sequence, std::uint64_t epoch) const {
  for (const auto& one : group) {
    if (auto in_order = check_order(one.sequence, one.epoch, sequence, epoch); !in_order) return in_order.failure();
    ++sequence;
  }
  std::vector<std::shared_ptr<const std::string>> out;
  const auto fits = journal_->max_append_bytes() - record_bytes(0);
  const auto most = replicated_ ? std::min(fits, most_replicated_entry_bytes) : fits;
  for (std::size_t begin = 0; begin < group.size();) {
    auto end = begin;
    for (std::size_t bytes = 0; end < group.size(); ++end) {
      bytes += encoded_bytes(group[end]);
      if (end > begin && bytes > most) break;
    }
    out.push_back(std::make_shared<const std::string>(encode_batches({group.data() + begin, end - begin})));
    begin = end;
  }
  return out;
}

status journaled_store::commit(const std::vector<batch>& group) {
  const std::lock_guard lock(commit_guard_);
  const auto payloads = payloads_of(group, sequence_, epoch_);
  if (!payloads) return payloads.failure();
  for (const auto& one : *payloads) {
    if (auto done = write_alone(record_type::batch, one); !done) return done;
  }
  return nothing{};
}

/// Journals one entry and shows it. The caller holds the guard.
status journaled_store::write_alone(record_type type, std::shared_ptr<const std::string> payload, std::uint64_t least_epoch) {
  if (failed_) return *failed_;
  if (taken_ || replicated_) return driven_by_consensus(place());
  log_record entry{type, written_index_ + 1, std::max<std::uint64_t>(1, log_.term), read_time(), std::move(payload)};
  std::vector<journal_record> before;
  // An epoch is the index of its entry. For a least epoch beyond the indexes so far, they go on behind it.
  if (least_epoch > entry.index) {
    before.push_back(as_journal_record({record_type::base, least_epoch, entry.term, entry.stamp_ms, nullptr}));
    entry.index = least_epoch + 1;
  }
  if (auto written = write_entry(entry, before); !written) return written;
  written_index_ = log_.base_index = entry.index;
  log_.base_term = entry.term;
  log_.base_stamp_ms = entry.stamp_ms;
  return show_written(entry);
}

result<std::uint64_t> journaled_store::raise_epoch() {
  const std::lock_guard lock(commit_guard_);
  if (auto done = write_alone(record_type::epoch, nullptr); !done) return done.failure();
  return epoch();
}

status journaled_store::write_meta_rows(const meta_rows& rows, std::uint64_t least_epoch) {
  const std::lock_guard lock(commit_guard_);
  const auto epoch = std::max(this->epoch(), least_epoch);
  batch all;
  for (const auto& [row, payload] : rows) all.put(table::meta, keys::meta(row), payload);
  put_progress(all, sequence_, epoch, shard_state_);
  return write_alone(record_type::rows, std::make_shared<const std::string>(all.bytes()), least_epoch);
}

}  // namespace fairlead::store
