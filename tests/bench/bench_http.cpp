#include "tests/bench/bench_http.hpp"

#include <curl/curl.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <fstream>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "actors/agents/http/http.hpp"
#include "messages/time.hpp"
#include "tests/bench/bench_http_server.hpp"
#include "tests/bench/bench_report.hpp"

namespace fairlead::bench {

namespace {

using steady = std::chrono::steady_clock;

constexpr const char* input = R"({"order":"order-12345","amount_cents":4400,"currency":"EUR"})";

double seconds_since(steady::time_point start) { return std::chrono::duration<double>(steady::now() - start).count(); }

std::size_t keep(char* data, std::size_t size, std::size_t count, void* into) {
  static_cast<std::string*>(into)->append(data, size * count);
  return size * count;
}

/// Handles that are set up once and added again and again: as little as libcurl can be used with.
double bare_per_s(const std::string& url, std::uint64_t requests, std::uint32_t at_once) {
  CURLM* const multi = curl_multi_init();
  curl_slist* headers = curl_slist_append(nullptr, "Content-Type: application/json");
  headers = curl_slist_append(headers, "Expect:");
  std::vector<std::string> bodies(at_once);
  std::vector<CURL*> handles;
  for (std::uint32_t i = 0; i < at_once; ++i) {
    CURL* const easy = handles.emplace_back(curl_easy_init());
    curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, input);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &keep);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &bodies[i]);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, &bodies[i]);
    curl_multi_add_handle(multi, easy);
  }
  const auto start = steady::now();
  for (std::uint64_t done = 0, begun = at_once; done < requests;) {
    int running = 0;
    int left = 0;
    curl_multi_perform(multi, &running);
    while (const auto* message = curl_multi_info_read(multi, &left)) {
      CURL* const easy = message->easy_handle;
      std::string* body = nullptr;
      curl_easy_getinfo(easy, CURLINFO_PRIVATE, &body);
      if (message->data.result != CURLE_OK || body->empty()) throw std::runtime_error("a request of the bare loop failed");
      body->clear();
      curl_multi_remove_handle(multi, easy);
      ++done;
      if (begun++ < requests) curl_multi_add_handle(multi, easy);
    }
    if (done < requests) curl_multi_poll(multi, nullptr, 0, 1'000, nullptr);
  }
  const auto took = seconds_since(start);
  for (auto* easy : handles) {
    curl_multi_remove_handle(multi, easy);
    curl_easy_cleanup(easy);
  }
  curl_multi_cleanup(multi);
  curl_slist_free_all(headers);
  return static_cast<double>(requests) / took;
}

std::unique_ptr<agents::backend> make_agent(int port, std::uint32_t concurrency) {
  agents::http_agent_config config;
  config.name = "payment";
  config.base_url = "http://127.0.0.1:" + std::to_string(port);
  config.concurrency = concurrency;
  config.connect_timeout_ms = 30'000;
  config.calls["charge"].url = "/charges";
  auto made = agents::make_http_backend(std::move(config));
  if (!made.ok()) throw std::runtime_error(made.failure().sentence);
  return std::move(made).value();
}

v1::Perform a_step(std::uint64_t number) {
  v1::Perform out;
  out.set_task_number(number);
  out.set_task_id("order-" + std::to_string(number));
  out.set_workflow("order");
  out.set_step_path("charge");
  out.set_call("charge");
  out.set_attempt(1);
  out.set_input(input);
  out.set_idempotency_key("order-" + std::to_string(number) + "/charge/perform/1");
  out.set_complete_by_unix_ms(to_unix_ms(system_clock{}.now()) + 300'000);
  return out;
}

/// Keeps `at_once` steps with the agent until so many have ended.
class feeder {
 public:
  feeder(agents::backend& agent, std::uint64_t total) : agent_(agent), total_(total) {}

  void start(std::uint32_t at_once) {
    for (std::uint32_t i = 0; i < at_once; ++i) next();
  }
  std::uint64_t wait() {
    std::unique_lock lock{guard_};
    ended_.wait(lock, [this] { return done_ == total_; });
    return good_;
  }

 private:
  void next() {
    std::uint64_t number = 0;
    {
      const std::lock_guard lock{guard_};
      if (begun_ == total_) return;
      number = ++begun_;
    }
    agent_.start(a_step(number), [this](const agents::attempt_key&, agents::attempt_result result) {
      next();
      const std::lock_guard lock{guard_};
      if (!result.fault) ++good_;
      if (++done_ == total_) ended_.notify_all();
    });
  }

  agents::backend& agent_;
  const std::uint64_t total_;
  std::mutex guard_;
  std::condition_variable ended_;
  std::uint64_t begun_ = 0, done_ = 0, good_ = 0;
};

/// A line of /proc/self/status, without its unit.
double own_status(const std::string& name) {
  std::ifstream file{"/proc/self/status"};
  for (std::string line; std::getline(file, line);)
    if (line.rfind(name + ":", 0) == 0) return std::stod(line.substr(name.size() + 1));
  throw std::runtime_error("/proc/self/status has no " + name);
}

}  // namespace

double bare_requests_per_s(int port, std::uint64_t requests, std::uint32_t at_once) {
  return bare_per_s("http://127.0.0.1:" + std::to_string(port) + "/charges", requests, at_once);
}

http_result run_http(std::uint64_t requests, std::uint32_t at_once) {
  const bench_http_server server{0};
  const auto url = "http://127.0.0.1:" + std::to_string(server.port()) + "/charges";
  http_result out;
  out.at_once = at_once;
  out.requests = requests;
  bare_per_s(url, requests / 10, at_once);  // warm
  out.bare_per_s = bare_per_s(url, requests, at_once);
  const auto agent = make_agent(server.port(), at_once);
  feeder warm{*agent, requests / 10};
  warm.start(at_once);
  warm.wait();
  feeder measured{*agent, requests};
  const auto start = steady::now();
  measured.start(at_once);
  if (measured.wait() != requests) throw std::runtime_error("a step of the agent failed");
  out.agent_per_s = static_cast<double>(requests) / seconds_since(start);
  agent->shut_down();
  return out;
}

slow_http_result run_slow_http(std::uint32_t steps, int answer_after_s) {
  const auto agent = make_agent(1, 1);  // raises nothing yet, and brings up what libcurl needs once
  agent->shut_down();
  slow_http_result out;
  out.steps = steps;
  out.threads_before = static_cast<int>(own_status("Threads"));
  out.rss_anon_before_mb = own_status("RssAnon") / 1'024;
  const auto many = make_agent(1, steps);  // so that the server inherits room for as many connections
  many->shut_down();
  const bench_http_server server{answer_after_s * 1'000};
  const auto held = make_agent(server.port(), steps);
  feeder all{*held, steps};
  const auto start = steady::now();
  all.start(steps);
  // Halfway, when every request has been sent and none has been answered.
  while (seconds_since(start) < answer_after_s * 0.5) {
    timespec pause{0, 50'000'000};
    ::nanosleep(&pause, nullptr);
  }
  out.threads = static_cast<int>(own_status("Threads"));
  out.rss_anon_mb = own_status("RssAnon") / 1'024;
  out.answered = all.wait();
  held->shut_down();
  return out;
}

std::string http_to_text(const http_result& r) {
  return format("%llu requests, %u at once: bare libcurl %.0f/s, http agent %.0f/s, ratio %.2f",
                static_cast<unsigned long long>(r.requests), r.at_once, r.bare_per_s, r.agent_per_s, r.agent_per_s / r.bare_per_s);
}

std::string slow_http_to_text(const slow_http_result& r) {
  return format("%llu steps wait: %d threads (%d before), RssAnon %.1f MB (%.1f MB before); %llu were answered",
                static_cast<unsigned long long>(r.steps), r.threads, r.threads_before, r.rss_anon_mb, r.rss_anon_before_mb,
                static_cast<unsigned long long>(r.answered));
}

}  // namespace fairlead::bench
