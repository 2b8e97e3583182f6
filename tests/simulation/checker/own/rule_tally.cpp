#include "tests/simulation/checker/own/rule_tally.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace fairlead::simulation {

namespace {

/// What the Scheduler finds itself.
constexpr std::string_view of_scheduler[] = {"callback_timeout", "repeat_exhausted", "terminated", "key_expired"};

bool names(std::string_view pattern, std::string_view code) {
  const auto whole = pattern.find('*') == std::string_view::npos;
  return whole ? code == pattern : code.starts_with(pattern.substr(0, pattern.size() - 1));
}

}  // namespace

int rule_tally::rule_of(const v1::StepDefinition& step, const v1::HistoryEvent& end) {
  const std::string_view detail{end.detail()};
  const auto code = detail.substr(0, detail.find(':'));
  if (std::find(std::begin(of_scheduler), std::end(of_scheduler), code) != std::end(of_scheduler)) return no_rule;
  for (int i = 0; i < step.retry_size(); ++i)
    for (const auto& one : step.retry(i).on())
      if (names(one, code)) return i;
  return no_rule;
}

void rule_tally::forget(std::uint32_t attempt) {
  forgotten_ = std::max(forgotten_, attempt);
  ends_.erase(ends_.begin(), ends_.upper_bound(attempt));
  forget_waits();
}

std::optional<int> rule_tally::rule_at(std::uint32_t attempt) const {
  const auto found = ends_.find(attempt);
  return found == ends_.end() ? std::nullopt : std::optional{found->second};
}

std::uint32_t rule_tally::count(int rule) const {
  return static_cast<std::uint32_t>(std::count_if(ends_.begin(), ends_.end(), [rule](const auto& one) { return one.second == rule; }));
}

std::uint32_t rule_tally::count_before(int rule, std::uint32_t attempt) const {
  return static_cast<std::uint32_t>(
      std::count_if(ends_.begin(), ends_.lower_bound(attempt), [rule](const auto& one) { return one.second == rule; }));
}

std::int64_t rule_tally::waited_ms(int rule) const {
  const auto found = waited_ms_.find(rule);
  return found == waited_ms_.end() ? 0 : found->second;
}

}  // namespace fairlead::simulation
