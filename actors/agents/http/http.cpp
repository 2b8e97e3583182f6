#include "actors/agents/http/http.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>

#include "actors/agents/attempt_results.hpp"
#include "actors/agents/call_lists.hpp"
#include "actors/agents/http/hosts.hpp"
#include "actors/agents/http/redirect.hpp"
#include "actors/agents/http/request.hpp"
#include "actors/agents/http/response.hpp"
#include "actors/agents/http/transfer/loop.hpp"
#include "messages/time.hpp"

namespace fairlead::agents {

namespace {

// Shared with the jobs in progress, which use their call at their end.
using prepared_calls = std::map<std::string, std::shared_ptr<const http_prepared_call>>;

// Descriptors for everything else in the process.
constexpr rlim_t other_files = 1'024;

result<prepared_calls> prepare(const http_agent_config& config) {
  if (auto good = check_agent_settings(config); !good.ok()) return good.failure();
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

/// The time limit of a try, and whether the backend must report its end.
struct time_allowed {
  std::chrono::steady_clock::time_point deadline;
  bool ends_try = false;
};

time_allowed time_of(const v1::Perform& what, std::int64_t now_ms) {
  // The earlier of the two ends that the hand-over names: clocks of two hosts may differ, and neither may make a lease longer.
  auto left = what.complete_by_unix_ms() - now_ms;
  if (what.budget_ms() > 0) left = std::min(left, what.budget_ms());
  time_allowed out;
  if (const auto try_left = what.try_until_unix_ms() - now_ms; what.try_until_unix_ms() != 0 && try_left < left) {
    left = try_left;
    out.ends_try = true;
  }
  // Far beyond any lease, and far from the ends of the clock's range.
  constexpr std::int64_t ten_years_ms = 10LL * 366 * 86'400'000;
  out.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds{std::clamp<std::int64_t>(left, 0, ten_years_ms)};
  return out;
}

// Each transfer has a connection, and many systems allow a process a thousand descriptors by default.
void make_room_for_files(std::uint32_t connections) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const auto wanted = std::min<rlim_t>(limit.rlim_max, other_files + 2 * static_cast<rlim_t>(connections));
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = wanted;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const auto& part : parts) out += (out.empty() ? "" : ",") + part;
  return out;
}

http_limits limits_of(const http_agent_config& config) {
  http_limits out;
  out.concurrency = config.concurrency;
  out.connect_timeout_ms = config.connect_timeout_ms;
  out.connection_age_ms = config.connection_age_ms;
  out.max_response_bytes = config.max_response_bytes;
  out.compression = config.compression;
  out.proxy = config.proxy;
  out.no_proxy = joined(config.no_proxy);
  out.tls = config.tls;
  return out;
}

attempt_result fault_of(const http_no_request& why, const std::string& call) {
  const auto message = "call " + call + ": " + printable(why.sentence, 300);
  // The secret may appear at any moment, and nothing was sent.
  if (why.why == http_no_request::because::secret) return transient_fault("secret_missing", message);
  return permanent_fault("bad_request_template", message);
}

class http_backend final : public backend {
 public:
  http_backend(http_agent_config config, prepared_calls calls)
      : config_(std::move(config)),
        calls_(std::move(calls)),
        hosts_(std::make_shared<const http_host_list>(http_host_list::parse(config_.allow_hosts).value())),
        loop_(limits_of(config_)) {}

  void start(const v1::Perform& what, completion done) override {
    const auto key = key_of(what);
    const auto found = calls_.find(what.call());
    if (found == calls_.end()) {
      done(key, permanent_fault("unknown_call", "agent " + config_.name + " has no call named " + what.call()));
      return;
    }
    const auto& call = found->second;
    const bool asks = what.direction() == v1::DIRECTION_LOOKUP;
    // The call itself would have an effect, and a look-up must not.
    if (asks && !call->lookup) {
      done(key, not_known());
      return;
    }
    auto request = build_request(*call, what, config_.secrets.get());
    if (const auto* why = std::get_if<http_no_request>(&request)) {
      done(key, fault_of(*why, what.call()));
      return;
    }
    auto job = std::make_unique<http_job>();
    job->key = key;
    job->request = std::get<http_request>(std::move(request));
    if (const auto origin = hosts_->empty() ? std::nullopt : origin_of(job->request.url);
        !hosts_->empty() && !(origin && hosts_->allows(*origin))) {
      done(key, permanent_fault("url_not_allowed", "call " + what.call() + ": " +
                                                       (origin ? printable(origin->shown(), 200) : "the address in the call") +
                                                       " is not among the agent's allow_hosts"));
      return;
    }
    const auto now_ms = to_unix_ms(system_clock{}.now());
    const auto allowed = time_of(what, now_ms);
    job->deadline = allowed.deadline;
    job->ends_at_deadline = allowed.ends_try;
    if (config_.redirects > 0) {
      // The copies keep alive the objects that the redirects use.
      job->next = [call, hosts = hosts_, known = config_.secrets,
                   redirects = std::make_shared<http_redirects>(*call, asks, *hosts_, config_.redirects, config_.secrets.get())](
                      const http_request& sent, http_answer& answer) { return redirects->next(sent, answer); };
    }
    job->finished = [key, call, asks, repeated = what.attempt() > 1 || what.try_number() > 1, calls_back = !what.callback_url().empty(),
                     done = std::move(done)](http_answer answer) {
      attempt_result result;
      try {
        const http_circumstances around{repeated, to_unix_ms(system_clock{}.now()), calls_back};
        result = asks ? conclude_lookup(*call->lookup, std::move(answer), around) : conclude(*call, std::move(answer), around);
      } catch (const std::exception& e) {
        const auto message = std::string{"the response could not be handled: "} + printable(e.what(), 200);
        result = asks ? transient_fault("internal", message) : in_doubt_fault("internal", message);
      }
      done(key, std::move(result));
    };
    loop_.submit(std::move(job));
  }

  void stop(const attempt_key& which) override { loop_.stop(which); }

  std::vector<std::string> calls() const override { return names_of(calls_); }

  std::vector<std::string> lookups() const override {
    return names_of(calls_, [](const auto& call) { return static_cast<bool>(call.lookup); });
  }

  std::vector<v1::CallPolicy> policies() const override {
    return policies_of(calls_, [](const auto& call) { return call.idempotency.valid_for_ms; });
  }

  std::uint32_t capacity() const override { return config_.concurrency; }
  void shut_down() override { loop_.shut_down(); }

 private:
  const http_agent_config config_;
  const prepared_calls calls_;
  const std::shared_ptr<const http_host_list> hosts_;
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
  make_room_for_files(config.concurrency);
  try {
    return std::unique_ptr<backend>{std::make_unique<http_backend>(std::move(config), std::move(calls).value())};
  } catch (const std::exception& e) {
    return error{v1::ERROR_CODE_UNAVAILABLE, "agent " + name + " cannot start: " + e.what(), "see the limits on threads and memory"};
  }
}

}  // namespace fairlead::agents
