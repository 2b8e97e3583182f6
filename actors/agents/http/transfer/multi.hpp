#pragma once
// libcurl's multi interface over epoll: the cost of a turn grows with the events, not with the waiting transfers. Everything except wake()
// belongs to one thread.

#include <curl/curl.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace fairlead::agents {

class http_multi {
 public:
  /// `connections` limits open and idle connections together. Throws std::runtime_error if the system or libcurl refuses.
  explicit http_multi(std::uint32_t connections);
  ~http_multi();
  http_multi(const http_multi&) = delete;
  http_multi& operator=(const http_multi&) = delete;

  bool add(CURL* easy) { return curl_multi_add_handle(multi_.get(), easy) == CURLM_OK; }
  /// Takes a transfer out; closes its connection if bytes are still to come.
  void remove(CURL* easy) { curl_multi_remove_handle(multi_.get(), easy); }

  /// Closes all connections; only wake() may be called after it. Ending TLS writes, so call this only on the loop's thread.
  void close() { multi_.reset(); }
  /// Ends the current or the next wait early. From any thread.
  void wake();
  /// Waits for an event, at most so long, and lets libcurl handle it.
  void wait(std::chrono::milliseconds patience);
  /// An ended transfer and its result. Remove its handle before the next call.
  std::optional<std::pair<CURL*, CURLcode>> ended();

 private:
  using steady = std::chrono::steady_clock;
  struct closer {
    void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
  };

  static int on_socket(CURL* easy, curl_socket_t socket, int what, void* self, void* known);
  static int on_timer(CURLM* multi, long ms, void* self);
  void watch(curl_socket_t socket, std::uint32_t events, bool known);

  int epoll_ = -1;
  int wake_ = -1;
  std::optional<steady::time_point> timer_;
  std::unique_ptr<CURLM, closer> multi_;
};

}  // namespace fairlead::agents
