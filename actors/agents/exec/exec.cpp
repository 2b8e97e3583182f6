#include "actors/agents/exec/exec.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <mutex>

#include "actors/agents/attempt_results.hpp"
#include "actors/agents/call_lists.hpp"
#include "actors/agents/exec/command.hpp"
#include "actors/agents/exec/loop.hpp"
#include "actors/agents/exec/outcome.hpp"
#include "messages/time.hpp"

namespace fairlead::agents {

namespace {

struct attempt_end {
  std::chrono::steady_clock::time_point at;
  bool of_a_try = false;
};

// The earliest end that the hand-over names: clocks of two hosts may differ, and neither may make a lease longer.
attempt_end end_of(const v1::Perform& what) {
  const auto now_ms = to_unix_ms(system_clock{}.now());
  auto left = what.complete_by_unix_ms() - now_ms;
  if (what.budget_ms() > 0) left = std::min(left, what.budget_ms());
  attempt_end out;
  if (what.try_until_unix_ms() > 0 && what.try_until_unix_ms() - now_ms < left) {
    left = what.try_until_unix_ms() - now_ms;
    out.of_a_try = true;
  }
  // Far beyond any lease, and far from the ends of the clock's range.
  constexpr std::int64_t ten_years_ms = 10LL * 366 * 86'400'000;
  out.at = std::chrono::steady_clock::now() + std::chrono::milliseconds{std::clamp<std::int64_t>(left, 0, ten_years_ms)};
  return out;
}

class exec_backend final : public backend {
 public:
  exec_backend(exec_agent_config config, prepared_commands calls, exec_identity identity, exec_options options)
      : config_(std::move(config)),
        calls_(std::move(calls)),
        identity_(std::move(identity)),
        loop_(config_.concurrency, std::move(options.shepherd)) {}

  void start(const v1::Perform& what, completion done) override {
    const auto key = key_of(what);
    const auto found = calls_.find(what.call());
    if (found == calls_.end()) {
      done(key, permanent_fault("unknown_call", "agent " + config_.name + " has no call named " + printable(what.call(), 64)));
      return;
    }
    const auto& command = found->second;
    const bool lookup = what.direction() == v1::DIRECTION_LOOKUP;
    // Only the look-up's own command: the call itself would have an effect, and a look-up must not.
    if (lookup && command->lookup_words.empty()) {
      done(key, not_known());
      return;
    }
    auto job = std::make_unique<exec_job>();
    auto words = words_for(lookup ? command->lookup_words : command->words, what.input());
    if (auto* unfit = std::get_if<unfit_input>(&words)) {
      done(key, permanent_fault(unfit->code, "call " + command->name + ": " + unfit->sentence));
      return;
    }
    if (command->settings.input == exec_input::json) {
      auto input = input_of(what);
      if (!input.ok()) {
        done(key, permanent_fault("secret_not_allowed", "call " + command->name + ": " + printable(input.failure().sentence, 300)));
        return;
      }
      job->input = std::move(input).value();
    } else {
      job->has_input = false;
    }
    // For each attempt anew: the file of a secret may have changed.
    auto environment = base_environment(config_);
    if (!environment.ok()) {
      done(key, transient_fault("secret_missing", "call " + command->name + ": " + printable(environment.failure().sentence, 300)));
      return;
    }
    job->has_output = command->settings.output != exec_output::log;
    job->key = key;
    job->order.command = std::move(std::get<std::vector<std::string>>(words));
    job->order.environment = std::move(environment).value();
    append_attempt(job->order.environment, what);
    job->order.directory = config_.directory;
    job->order.identity = identity_;
    job->order.limits = config_.process;
    job->max_output_bytes = config_.max_output_bytes;
    job->stop_grace_ms = config_.stop_grace_ms;
    const auto end = end_of(what);
    job->deadline = end.at;
    job->of_a_try = end.of_a_try;
    job->finished = [this, key, command, direction = what.direction(), calls_back = !what.callback_url().empty(),
                     done = std::move(done)](exec_ending ending) {
      attempt_result result;
      try {
        result = conclude(*command, direction, calls_back, std::move(ending), config_.secrets.get());
      } catch (const std::exception& e) {
        result = in_doubt_fault("internal", std::string{"the command's end could not be handled: "} + printable(e.what(), 200));
      }
      done(key, std::move(result));
    };
    job->progressed = [this, key](attempt_progress said) {
      if (!progress_) return;
      if (config_.secrets) {
        said.note = config_.secrets->redact(std::move(said.note));
        said.checkpoint = config_.secrets->redact(std::move(said.checkpoint));
      }
      progress_(key, std::move(said));
    };
    loop_.submit(std::move(job));
  }

  void stop(const attempt_key& which) override { loop_.stop(which); }

  std::vector<std::string> calls() const override { return names_of(calls_); }

  std::vector<std::string> lookups() const override {
    return names_of(calls_, [](const auto& call) { return !call.lookup_words.empty(); });
  }

  std::vector<v1::CallPolicy> policies() const override {
    return policies_of(calls_, [](const auto& call) { return call.settings.key_valid_for_ms; });
  }

  std::uint32_t capacity() const override { return config_.concurrency; }
  // Every user of the machine can read arguments.
  bool puts_secrets_in() const override { return true; }
  void report_progress_to(progress_sink sink) override { progress_ = std::move(sink); }
  void shut_down() override { loop_.shut_down(); }

 private:
  result<std::string> input_of(const v1::Perform& what) const {
    if (!secrets::mentioned(what.input())) return what.input();
    if (!config_.secrets)
      return error{v1::ERROR_CODE_NOT_FOUND, "the input names a $secret, and this node has none", "see `secrets` in the node file"};
    return config_.secrets->resolve_json(what.input(), config_.settings.input_secrets);
  }

  const exec_agent_config config_;
  const prepared_commands calls_;
  const exec_identity identity_;
  progress_sink progress_;
  exec_loop loop_;
};

}  // namespace

status check_exec_agent(const exec_agent_config& config) {
  const auto calls = prepare_commands(config);
  if (!calls.ok()) return calls.failure();
  return nothing{};
}

result<std::unique_ptr<backend>> make_exec_backend(exec_agent_config config, exec_options options) {
  auto calls = prepare_commands(config);
  if (!calls.ok()) return calls.failure();
  auto identity = find_identity(config.user, config.group);
  if (!identity.ok()) {
    const auto& why = identity.failure();
    return error{why.code, "agent " + config.name + ": " + why.sentence, why.remedy};
  }
  if (identity->given && geteuid() != 0) {
    // No attempt could ever succeed, so the error comes now rather than from each attempt.
    return error{v1::ERROR_CODE_UNAVAILABLE,
                 "agent " + config.name + " is configured to run commands as " + config.user + ", and only root may do that",
                 "start the node as root, or leave `user` out"};
  }
  if (const auto environment = base_environment(config); !environment.ok()) return environment.failure();
  const auto name = config.name;
  try {
    return std::unique_ptr<backend>{
        std::make_unique<exec_backend>(std::move(config), std::move(calls).value(), std::move(identity).value(), std::move(options))};
  } catch (const std::exception& e) {
    return error{v1::ERROR_CODE_UNAVAILABLE, "agent " + name + " cannot start: " + e.what(),
                 "check the limits on threads and file descriptors"};
  }
}

}  // namespace fairlead::agents
