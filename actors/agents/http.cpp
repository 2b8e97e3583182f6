#include "actors/agents/http.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>

#include "actors/agents/attempt_results.hpp"
#include "actors/agents/http_loop.hpp"
#include "actors/agents/http_request.hpp"
#include "actors/agents/http_response.hpp"
#include "messages/time.hpp"

namespace fairlead::agents {

namespace {

// Shared with the jobs under way, which look at their call when they end.
using prepared_calls = std::map<std::string, std::shared_ptr<const http_prepared_call>>;

constexpr std::uint32_t max_concurrency = 4'096;
constexpr std::int64_t max_connect_timeout_ms = 600'000;
constexpr std::uint64_t max_response_limit = 64ULL * 1024 * 1024;

result<prepared_calls> prepare(const http_agent_config& config) {
  const auto refuse = [&](const std::string& key, const std::string& expected) {
    return error{v1::ERROR_CODE_INVALID_ARGUMENT, "agent " + config.name + ": " + key + " is out of range", expected};
  };
  if (config.concurrency == 0 || config.concurrency > max_concurrency) return refuse("concurrency", "1 to 4096");
  if (config.connect_timeout_ms <= 0 || config.connect_timeout_ms > max_connect_timeout_ms) return refuse("connect_timeout", "1ms to 10m");
  if (config.max_response_bytes == 0 || config.max_response_bytes > max_response_limit) return refuse("max_response", "1 byte to 64MiB");
  if (config.calls.empty()) {
    return error{v1::ERROR_CODE_INVALID_ARGUMENT, "agent " + config.name + " has no calls", "declare at least one under `calls`"};
  }
  prepared_calls out;
  for (const auto& [name, call] : config.calls) {
    auto prepared = prepare_call(config, name, call);
    if (!prepared.ok()) return prepared.failure();
    out.emplace(name, std::make_shared<const http_prepared_call>(std::move(prepared).value()));
  }
  return out;
}

// The earlier of the two ends that the hand-over names: clocks of two hosts may differ, and neither may make a lease longer.
std::chrono::steady_clock::time_point deadline_of(const v1::Perform& what) {
  auto left = what.complete_by_unix_ms() - to_unix_ms(system_clock{}.now());
  if (what.budget_ms() > 0) left = std::min(left, what.budget_ms());
  // Far beyond any lease, and far from the ends of the clock's range.
  constexpr std::int64_t ten_years_ms = 10LL * 366 * 86'400'000;
  return std::chrono::steady_clock::now() + std::chrono::milliseconds{std::clamp<std::int64_t>(left, 0, ten_years_ms)};
}

class http_backend final : public backend {
 public:
  http_backend(http_agent_config config, prepared_calls calls)
      : config_(std::move(config)),
        calls_(std::move(calls)),
        loop_({config_.concurrency, config_.connect_timeout_ms, config_.max_response_bytes}) {}

  void start(const v1::Perform& what, completion done) override {
    const attempt_key key{what.task_number(), what.step(), what.direction(), what.attempt()};
    // The call itself would change something, and a lookup must not.
    if (what.direction() == v1::DIRECTION_LOOKUP) {
      done(key, not_known());
      return;
    }
    const auto found = calls_.find(what.call());
    if (found == calls_.end()) {
      done(key, permanent_fault("unknown_call", "agent " + config_.name + " knows no call named " + what.call()));
      return;
    }
    auto request = build_request(*found->second, what);
    if (!request.ok()) {
      done(key, permanent_fault("bad_request_template", "call " + what.call() + ": " + printable(request.failure().sentence, 300)));
      return;
    }
    auto job = std::make_unique<http_job>();
    job->key = key;
    job->request = std::move(request).value();
    job->deadline = deadline_of(what);
    job->finished = [key, call = found->second, done = std::move(done)](http_answer answer) {
      attempt_result result;
      try {
        result = conclude(*call, std::move(answer));
      } catch (const std::exception& e) {
        result = in_doubt_fault("internal", std::string{"the response could not be handled: "} + printable(e.what(), 200));
      }
      done(key, std::move(result));
    };
    loop_.submit(std::move(job));
  }

  void stop(const attempt_key& which) override { loop_.stop(which); }

  std::vector<std::string> calls() const override {
    std::vector<std::string> out;
    for (const auto& [name, call] : calls_) out.push_back(name);
    return out;
  }

  std::uint32_t capacity() const override { return config_.concurrency; }
  void shut_down() override { loop_.shut_down(); }

 private:
  const http_agent_config config_;
  const prepared_calls calls_;
  http_loop loop_;
};

}  // namespace

status check_http_agent(const http_agent_config& config) {
  const auto calls = prepare(config);
  if (!calls.ok()) return calls.failure();
  return nothing{};
}

result<std::unique_ptr<backend>> make_http_backend(http_agent_config config) {
  auto calls = prepare(config);
  if (!calls.ok()) return calls.failure();
  const auto name = config.name;
  try {
    return std::unique_ptr<backend>{std::make_unique<http_backend>(std::move(config), std::move(calls).value())};
  } catch (const std::exception& e) {
    return error{v1::ERROR_CODE_UNAVAILABLE, "agent " + name + " cannot start: " + e.what(), "see the limits on threads and memory"};
  }
}

}  // namespace fairlead::agents
