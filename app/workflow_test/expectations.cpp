#include "app/workflow_test/expectations.hpp"

#include <algorithm>
#include <utility>

#include "actors/core/alert_words.hpp"
#include "actors/core/workflow/check_kinds.hpp"

namespace fairlead::app {

namespace {

constexpr std::int64_t longest_taken_ms = 100LL * 366 * 24 * 3'600'000;

const std::vector<std::string> end_words{"completed", "undone", "failed", "parked", "paused", "running", "undoing", refused_word};
const std::vector<std::string> state_words{"pending", "running", "completed", "failed",  "in_doubt", "skipped",
                                           "undoing", "undone",  "retrying",  "waiting", "timed_out"};

file_place place_of(const yaml_node& node) { return {node.line(), node.column()}; }

void read_word(yaml_section& section, const char* key, const std::vector<std::string>& words, std::optional<expected_text>& out) {
  const auto node = section.find(key);
  if (!node) return;
  if (const auto index = node->word(words)) out = expected_text{place_of(*node), words[*index]};
}

void read_text(yaml_section& section, const char* key, std::optional<expected_text>& out) {
  const auto node = section.find(key);
  if (!node) return;
  if (const auto text = node->text()) out = expected_text{place_of(*node), *text};
}

void read_json(yaml_section& section, const char* key, std::optional<expected_text>& out) {
  const auto node = section.find(key);
  if (!node) return;
  if (const auto json = node->json()) out = expected_text{place_of(*node), *json};
}

void read_count(yaml_section& section, const char* key, std::optional<expected_number>& out) {
  const auto node = section.find(key);
  if (!node) return;
  if (const auto count = node->integer(0, 1'000'000)) out = expected_number{place_of(*node), *count};
}

void read_boolean(yaml_section& section, const char* key, std::optional<expected<bool>>& out) {
  const auto node = section.find(key);
  if (!node) return;
  if (const auto value = node->boolean()) out = expected<bool>{place_of(*node), *value};
}

template <class Check>
void read_names(yaml_section& section, const char* key, std::optional<expected_names>& out, Check check) {
  const auto node = section.find(key);
  if (!node) return;
  out = expected_names{place_of(*node), {}};
  for (const auto& item : node->items()) {
    if (const auto name = item.text(); name && check(item, *name)) out->value.push_back(*name);
  }
}

std::vector<std::string> alert_words() {
  std::vector<std::string> out;
  for (int kind = v1::AlertKind_MIN + 1; kind <= v1::AlertKind_MAX; ++kind)
    if (v1::AlertKind_IsValid(kind)) out.emplace_back(core::alert_kind_word(static_cast<v1::AlertKind>(kind)));
  // Of a kind that this release never raises.
  out.erase(std::remove(out.begin(), out.end(), "unknown"), out.end());
  return out;
}

void read_items(yaml_section& section, const char* key, std::optional<expected_items>& out) {
  const auto node = section.find(key);
  if (!node) return;
  out = expected_items{place_of(*node), {}};
  for (const auto& one : node->items())
    if (const auto item = one.integer(0, core::max_list_items - 1)) out->value.push_back(static_cast<std::uint32_t>(*item));
  std::sort(out->value.begin(), out->value.end());
}

void read_list(const std::string& name, yaml_section& section, step_expectation& out) {
  read_count(section, "items", out.items);
  read_items(section, "completed_items", out.completed_items);
  read_items(section, "failed_items", out.failed_items);
  read_items(section, "undone_items", out.undone_items);
  for (const auto* key : {"input", "input_has", "undo_input", "undo_input_has"})
    section.refuse(key, "each item of step " + name + " is given something else", "say it of one item, such as " + name + "[0]");
}

step_expectation read_step(const step_or_item& of, const yaml_node& node, const workflow_names& names) {
  const auto& name = of.step;
  const auto& definition = *names.step(name);
  step_expectation out;
  out.step = name;
  out.item = of.item;
  out.at = place_of(node);
  yaml_section section{node};
  if (definition.has_for_each() && !of.item) {
    read_list(name, section, out);
  } else {
    const auto* why = definition.has_for_each() ? "one item has no items" : "the step has no for_each, and so no items";
    for (const auto* key : {"items", "completed_items", "failed_items", "undone_items"})
      section.refuse(key, why, definition.has_for_each() ? "say it of " + name : "remove this key");
  }
  read_word(section, "state", state_words, out.state);
  read_text(section, "fault", out.fault);
  read_json(section, "input", out.input);
  read_json(section, "input_has", out.input_has);
  read_json(section, "undo_input", out.undo_input);
  read_json(section, "undo_input_has", out.undo_input_has);
  read_json(section, "output", out.output);
  read_json(section, "output_has", out.output_has);
  read_count(section, "attempts", out.attempts);
  read_count(section, "undo_attempts", out.undo_attempts);
  read_count(section, "lookups", out.lookups);
  if (definition.kind() == v1::STEP_KIND_WORKFLOW)
    read_boolean(section, "cancelled", out.cancelled);
  else
    section.refuse("cancelled", "step " + name + " has no child that could be cancelled", "remove this key");
  section.finish();
  return out;
}

void read_takes(const yaml_node& node, case_expectation& out) {
  yaml_section section{node};
  std::int64_t ms = 0;
  if (section.duration_ms("least", ms, 0, longest_taken_ms)) out.least_ms = expected_number{place_of(*section.find("least")), ms};
  if (section.duration_ms("most", ms, 0, longest_taken_ms)) out.most_ms = expected_number{place_of(*section.find("most")), ms};
  if (out.least_ms && out.most_ms && out.least_ms->value > out.most_ms->value)
    node.complain("least is longer than most", "exchange the two");
  section.finish();
}

}  // namespace

case_expectation read_expectation(const yaml_node& node, const workflow_names& names) {
  case_expectation out;
  yaml_section section{node};
  if (const auto end = section.require("end", "the end of the task, such as completed"))
    if (const auto index = end->word(end_words)) out.end = {place_of(*end), end_words[*index]};
  read_text(section, "reason", out.reason);
  read_json(section, "output", out.output);
  read_json(section, "output_has", out.output_has);
  const auto in_order = [&](const yaml_node& item, const std::string& name) { return name == others_word || names.check_step(item, name); };
  read_names(section, "performed", out.performed, in_order);
  read_names(section, "completed", out.completed, in_order);
  read_names(section, "undone", out.undone, in_order);
  const auto known = [&](const yaml_node& item, const std::string& name) { return names.check_step(item, name); };
  read_names(section, "skipped", out.skipped, known);
  read_names(section, "dropped", out.dropped, known);
  read_names(section, "alerts", out.alerts, [](const yaml_node& item, const std::string& name) {
    static const auto known = alert_words();
    for (const auto& word : known)
      if (word == name) return true;
    item.complain("there is no kind of alert " + name, names_remedy(name, known, "kinds"));
    return false;
  });
  if (const auto takes = section.find("takes")) read_takes(*takes, out);
  if (const auto steps = section.find("steps")) {
    const auto entries = steps->entries();
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const auto& [name, value] = entries[i];
      if (const auto of = names.step_or_item_of(at_key(*steps, i, value), name)) out.steps.push_back(read_step(*of, value, names));
    }
  }
  const auto more = out.output || out.output_has || out.performed || out.completed || out.undone || out.skipped || out.dropped ||
                    out.alerts || out.least_ms || out.most_ms || !out.steps.empty();
  if (out.end.value == refused_word && more)
    node.complain("a task that is refused does nothing that could be looked at", "keep end and reason");
  section.finish();
  return out;
}

}  // namespace fairlead::app
