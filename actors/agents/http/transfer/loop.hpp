#pragma once
// One thread that carries all transfers of one http agent, over libcurl's multi interface.
//
// Thread rules: submit, stop and shut_down come from any thread; a job's `finished` is called on the loop's thread, with no lock held.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "actors/agents/attempt_inbox.hpp"
#include "actors/agents/backend.hpp"
#include "actors/agents/http/transfer/exchange.hpp"
#include "actors/agents/http/transfer/tls_config.hpp"

namespace fairlead::agents {

struct http_limits {
  std::uint32_t concurrency = 64;
  std::int64_t connect_timeout_ms = 2'000;
  std::uint64_t max_response_bytes = 1'048'576;  // of a body, after decompression
  std::int64_t connection_age_ms = 60'000;       // older connections are not used again
  bool compression = false;
  std::string proxy = {};
  std::string no_proxy = {};  // hosts, separated by commas
  http_tls tls = {};
  std::string unix_socket = {};  // path of the socket that all requests go to, whatever host they name
};

struct http_job {
  attempt_key key;
  http_request request;
  /// The end of the lease, or of the try, by this process's own clock: no byte is sent or read after it.
  std::chrono::steady_clock::time_point deadline;
  /// The deadline is that of a try inside its lease: at this moment the try ends with the code `timeout`.
  bool ends_at_deadline = false;
  /// Returns the next request, by the last request and its answer; nullopt: that is the end. May be empty. On the loop's thread.
  std::function<std::optional<http_request>(const http_request&, http_answer&)> next = {};
  /// Gets the end of the exchange. When the lease runs out, the attempt's holder must stop the attempt, and nothing is reported. If no stop
  /// has come `http_loop::stop_grace` later, the attempt ends with the code `timeout`, so that it cannot be lost.
  std::function<void(http_answer)> finished;
};

class http_loop {
 public:
  static constexpr std::chrono::milliseconds stop_grace{250};

  explicit http_loop(const http_limits& limits);
  ~http_loop();
  http_loop(const http_loop&) = delete;
  http_loop& operator=(const http_loop&) = delete;

  /// Never refused: beyond `concurrency` the job waits for a transfer to end. Dropped after shut_down.
  void submit(std::unique_ptr<http_job> job);
  void stop(const attempt_key& which);
  /// Cancels everything and ends the thread. Must not be called from `finished`.
  void shut_down();

 private:
  class engine;  // used only by the loop's thread
  attempt_inbox<http_job> inbox_;
  std::unique_ptr<engine> engine_;
  std::mutex joining_;
  std::thread thread_;
};

}  // namespace fairlead::agents
