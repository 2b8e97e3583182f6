#pragma once
// How a worker registers, as it writes it: `{"agent": "mail", "instance": "mail-1f3a", "calls": ["send"], "capacity": 8}` and its other fields.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/json/fields.hpp"
#include "messages/agent.pb.h"

namespace fairlead::app::api {

inline constexpr std::size_t most_ticket_bytes = 512;
inline constexpr std::size_t most_session_bytes = 1'024;

/// The text of a session, as a worker keeps it: what the shard signed, a dot, and how often the session has moved.
struct session_text {
  std::string words;  // signed
  std::uint64_t moves = 0;
};
std::string to_text(const session_text& what);
/// nullopt: it is no such text. The signature is not checked.
std::optional<session_text> read_session_text(std::string_view text);

/// A string that is not longer than this, or null, which changes nothing.
json_taker text_or_null_into(std::optional<std::string>& out, std::size_t most);
/// The ticket of an attempt. Whether it is one is for the shard to say.
json_taker ticket_into(std::string& out);

/// As it was written.
struct asked_registration {
  std::string agent, instance, breaker, limits;  // the last two: JSON
  std::vector<std::string> calls, lookups;
  std::vector<v1::CallPolicy> policies;
  google::protobuf::RepeatedPtrField<v1::Label> labels;
  std::uint32_t capacity = 1;
  std::optional<std::string> session;
  std::vector<std::string> have;
  bool take_over = false;

  /// They write to this.
  std::vector<json_field> fields();
  /// Without incarnation and session. On an error `pointer` is the field at fault.
  result<v1::RegisterAgent> read(std::string& pointer) const;
};

}  // namespace fairlead::app::api
