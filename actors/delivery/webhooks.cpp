#include "actors/delivery/webhooks.hpp"

#include <memory>
#include <optional>

#include "actors/agents/attempt_results.hpp"
#include "actors/agents/http/hosts.hpp"

namespace fairlead {

namespace {

using agents::http_answer;

constexpr std::size_t quoted_bytes = 100;

status outcome_of(const http_answer& answer) {
  const auto failed = [](std::string sentence) { return error{v1::ERROR_CODE_UNAVAILABLE, std::move(sentence), ""}; };
  switch (answer.how) {
    case http_answer::ending::answered:
      // The receiver has the post, whatever happened to the rest of its answer.
      if (answer.status >= 200 && answer.status < 300) return nothing{};
      return failed("it answered " + std::to_string(answer.status) +
                    (answer.reason.empty() ? "" : " " + agents::printable(answer.reason, quoted_bytes)) +
                    (answer.status >= 300 && answer.status < 400 ? ", and redirects are not followed" : ""));
    case http_answer::ending::lost:
      if (answer.code == "timeout") return failed("it did not answer in time");
      return failed(agents::printable(answer.message, quoted_bytes * 2));
    default: return failed("it could not be reached: " + agents::printable(answer.message, quoted_bytes * 2));
  }
}

}  // namespace

status check_webhook_url(const std::string& url) {
  if (url.size() > max_webhook_url_bytes)
    return error{v1::ERROR_CODE_INVALID_ARGUMENT, "The webhook URL is longer than " + std::to_string(max_webhook_url_bytes) + " bytes",
                 "Use a shorter one"};
  if (auto problem = agents::why_no_http_url("The webhook URL", url)) return *problem;
  return nothing{};
}

webhooks::webhooks(webhook_limits limits)
    : limits_(limits), loop_({limits.at_once, limits.connect_timeout.count(), limits.max_answer_bytes}) {}

webhooks::~webhooks() { shut_down(); }

void webhooks::post(webhook_post what, std::function<void(status)> done) {
  waiting_post next{std::move(what), std::move(done)};
  {
    const std::lock_guard lock{guard_};
    if (closed_) return;
    if (under_way_ >= limits_.at_once) {
      waiting_.push_back(std::move(next));
      return;
    }
    ++under_way_;
  }
  start(std::move(next));
}

void webhooks::start(waiting_post next) {
  auto job = std::make_unique<agents::http_job>();
  {
    const std::lock_guard lock{guard_};
    job->key.task_number = ++last_number_;  // to the loop only a number
  }
  job->request.method = "POST";
  job->request.url = std::move(next.what.url);
  job->request.headers = std::move(next.what.headers);
  job->request.headers.emplace_back("Content-Type", "application/json");
  job->request.body = std::move(next.what.body);
  job->deadline = std::chrono::steady_clock::now() + limits_.time_limit;
  job->finished = [this, done = std::move(next.done)](http_answer answer) {
    place_is_free();
    done(outcome_of(answer));
  };
  loop_.submit(std::move(job));
}

void webhooks::place_is_free() {
  std::optional<waiting_post> next;
  {
    const std::lock_guard lock{guard_};
    if (closed_ || waiting_.empty()) {
      --under_way_;
    } else {
      next = std::move(waiting_.front());
      waiting_.pop_front();
    }
  }
  if (next) start(std::move(*next));
}

void webhooks::shut_down() {
  {
    const std::lock_guard lock{guard_};
    closed_ = true;
    waiting_.clear();
  }
  loop_.shut_down();
}

}  // namespace fairlead
