#pragma once
// What the records of a journal carry.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/batch.hpp"
#include "store/journal/format.hpp"

namespace fairlead::store {

/// The payload of a record of type `batch`: for each batch of the group, in order,
///   u64 sequence | u64 epoch | u32 bytes of the state | u32 bytes of the operations | ShardState | batch::bytes()
std::string encode_batches(std::span<const batch> group);
/// Bytes that one batch takes in such a payload.
std::size_t encoded_bytes(const batch& one);

/// A batch inside such a payload. The views point into the payload.
struct batch_view {
  std::uint64_t sequence = 0;
  std::uint64_t epoch = 0;
  std::string_view shard_state;
  std::string_view operations;
};
/// nullopt: the payload is no encoded group, or it is empty.
std::optional<std::vector<batch_view>> decode_batches(std::string_view payload);

/// What an entry with that payload has that this release does not know; empty: it knows all, or the payload is damaged.
std::string unknown_in(record_type type, std::string_view payload);

/// Where a shard stands when a segment begins.
struct shard_position {
  std::uint16_t shard = 0;
  std::uint64_t last_index = 0;     // of the entries before this segment
  std::uint64_t applied_index = 0;  // durable in the shard's LMDB at least up to here
  friend bool operator==(const shard_position&, const shard_position&) = default;
};

/// The payload of a record of type `checkpoint`:
///   u64 number of the first segment that is still needed | for each shard: u16 shard | u64 last index | u64 applied index
struct checkpoint {
  std::uint64_t first_needed_segment = 0;
  std::vector<shard_position> shards;
};
/// That of a node with all shards of the largest cluster.
inline constexpr std::size_t max_checkpoint_bytes = 8 + 256 * (2 + 8 + 8);
std::string encode_checkpoint(const checkpoint& in);
std::optional<checkpoint> decode_checkpoint(std::string_view payload);

/// The payload of a record of type `hard`.
std::string encode_vote(std::uint64_t vote);
std::optional<std::uint64_t> decode_vote(std::string_view payload);

}  // namespace fairlead::store
