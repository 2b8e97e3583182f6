#include "store/batch.hpp"

#include <array>
#include <limits>
#include <stdexcept>

#include "store/checksum.hpp"
#include "store/integers.hpp"

namespace fairlead::store {

namespace {

[[noreturn]] void no_batch() { throw std::logic_error("batch: the bytes are no batch"); }

std::uint32_t take_u32(std::string_view& rest) {
  if (rest.size() < 4) no_batch();
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(rest[i])); };
  const auto value = byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24;  // the compiler makes this one load
  rest.remove_prefix(4);
  return value;
}

std::string_view take_bytes(std::string_view& rest) {
  auto size = take_u32(rest);
  if (rest.size() < size) no_batch();
  auto bytes = rest.substr(0, size);
  rest.remove_prefix(size);
  return bytes;
}

// LMDB would refuse such a key only when the batch is applied; this way its author learns of it at once.
void require_key(table where, std::string_view key) {
  if (key.empty() || key.size() > max_key_bytes) {
    throw std::logic_error("batch: a key of " + std::to_string(key.size()) + " bytes for table " + table_name(where) + ", expected 1 to " +
                           std::to_string(max_key_bytes));
  }
}

}  // namespace

const char* table_name(table t) {
  static constexpr std::array<const char*, table_count> names = {"meta",
                                                                 "task",
                                                                 "task_id",
                                                                 "due",
                                                                 "pending",
                                                                 "held",
                                                                 "finished",
                                                                 "by_workflow",
                                                                 "by_label",
                                                                 "history",
                                                                 "payload",
                                                                 "workflow",
                                                                 "workflow_version",
                                                                 "alert",
                                                                 "outbox",
                                                                 "reply_address",
                                                                 "unresolved_alert",
                                                                 "service",
                                                                 "job",
                                                                 "job_due",
                                                                 "launch",
                                                                 "launch_ready"};
  auto index = static_cast<std::size_t>(t);
  return index < names.size() ? names[index] : "unknown";
}

void batch::put(table where, std::string_view key, std::string_view payload) {
  require_key(where, key);
  if (payload.size() > std::numeric_limits<std::uint32_t>::max() - checksum_bytes) throw std::logic_error("batch: a value beyond 4 GiB");
  bytes_ += static_cast<char>(operation::kind::put);
  bytes_ += static_cast<char>(where);
  append_little_endian(bytes_, static_cast<std::uint32_t>(key.size()));
  bytes_ += key;
  append_little_endian(bytes_, static_cast<std::uint32_t>(payload.size() + checksum_bytes));
  bytes_ += payload;
  append_little_endian(bytes_, checksum(where, key, payload));
  ++operations_;
}

void batch::erase(table where, std::string_view key) {
  require_key(where, key);
  bytes_ += static_cast<char>(operation::kind::erase);
  bytes_ += static_cast<char>(where);
  append_little_endian(bytes_, static_cast<std::uint32_t>(key.size()));
  bytes_ += key;
  ++operations_;
}

void batch::append(const batch& more) {
  bytes_ += more.bytes_;
  operations_ += more.operations_;
}

void batch::clear() {
  sequence = 0;
  epoch = 0;
  shard_state.clear();
  bytes_.clear();
  operations_ = 0;
}

bool batch::next(std::string_view& rest, operation& out) {
  if (rest.empty()) return false;
  if (rest.size() < 2) no_batch();
  auto kind = static_cast<std::uint8_t>(rest[0]);
  auto where = static_cast<std::uint8_t>(rest[1]);
  if (kind == 0) no_batch();
  if (kind > 2) throw unknown_operation("kind of operation " + std::to_string(kind));
  if (where >= table_count) throw unknown_operation("table " + std::to_string(where));
  rest.remove_prefix(2);
  out.what = static_cast<operation::kind>(kind);
  out.where = static_cast<table>(where);
  out.key = take_bytes(rest);
  out.value = out.what == operation::kind::put ? take_bytes(rest) : std::string_view{};
  return true;
}

std::vector<operation> operations_of(std::string_view bytes) {
  std::vector<operation> out;
  operation one;
  while (batch::next(bytes, one)) out.push_back(one);
  return out;
}

}  // namespace fairlead::store
