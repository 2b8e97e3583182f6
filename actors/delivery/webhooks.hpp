#pragma once
// Posts of couriers over libcurl, on the loop that carries the transfers of http agents: one thread, no redirects, no proxy, only http and
// https, certificates verified.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <utility>

#include "actors/agents/http/transfer/loop.hpp"
#include "actors/delivery/webhook_port.hpp"
#include "messages/time.hpp"

namespace fairlead {

struct webhook_limits {
  duration time_limit = std::chrono::seconds{10};  // for one post, from its start
  std::uint32_t at_once = 32;                      // transfers at a time; further posts wait
  std::uint64_t max_answer_bytes = 1'048'576;      // bytes read of a receiver's answer, which is dropped
  duration connect_timeout = std::chrono::seconds{5};
};

inline constexpr std::size_t max_webhook_url_bytes = 2'048;

class webhooks final : public webhook_port {
 public:
  explicit webhooks(webhook_limits limits = {});
  ~webhooks() override;
  webhooks(const webhooks&) = delete;
  webhooks& operator=(const webhooks&) = delete;

  /// Errors give the receiver's answer or why it was not reached; they never repeat the URL.
  void post(webhook_post what, std::function<void(status)> done) override;

  /// Drops waiting posts, cancels transfers and ends the thread; `done` is never called after it returns. Must not be called from a `done`.
  void shut_down();

 private:
  struct waiting_post {
    webhook_post what;
    std::function<void(status)> done;
  };
  void start(waiting_post next);
  void place_is_free();

  const webhook_limits limits_;
  std::mutex guard_;
  bool closed_ = false;
  std::uint32_t under_way_ = 0;
  std::uint64_t last_number_ = 0;
  std::deque<waiting_post> waiting_;  // their time limit has not begun: waiting must not use it up
  agents::http_loop loop_;            // last: its thread uses all members above
};

}  // namespace fairlead
