#include "app/workflow_test/names.hpp"

#include <algorithm>
#include <charconv>

#include "actors/core/items/items.hpp"
#include "actors/core/text/nearest.hpp"
#include "actors/core/workflow/check_kinds.hpp"

namespace fairlead::app {

namespace {

void add_once(std::vector<std::string>& to, std::string name) {
  if (std::find(to.begin(), to.end(), name) == to.end()) to.push_back(std::move(name));
}

bool contains(const std::vector<std::string>& all, const std::string& name) { return std::find(all.begin(), all.end(), name) != all.end(); }

}  // namespace

workflow_names::workflow_names(const v1::WorkflowDefinition& definition) : definition_(&definition) {
  for (const auto& step : definition.steps()) {
    steps_.push_back(step.name());
    if (!step.signal().empty()) add_once(signals_, step.signal());
    if (step.kind() != v1::STEP_KIND_CALL) continue;
    add_once(calls_, step.agent() + "." + step.call());
    if (step.callback_ms() != 0) add_once(callback_calls_, step.agent() + "." + step.call());
    if (step.has_undo() && !step.undo().none()) add_once(calls_, step.agent() + "." + step.undo().call());
  }
}

const v1::StepDefinition* workflow_names::step(const std::string& name) const {
  const auto& all = definition_->steps();
  const auto found = std::find_if(all.begin(), all.end(), [&](const v1::StepDefinition& one) { return one.name() == name; });
  return found == all.end() ? nullptr : &*found;
}

bool workflow_names::has_call(const std::string& key) const { return contains(calls_, key); }
bool workflow_names::has_callback(const std::string& call) const { return contains(callback_calls_, call); }

bool workflow_names::check_step(const yaml_node& node, const std::string& name) const {
  if (contains(steps_, name)) return true;
  node.complain("workflow " + definition_->name() + " has no step " + name, names_remedy(name, steps_, "steps"));
  return false;
}

std::optional<step_or_item> workflow_names::step_or_item_of(const yaml_node& node, const std::string& text) const {
  const auto bracket = text.find('[');
  step_or_item out{text.substr(0, bracket), std::nullopt};
  if (!check_step(node, out.step)) return std::nullopt;
  if (bracket == std::string::npos) return out;
  const auto& definition = *step(out.step);
  if (!definition.has_for_each()) {
    node.complain("step " + out.step + " has no for_each, and so no items", "write " + out.step);
    return std::nullopt;
  }
  std::uint32_t item = 0;
  const auto *from = text.data() + bracket + 1, *to = text.data() + text.size() - 1;
  const auto [end, failure] = std::from_chars(from, to, item);
  const auto padded = to - from > 1 && *from == '0';
  if (text.back() != ']' || from == to || end != to || failure == std::errc::invalid_argument || padded) {
    node.complain("expected the number of an item of step " + out.step, "such as " + out.step + "[0], which is the first one");
    return std::nullopt;
  }
  out.item = item;
  const auto listed = core::list_size(definition.for_each().list_json());
  const auto most = listed.value_or(core::max_list_items);
  if (failure == std::errc{} && item < most) return out;
  const auto [why, remedy] = listed ? beyond_list(out, most)
                                    : std::pair{"a list has at most " + std::to_string(core::max_list_items) + " items",
                                                "the last one can be " + out.step + "[" + std::to_string(core::max_list_items - 1) + "]"};
  node.complain(why, remedy);
  return std::nullopt;
}

bool workflow_names::check_signal(const yaml_node& node, const std::string& name) const {
  if (contains(signals_, name)) return true;
  node.complain("no step of workflow " + definition_->name() + " waits for a signal " + name, names_remedy(name, signals_, "signals"));
  return false;
}

std::pair<std::string, std::string> beyond_list(const step_or_item& what, std::size_t count) {
  if (count == 0) return {"the list of step " + what.step + " is empty, so it has no items", "remove it"};
  return {"the list of step " + what.step + " has " + std::to_string(count) + (count == 1 ? " item" : " items"),
          "items are counted from 0, so the last one is " + what.step + "[" + std::to_string(count - 1) + "]"};
}

yaml_node at_key(const yaml_node& map, std::size_t index, yaml_node value) {
  const auto& entry = map.value().entries[index];
  value.move_to(entry.line, entry.column);
  return value;
}

std::string names_remedy(const std::string& unknown, const std::vector<std::string>& known, const std::string& what) {
  constexpr std::size_t most = 20;
  if (const auto near = core::nearest(unknown, known); !near.empty()) return "did you mean " + near + "?";
  if (known.empty()) return "it has no " + what;
  auto out = "its " + what + " are ";
  for (std::size_t i = 0; i < known.size() && i < most; ++i) out += (i == 0 ? "" : ", ") + known[i];
  return out + (known.size() > most ? ", …" : "");
}

}  // namespace fairlead::app
