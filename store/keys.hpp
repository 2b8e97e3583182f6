#pragma once
// Every key, byte by byte. Stored bytes are for ever: a layout or a number is never reused for something else.
//
// All integers are unsigned and big-endian, so that byte order is numeric order. Every key begins with the namespace as u32 (`ns`): 0 is
// the system itself, 1 is `default`. `0` below is one zero byte; names never contain one.
//
//   table             key                                          payload of the value
//   meta              0 (u32) | name                               see meta_rows.hpp
//   task              ns | number u64                              TaskRecord
//   task_id           ns | id                                      TaskTombstone
//   due               ns | due_unix_ms u64 | number u64            empty
//   pending           ns | order u64 | number u64                  empty; the smallest order starts first, see pending_order
//   held              ns | 'k' parked or 'p' paused | number u64   since_unix_ms u64
//   finished          ns | state u8 | finished_at_unix_ms u64 | number u64    empty
//   by_workflow       ns | workflow | 0 | number u64               empty
//   by_label          ns | key | 0 | value | 0 | number u64        empty
//   history           ns | number u64 | chunk u32                  HistoryChunk; chunk is the sequence of the first event it began with
//   payload           ns | number u64 | slot u32                   JSON text
//   workflow          ns | name                                    content hash of the current version, 16 bytes
//   workflow_version  ns | name | 0 | content hash, 16 bytes       DeployedWorkflow
//   alert             ns | number u64                              AlertRecord
//   outbox            ns | address, 16 bytes | position u64        StatusEvent
//   reply_address     ns | address, 16 bytes                       ReplyAddressRecord, of those that fail
//   unresolved_alert  ns | number u64                              empty; alerts that are open or acknowledged
//   service           ns | agent name                              ServiceRecord
//   job               ns | name                                    JobRecord
//   job_due           ns | due_unix_ms u64 | order u32 | name      empty; when the job must be checked next
//   launch            ns | job | 0 | nominal_unix_ms u64           LaunchRecord
//   launch_ready      ns | for u8 | order u32 | nominal_unix_ms u64 | job    empty; launches that wait for room ('r') or for agents ('a')
//
// `order` is launch_order: the smallest goes first.
//
// `address` is reply_address_hash (store/content_hash.hpp).
//
// Decoders are total: any bytes give a value or nullopt, and a key that decodes encodes to the same bytes again.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "store/batch.hpp"

namespace fairlead::store {

inline constexpr std::uint32_t system_namespace = 0;
inline constexpr std::uint32_t default_namespace = 1;

/// These bounds keep every key within max_key_bytes. Callers refuse longer names, and names with a zero byte.
inline constexpr std::size_t max_workflow_name_bytes = 128;
inline constexpr std::size_t max_label_key_bytes = 128;
inline constexpr std::size_t max_label_value_bytes = 256;
inline constexpr std::size_t max_job_name_bytes = 128;

/// A key of known size that needs no heap.
template <std::size_t size>
class fixed_key {
 public:
  operator std::string_view() const noexcept { return {bytes_.data(), size}; }  // NOLINT(google-explicit-constructor)
  std::string str() const { return std::string(bytes_.data(), size); }
  char* data() noexcept { return bytes_.data(); }

 private:
  std::array<char, size> bytes_{};
};

/// One level of priority is worth this much waiting: a task of priority 1 goes before one of priority 0 that was submitted less than this
/// time later. So no task starves.
inline constexpr std::int64_t priority_aging_ms = 60'000;

/// created_at - priority * priority_aging_ms, moved by 2^63 so that it stays unsigned; saturates at both ends.
std::uint64_t pending_order(std::int64_t created_at_unix_ms, std::int32_t priority);

enum class held_why : char { parked = 'k', paused = 'p' };

/// What a launch waits for before it can start.
enum class ready_for : char { room = 'r', agents = 'a' };

/// 2^31 - 1 - priority: of the launches due at one moment the highest priority goes first.
std::uint32_t launch_order(std::int32_t priority);

struct number_key {
  std::uint32_t ns;
  std::uint64_t number;
};
struct name_key {
  std::uint32_t ns;
  std::string_view name;
};
struct due_key {
  std::uint32_t ns;
  std::int64_t due_unix_ms;
  std::uint64_t number;
};
struct pending_key {
  std::uint32_t ns;
  std::uint64_t order;
  std::uint64_t number;
};
struct held_key {
  std::uint32_t ns;
  held_why why;
  std::uint64_t number;
};
struct finished_key {
  std::uint32_t ns;
  std::uint8_t state;
  std::int64_t finished_at_unix_ms;
  std::uint64_t number;
};
struct by_workflow_key {
  std::uint32_t ns;
  std::string_view workflow;
  std::uint64_t number;
};
struct by_label_key {
  std::uint32_t ns;
  std::string_view key;
  std::string_view value;
  std::uint64_t number;
};
struct history_key {
  std::uint32_t ns;
  std::uint64_t number;
  std::uint32_t chunk;
};
struct payload_key {
  std::uint32_t ns;
  std::uint64_t number;
  std::uint32_t slot;
};
struct version_key {
  std::uint32_t ns;
  std::string_view name;
  std::string_view hash;
};
struct outbox_key {
  std::uint32_t ns;
  std::string_view address;
  std::uint64_t position;
};
struct address_key {
  std::uint32_t ns;
  std::string_view address;
};
struct job_due_key {
  std::uint32_t ns;
  std::int64_t due_unix_ms;
  std::uint32_t order;
  std::string_view name;
};
struct launch_key {
  std::uint32_t ns;
  std::string_view job;
  std::int64_t nominal_unix_ms;
};
struct launch_ready_key {
  std::uint32_t ns;
  ready_for what;
  std::uint32_t order;
  std::int64_t nominal_unix_ms;
  std::string_view job;
};

namespace keys {

fixed_key<4> of_namespace(std::uint32_t ns);
std::string meta(std::string_view name);
fixed_key<12> task(std::uint32_t ns, std::uint64_t number);
std::string task_id(std::uint32_t ns, std::string_view id);
fixed_key<20> due(std::uint32_t ns, std::int64_t due_unix_ms, std::uint64_t number);
fixed_key<20> pending(std::uint32_t ns, std::uint64_t order, std::uint64_t number);
fixed_key<13> held(std::uint32_t ns, held_why why, std::uint64_t number);
fixed_key<21> finished(std::uint32_t ns, std::uint8_t state, std::int64_t finished_at_unix_ms, std::uint64_t number);
std::string by_workflow(std::uint32_t ns, std::string_view workflow, std::uint64_t number);
std::string by_label(std::uint32_t ns, std::string_view key, std::string_view value, std::uint64_t number);
fixed_key<16> history(std::uint32_t ns, std::uint64_t number, std::uint32_t chunk);
fixed_key<16> payload(std::uint32_t ns, std::uint64_t number, std::uint32_t slot);
std::string workflow(std::uint32_t ns, std::string_view name);
std::string workflow_version(std::uint32_t ns, std::string_view name, std::string_view hash);
fixed_key<12> alert(std::uint32_t ns, std::uint64_t number);
/// `address` must have 16 bytes; std::logic_error otherwise.
fixed_key<28> outbox(std::uint32_t ns, std::string_view address, std::uint64_t position);
fixed_key<20> reply_address(std::uint32_t ns, std::string_view address);
fixed_key<12> unresolved_alert(std::uint32_t ns, std::uint64_t number);
std::string service(std::uint32_t ns, std::string_view agent);
std::string job(std::uint32_t ns, std::string_view name);
std::string job_due(std::uint32_t ns, std::int64_t due_unix_ms, std::uint32_t order, std::string_view name);
std::string launch(std::uint32_t ns, std::string_view job, std::int64_t nominal_unix_ms);
std::string launch_ready(std::uint32_t ns, ready_for what, std::uint32_t order, std::int64_t nominal_unix_ms, std::string_view job);

/// The common prefix of all keys of one workflow, label, state, … A scan of these keys goes from the prefix to after(prefix).
std::string by_workflow_prefix(std::uint32_t ns, std::string_view workflow);
std::string by_label_prefix(std::uint32_t ns, std::string_view key, std::string_view value);
std::string workflow_version_prefix(std::uint32_t ns, std::string_view name);
fixed_key<5> finished_prefix(std::uint32_t ns, std::uint8_t state);
fixed_key<5> held_prefix(std::uint32_t ns, held_why why);
fixed_key<20> outbox_prefix(std::uint32_t ns, std::string_view address);
std::string launch_prefix(std::uint32_t ns, std::string_view job);
fixed_key<5> launch_ready_prefix(std::uint32_t ns, ready_for what);

/// The least byte string greater than every key that begins with `prefix`; empty (no bound) if the prefix is all 0xff.
std::string after(std::string_view prefix);

std::optional<std::string_view> decode_meta(std::string_view key);
std::optional<number_key> decode_task(std::string_view key);
std::optional<name_key> decode_task_id(std::string_view key);
std::optional<due_key> decode_due(std::string_view key);
std::optional<pending_key> decode_pending(std::string_view key);
std::optional<held_key> decode_held(std::string_view key);
std::optional<finished_key> decode_finished(std::string_view key);
std::optional<by_workflow_key> decode_by_workflow(std::string_view key);
std::optional<by_label_key> decode_by_label(std::string_view key);
std::optional<history_key> decode_history(std::string_view key);
std::optional<payload_key> decode_payload(std::string_view key);
std::optional<name_key> decode_workflow(std::string_view key);
std::optional<version_key> decode_workflow_version(std::string_view key);
std::optional<number_key> decode_alert(std::string_view key);
std::optional<outbox_key> decode_outbox(std::string_view key);
std::optional<address_key> decode_reply_address(std::string_view key);
std::optional<number_key> decode_unresolved_alert(std::string_view key);
std::optional<name_key> decode_service(std::string_view key);
std::optional<name_key> decode_job(std::string_view key);
std::optional<job_due_key> decode_job_due(std::string_view key);
std::optional<launch_key> decode_launch(std::string_view key);
std::optional<launch_ready_key> decode_launch_ready(std::string_view key);

/// Whether the key is one of this table's.
bool decodes(table where, std::string_view key);

/// For error sentences: `task 42`, `due 1700000000000 of task 42`, or the bytes in hexadecimal if the key does not decode.
std::string describe(table where, std::string_view key);

}  // namespace keys
}  // namespace fairlead::store
