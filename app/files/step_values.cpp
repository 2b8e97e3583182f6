#include "app/files/step_values.hpp"

#include <algorithm>

#include "actors/core/text/json.hpp"
#include "actors/core/workflow/check.hpp"
#include "actors/core/workflow/check_kinds.hpp"
#include "actors/core/workflow/wait.hpp"
#include "app/files/workflow_file.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

namespace {

using placed = std::function<void(const std::string& where, const yaml_node& value)>;

const std::vector<std::pair<std::string, bool>> failures_words{{"stop", false}, {"collect", true}};

/// Of `for_each.items`.
void read_list(const yaml_node& node, const std::string& where, v1::ForEachDefinition& each, const placed& place) {
  const auto& value = node.value();
  const bool expression = value.kind == yaml_value::kind_type::scalar && value.text.find("${") != std::string::npos;
  if (!expression && !node.is_list()) return node.expected("an expression that gives a list, such as \"${ .input.items }\", or a list");
  place(where, node);
  if (const auto json = node.json()) each.set_list_json(*json);
}

}  // namespace

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

void read_for_each(const yaml_node& node, v1::ForEachDefinition& each, const placed& place) {
  each.set_at_once(default_items_at_once);
  // What core finds about the list is named by the whole key, which the short form leaves out.
  const auto items_key = dotted(node.where(), "items");
  if (!node.is_map()) return read_list(node, items_key, each, place);
  yaml_section section{node};
  if (const auto items = section.require("items", "an expression that gives a list, or a list")) read_list(*items, items_key, each, place);
  if (const auto at_once = section.find("at_once")) {
    place(at_once->where(), *at_once);
    if (const auto count = at_once->integer(1, core::max_items_at_once)) each.set_at_once(static_cast<std::uint32_t>(*count));
  }
  bool collect = false;
  if (section.word("failures", collect, failures_words)) each.set_collect(collect);
  section.finish();
}

}  // namespace fairlead::app
