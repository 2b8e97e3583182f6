#include "store/journal/format.hpp"

#include <algorithm>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "store/failpoint.hpp"
#include "store/integers.hpp"

namespace fairlead::store {

namespace {

constexpr int flag_more_follows = 2;
constexpr int flag_continues = 4;
constexpr char segment_magic[] = "FLJRNL01";
constexpr char group_magic[] = "FJGR";
constexpr std::size_t magic_bytes = 8;
constexpr std::size_t release_bytes = 32;
constexpr std::size_t header_sum_at = journal_block_bytes - 8;
constexpr std::size_t group_sum_at = group_header_bytes - 8;
constexpr std::size_t record_sum_at = record_header_bytes - 8;

bool known_type(std::uint8_t type) {
  switch (static_cast<record_type>(type)) {
    case record_type::batch:
    case record_type::epoch:
    case record_type::members:
    case record_type::hard:
    case record_type::cut:
    case record_type::base:
    case record_type::standing:
    case record_type::checkpoint:
    case record_type::close:
    case record_type::clock:
    case record_type::rows: return true;
  }
  return false;
}

std::uint64_t record_sum(const char* header, std::string_view payload) {
  return XXH3_64bits_withSeed(payload.data(), payload.size(), XXH3_64bits(header, record_sum_at));
}

}  // namespace

void encode_segment_header(const segment_header& in, char* block) {
  std::memset(block, 0, journal_block_bytes);
  std::copy_n(segment_magic, magic_bytes, block);
  write_little_endian<std::uint32_t>(block + 8, journal_format_version);
  write_little_endian<std::uint32_t>(block + 12, journal_block_bytes);
  write_little_endian(block + 16, in.journal.low);
  write_little_endian(block + 24, in.journal.high);
  write_little_endian(block + 32, in.segment);
  write_little_endian(block + 40, in.file_bytes);
  write_little_endian(block + 48, in.first_group);
  write_little_endian(block + 56, in.opening);
  write_little_endian(block + 64, in.previous_segment);
  write_little_endian(block + 72, in.previous_end);
  write_little_endian(block + 80, in.previous_chain);
  write_little_endian(block + 88, static_cast<std::uint64_t>(in.begun_unix_ms));
  std::copy_n(in.release.data(), std::min(in.release.size(), release_bytes), block + 96);
  write_little_endian(block + header_sum_at, XXH3_64bits(block, header_sum_at));
}

std::optional<segment_header> decode_segment_header(const char* block, bool* newer_format) {
  if (std::memcmp(block, segment_magic, magic_bytes) != 0) return std::nullopt;
  if (read_little_endian<std::uint64_t>(block + header_sum_at) != XXH3_64bits(block, header_sum_at)) return std::nullopt;
  if (read_little_endian<std::uint32_t>(block + 8) != journal_format_version ||
      read_little_endian<std::uint32_t>(block + 12) != journal_block_bytes) {
    if (newer_format != nullptr) *newer_format = true;
    return std::nullopt;
  }
  segment_header out;
  out.journal = {read_little_endian<std::uint64_t>(block + 16), read_little_endian<std::uint64_t>(block + 24)};
  out.segment = read_little_endian<std::uint64_t>(block + 32);
  out.file_bytes = read_little_endian<std::uint64_t>(block + 40);
  out.first_group = read_little_endian<std::uint64_t>(block + 48);
  out.opening = read_little_endian<std::uint64_t>(block + 56);
  out.previous_segment = read_little_endian<std::uint64_t>(block + 64);
  out.previous_end = read_little_endian<std::uint64_t>(block + 72);
  out.previous_chain = read_little_endian<std::uint64_t>(block + 80);
  out.begun_unix_ms = static_cast<std::int64_t>(read_little_endian<std::uint64_t>(block + 88));
  out.release.assign(block + 96, ::strnlen(block + 96, release_bytes));
  return out;
}

void encode_group_header(const group_header& in, const journal_id& journal, char* out) {
  std::copy_n(group_magic, 4, out);
  write_little_endian(out + 4, in.blocks);
  write_little_endian(out + 8, in.segment);
  write_little_endian(out + 16, in.group);
  write_little_endian(out + 24, in.durable);
  write_little_endian(out + 32, in.opening);
  write_little_endian(out + 40, in.payload_bytes);
  write_little_endian(out + 44, in.records);
  write_little_endian(out + 48, in.chain);
  write_little_endian(out + group_sum_at, XXH3_64bits_withSeed(out, group_sum_at, journal.low));
}

std::optional<group_header> decode_group_header(const char* in, const journal_id& journal) {
  if (std::memcmp(in, group_magic, 4) != 0) return std::nullopt;
  if (read_little_endian<std::uint64_t>(in + group_sum_at) != XXH3_64bits_withSeed(in, group_sum_at, journal.low)) return std::nullopt;
  group_header out;
  out.blocks = read_little_endian<std::uint32_t>(in + 4);
  out.segment = read_little_endian<std::uint64_t>(in + 8);
  out.group = read_little_endian<std::uint64_t>(in + 16);
  out.durable = read_little_endian<std::uint64_t>(in + 24);
  out.opening = read_little_endian<std::uint64_t>(in + 32);
  out.payload_bytes = read_little_endian<std::uint32_t>(in + 40);
  out.records = read_little_endian<std::uint32_t>(in + 44);
  out.chain = read_little_endian<std::uint64_t>(in + 48);
  if (out.payload_bytes > max_group_bytes || out.blocks != blocks_of_group(out.payload_bytes)) return std::nullopt;
  return out;
}

std::uint64_t group_chain(std::string_view records, const journal_id& journal, std::uint64_t segment, std::uint64_t group,
                          std::uint64_t previous_chain) {
  return XXH3_64bits_withSeed(records.data(), records.size(), previous_chain ^ journal.low ^ segment ^ group);
}

void encode_record(const journal_record& in, char* out) {
  std::memset(out, 0, record_header_bytes);
  out[0] = static_cast<char>(in.type);
  out[1] = static_cast<char>((in.more_follows ? flag_more_follows : 0) | (in.continues ? flag_continues : 0));
  write_little_endian(out + 2, in.shard);
  write_little_endian(out + 4, static_cast<std::uint32_t>(in.payload.size()));
  write_little_endian(out + 8, in.index);
  write_little_endian(out + 16, in.term);
  write_little_endian(out + 24, static_cast<std::uint64_t>(in.stamp_ms));
  write_little_endian(out + record_sum_at, record_sum(out, in.payload));
  if (!in.payload.empty()) std::memcpy(out + record_header_bytes, in.payload.data(), in.payload.size());
  const auto end = record_header_bytes + in.payload.size();
  std::memset(out + end, 0, record_bytes(in.payload.size()) - end);
}

std::optional<journal_record> next_record(std::string_view& rest) {
  if (rest.size() < record_header_bytes) return std::nullopt;
  const auto* header = rest.data();
  const auto payload_bytes = read_little_endian<std::uint32_t>(header + 4);
  const auto bytes = record_bytes(payload_bytes);
  if (bytes > rest.size()) return std::nullopt;
  journal_record out;
  out.payload = rest.substr(record_header_bytes, payload_bytes);
  const bool unchecked = failpoint("plant.records_unchecked");
  if (!unchecked && read_little_endian<std::uint64_t>(header + record_sum_at) != record_sum(header, out.payload)) return std::nullopt;
  out.type = static_cast<record_type>(header[0]);
  out.known = known_type(static_cast<std::uint8_t>(header[0])) && (header[1] & ~(flag_more_follows | flag_continues)) == 0;
  out.more_follows = (header[1] & flag_more_follows) != 0;
  out.continues = (header[1] & flag_continues) != 0;
  out.shard = read_little_endian<std::uint16_t>(header + 2);
  out.index = read_little_endian<std::uint64_t>(header + 8);
  out.term = read_little_endian<std::uint64_t>(header + 16);
  out.stamp_ms = static_cast<std::int64_t>(read_little_endian<std::uint64_t>(header + 24));
  rest.remove_prefix(bytes);
  return out;
}

}  // namespace fairlead::store
