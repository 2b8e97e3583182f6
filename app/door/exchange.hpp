#pragma once
// One request of a connection, and its answer. Only for the listener's thread.

#include <microhttpd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "app/door/connection.hpp"
#include "app/door/figures.hpp"
#include "app/door/message.hpp"

namespace fairlead::app::door {

struct exchange {
  using steady = std::chrono::steady_clock;

  steady::time_point begun = steady::now();
  request what;
  bool has_head = false;
  std::optional<answer> reply;
  std::size_t discarded = 0;
  std::uint64_t number = 0;  // while an answer, or more of it, is to come
  bool suspended = false;    // the library does not look at the connection
  bool soon = false;         // its answer is expected before it has to be suspended
  bool streams = false;
  bool is_sent = false;  // or is being; of no stream
  bool ended = false;    // nothing follows what is pending
  std::string pending;   // of a stream, from `taken` on
  std::size_t taken = 0;
  bool gone = false;  // the client is
  MHD_Connection* at = nullptr;
  connection* on = nullptr;
  void* by = nullptr;                        // the loop
  std::optional<counted> in_progress, open;  // open: of a stream
};

/// As they came, in their order.
headers headers_of(MHD_Connection* at);

}  // namespace fairlead::app::door
