#include "actors/agents/http/transfer/loop.hpp"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <deque>
#include <new>
#include <stdexcept>
#include <unordered_map>

#include "actors/agents/http/transfer/multi.hpp"
#include "actors/agents/http/transfer/transfer.hpp"

namespace fairlead::agents {

namespace {

using steady = std::chrono::steady_clock;
constexpr std::chrono::milliseconds idle_wait{10'000};
// Each name look-up takes a thread of libcurl as long as the resolver takes; further transfers wait.
constexpr std::uint32_t most_resolving = 32;
constexpr std::size_t most_spare = 256;

}  // namespace

class http_loop::engine {
 public:
  engine(http_loop& owner, const http_limits& limits) : owner_(owner), limits_(limits), multi_(limits.concurrency) {}
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;
  ~engine() { cancel_all(); }

  void wake() { multi_.wake(); }

  void run() {
    for (;;) {
      jobs_.clear();
      stops_.clear();
      if (!owner_.inbox_.take(jobs_, stops_)) break;
      try {
        turn();
      } catch (const std::bad_alloc&) {
        // The affected attempts report nothing, and their leases end them. The others go on.
      }
    }
    cancel_all();
    spare_.clear();
    multi_.close();
  }

 private:
  struct overdue {
    steady::time_point report_at;
    std::uint64_t ticket;
    std::unique_ptr<http_job> job;
    http_answer answer;
  };

  void turn() {
    for (auto& [ticket, job] : jobs_) wait_for_slot(ticket, std::move(job));
    for (const auto ticket : stops_) drop(ticket);
    report_overdue();
    expire_waiting();
    admit();
    multi_.wait(patience());
    collect();
  }

  void cancel_all() {
    for (const auto& [ticket, transfer] : active_) multi_.remove(transfer->easy());
    active_.clear();
  }

  void wait_for_slot(std::uint64_t ticket, std::unique_ptr<http_job> job) {
    first_waiting_deadline_ = std::min(first_waiting_deadline_, job->deadline);
    waiting_.emplace_back(ticket, std::move(job));
  }

  void drop(std::uint64_t ticket) {
    if (const auto it = active_.find(ticket); it != active_.end()) {
      multi_.remove(it->second->easy());
      recycle(*it->second);
      active_.erase(it);
      return;
    }
    const auto same = [&](const auto& entry) { return entry.first == ticket; };
    waiting_.erase(std::remove_if(waiting_.begin(), waiting_.end(), same), waiting_.end());
    overdue_.erase(std::remove_if(overdue_.begin(), overdue_.end(), [&](const overdue& o) { return o.ticket == ticket; }), overdue_.end());
  }

  void expire_waiting() {
    const auto soon = steady::now() + std::chrono::milliseconds{1};
    if (soon < first_waiting_deadline_) return;
    first_waiting_deadline_ = steady::time_point::max();
    auto all = std::exchange(waiting_, {});
    for (auto& [ticket, job] : all) {
      if (soon < job->deadline) {
        wait_for_slot(ticket, std::move(job));
      } else {
        const auto* what = job->ends_at_deadline ? "the time for this try" : "the lease";
        expire(ticket, std::move(job), not_sent("timeout", std::string{what} + " ended before the request was sent"));
      }
    }
  }

  bool can_admit() const { return !waiting_.empty() && active_.size() < limits_.concurrency && common_.resolving < most_resolving; }

  void admit() {
    while (can_admit()) {
      auto [ticket, job] = std::move(waiting_.front());
      waiting_.pop_front();
      curl_easy_handle easy;
      if (spare_.empty()) {
        easy = http_transfer::new_handle(limits_);
      } else {
        easy = std::move(spare_.back());
        spare_.pop_back();
      }
      auto transfer = std::make_unique<http_transfer>(ticket, std::move(job), std::move(easy), limits_.max_response_bytes, common_);
      if (!transfer->ready() || !multi_.add(transfer->easy())) {
        finish(ticket, transfer->job(), not_sent("connection_failed", "libcurl could not set up the transfer"));
        continue;
      }
      active_.emplace(ticket, std::move(transfer));
    }
  }

  void collect() {
    while (const auto done = multi_.ended()) {
      const auto [easy, code] = *done;
      http_transfer* transfer = nullptr;
      curl_easy_getinfo(easy, CURLINFO_PRIVATE, &transfer);
      auto answer = transfer->answer(code);
      const bool expired = transfer->expired(code);
      const auto owned = std::move(active_.extract(transfer->ticket()).mapped());
      multi_.remove(easy);
      recycle(*owned);
      if (owned->met_stale_connection() && !expired) {
        go_on(owned->ticket(), owned->release_job());
      } else if (expired) {
        expire(owned->ticket(), owned->release_job(), std::move(answer));
      } else if (!goes_on(*owned, answer)) {
        finish(owned->ticket(), owned->job(), std::move(answer));
      }
    }
  }

  bool goes_on(http_transfer& ended, http_answer& answer) {
    if (!ended.job().next) return false;
    auto request = ended.job().next(ended.job().request, answer);
    if (!request) return false;
    auto job = ended.release_job();
    job->request = std::move(*request);
    go_on(ended.ticket(), std::move(job));
    return true;
  }

  // The job keeps its slot.
  void go_on(std::uint64_t ticket, std::unique_ptr<http_job> job) {
    first_waiting_deadline_ = std::min(first_waiting_deadline_, job->deadline);
    waiting_.emplace_front(ticket, std::move(job));
  }

  void recycle(http_transfer& transfer) {
    auto easy = transfer.release_handle();
    if (easy) curl_easy_setopt(easy.get(), CURLOPT_ERRORBUFFER, static_cast<char*>(nullptr));  // the buffer of the transfer goes away
    if (easy && spare_.size() < most_spare) spare_.push_back(std::move(easy));
  }

  void expire(std::uint64_t ticket, std::unique_ptr<http_job> job, http_answer answer) {
    if (job->ends_at_deadline) {
      finish(ticket, *job, std::move(answer));
    } else {
      overdue_.push_back({steady::now() + stop_grace, ticket, std::move(job), std::move(answer)});
    }
  }

  void report_overdue() {
    while (!overdue_.empty() && overdue_.front().report_at <= steady::now()) {
      auto entry = std::move(overdue_.front());
      overdue_.pop_front();
      finish(entry.ticket, *entry.job, std::move(entry.answer));
    }
  }

  void finish(std::uint64_t ticket, const http_job& job, http_answer answer) {
    if (!owner_.inbox_.claim(job.key, ticket)) return;
    try {
      job.finished(std::move(answer));
    } catch (...) {
      // A completion only passes the result on. No other receiver exists, and the other transfers must go on.
    }
  }

  static http_answer not_sent(std::string code, std::string message) {
    http_answer out;
    out.how = http_answer::ending::not_sent;
    out.code = std::move(code);
    out.message = std::move(message);
    return out;
  }

  // libcurl's own timers shorten the wait.
  std::chrono::milliseconds patience() const {
    if (can_admit()) return std::chrono::milliseconds{0};
    auto until = steady::now() + idle_wait;
    if (!overdue_.empty()) until = std::min(until, overdue_.front().report_at);
    if (!waiting_.empty()) until = std::min(until, first_waiting_deadline_);
    return std::max(std::chrono::milliseconds{0}, std::chrono::ceil<std::chrono::milliseconds>(until - steady::now()));
  }

  http_loop& owner_;
  const http_limits limits_;
  http_common common_;  // which connections tell of their end
  http_multi multi_;
  std::deque<std::pair<std::uint64_t, std::unique_ptr<http_job>>> waiting_;   // by arrival
  steady::time_point first_waiting_deadline_ = steady::time_point::max();     // no waiting job is due before
  std::unordered_map<std::uint64_t, std::unique_ptr<http_transfer>> active_;  // by ticket
  std::deque<overdue> overdue_;                                               // by report_at
  std::vector<curl_easy_handle> spare_;
  attempt_inbox<http_job>::jobs jobs_;
  std::vector<std::uint64_t> stops_;
};

http_loop::http_loop(const http_limits& limits) : engine_(std::make_unique<engine>(*this, limits)) {
  thread_ = std::thread([this] {
    // OpenSSL writes without MSG_NOSIGNAL, and a service that hangs up must not end the process.
    sigset_t pipes;
    sigemptyset(&pipes);
    sigaddset(&pipes, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipes, nullptr);
    engine_->run();
  });
}

http_loop::~http_loop() { shut_down(); }

void http_loop::submit(std::unique_ptr<http_job> job) {
  if (inbox_.submit(std::move(job))) engine_->wake();
}

void http_loop::stop(const attempt_key& which) {
  if (inbox_.stop(which)) engine_->wake();
}

void http_loop::shut_down() {
  inbox_.close();
  engine_->wake();
  const std::lock_guard joining{joining_};
  if (thread_.joinable()) thread_.join();
}

}  // namespace fairlead::agents
