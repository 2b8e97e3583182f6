#include "store/journal/payloads.hpp"

#include "store/integers.hpp"

namespace fairlead::store {

namespace {
constexpr std::size_t batch_head_bytes = 8 + 8 + 4 + 4;
constexpr std::size_t position_bytes = 2 + 8 + 8;
}  // namespace

std::string unknown_in(record_type type, std::string_view payload) {
  const auto look = [](std::string_view operations) {
    for (operation one; batch::next(operations, one);) continue;
  };
  try {
    if (type == record_type::rows) look(payload);
    if (type == record_type::batch)
      for (const auto& one : decode_batches(payload).value_or(std::vector<batch_view>{})) look(one.operations);
  } catch (const unknown_operation& why) {
    return why.what();
  } catch (const std::logic_error&) {
  }
  return {};
}

std::size_t encoded_bytes(const batch& one) { return batch_head_bytes + one.shard_state.size() + one.bytes().size(); }

std::string encode_batches(std::span<const batch> group) {
  std::size_t bytes = 0;
  for (const auto& one : group) bytes += encoded_bytes(one);
  std::string out;
  out.reserve(bytes);
  for (const auto& one : group) {
    append_little_endian(out, one.sequence);
    append_little_endian(out, one.epoch);
    append_little_endian(out, static_cast<std::uint32_t>(one.shard_state.size()));
    append_little_endian(out, static_cast<std::uint32_t>(one.bytes().size()));
    out += one.shard_state;
    out += one.bytes();
  }
  return out;
}

std::optional<std::vector<batch_view>> decode_batches(std::string_view payload) {
  std::vector<batch_view> out;
  while (!payload.empty()) {
    if (payload.size() < batch_head_bytes) return std::nullopt;
    batch_view one;
    one.sequence = read_little_endian<std::uint64_t>(payload.data());
    one.epoch = read_little_endian<std::uint64_t>(payload.data() + 8);
    const std::size_t state = read_little_endian<std::uint32_t>(payload.data() + 16);
    const std::size_t operations = read_little_endian<std::uint32_t>(payload.data() + 20);
    payload.remove_prefix(batch_head_bytes);
    if (payload.size() < state + operations) return std::nullopt;
    one.shard_state = payload.substr(0, state);
    one.operations = payload.substr(state, operations);
    payload.remove_prefix(state + operations);
    out.push_back(one);
  }
  if (out.empty()) return std::nullopt;
  return out;
}

std::string encode_checkpoint(const checkpoint& in) {
  std::string out;
  append_little_endian(out, in.first_needed_segment);
  for (const auto& one : in.shards) {
    append_little_endian(out, one.shard);
    append_little_endian(out, one.last_index);
    append_little_endian(out, one.applied_index);
  }
  return out;
}

std::optional<checkpoint> decode_checkpoint(std::string_view payload) {
  if (payload.size() < 8 || (payload.size() - 8) % position_bytes != 0) return std::nullopt;
  checkpoint out;
  out.first_needed_segment = read_little_endian<std::uint64_t>(payload.data());
  for (payload.remove_prefix(8); !payload.empty(); payload.remove_prefix(position_bytes)) {
    out.shards.push_back({read_little_endian<std::uint16_t>(payload.data()), read_little_endian<std::uint64_t>(payload.data() + 2),
                          read_little_endian<std::uint64_t>(payload.data() + 10)});
  }
  return out;
}

std::string encode_vote(std::uint64_t vote) {
  std::string out;
  append_little_endian(out, vote);
  return out;
}

std::optional<std::uint64_t> decode_vote(std::string_view payload) {
  if (payload.size() != sizeof(std::uint64_t)) return std::nullopt;
  return read_little_endian<std::uint64_t>(payload.data());
}

}  // namespace fairlead::store
