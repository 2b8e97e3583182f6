#pragma once
// Posts of couriers over libcurl, on the loop that carries the transfers of http agents: one thread, no redirects, no proxy, http and https
// only, certificates verified.

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
  duration time_limit = std::chrono::seconds{10};  // for one post, from the moment its turn comes
  std::uint32_t at_once = 32;                      // transfers; more posts wait for their turn
  std::uint64_t max_answer_bytes = 1'048'576;      // what a receiver answers is read that far and dropped
  duration connect_timeout = std::chrono::seconds{5};
};

inline constexpr std::size_t max_webhook_url_bytes = 2'048;

class webhooks final : public webhook_port {
 public:
  explicit webhooks(webhook_limits limits = {});
  ~webhooks() override;
  webhooks(const webhooks&) = delete;
  webhooks& operator=(const webhooks&) = delete;

  /// The errors say what the receiver answered or why it was not reached; they do not repeat the URL.
  void post(webhook_post what, std::function<void(status)> done) override;

  /// Drops what waits, cancels what is under way and ends the thread; nothing is told after it returns. Not to be called from a `done`.
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
  std::deque<waiting_post> waiting_;  // their time has not begun: a queue must not use up what a post has
  agents::http_loop loop_;            // last: its thread looks at all of the above
};

}  // namespace fairlead
