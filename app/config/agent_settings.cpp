#include "app/config/agent_settings.hpp"

#include <algorithm>
#include <charconv>

#include "actors/agents/secrets_reference.hpp"
#include "actors/core/registry/limit_book.hpp"
#include "actors/core/text/labels.hpp"
#include "actors/core/text/nearest.hpp"
#include "app/config/parts.hpp"
#include "app/yaml/labels.hpp"
#include "messages/time.hpp"
#include "store/keys.hpp"

namespace fairlead::app {

namespace {

static_assert(core::max_label_key_bytes == store::max_label_key_bytes && core::max_label_value_bytes == store::max_label_value_bytes);

constexpr std::int64_t most_tries = 100;
// Defaults for zero fields of a retry's backoff (actors/agents/settings.hpp).
constexpr std::int64_t default_first_ms = 100;
constexpr std::int64_t default_max_ms = 5 * second;
constexpr std::int64_t most_held = 1'000'000;
constexpr std::uint32_t most_rate = 1'000'000;
constexpr std::size_t most_limits = 32;
constexpr std::size_t most_secrets = 256;

/// `50/s`, `600/m`, `1000/h`, `5/10s`.
bool parse_rate(const std::string& text, v1::LimitPolicy& out) {
  const auto slash = text.find('/');
  if (slash == std::string::npos) return false;
  std::uint32_t count = 0;
  const auto* const end = text.data() + slash;
  const auto [stopped, failure] = std::from_chars(text.data(), end, count);
  if (failure != std::errc{} || stopped != end || count < 1 || count > most_rate) return false;
  const auto unit = text.substr(slash + 1);
  std::int64_t per_ms = 0;
  if (!parse_duration(unit == "s" || unit == "m" || unit == "h" || unit == "d" ? "1" + unit : unit, per_ms)) return false;
  if (per_ms < 1 || per_ms > day) return false;
  out.set_rate(count);
  out.set_rate_per_ms(per_ms);
  return true;
}

/// The names of the agent's calls if the section lists them; nullopt: they are known only when the agent runs.
std::optional<std::vector<std::string>> calls_of(const yaml_node& agent) {
  for (const auto& [key, value] : agent.entries()) {
    if (key != "calls" || !value.is_map()) continue;
    std::vector<std::string> out;
    for (const auto& call : value.entries()) out.push_back(call.first);
    return out;
  }
  return std::nullopt;
}

void read_limit(const yaml_node& node, const std::optional<std::vector<std::string>>& calls, std::vector<v1::LimitPolicy>& out) {
  if (!node.is_map()) {
    node.expected("a map with concurrency or rate, such as { call: charge, rate: 50/s }");
    return;
  }
  v1::LimitPolicy limit;
  yaml_section section{node};
  if (const auto call = section.find("call")) {
    if (const auto text = call->text()) {
      if (!core::valid_agent_name(*text)) {
        call->expected("the name of a call");
      } else if (calls && std::find(calls->begin(), calls->end(), *text) == calls->end()) {
        const auto close = core::nearest(*text, *calls);
        call->complain("the agent has no call \"" + *text + "\"", close.empty() ? "" : "did you mean " + close + "?");
      }
      limit.set_call(*text);
    }
  }
  if (const auto key = section.find("key")) {
    const auto text = key->text();
    if (text && !core::valid_limit_key(*text)) key->expected("a path into the step's input, such as .customer.id");
    if (text) limit.set_key(*text);
  }
  const auto concurrency = section.find("concurrency");
  if (concurrency) limit.set_concurrency(static_cast<std::uint32_t>(concurrency->integer(1, most_held).value_or(0)));
  const auto rate = section.find("rate");
  if (rate && !(rate->value().kind == yaml_value::kind_type::scalar && parse_rate(rate->value().text, limit)))
    rate->expected("a rate of at most 1000000 such as 50/s, 600/m, 1000/h or 5/10s");
  if (!rate && !concurrency) node.complain("this limit has neither concurrency nor rate", "add concurrency: 20, or rate: 50/s");
  section.finish();
  out.push_back(std::move(limit));
}

void read_input_secrets(const yaml_node& node, std::vector<std::string>& out) {
  const auto items = node.items();
  if (items.size() > most_secrets) node.complain("more than " + std::to_string(most_secrets) + " secrets");
  for (const auto& item : items) {
    auto name = item.text();
    if (!name) continue;
    if (!agents::valid_secret_name(*name)) {
      item.expected("the name of a secret: letters, digits, _, . and -; at most 64 in all");
    } else if (std::find(out.begin(), out.end(), *name) != out.end()) {
      item.complain("this secret is listed twice", "remove one of them");
    } else {
      out.push_back(std::move(*name));
    }
  }
}

}  // namespace

void read_breaker(const yaml_node& node, v1::BreakerPolicy& out) {
  if (node.is_word("off")) {
    out.set_off(true);
    return;
  }
  if (!node.is_map()) {
    node.expected("off, or a map with failure_percent, slow, slow_percent, window, at_least, open and canaries");
    return;
  }
  yaml_section section{node};
  std::uint32_t count = 0;
  std::int64_t ms = 0;
  if (section.integer("failure_percent", count, 1, 100)) out.set_failure_percent(count);
  const auto slow = section.find("slow");
  if (slow) out.set_slow_ms(slow->duration_ms(1, hour).value_or(0));
  const auto slow_percent = section.find("slow_percent");
  if (slow_percent) out.set_slow_percent(static_cast<std::uint32_t>(slow_percent->integer(1, 100).value_or(0)));
  if (slow_percent && !slow)
    slow_percent->complain("without slow no try counts as slow, so this key has no effect",
                           "add slow: tries that take longer count as slow, such as slow: 2s");
  if (section.duration_ms("window", ms, second, hour)) out.set_window_ms(ms);
  if (section.integer("at_least", count, 1, 100'000)) out.set_at_least(count);
  if (section.duration_ms("open", ms, 100, hour)) out.set_open_ms(ms);
  if (section.integer("canaries", count, 1, 100)) out.set_canaries(count);
  section.finish();
}

void read_limits(const yaml_node& node, const std::optional<std::vector<std::string>>& calls, std::vector<v1::LimitPolicy>& out) {
  const auto items = node.items();
  if (items.size() > most_limits) node.complain("more than " + std::to_string(most_limits) + " limits");
  for (const auto& item : items) read_limit(item, calls, out);
}

void read_retry(const yaml_node& node, agents::retry_policy& out) {
  if (!node.is_map()) {
    node.expected("a map with tries, first, factor, max and try_timeout");
    return;
  }
  yaml_section section{node};
  section.integer("tries", out.tries, 1, most_tries);
  auto& backoff = out.backoff;
  // 0: absent, or not readable.
  const auto first = section.find("first");
  const auto first_ms = first ? first->duration_ms(1, hour).value_or(0) : 0;
  if (first_ms != 0) backoff.set_first_ms(first_ms);
  if (const auto factor = section.find("factor")) {
    if (const auto value = factor->number(1, 100)) backoff.set_factor(*value);
  }
  const auto max = section.find("max");
  const auto max_ms = max ? max->duration_ms(1, hour).value_or(0) : 0;
  if (max_ms != 0) backoff.set_max_ms(max_ms);
  if (first_ms > max_ms && max_ms != 0) first->complain(format_duration(first_ms) + " is longer than max, " + format_duration(max_ms));
  // A lone `first: 20s` raises the maximum to that value; a lone `max: 50ms` lowers the first pause to that value.
  if (first_ms != 0 && !max) backoff.set_max_ms(std::max(first_ms, backoff.max_ms() == 0 ? default_max_ms : backoff.max_ms()));
  if (max_ms != 0 && !first) backoff.set_first_ms(std::min(max_ms, backoff.first_ms() == 0 ? default_first_ms : backoff.first_ms()));
  section.duration_ms("try_timeout", out.try_timeout_ms, 1, 10 * 366 * day);
  section.finish();
}

void read_agent_settings(yaml_section& section, agents::agent_settings& out) {
  if (const auto labels = section.find("labels")) out.labels = read_labels(*labels);
  if (const auto retry = section.find("retry")) read_retry(*retry, out.retry);
  if (const auto breaker = section.find("breaker")) read_breaker(*breaker, out.breaker);
  if (const auto limits = section.find("limits")) read_limits(*limits, calls_of(section.node()), out.limits);
  if (const auto names = section.find("input_secrets")) read_input_secrets(*names, out.input_secrets);
}

}  // namespace fairlead::app
