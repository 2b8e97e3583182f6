#pragma once
// What a request's head must be before anything else is done with it. Pure.
//
// libmicrohttpd 0.9.75 takes a request with both Content-Length and Transfer-Encoding, one with several of either, and an encoding that it does not
// know (RFC 9112, 6.1 and 6.3). It takes a space before the colon for a part of the name, and a folded line, too (5.1, 5.2). A proxy in front may read
// such a request in another way, and take the rest of it for the next one. So these end the connection here, before any body is read. A folded line is
// seen where it makes a name of what counts here; behind other headers it is passed over.
// It also takes a target with a space, and a request without Host: these are refused here, too.

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/door/message.hpp"
#include "app/door/problem.hpp"

namespace fairlead::app::door {

inline constexpr std::size_t most_target_bytes = 32 * 1024;  // the cursor of a list has a part for each shard
inline constexpr std::size_t most_header_bytes = 16 * 1024;
inline constexpr std::size_t most_body_bytes = 4 * 1024 * 1024;
inline constexpr std::size_t most_unknown_body_bytes = 4 * 1024;
inline constexpr std::size_t most_callback_bytes = 1024 * 1024;  // as of an output of a step

class figures;

struct guard {
  /// At which clients reach the port, without a port and in lower case. Loopback is always among them. A page of another site whose name was made to
  /// lead here names its own host (DNS rebinding).
  std::vector<std::string> hosts;
  /// Whether whoever sends the head is known. Of others no body of more than a few KiB is read. Null: everybody is known. Must return at once.
  std::function<bool(const request_head& head, const peer& from)> is_known{};
  /// Whether the head is one of a callback: whoever sends it need not be known, and its body may have more than a few KiB. Null: none is.
  std::function<bool(const request_head& head)> is_callback{};
  /// Called with each request that may change something and is refused before the service has it; its body was not read. Null: nobody wants to know.
  /// Must return at once.
  std::function<void(const request& what, const problem& why)> on_refused_write{};
  /// What the port counts; null: nothing.
  std::shared_ptr<figures> counts{};

  /// nullopt: it may go on.
  std::optional<problem> refuse(const request_head& head) const;
  /// Of a head that has passed: how many bytes of its body are read. A problem if it announces more.
  std::variant<std::size_t, problem> most_bytes(const request_head& head, const peer& from) const;
};

/// Of a body that has more than `most` bytes, one of the limits above. The connection ends with it.
problem too_large(std::size_t most);

/// The length of the body that follows, as far as the head says: 0 of none, nullopt of a chunked one. The head has passed the guard.
std::optional<std::size_t> announced_bytes(const request_head& head);

/// What paths answer with.
inline constexpr std::string_view media_json = "application/json";
inline constexpr std::string_view media_events = "text/event-stream";
/// Whether the header Accept allows an answer of that type: of what it names, the closest decides (RFC 9110, 12.5.1).
bool accepts(const request_head& head, std::string_view type);

/// Of a header Content-Type: YAML (RFC 9512).
bool is_yaml(std::string_view content_type);
/// Of a header Content-Type: a protobuf message.
bool is_protobuf(std::string_view content_type);

/// Whether it only looks (RFC 9110, 9.2.1).
bool is_safe(std::string_view method);

/// The request id that a client gives: 1 to 64 characters of A-Z a-z 0-9 . _ -
bool is_request_id(std::string_view text);

}  // namespace fairlead::app::door
