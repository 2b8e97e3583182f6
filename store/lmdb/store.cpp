#include "store/lmdb/store.hpp"

#include <algorithm>

#include "store/checksum.hpp"
#include "store/failpoint.hpp"
#include "store/keys.hpp"
#include "store/lmdb/snapshot.hpp"
#include "store/meta_rows.hpp"

namespace fairlead::store {

namespace {

// The free list is counted only if the result could matter, and even then not for every question.
constexpr std::uint64_t free_count_from_percent = 80;
// If the store is so large that counting takes time. Behind a journal a transaction holds the commits of a tenth of a second.
constexpr std::uint64_t free_count_every_commits = 500;
constexpr std::uint64_t free_count_every_applies = 10;
constexpr std::uint64_t small_store_bytes = std::uint64_t{1} << 30;

std::string stored_form(table where, std::string_view key, std::string_view payload) {
  std::string out(payload);
  const auto sum = checksum(where, key, payload);
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(sum >> shift);
  return out;
}

}  // namespace

result<std::unique_ptr<lmdb_store>> lmdb_store::open(const env_options& options, bool journaled, bool check_pages) {
  auto checked = options;
  checked.check_pages = check_pages;
  auto opened = env::open(checked);
  if (!opened) return opened.failure();
  std::unique_ptr<lmdb_store> out(new lmdb_store(std::move(*opened), options));
  if (auto ready = out->begin_or_check(options.read_only, journaled); !ready) return ready.failure();
  if (!options.read_only) out->remove_copies();
  return out;
}

status lmdb_store::begin_or_check(bool read_only, bool journaled) {
  const error no_rows{v1::ERROR_CODE_CORRUPT, "The store " + directory() + " is damaged: its meta table lacks a row it must have.",
                      "Restore the store from a backup."};
  const auto now = read();
  if (now->count(table::meta) == 0) {
    if (now->count(table::task) != 0 || now->count(table::task_id) != 0) return no_rows;
    return read_only ? status(error{v1::ERROR_CODE_NOT_FOUND, "The store " + directory() + " is empty.", "Start a node on it first."})
                     : begin_new();
  }
  auto schema = now->get(table::meta, keys::meta(meta::schema_row));
  if (!schema) return schema.failure();
  const auto version = schema->has_value() ? meta::decode_u32(**schema) : std::nullopt;
  if (!version || *version == 0) return no_rows;
  if (*version > (journaled ? journaled_schema_version : schema_version)) {
    return error{v1::ERROR_CODE_STORE_NEWER,
                 "The store " + directory() + " has schema version " + std::to_string(*version) + "; this release knows versions up to " +
                     std::to_string(journaled ? journaled_schema_version : schema_version) + ".",
                 "Run the release that wrote it, or a later release."};
  }
  auto row = now->get(table::meta, keys::meta(meta::progress_row));
  if (!row) return row.failure();
  const auto stored = row->has_value() ? meta::decode_progress(**row) : std::nullopt;
  if (!stored) return no_rows;
  sequence_ = stored->sequence;
  epoch_ = stored->epoch;
  shard_state_ = stored->shard.SerializeAsString();
  return nothing{};
}

status lmdb_store::begin_new() {
  auto txn = env_->write();
  if (!txn) return txn.failure();
  const std::pair<std::string, std::string> rows[] = {
      {keys::meta(meta::schema_row), meta::encode_u32(schema_version)},
      {keys::meta(meta::progress_row), meta::encode_progress(0, 0, {})},
      {keys::meta(meta::boot_row), meta::encode_u64(0)},
      {keys::meta(meta::namespace_row(system_namespace)), "system"},
      {keys::meta(meta::namespace_row(default_namespace)), "default"},
  };
  for (const auto& [key, payload] : rows) {
    if (auto written = txn->put(table::meta, key, stored_form(table::meta, key, payload)); !written) return written;
  }
  return txn->commit();
}

status lmdb_store::commit(const std::vector<batch>& group) {
  std::lock_guard lock(commit_guard_);
  if (failed_) return *failed_;
  if (group.empty()) return nothing{};
  auto sequence = sequence_.load(std::memory_order_relaxed);
  for (const auto& one : group) {
    if (auto in_order = check_order(one.sequence, one.epoch, sequence, epoch_); !in_order) return in_order;
    ++sequence;
  }
  // Copied before any write: after that nothing may throw, or the values kept here would lag behind the disk.
  auto shard_state = group.back().shard_state;
  auto written = remember(write_group(group));
  if (!written) return written;
  sequence_.store(sequence, std::memory_order_relaxed);
  shard_state_.swap(shard_state);
  commits_.fetch_add(1, std::memory_order_relaxed);
  if (failpoint("store.after_commit")) return remember(failpoint_error("store.after_commit"));
  return nothing{};
}

status lmdb_store::write_group(const std::vector<batch>& group) {
  if (failpoint("store.before_txn")) return failpoint_error("store.before_txn");
  auto txn = env_->write();
  if (!txn) return txn.failure();
  gathered_.gather(group);
  if (auto applied = txn->apply(gathered_); !applied) return applied;
  if (failpoint("store.mid_txn")) return failpoint_error("store.mid_txn");
  const auto& last = group.back();
  const auto key = keys::meta(meta::progress_row);
  const auto row = stored_form(table::meta, key, meta::encode_progress(last.sequence, last.epoch, last.shard_state));
  if (auto put = txn->put(table::meta, key, row); !put) return put;
  if (failpoint("store.before_commit")) return failpoint_error("store.before_commit");
  return txn->commit();
}

status lmdb_store::apply(const std::vector<operation>& sorted) {
  const std::lock_guard lock(commit_guard_);
  if (failed_) return *failed_;
  auto txn = env_->write();
  if (!txn) return remember(txn.failure());
  if (auto written = txn->apply(sorted); !written) return remember(written);
  if (failpoint("apply.mid_txn")) return remember(failpoint_error("apply.mid_txn"));
  auto done = remember(txn->commit());
  if (done) {
    commits_.fetch_add(1, std::memory_order_relaxed);
    applies_.fetch_add(1, std::memory_order_relaxed);
  }
  return done;
}

// A full store has written nothing and goes on; after any other failure the state on the disk is unknown.
status lmdb_store::remember(status outcome) {
  if (!outcome && outcome.failure().code != v1::ERROR_CODE_STORE_FULL) failed_ = outcome.failure();
  return outcome;
}

status lmdb_store::write_meta(std::string_view row, std::string_view payload) {
  auto txn = env_->write();
  if (!txn) return txn.failure();
  const auto key = keys::meta(row);
  if (auto put = txn->put(table::meta, key, stored_form(table::meta, key, payload)); !put) return put;
  return txn->commit();
}

result<std::uint64_t> lmdb_store::raise_epoch() {
  std::lock_guard lock(commit_guard_);
  if (failed_) return *failed_;
  const auto row = meta::encode_progress(sequence_.load(std::memory_order_relaxed), epoch_ + 1, shard_state_);
  if (auto written = remember(write_meta(meta::progress_row, row)); !written) return written.failure();
  return ++epoch_;
}

status lmdb_store::write_meta_rows(const meta_rows& rows, std::uint64_t least_epoch) {
  std::lock_guard lock(commit_guard_);
  if (failed_) return *failed_;
  const auto raised = std::max(least_epoch, epoch_);
  const auto all = [&]() -> status {
    auto txn = env_->write();
    if (!txn) return txn.failure();
    const auto put = [&](std::string_view row, const std::string& payload) {
      const auto key = keys::meta(row);
      return txn->put(table::meta, key, stored_form(table::meta, key, payload));
    };
    for (const auto& [row, payload] : rows)
      if (auto done = put(row, payload); !done) return done;
    const auto progress = meta::encode_progress(sequence_.load(std::memory_order_relaxed), raised, shard_state_);
    if (auto done = put(meta::progress_row, progress); !done) return done;
    return txn->commit();
  };
  if (auto written = remember(all()); !written) return written;
  epoch_ = raised;
  return nothing{};
}

std::shared_ptr<env> lmdb_store::current() const {
  const std::lock_guard lock(env_guard_);
  return env_;
}

std::unique_ptr<snapshot> lmdb_store::read() const { return std::make_unique<lmdb_snapshot>(current()->read(), &on_damage_); }

usage lmdb_store::get_usage() const {
  const auto now_in = current();
  usage out{now_in->file_bytes(), now_in->max_bytes()};
  if (out.used_bytes < out.max_bytes / 100 * free_count_from_percent) return out;
  std::lock_guard lock(usage_guard_);
  const auto now = commits();
  const bool behind_journal = applies_.load(std::memory_order_relaxed) > 0;
  const auto every = out.max_bytes <= small_store_bytes ? 1 : behind_journal ? free_count_every_applies : free_count_every_commits;
  if (!free_counted_ || now - free_counted_at_commit_ >= every) {
    if (auto counted = now_in->free_bytes(); counted) {
      free_bytes_ = *counted;
      free_counted_at_commit_ = now;
      free_counted_ = true;
    }
  }
  out.used_bytes -= std::min(out.used_bytes, free_bytes_);
  return out;
}

}  // namespace fairlead::store
