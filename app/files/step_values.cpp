#include "app/files/step_values.hpp"

#include <algorithm>

#include "actors/core/text/json.hpp"
#include "actors/core/workflow/check.hpp"
#include "actors/core/workflow/wait.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

void read_join(const yaml_node& node, v1::StepDefinition& step) {
  if (node.is_word("all")) return;
  if (node.is_word("any")) return step.set_join(1);
  const auto& value = node.value();
  const auto digits = value.kind == yaml_value::kind_type::scalar && !value.text.empty() &&
                      std::all_of(value.text.begin(), value.text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!digits) return node.expected("all, any, or how many of its needs must be completed");
  if (const auto count = node.integer(1, core::max_steps)) step.set_join(static_cast<std::uint32_t>(*count));
}

void read_wait(const yaml_node& node, v1::StepDefinition& step) {
  const auto& value = node.value();
  const bool scalar = value.kind == yaml_value::kind_type::scalar;
  if (scalar && value.text.find("${") != std::string::npos) {
    if (const auto json = node.json()) step.set_with_json(*json);
    return;
  }
  const auto text = scalar ? core::canonical_wait(value.text) : std::nullopt;
  if (!text)
    node.expected("a duration such as 10m of at most 3660d, a time such as 2026-12-24T18:00:00Z, or an expression");
  else if (core::is_wait_duration(*text) && *text == format_duration(0))
    node.expected("a duration from 1ms to 3660d");
  else
    core::append_json_string(*step.mutable_with_json(), *text);
}

}  // namespace fairlead::app
