#pragma once
// Signed texts for the API. A ticket names an attempt of a worker over HTTP, a session names a process of an instance, and a callback names
// what a service answers later. The shard in the text has the key, so only that shard can tell whether a text is its own. All of them are
// base64url without padding.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "messages/common.pb.h"

namespace fairlead {

/// RegisterAgent.kind of workers over HTTP: only these get tickets.
inline constexpr std::string_view worker_kind = "worker";

/// Of a key by which a shard signs.
inline constexpr std::size_t work_key_bytes = 32;
/// A fresh key; empty: the system gives no random bytes.
std::string make_work_key();

struct attempt_name {
  std::uint32_t shard = 0;
  std::uint64_t task_number = 0;
  std::uint32_t step = 0;
  v1::Direction direction = v1::DIRECTION_PERFORM;
  std::uint32_t attempt = 0;
};

/// For the process to which the attempt is handed over.
std::string make_ticket(std::string_view key, const attempt_name& of, std::string_view instance, std::uint64_t incarnation);
/// What a text says of itself; nullopt: it is no ticket. The signature is not checked.
std::optional<attempt_name> read_ticket(std::string_view text);
/// Whether the text was signed by this key for this process. Takes as long for a wrong signature as for the right one.
bool is_ticket_of(std::string_view key, std::string_view text, std::string_view instance, std::uint64_t incarnation);

struct session_name {
  std::uint32_t shard = 0;
  std::string agent, instance;
  std::uint64_t incarnation = 0;
};

/// `agent` has at most 65,535 bytes.
std::string make_session(std::string_view key, std::uint32_t shard, std::string_view agent, std::string_view instance,
                         std::uint64_t incarnation);
/// As read_ticket.
std::optional<session_name> read_session(std::string_view text);
/// As is_ticket_of.
bool is_session_of(std::string_view key, std::string_view text);

/// A performance of a step: all attempts under one idempotency key.
struct callback_name {
  std::uint32_t shard = 0;
  std::uint32_t step = 0;  // index
  std::uint32_t generation = 0;
  std::string task_id;
};

/// For the service that carries the step out: whoever has the text may say how the work has ended.
std::string make_callback(std::string_view key, const callback_name& of);
/// As read_ticket.
std::optional<callback_name> read_callback(std::string_view text);
/// As is_ticket_of.
bool is_callback_of(std::string_view key, std::string_view text);

}  // namespace fairlead
