#pragma once
// What the requests of a listener share: who serves them, those that wait for the service, and what the loop has to know of all of them.

#include <microhttpd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "app/door/guards.hpp"
#include "app/door/listener.hpp"
#include "app/door/mailbox.hpp"
#include "app/door/problem.hpp"
#include "app/door/request_life.hpp"

namespace fairlead::app::door {

/// A connection whose answer comes so soon stays with the library: to take it away and give it back costs more than to ask again.
inline constexpr std::chrono::milliseconds soon_within{2};

/// Adds `fd` to what an epoll watches.
bool watch(int epoll, int fd, std::uint64_t key, std::uint32_t events);

/// Only for the listener's thread, but for `stopping` and the mailbox.
struct requests_in_progress {
  using places = std::unordered_map<std::uint64_t, request_life*>;

  explicit requests_in_progress(const listener_limits& given) : limits(given) {}

  // Before the first request.
  guard guards;
  service serve;
  std::function<std::string()> make_id;
  std::string version;
  const listener_limits limits;
  const std::shared_ptr<mailbox> mail = std::make_shared<mailbox>();
  int epoll = -1;  // the loop's

  std::atomic<bool> stopping = false;  // what comes from now on is refused

  // For the loop.
  std::size_t soon = 0;     // requests whose answers are
  bool has_more = false;    // the library has gone on with a request in the latest turn, and may again at once
  std::size_t sending = 0;  // answers that are no streams, until the client has them

  places waiting;              // for the service, or for more of it; numbers begin at 1
  std::size_t body_bytes = 0;  // that have come, of requests that are not handed on

  // ---- called by the library; `self`: of this ----

  static void* on_target(void* self, const char* target, MHD_Connection* at);
  static MHD_Result on_request(void* self, MHD_Connection* at, const char* url, const char* method, const char* version, const char* data,
                               std::size_t* size, void** context);
  static void on_completed(void* self, MHD_Connection* at, void** context, MHD_RequestTerminationCode how);

  // ---- called by the loop ----

  /// Gives to each what its service has said.
  void deliver();
  /// Of a connection that was watched under the number.
  void lose_client(std::uint64_t number);
  void finish(places::iterator which, const problem& why = {});
  /// All that wait.
  void finish_all();

  // ---- called by each request ----

  /// Its number.
  std::uint64_t await(request_life& one);
  void forget(std::uint64_t number);
  /// Of a body.
  bool has_room_for(std::size_t bytes) const { return body_bytes + mail->bytes() + bytes <= limits.body_bytes; }
  static problem ending() { return {"unavailable", "This node is ending.", "Ask another node, or try again later.", {}, {}, true}; }

 private:
  std::uint64_t last_number_ = 0;
};

}  // namespace fairlead::app::door
