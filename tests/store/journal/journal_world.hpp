#pragma once
// A journal on a disk in memory, its shards' entries, and what was acknowledged.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "store/journal/journal.hpp"
#include "store/memory/memory_disk.hpp"
#include "tests/eventually.hpp"

namespace fairlead::store::testing {

inline constexpr std::uint64_t small_segment = 64 * 1024;

struct kept_record {
  record_type type;
  std::uint16_t shard;
  std::uint64_t index;
  std::string payload;
  std::uint64_t group;
  friend bool operator==(const kept_record&, const kept_record&) = default;
};

class journal_world {
 public:
  explicit journal_world(std::uint64_t seed = 1) : disk(seed), random_(seed * 7'919) {}

  journal_options options() {
    journal_options out;
    out.segment_bytes = segment_bytes;
    out.max_bytes = 8 * segment_bytes;
    out.release = "0.0.1-test";
    out.now_unix_ms = out.boot_ms = [this] { return ++now_ms; };
    out.random = [this] { return random_(); };
    return out;
  }

  /// Recovers what is on the disk and opens it for writing. The entries found are in `found`.
  status open() {
    it.reset();
    found.clear();
    auto read = recover_journal(disk, expected, [this](const journal_record& one, std::uint64_t group) -> status {
      if (is_entry(one.type)) found.push_back({one.type, one.shard, one.index, std::string(one.payload), group});
      return nothing{};
    });
    if (!read) return read.failure();
    if (expected && !read->has_value()) return error{v1::ERROR_CODE_WRONG_STATE, "The journal is missing.", {}};
    recovered = read->has_value() ? **read : recovered_journal{};
    if (read->has_value()) {
      for (const auto& [shard, index] : applied) {
        if (auto sound = check_shard_log(recovered, "in memory", shard, {index, 0}); !sound) return sound;
      }
    }
    std::vector<shard_position> positions;
    for (const auto& [shard, index] : applied) positions.push_back({shard, index, index});
    auto opened = journal::open(disk, std::move(*read), positions, options());
    if (!opened) return opened.failure();
    it = std::move(*opened);
    expected = it->id();
    return nothing{};
  }

  /// Appends one entry of the shard; on success it is in `acknowledged`.
  status append(std::uint16_t shard, std::string payload) {
    journal_record one;
    one.shard = shard;
    one.index = last_index[shard] + 1;
    one.term = 1;
    one.stamp_ms = ++now_ms;
    one.payload = payload;
    tried = {one.type, shard, one.index, payload, 0};
    auto group = it->append({one});
    if (!group) return group.failure();
    tried.reset();
    last_index[shard] = one.index;
    acknowledged.push_back({one.type, shard, one.index, std::move(payload), *group});
    return nothing{};
  }

  void apply(std::uint16_t shard, std::uint64_t index) {
    applied[shard] = index;
    it->applied(shard, index);
  }

  /// The acknowledged entries above what is applied, which a recovery has to find, in order.
  std::vector<kept_record> owed() const { return above_applied(acknowledged); }
  std::vector<kept_record> found_above() const { return above_applied(found); }

  std::string payload(std::size_t bytes) {
    std::string out(bytes, ' ');
    for (auto& one : out) one = static_cast<char>('a' + random_() % 26);
    return out;
  }
  std::uint64_t pick(std::uint64_t below) { return random_() % below; }

  std::uint64_t segment_bytes = small_segment;
  memory_disk disk;
  std::unique_ptr<journal> it;
  std::optional<journal_id> expected;
  recovered_journal recovered;
  std::vector<kept_record> found;
  std::vector<kept_record> acknowledged;
  std::optional<kept_record> tried;  // the append that was not acknowledged
  std::map<std::uint16_t, std::uint64_t> last_index;
  std::map<std::uint16_t, std::uint64_t> applied;
  std::int64_t now_ms = 1'000;

 private:
  std::vector<kept_record> above_applied(const std::vector<kept_record>& all) const {
    std::vector<kept_record> out;
    for (const auto& one : all) {
      const auto at = applied.find(one.shard);
      if (at == applied.end() || one.index > at->second) out.push_back(one);
    }
    return out;
  }

  std::mt19937_64 random_;
};

}  // namespace fairlead::store::testing
