#include "store/meta_rows.hpp"

#include <charconv>

#include "store/integers.hpp"
#include "store/keys.hpp"
#include "store/load.hpp"

namespace fairlead::store {

namespace meta {

std::string namespace_row(std::uint32_t ns) { return "namespace:" + std::to_string(ns); }

std::string numbered_row(std::string_view prefix, std::uint64_t number) {
  const auto digits = std::to_string(number);
  return std::string{prefix} + std::string(20 - digits.size(), '0') + digits;
}

std::optional<std::uint64_t> number_of_row(std::string_view key) {
  if (key.size() < 20) return std::nullopt;
  std::uint64_t out = 0;
  const auto digits = key.substr(key.size() - 20);
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), out);
  return read.ec == std::errc{} && read.ptr == digits.data() + digits.size() ? std::optional{out} : std::nullopt;
}

std::string encode_u32(std::uint32_t value) {
  std::string out;
  append_big_endian(out, value);
  return out;
}

std::string encode_u64(std::uint64_t value) {
  std::string out;
  append_big_endian(out, value);
  return out;
}

std::optional<std::uint32_t> decode_u32(std::string_view payload) {
  if (payload.size() != 4) return std::nullopt;
  return read_big_endian<std::uint32_t>(payload);
}

std::optional<std::uint64_t> decode_u64(std::string_view payload) {
  if (payload.size() != 8) return std::nullopt;
  return read_big_endian<std::uint64_t>(payload);
}

std::string encode_journal(const journal_membership& what) {
  return encode_u64(what.journal.low) + encode_u64(what.journal.high) + encode_u32(what.shard);
}

std::optional<journal_membership> decode_journal(std::string_view payload) {
  if (payload.size() != 20) return std::nullopt;
  return journal_membership{{read_big_endian<std::uint64_t>(payload), read_big_endian<std::uint64_t>(payload.substr(8))},
                            read_big_endian<std::uint32_t>(payload.substr(16))};
}

std::string encode_replica(const replica_identity& what) { return encode_u64(what.id) + what.members; }

std::optional<replica_identity> decode_replica(std::string_view payload) {
  if (payload.size() < 8) return std::nullopt;
  return replica_identity{read_big_endian<std::uint64_t>(payload), std::string{payload.substr(8)}};
}

std::string encode_installed(const installed_copy& what) {
  return encode_u64(what.index) + encode_u64(what.term) + encode_u64(static_cast<std::uint64_t>(what.stamp_ms)) + encode_u64(what.group) +
         encode_u64(what.former_index) + encode_u64(what.former_term) + what.members;
}

std::optional<installed_copy> decode_installed(std::string_view payload) {
  constexpr auto each = sizeof(std::uint64_t);
  if (payload.size() < 6 * each) return std::nullopt;
  const auto number = [&](std::size_t place) { return read_big_endian<std::uint64_t>(payload.substr(place * each)); };
  return installed_copy{number(0), number(1), static_cast<std::int64_t>(number(2)), number(3),
                        number(4), number(5), std::string{payload.substr(6 * each)}};
}

std::string encode_clock(const clock_note& what) {
  return encode_u64(static_cast<std::uint64_t>(what.ahead_ms)) + encode_u64(static_cast<std::uint64_t>(what.wall_unix_ms)) +
         encode_u64(what.group);
}

std::optional<clock_note> decode_clock(std::string_view payload) {
  constexpr auto each = sizeof(std::uint64_t);
  if (payload.size() != 3 * each) return std::nullopt;
  const auto ahead = decode_u64(payload.substr(0, each)), wall = decode_u64(payload.substr(each, each));
  return clock_note{static_cast<std::int64_t>(*ahead), static_cast<std::int64_t>(*wall), *decode_u64(payload.substr(2 * each))};
}

std::string encode_applied(const entry_position& what) { return encode_u64(what.index) + encode_u64(what.group); }

std::optional<entry_position> decode_applied(std::string_view payload) {
  if (payload.size() != 16) return std::nullopt;
  return entry_position{read_big_endian<std::uint64_t>(payload), read_big_endian<std::uint64_t>(payload.substr(8)), 0};
}

std::string encode_shard(const shard_identity& what) {
  std::string out;
  append_big_endian(out, what.shard);
  append_big_endian(out, what.count);
  return out + what.store_id;
}

std::optional<shard_identity> decode_shard(std::string_view payload) {
  if (payload.size() <= 8) return std::nullopt;
  return shard_identity{read_big_endian<std::uint32_t>(payload), read_big_endian<std::uint32_t>(payload.substr(4)),
                        std::string{payload.substr(8)}};
}

std::string encode_lineage(const v1::Lineage& what) {
  std::string out;
  append_big_endian(out, static_cast<std::uint64_t>(what.made_unix_ms()));
  append_big_endian(out, what.bits());
  return out;
}

std::optional<v1::Lineage> decode_lineage(std::string_view payload) {
  if (payload.size() != 16) return std::nullopt;
  v1::Lineage out;
  out.set_made_unix_ms(static_cast<std::int64_t>(read_big_endian<std::uint64_t>(payload)));
  out.set_bits(read_big_endian<std::uint64_t>(payload.substr(8)));
  return out;
}

std::string encode_progress(std::uint64_t sequence, std::uint64_t epoch, std::string_view shard_state) {
  std::string out;
  out.reserve(16 + shard_state.size());
  append_big_endian(out, sequence);
  append_big_endian(out, epoch);
  out += shard_state;
  return out;
}

std::optional<progress> decode_progress(std::string_view payload) {
  if (payload.size() < 16) return std::nullopt;
  progress out;
  out.sequence = read_big_endian<std::uint64_t>(payload);
  out.epoch = read_big_endian<std::uint64_t>(payload.substr(8));
  auto state = payload.substr(16);
  if (!out.shard.ParseFromArray(state.data(), static_cast<int>(state.size()))) return std::nullopt;
  return out;
}

}  // namespace meta

error damaged_value(table where, std::string_view key) {
  return {v1::ERROR_CODE_CORRUPT, "The value of " + keys::describe(where, key) + " in table " + table_name(where) + " is damaged.",
          "Stop the node, run `fairlead store check` and restore the store from a backup."};
}

error unreadable_value(table where, std::string_view key) {
  auto out = damaged_value(where, key);
  out.sentence.insert(out.sentence.size() - 1, " (its checksum is right, its content is not)");
  return out;
}

status check_order(std::uint64_t next_sequence, std::uint64_t next_epoch, std::uint64_t stored_sequence, std::uint64_t stored_epoch) {
  if (next_epoch != stored_epoch) {
    return error{
        v1::ERROR_CODE_STALE_EPOCH,
        "A batch of epoch " + std::to_string(next_epoch) + " was refused: the shard is at epoch " + std::to_string(stored_epoch) + ".",
        "Another process has taken over the shard; this process must stop."};
  }
  if (next_sequence != stored_sequence + 1) {
    return error{v1::ERROR_CODE_INTERNAL,
                 "A batch with sequence " + std::to_string(next_sequence) + " was refused: " + std::to_string(stored_sequence + 1) +
                     " is the next one.",
                 "This is a bug of the writer; report it."};
  }
  return nothing{};
}

}  // namespace fairlead::store
