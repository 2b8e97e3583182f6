#include "actors/agents/http_loop.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <deque>
#include <map>
#include <new>
#include <stdexcept>

#include "actors/agents/http_transfer.hpp"

namespace fairlead::agents {

namespace {

using steady = std::chrono::steady_clock;
constexpr int idle_poll_ms = 10'000;

struct curl_multi_closer {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};

std::unique_ptr<CURLM, curl_multi_closer> new_multi(std::uint32_t connections) {
  static const bool ready = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  std::unique_ptr<CURLM, curl_multi_closer> out{ready ? curl_multi_init() : nullptr};
  if (!out) throw std::runtime_error("libcurl cannot be initialised");
  const auto limit = static_cast<long>(connections);
  curl_multi_setopt(out.get(), CURLMOPT_MAX_TOTAL_CONNECTIONS, limit);
  curl_multi_setopt(out.get(), CURLMOPT_MAXCONNECTS, limit);
  curl_multi_setopt(out.get(), CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_NOTHING));
  return out;
}

}  // namespace

class http_loop::engine {
 public:
  engine(http_loop& owner, const http_limits& limits) : owner_(owner), limits_(limits), multi_(new_multi(limits.concurrency)) {}
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;
  ~engine() {
    for (const auto& [ticket, transfer] : active_) curl_multi_remove_handle(multi_.get(), transfer->easy());
  }

  void wake() { curl_multi_wakeup(multi_.get()); }

  void run() {
    for (;;) {
      jobs_.clear();
      stops_.clear();
      if (!owner_.take(jobs_, stops_)) break;
      try {
        if (turn()) continue;  // slots became free
      } catch (const std::bad_alloc&) {
        // The attempts it hit stay silent, and their leases end them. The others go on.
      }
      curl_multi_poll(multi_.get(), nullptr, 0, patience_ms(), nullptr);
    }
    for (const auto& [ticket, transfer] : active_) curl_multi_remove_handle(multi_.get(), transfer->easy());
    active_.clear();
  }

 private:
  struct overdue {
    steady::time_point report_at;
    std::uint64_t ticket;
    std::unique_ptr<http_job> job;
    http_answer answer;
  };

  // True when a transfer ended.
  bool turn() {
    for (auto& [ticket, job] : jobs_) waiting_.emplace_back(ticket, std::move(job));
    for (const auto ticket : stops_) drop(ticket);
    report_overdue();
    admit();
    int running = 0;
    curl_multi_perform(multi_.get(), &running);
    return collect();
  }

  void drop(std::uint64_t ticket) {
    if (const auto it = active_.find(ticket); it != active_.end()) {
      curl_multi_remove_handle(multi_.get(), it->second->easy());  // closes the connection if bytes are still to come
      recycle(*it->second);
      active_.erase(it);
      return;
    }
    const auto same = [&](const auto& entry) { return entry.first == ticket; };
    waiting_.erase(std::remove_if(waiting_.begin(), waiting_.end(), same), waiting_.end());
    overdue_.erase(std::remove_if(overdue_.begin(), overdue_.end(), [&](const overdue& o) { return o.ticket == ticket; }), overdue_.end());
  }

  void admit() {
    while (!waiting_.empty() && active_.size() < limits_.concurrency) {
      auto [ticket, job] = std::move(waiting_.front());
      waiting_.pop_front();
      if (steady::now() + std::chrono::milliseconds{1} >= job->deadline) {
        expire(ticket, std::move(job), not_sent("timeout", "the lease ended before the request was sent"));
        continue;
      }
      curl_easy_handle easy;
      if (spare_.empty()) {
        easy.reset(curl_easy_init());
      } else {
        easy = std::move(spare_.back());
        spare_.pop_back();
      }
      auto transfer = std::make_unique<http_transfer>(ticket, std::move(job), std::move(easy), limits_);
      if (!transfer->ready() || curl_multi_add_handle(multi_.get(), transfer->easy()) != CURLM_OK) {
        finish(ticket, transfer->job(), not_sent("connection_failed", "libcurl could not set up the transfer"));
        continue;
      }
      active_.emplace(ticket, std::move(transfer));
    }
  }

  // True when a transfer ended.
  bool collect() {
    bool any = false;
    int left = 0;
    while (const auto* message = curl_multi_info_read(multi_.get(), &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      any = true;
      CURL* const easy = message->easy_handle;
      const auto code = message->data.result;  // `message` dies with remove_handle
      http_transfer* transfer = nullptr;
      curl_easy_getinfo(easy, CURLINFO_PRIVATE, &transfer);
      auto answer = transfer->answer(code);
      const bool expired = transfer->expired(code);
      const auto owned = std::move(active_.extract(transfer->ticket()).mapped());
      curl_multi_remove_handle(multi_.get(), easy);
      recycle(*owned);
      if (expired) {
        expire(owned->ticket(), owned->release_job(), std::move(answer));
      } else {
        finish(owned->ticket(), owned->job(), std::move(answer));
      }
    }
    return any;
  }

  void recycle(http_transfer& transfer) {
    auto easy = transfer.release_handle();
    if (!easy) return;
    curl_easy_reset(easy.get());
    spare_.push_back(std::move(easy));
  }

  void expire(std::uint64_t ticket, std::unique_ptr<http_job> job, http_answer answer) {
    overdue_.push_back({steady::now() + stop_grace, ticket, std::move(job), std::move(answer)});
  }

  void report_overdue() {
    while (!overdue_.empty() && overdue_.front().report_at <= steady::now()) {
      auto entry = std::move(overdue_.front());
      overdue_.pop_front();
      finish(entry.ticket, *entry.job, std::move(entry.answer));
    }
  }

  void finish(std::uint64_t ticket, const http_job& job, http_answer answer) {
    if (!owner_.claim(job.key, ticket)) return;
    try {
      job.finished(std::move(answer));
    } catch (...) {
      // A completion only passes the result on. Nobody else could be told, and the other transfers have to go on.
    }
  }

  static http_answer not_sent(std::string code, std::string message) {
    http_answer out;
    out.how = http_answer::ending::not_sent;
    out.code = std::move(code);
    out.message = std::move(message);
    return out;
  }

  // libcurl shortens the wait for its own timers.
  int patience_ms() const {
    auto until = steady::now() + std::chrono::milliseconds{idle_poll_ms};
    if (!overdue_.empty()) until = std::min(until, overdue_.front().report_at);
    for (const auto& [ticket, job] : waiting_) until = std::min(until, job->deadline);
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(until - steady::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(ms, 0, idle_poll_ms));
  }

  http_loop& owner_;
  const http_limits limits_;
  std::unique_ptr<CURLM, curl_multi_closer> multi_;
  std::deque<std::pair<std::uint64_t, std::unique_ptr<http_job>>> waiting_;  // by arrival
  std::map<std::uint64_t, std::unique_ptr<http_transfer>> active_;           // by ticket
  std::deque<overdue> overdue_;                                              // by report_at
  std::vector<curl_easy_handle> spare_;
  std::vector<std::pair<std::uint64_t, std::unique_ptr<http_job>>> jobs_;
  std::vector<std::uint64_t> stops_;
};

std::size_t http_loop::key_hash::operator()(const attempt_key& key) const noexcept {
  auto mix = key.task_number * 0x9e3779b97f4a7c15ULL;
  mix ^= (static_cast<std::uint64_t>(key.step) << 33) ^ (static_cast<std::uint64_t>(key.attempt) << 2) ^
         static_cast<std::uint64_t>(key.direction);
  return static_cast<std::size_t>(mix ^ (mix >> 29));
}

http_loop::http_loop(const http_limits& limits) : engine_(std::make_unique<engine>(*this, limits)) {
  thread_ = std::thread([this] { engine_->run(); });
}

http_loop::~http_loop() { shut_down(); }

void http_loop::submit(std::unique_ptr<http_job> job) {
  bool wake = false;
  {
    const std::lock_guard lock{guard_};
    if (closed_) return;
    const auto ticket = next_ticket_++;
    if (!live_.emplace(job->key, ticket).second) throw std::logic_error("an attempt that is under way was started again");
    wake = submitted_.empty() && stopped_.empty();
    submitted_.emplace_back(ticket, std::move(job));
  }
  if (wake) engine_->wake();
}

void http_loop::stop(const attempt_key& which) {
  bool wake = false;
  {
    const std::lock_guard lock{guard_};
    const auto it = live_.find(which);
    if (it == live_.end()) return;
    wake = submitted_.empty() && stopped_.empty();
    stopped_.push_back(it->second);
    live_.erase(it);
  }
  if (wake) engine_->wake();
}

void http_loop::shut_down() {
  {
    const std::lock_guard lock{guard_};
    closed_ = true;
    live_.clear();
  }
  engine_->wake();
  const std::lock_guard joining{joining_};
  if (thread_.joinable()) thread_.join();
}

bool http_loop::take(std::vector<std::pair<std::uint64_t, std::unique_ptr<http_job>>>& jobs, std::vector<std::uint64_t>& stops) {
  const std::lock_guard lock{guard_};
  jobs.swap(submitted_);
  stops.swap(stopped_);
  return !closed_;
}

bool http_loop::claim(const attempt_key& key, std::uint64_t ticket) {
  const std::lock_guard lock{guard_};
  const auto it = live_.find(key);
  if (it == live_.end() || it->second != ticket) return false;
  live_.erase(it);
  return true;
}

}  // namespace fairlead::agents
