#include "store/keys.hpp"

#include <cstring>
#include <limits>
#include <stdexcept>

#include "messages/holds.hpp"
#include "messages/ids.hpp"
#include "store/content_hash.hpp"
#include "store/integers.hpp"

namespace fairlead::store {

namespace {

template <class T>
char* write(char* at, T value) {
  for (std::size_t i = sizeof(T); i-- > 0;) *at++ = static_cast<char>(value >> (8 * i));
  return at;
}

std::uint32_t read_u32(std::string_view key, std::size_t at) { return read_big_endian<std::uint32_t>(key.substr(at, 4)); }
std::uint64_t read_u64(std::string_view key, std::size_t at) { return read_big_endian<std::uint64_t>(key.substr(at, 8)); }
std::int64_t read_ms(std::string_view key, std::size_t at) { return static_cast<std::int64_t>(read_u64(key, at)); }

std::string named(std::uint32_t ns, std::string_view name, std::size_t room = 0) {
  std::string key(4, '\0');
  key.reserve(4 + name.size() + room);
  write(key.data(), ns);
  key += name;
  return key;
}

void append_number(std::string& key, std::uint64_t number) {
  char bytes[8];
  write(bytes, number);
  key.append(bytes, sizeof bytes);
}

// A shorter address would give a key among those of another address.
char* write_address(char* at, std::string_view address) {
  if (address.size() != content_hash_bytes) throw std::logic_error("keys: the hash of a reply address has 16 bytes");
  std::memcpy(at, address.data(), content_hash_bytes);
  return at + content_hash_bytes;
}

bool holds_zero(std::string_view text) { return text.find('\0') != std::string_view::npos; }

// A name at the end of a key needs no terminator; with a zero byte it would be another key of table launch.
std::optional<std::string_view> name_from(std::string_view key, std::size_t at) {
  if (key.size() <= at || holds_zero(key.substr(at))) return std::nullopt;
  return key.substr(at);
}

}  // namespace

std::uint64_t pending_order(std::int64_t created_at_unix_ms, std::int32_t priority) {
  std::int64_t order = 0;
  const auto credit = static_cast<std::int64_t>(priority) * priority_aging_ms;
  if (__builtin_sub_overflow(created_at_unix_ms, credit, &order)) {
    order = credit > 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
  }
  return static_cast<std::uint64_t>(order) ^ (std::uint64_t{1} << 63);
}

std::uint32_t launch_order(std::int32_t priority) { return ~(static_cast<std::uint32_t>(priority) ^ (std::uint32_t{1} << 31)); }

namespace keys {

fixed_key<4> of_namespace(std::uint32_t ns) {
  fixed_key<4> key;
  write(key.data(), ns);
  return key;
}

std::string meta(std::string_view name) { return named(system_namespace, name); }

fixed_key<12> task(std::uint32_t ns, std::uint64_t number) {
  fixed_key<12> key;
  write(write(key.data(), ns), number);
  return key;
}

std::string task_id(std::uint32_t ns, std::string_view id) { return named(ns, id); }

fixed_key<20> due(std::uint32_t ns, std::int64_t due_unix_ms, std::uint64_t number) {
  fixed_key<20> key;
  write(write(write(key.data(), ns), static_cast<std::uint64_t>(due_unix_ms)), number);
  return key;
}

fixed_key<20> pending(std::uint32_t ns, std::uint64_t order, std::uint64_t number) {
  fixed_key<20> key;
  write(write(write(key.data(), ns), order), number);
  return key;
}

fixed_key<13> held(std::uint32_t ns, held_why why, std::uint64_t number) {
  fixed_key<13> key;
  write(write(write(key.data(), ns), static_cast<std::uint8_t>(why)), number);
  return key;
}

fixed_key<21> finished(std::uint32_t ns, std::uint8_t state, std::int64_t finished_at_unix_ms, std::uint64_t number) {
  fixed_key<21> key;
  write(write(write(write(key.data(), ns), state), static_cast<std::uint64_t>(finished_at_unix_ms)), number);
  return key;
}

std::string by_workflow(std::uint32_t ns, std::string_view workflow, std::uint64_t number) {
  auto key = named(ns, workflow, 9);
  key += '\0';
  append_number(key, number);
  return key;
}

std::string by_label(std::uint32_t ns, std::string_view label, std::string_view value, std::uint64_t number) {
  auto key = by_label_prefix(ns, label, value);
  append_number(key, number);
  return key;
}

fixed_key<16> history(std::uint32_t ns, std::uint64_t number, std::uint32_t chunk) {
  fixed_key<16> key;
  write(write(write(key.data(), ns), number), chunk);
  return key;
}

fixed_key<16> payload(std::uint32_t ns, std::uint64_t number, std::uint32_t slot) { return history(ns, number, slot); }

std::string workflow(std::uint32_t ns, std::string_view name) { return named(ns, name); }

std::string workflow_version(std::uint32_t ns, std::string_view name, std::string_view hash) {
  auto key = named(ns, name, 1 + hash.size());
  key += '\0';
  key += hash;
  return key;
}

std::string by_workflow_prefix(std::uint32_t ns, std::string_view workflow) { return workflow_version(ns, workflow, {}); }

std::string by_label_prefix(std::uint32_t ns, std::string_view label, std::string_view value) {
  auto key = named(ns, label, value.size() + 10);
  key += '\0';
  key += value;
  key += '\0';
  return key;
}

std::string workflow_version_prefix(std::uint32_t ns, std::string_view name) { return workflow_version(ns, name, {}); }

fixed_key<5> finished_prefix(std::uint32_t ns, std::uint8_t state) {
  fixed_key<5> key;
  write(write(key.data(), ns), state);
  return key;
}

fixed_key<5> held_prefix(std::uint32_t ns, held_why why) { return finished_prefix(ns, static_cast<std::uint8_t>(why)); }

fixed_key<12> alert(std::uint32_t ns, std::uint64_t number) { return task(ns, number); }

fixed_key<12> unresolved_alert(std::uint32_t ns, std::uint64_t number) { return task(ns, number); }

std::string service(std::uint32_t ns, std::string_view agent) { return named(ns, agent); }

fixed_key<28> outbox(std::uint32_t ns, std::string_view address, std::uint64_t position) {
  fixed_key<28> key;
  write(write_address(write(key.data(), ns), address), position);
  return key;
}

fixed_key<20> reply_address(std::uint32_t ns, std::string_view address) {
  fixed_key<20> key;
  write_address(write(key.data(), ns), address);
  return key;
}

fixed_key<20> outbox_prefix(std::uint32_t ns, std::string_view address) { return reply_address(ns, address); }

std::string job(std::uint32_t ns, std::string_view name) { return named(ns, name); }

std::string job_due(std::uint32_t ns, std::int64_t due_unix_ms, std::uint32_t order, std::string_view name) {
  std::string key(16, '\0');
  key.reserve(16 + name.size());
  write(write(write(key.data(), ns), static_cast<std::uint64_t>(due_unix_ms)), order);
  key += name;
  return key;
}

std::string launch(std::uint32_t ns, std::string_view job, std::int64_t nominal_unix_ms) {
  auto key = launch_prefix(ns, job);
  append_number(key, static_cast<std::uint64_t>(nominal_unix_ms));
  return key;
}

std::string launch_ready(std::uint32_t ns, ready_for what, std::uint32_t order, std::int64_t nominal_unix_ms, std::string_view job) {
  std::string key(17, '\0');
  key.reserve(17 + job.size());
  write(write(write(write(key.data(), ns), static_cast<std::uint8_t>(what)), order), static_cast<std::uint64_t>(nominal_unix_ms));
  key += job;
  return key;
}

std::string launch_prefix(std::uint32_t ns, std::string_view job) {
  auto key = named(ns, job, 9);
  key += '\0';
  return key;
}

fixed_key<5> launch_ready_prefix(std::uint32_t ns, ready_for what) { return finished_prefix(ns, static_cast<std::uint8_t>(what)); }

std::string after(std::string_view prefix) {
  std::string bound(prefix);
  while (!bound.empty() && static_cast<unsigned char>(bound.back()) == 0xff) bound.pop_back();
  if (!bound.empty()) bound.back() = static_cast<char>(static_cast<unsigned char>(bound.back()) + 1);
  return bound;
}

std::optional<std::string_view> decode_meta(std::string_view key) {
  if (key.size() < 5 || read_u32(key, 0) != system_namespace) return std::nullopt;
  return key.substr(4);
}

std::optional<number_key> decode_task(std::string_view key) {
  if (key.size() != 12) return std::nullopt;
  return number_key{read_u32(key, 0), read_u64(key, 4)};
}

std::optional<name_key> decode_task_id(std::string_view key) {
  if (key.size() < 5 || key.size() > 4 + max_known_id_bytes) return std::nullopt;
  return name_key{read_u32(key, 0), key.substr(4)};
}

std::optional<due_key> decode_due(std::string_view key) {
  if (key.size() != 20) return std::nullopt;
  return due_key{read_u32(key, 0), read_ms(key, 4), read_u64(key, 12)};
}

std::optional<pending_key> decode_pending(std::string_view key) {
  if (key.size() != 20) return std::nullopt;
  return pending_key{read_u32(key, 0), read_u64(key, 4), read_u64(key, 12)};
}

std::optional<held_key> decode_held(std::string_view key) {
  if (key.size() != 13) return std::nullopt;
  auto why = static_cast<held_why>(key[4]);
  const auto known = [&](const hold& one) { return one.index != 0 && held_why{one.index} == why; };
  if (std::none_of(std::begin(holds), std::end(holds), known)) return std::nullopt;
  return held_key{read_u32(key, 0), why, read_u64(key, 5)};
}

std::optional<finished_key> decode_finished(std::string_view key) {
  if (key.size() != 21) return std::nullopt;
  return finished_key{read_u32(key, 0), static_cast<std::uint8_t>(key[4]), read_ms(key, 5), read_u64(key, 13)};
}

std::optional<by_workflow_key> decode_by_workflow(std::string_view key) {
  if (key.size() < 4 + 1 + 1 + 8) return std::nullopt;
  auto name = key.substr(4, key.size() - 13);
  if (holds_zero(name) || key[key.size() - 9] != '\0') return std::nullopt;
  return by_workflow_key{read_u32(key, 0), name, read_u64(key, key.size() - 8)};
}

std::optional<by_label_key> decode_by_label(std::string_view key) {
  if (key.size() < 4 + 1 + 1 + 1 + 8 || key[key.size() - 9] != '\0') return std::nullopt;
  auto both = key.substr(4, key.size() - 13);
  auto zero = both.find('\0');
  if (zero == std::string_view::npos || zero == 0 || holds_zero(both.substr(zero + 1))) return std::nullopt;
  return by_label_key{read_u32(key, 0), both.substr(0, zero), both.substr(zero + 1), read_u64(key, key.size() - 8)};
}

std::optional<history_key> decode_history(std::string_view key) {
  if (key.size() != 16) return std::nullopt;
  return history_key{read_u32(key, 0), read_u64(key, 4), read_u32(key, 12)};
}

std::optional<payload_key> decode_payload(std::string_view key) {
  if (key.size() != 16) return std::nullopt;
  return payload_key{read_u32(key, 0), read_u64(key, 4), read_u32(key, 12)};
}

std::optional<name_key> decode_workflow(std::string_view key) {
  if (key.size() < 5 || holds_zero(key.substr(4))) return std::nullopt;
  return name_key{read_u32(key, 0), key.substr(4)};
}

std::optional<version_key> decode_workflow_version(std::string_view key) {
  if (key.size() < 4 + 1 + 1 + content_hash_bytes) return std::nullopt;
  auto name = key.substr(4, key.size() - 5 - content_hash_bytes);
  if (holds_zero(name) || key[4 + name.size()] != '\0') return std::nullopt;
  return version_key{read_u32(key, 0), name, key.substr(5 + name.size())};
}

std::optional<number_key> decode_alert(std::string_view key) { return decode_task(key); }

std::optional<number_key> decode_unresolved_alert(std::string_view key) { return decode_task(key); }

std::optional<name_key> decode_service(std::string_view key) { return decode_workflow(key); }

std::optional<outbox_key> decode_outbox(std::string_view key) {
  if (key.size() != 4 + content_hash_bytes + 8) return std::nullopt;
  return outbox_key{read_u32(key, 0), key.substr(4, content_hash_bytes), read_u64(key, 4 + content_hash_bytes)};
}

std::optional<address_key> decode_reply_address(std::string_view key) {
  if (key.size() != 4 + content_hash_bytes) return std::nullopt;
  return address_key{read_u32(key, 0), key.substr(4)};
}

std::optional<name_key> decode_job(std::string_view key) { return decode_workflow(key); }

std::optional<job_due_key> decode_job_due(std::string_view key) {
  const auto name = name_from(key, 16);
  if (!name) return std::nullopt;
  return job_due_key{read_u32(key, 0), read_ms(key, 4), read_u32(key, 12), *name};
}

std::optional<launch_key> decode_launch(std::string_view key) {
  const auto same_layout = decode_by_workflow(key);
  if (!same_layout) return std::nullopt;
  return launch_key{same_layout->ns, same_layout->workflow, static_cast<std::int64_t>(same_layout->number)};
}

std::optional<launch_ready_key> decode_launch_ready(std::string_view key) {
  const auto job = name_from(key, 17);
  if (!job) return std::nullopt;
  const auto what = static_cast<ready_for>(key[4]);
  if (what != ready_for::room && what != ready_for::agents) return std::nullopt;
  return launch_ready_key{read_u32(key, 0), what, read_u32(key, 5), read_ms(key, 9), *job};
}

}  // namespace keys
}  // namespace fairlead::store
