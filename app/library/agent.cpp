#include <fairlead/agent.hpp>

#include <algorithm>
#include <utility>

#include "actors/agents/native.hpp"
#include "actors/core/registry/limit_book.hpp"
#include "actors/core/reserved.hpp"
#include "actors/core/text/labels.hpp"
#include "actors/core/workflow/check.hpp"
#include "app/library/agent_state.hpp"

namespace fairlead {

namespace {

constexpr duration longest = std::chrono::hours{24};  // upper limit of the durations of tries, breakers and limits

v1::FaultKind kind_of(fault_kind kind) {
  switch (kind) {
    case fault_kind::transient: return v1::FAULT_KIND_TRANSIENT;
    case fault_kind::permanent: return v1::FAULT_KIND_PERMANENT;
    default: return v1::FAULT_KIND_IN_DOUBT;
  }
}

agents::attempt_result result_of(detail::raw_end end) {
  using what = detail::raw_end::what;
  switch (end.kind) {
    case what::output: return agents::completed(std::move(end.output));
    case what::never_happened: return agents::never_happened();
    case what::not_known: return agents::not_known();
    default: break;
  }
  auto out = agents::faulted(kind_of(end.why.kind), agents::printable(end.why.code, 64), agents::printable(end.why.sentence, 500));
  if (end.why.retry_after > duration{0}) out.fault->set_retry_after_ms(end.why.retry_after.count());
  return out;
}

agents::attempt_result perform(const detail::raw_handler& handler, const agents::native_context& from, std::string_view input) {
  context with{from};
  return result_of(handler(input, with));
}

agents::attempt_result look_up(const detail::raw_handler& handler, const agents::native_context& from, std::string_view input) {
  context with{from};
  auto end = handler(input, with);
  const bool done = end.kind == detail::raw_end::what::output;
  auto out = result_of(std::move(end));
  if (done) out.verdict = v1::LOOKUP_VERDICT_DONE;
  return out;
}

}  // namespace

namespace detail {

result<app::given_agent> agent_state::given() const {
  const auto refused = [this](const std::string& why) {
    return error{v1::ERROR_CODE_INVALID_ARGUMENT, "agent " + name + ": " + why, "see docs/cpp.md"};
  };
  if (!core::valid_agent_name(name)) return refused("a name is a letter, then letters, digits, _, . and -; at most 64 in all");
  if (name == core::operations_agent) return refused("the name is that of the agent of the node's own operations");
  if (!problems.empty()) return refused(problems.front());
  for (const auto& [call, handler] : calls)
    if (!core::valid_agent_name(call)) return refused("a call cannot be named '" + call + "'");
  agents::native_agent_config config;
  for (const auto& [call, handler] : calls)
    config.calls[call] = [handler = handler](const agents::native_context& from, std::string_view input) {
      return perform(handler, from, input);
    };
  for (const auto& [call, handler] : lookups)
    config.lookups[call] = [handler = handler](const agents::native_context& from, std::string_view input) {
      return look_up(handler, from, input);
    };
  // Handlers may block.
  config.mode = agents::native_mode::pooled;
  app::given_agent out;
  out.name = name;
  out.capacity = capacity;
  out.settings = settings;
  out.make = [config = std::move(config)](std::uint32_t wanted) -> result<std::shared_ptr<agents::backend>> {
    auto with_capacity = config;
    with_capacity.capacity = wanted;
    auto made = agents::make_native_backend(std::move(with_capacity));
    if (!made) return made.failure();
    return std::shared_ptr<agents::backend>{std::move(*made)};
  };
  return out;
}

}  // namespace detail

agent::agent(std::string name) : state_(std::make_shared<detail::agent_state>()) { state_->name = std::move(name); }

const std::string& agent::name() const { return state_->name; }

agent& agent::capacity(std::uint32_t attempts) {
  state_->capacity = attempts;
  return *this;
}

agent& agent::label(std::string key, std::string value) {
  v1::Label one;
  one.set_key(std::move(key));
  one.set_value(std::move(value));
  if (!core::valid_label(one)) state_->problems.emplace_back("a label is not " + std::string{core::label_rule});
  state_->settings.labels.push_back(std::move(one));
  return *this;
}

agent& agent::retry(const retry_settings& how) {
  auto& retry = state_->settings.retry;
  if (how.tries < 1 || how.tries > 100) state_->problems.emplace_back("tries is not between 1 and 100");
  if (how.first <= duration{0} || how.max < how.first) state_->problems.emplace_back("the backoff of the tries does not have first <= max");
  if (how.max > longest) state_->problems.emplace_back("the backoff of the tries is longer than a day");
  if (how.try_timeout < duration{0} || how.try_timeout > longest)
    state_->problems.emplace_back("try_timeout is negative or longer than a day");
  if (!(how.factor >= 1 && how.factor <= 100)) state_->problems.emplace_back("the factor of the backoff is not between 1 and 100");
  retry.tries = how.tries;
  retry.backoff.set_first_ms(how.first.count());
  retry.backoff.set_factor(how.factor);
  retry.backoff.set_max_ms(how.max.count());
  retry.try_timeout_ms = how.try_timeout.count();
  return *this;
}

agent& agent::breaker(const breaker_settings& how) {
  v1::BreakerPolicy policy;
  if (how.failure_percent < 1 || how.failure_percent > 100 || how.slow_percent < 1 || how.slow_percent > 100)
    state_->problems.emplace_back("the breaker's percents are not between 1 and 100");
  if (how.window < duration{1} || how.open_for < duration{1} || how.at_least < 1 || how.canaries < 1)
    state_->problems.emplace_back("the breaker's window, open_for, at_least and canaries must be at least 1");
  if (how.slow < duration{0} || std::max({how.slow, how.window, how.open_for}) > longest)
    state_->problems.emplace_back("a duration of the breaker is negative or longer than a day");
  policy.set_failure_percent(how.failure_percent);
  policy.set_slow_ms(how.slow.count());
  policy.set_slow_percent(how.slow_percent);
  policy.set_window_ms(how.window.count());
  policy.set_at_least(how.at_least);
  policy.set_open_ms(how.open_for.count());
  policy.set_canaries(how.canaries);
  state_->settings.breaker = std::move(policy);
  return *this;
}

agent& agent::without_breaker() {
  state_->settings.breaker.Clear();
  state_->settings.breaker.set_off(true);
  return *this;
}

agent& agent::limit(const limit_settings& how) {
  v1::LimitPolicy policy;
  if (how.concurrency == 0 && how.rate == 0) state_->problems.emplace_back("a limit needs a concurrency or a rate");
  if (how.rate != 0 && how.per < duration{1}) state_->problems.emplace_back("the period of a limit's rate is shorter than a millisecond");
  if (how.per > longest) state_->problems.emplace_back("the period of a limit's rate is longer than a day");
  if (!how.key.empty() && !core::valid_limit_key(how.key))
    state_->problems.emplace_back("the key of a limit is not a path into the step's input, such as .customer.id");
  policy.set_call(how.call);
  policy.set_key(how.key);
  policy.set_concurrency(how.concurrency);
  policy.set_rate(how.rate);
  policy.set_rate_per_ms(how.rate == 0 ? 0 : how.per.count());
  state_->settings.limits.push_back(std::move(policy));
  return *this;
}

agent_call agent::call(std::string name) { return {state_, std::move(name)}; }

void agent_call::set_call(const std::string& name, detail::raw_handler handler) {
  if (!of_->calls.emplace(name, std::move(handler)).second) of_->problems.push_back("call " + name + " has two handlers");
}

void agent_call::set_lookup(detail::raw_handler handler) {
  if (!of_->lookups.emplace(name_, std::move(handler)).second) of_->problems.push_back("call " + name_ + " has two lookups");
}

}  // namespace fairlead
