#include "store/memory/memory_store.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <utility>

#include "store/checksum.hpp"
#include "store/integers.hpp"
#include "store/keys.hpp"
#include "store/meta_rows.hpp"

namespace fairlead::store {

namespace {
using rows = std::map<std::string, std::string, std::less<>>;
}

// Snapshots share the tables; a write copies a table only while a snapshot uses it. `guard` covers the pointers and their sharing.
struct memory_store::contents {
  mutable std::mutex guard;
  std::array<std::shared_ptr<rows>, table_count> tables;
  std::uint64_t bytes = 0;
};

namespace {

class memory_snapshot final : public snapshot {
 public:
  explicit memory_snapshot(std::shared_ptr<const memory_store::contents> from) : from_(std::move(from)) {
    std::lock_guard lock(from_->guard);
    for (int i = 0; i < table_count; ++i) tables_[i] = from_->tables[i];
  }

  ~memory_snapshot() override {
    std::lock_guard lock(from_->guard);
    for (auto& one : tables_) one.reset();
  }

  result<std::optional<std::string_view>> get(table where, std::string_view key) const override {
    const auto& all = of(where);
    auto it = all.find(key);
    if (it == all.end()) return std::optional<std::string_view>{};
    auto payload = verified_payload(where, key, it->second);
    if (!payload) return damaged_value(where, key);
    return payload;
  }

  status scan(table where, std::string_view from, std::string_view to, const visitor& visit) const override {
    const auto& all = of(where);
    for (auto it = all.lower_bound(from); it != all.end() && (to.empty() || it->first < to); ++it) {
      auto payload = verified_payload(where, it->first, it->second);
      if (!payload) return damaged_value(where, it->first);
      if (!visit(it->first, *payload)) break;
    }
    return nothing{};
  }

  status scan_reverse(table where, std::string_view from, std::string_view to, const visitor& visit) const override {
    const auto& all = of(where);
    auto it = to.empty() ? all.end() : all.lower_bound(to);
    while (it != all.begin() && (--it)->first >= from) {
      auto payload = verified_payload(where, it->first, it->second);
      if (!payload) return damaged_value(where, it->first);
      if (!visit(it->first, *payload)) break;
    }
    return nothing{};
  }

  status scan_all(table where, const inspector& visit) const override {
    for (const auto& [key, stored] : of(where)) {
      if (!visit(key, verified_payload(where, key, stored))) break;
    }
    return nothing{};
  }

  std::uint64_t count(table where) const override { return of(where).size(); }

  progress get_progress() const override {
    auto row = get(table::meta, keys::meta(meta::progress_row));
    if (!row || !row->has_value()) return {};
    return meta::decode_progress(**row).value_or(progress{});
  }

 private:
  const rows& of(table where) const { return *tables_[static_cast<std::size_t>(where)]; }

  std::shared_ptr<const memory_store::contents> from_;
  std::array<std::shared_ptr<const rows>, table_count> tables_;
};

std::uint64_t group_bytes(const std::vector<batch>& group) {
  std::uint64_t bytes = 0;
  for (const auto& one : group) bytes += one.bytes().size();
  return bytes;
}

}  // namespace

memory_store::memory_store(durability mode, std::uint64_t max_size_bytes)
    : mode_(mode), max_bytes_(max_size_bytes), now_(std::make_shared<contents>()) {
  for (auto& one : now_->tables) one = std::make_shared<rows>();
  batch first;
  first.put(table::meta, keys::meta(meta::schema_row), meta::encode_u32(schema_version));
  first.put(table::meta, keys::meta(meta::boot_row), meta::encode_u64(0));
  first.put(table::meta, keys::meta(meta::namespace_row(system_namespace)), "system");
  first.put(table::meta, keys::meta(meta::namespace_row(default_namespace)), "default");
  first.for_each([&](const operation& op) { write(op.where, op.key, &op.value); });
  write_progress(0, 0, {});
  unsynced_.clear();
}

memory_store::~memory_store() = default;

// The caller holds the guard.
void memory_store::write(table where, std::string_view key, const std::string_view* stored) {
  auto& shared = now_->tables[static_cast<std::size_t>(where)];
  if (shared.use_count() > 1) shared = std::make_shared<rows>(*shared);
  auto it = shared->find(key);
  const bool exists = it != shared->end();
  if (!exists && stored == nullptr) return;
  unsynced_.push_back({where, std::string(key), exists ? std::optional(it->second) : std::nullopt});
  if (exists) now_->bytes -= key.size() + it->second.size();
  if (stored == nullptr) {
    shared->erase(it);
    return;
  }
  now_->bytes += key.size() + stored->size();
  if (exists) {
    it->second = *stored;
  } else {
    shared->emplace(key, *stored);
  }
}

void memory_store::write_progress(std::uint64_t sequence, std::uint64_t epoch, std::string_view shard_state) {
  batch row;
  row.put(table::meta, keys::meta(meta::progress_row), meta::encode_progress(sequence, epoch, shard_state));
  row.for_each([&](const operation& op) { write(op.where, op.key, &op.value); });
}

error memory_store::full() const {
  return {v1::ERROR_CODE_STORE_FULL, "The store in memory is full: it has reached " + std::to_string(max_bytes_) + " bytes.",
          "Raise its size."};
}

status memory_store::commit(const std::vector<batch>& group) {
  std::lock_guard lock(now_->guard);
  if (group.empty()) return nothing{};
  auto sequence = sequence_;
  for (const auto& one : group) {
    if (auto in_order = check_order(one.sequence, one.epoch, sequence, any_epoch_ ? one.epoch : epoch_); !in_order) return in_order;
    ++sequence;
  }
  if (now_->bytes + group_bytes(group) > max_bytes_) {
    return full();
  }
  for (const auto& one : group) {
    one.for_each([&](const operation& op) { write(op.where, op.key, op.what == operation::kind::put ? &op.value : nullptr); });
  }
  sequence_ = sequence;
  shard_state_ = group.back().shard_state;
  write_progress(sequence_, epoch_, shard_state_);
  if (mode_ == durability::at_once) {
    unsynced_.clear();
    synced_sequence_ = sequence_;
    synced_shard_state_ = shard_state_;
  }
  return nothing{};
}

result<std::uint64_t> memory_store::raise_epoch() {
  {
    std::lock_guard lock(now_->guard);
    write_progress(sequence_, ++epoch_, shard_state_);
  }
  sync();
  return epoch_;
}

status memory_store::write_meta_rows(const meta_rows& rows, std::uint64_t least_epoch) {
  {
    std::lock_guard lock(now_->guard);
    batch all;
    for (const auto& [row, payload] : rows) all.put(table::meta, keys::meta(row), payload);
    all.for_each([&](const operation& op) { write(op.where, op.key, &op.value); });
    epoch_ = std::max(epoch_, least_epoch);
    write_progress(sequence_, epoch_, shard_state_);
  }
  sync();
  return nothing{};
}

status memory_store::apply(const std::vector<operation>& sorted) {
  const std::lock_guard lock(now_->guard);
  std::uint64_t bytes = 0;
  for (const auto& one : sorted) bytes += one.what == operation::kind::put ? one.key.size() + one.value.size() : 0;
  if (now_->bytes + bytes > max_bytes_) return full();
  for (const auto& one : sorted) write(one.where, one.key, one.what == operation::kind::put ? &one.value : nullptr);
  unsynced_.clear();
  // As at an opening: the rows are what counts.
  const auto& meta_rows = *now_->tables[static_cast<std::size_t>(table::meta)];
  const auto key = keys::meta(meta::progress_row);
  const auto row = meta_rows.find(key);
  const auto payload = row == meta_rows.end() ? std::nullopt : verified_payload(table::meta, key, row->second);
  if (const auto now = payload ? meta::decode_progress(*payload) : std::nullopt) {
    sequence_ = synced_sequence_ = now->sequence;
    epoch_ = now->epoch;
    shard_state_ = synced_shard_state_ = now->shard.SerializeAsString();
  }
  return nothing{};
}

void memory_store::sync() {
  std::lock_guard lock(now_->guard);
  unsynced_.clear();
  synced_sequence_ = sequence_;
  synced_shard_state_ = shard_state_;
}

void memory_store::crash() {
  std::lock_guard lock(now_->guard);
  const auto changes = std::exchange(unsynced_, {});
  for (auto it = changes.rbegin(); it != changes.rend(); ++it) {
    if (it->before) {
      const std::string_view before = *it->before;
      write(it->where, it->key, &before);
    } else {
      write(it->where, it->key, nullptr);
    }
  }
  unsynced_.clear();
  sequence_ = synced_sequence_;
  shard_state_ = synced_shard_state_;
}

void memory_store::resize(std::uint64_t max_size_bytes) {
  std::lock_guard lock(now_->guard);
  max_bytes_ = max_size_bytes;
}

void memory_store::leave_state(const v1::ShardState& shard) {
  {
    std::lock_guard lock(now_->guard);
    shard_state_ = shard.SerializeAsString();
    write_progress(sequence_, epoch_, shard_state_);
  }
  sync();
}

struct memory_store::moment {
  std::array<std::shared_ptr<rows>, table_count> tables;
  std::uint64_t bytes = 0;
  std::uint64_t sequence = 0;
  std::uint64_t epoch = 0;
  std::string shard_state;
};

std::shared_ptr<const memory_store::moment> memory_store::keep() const {
  std::lock_guard lock(now_->guard);
  if (!unsynced_.empty()) throw std::logic_error("memory_store: only what is durable can be kept");
  auto out = std::make_shared<moment>();
  out->tables = now_->tables;
  out->bytes = now_->bytes;
  out->sequence = sequence_;
  out->epoch = epoch_;
  out->shard_state = shard_state_;
  return out;
}

std::string memory_store::bytes_of(const moment& of) {
  std::string out;
  for (std::size_t i = 0; i < table_count; ++i) {
    for (const auto& [key, stored] : *of.tables[i]) {
      out += static_cast<char>(i);
      append_little_endian(out, static_cast<std::uint32_t>(key.size()));
      append_little_endian(out, static_cast<std::uint32_t>(stored.size()));
      out += key;
      out += stored;
    }
  }
  return out;
}

std::shared_ptr<const memory_store::moment> memory_store::moment_of(std::string_view bytes) {
  constexpr std::size_t head_bytes = 1 + 2 * sizeof(std::uint32_t);
  auto out = std::make_shared<moment>();
  for (auto& one : out->tables) one = std::make_shared<rows>();
  while (!bytes.empty()) {
    if (bytes.size() < head_bytes || static_cast<unsigned char>(bytes[0]) >= table_count) return nullptr;
    const auto key_bytes = read_little_endian<std::uint32_t>(bytes.data() + 1);
    const auto stored_bytes = read_little_endian<std::uint32_t>(bytes.data() + 1 + sizeof(std::uint32_t));
    if (bytes.size() - head_bytes < std::uint64_t{key_bytes} + stored_bytes) return nullptr;
    out->tables[static_cast<unsigned char>(bytes[0])]->emplace(bytes.substr(head_bytes, key_bytes),
                                                               bytes.substr(head_bytes + key_bytes, stored_bytes));
    out->bytes += key_bytes + stored_bytes;
    bytes.remove_prefix(head_bytes + key_bytes + stored_bytes);
  }
  const auto& meta_rows = *out->tables[static_cast<std::size_t>(table::meta)];
  const auto row = meta_rows.find(keys::meta(meta::progress_row));
  const auto payload = row == meta_rows.end() ? std::nullopt : verified_payload(table::meta, row->first, row->second);
  const auto progress = payload ? meta::decode_progress(*payload) : std::nullopt;
  if (!progress) return nullptr;
  out->sequence = progress->sequence;
  out->epoch = progress->epoch;
  out->shard_state = progress->shard.SerializeAsString();
  return out;
}

void memory_store::put_back(const moment& earlier) {
  std::lock_guard lock(now_->guard);
  now_->tables = earlier.tables;
  now_->bytes = earlier.bytes;
  unsynced_.clear();
  sequence_ = synced_sequence_ = earlier.sequence;
  epoch_ = earlier.epoch;
  shard_state_ = synced_shard_state_ = earlier.shard_state;
}

bool memory_store::damage(table where, std::string_view key) {
  std::lock_guard lock(now_->guard);
  auto& shared = now_->tables[static_cast<std::size_t>(where)];
  if (shared.use_count() > 1) shared = std::make_shared<rows>(*shared);
  auto it = shared->find(key);
  if (it == shared->end()) return false;
  it->second.front() = static_cast<char>(it->second.front() ^ 1);
  return true;
}

std::unique_ptr<snapshot> memory_store::read() const { return std::make_unique<memory_snapshot>(now_); }

usage memory_store::get_usage() const {
  std::lock_guard lock(now_->guard);
  return {now_->bytes, max_bytes_};
}

}  // namespace fairlead::store
