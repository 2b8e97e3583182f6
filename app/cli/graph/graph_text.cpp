#include <algorithm>
#include <numeric>

#include "app/cli/graph/graph.hpp"
#include "app/cli/graph/levels.hpp"
#include "app/cli/screen/table.hpp"

namespace fairlead::app {

namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

std::string needs_text(const graph_step& step, const std::vector<graph_step>& all) {
  std::vector<std::string> names;
  for (const int need : step.needs) names.push_back(printable(all[static_cast<std::size_t>(need)].definition->name()));
  const auto join = join_text(*step.definition);
  auto out = (join.empty() || names.empty() ? "" : join + " ") + joined(names);
  names.clear();
  for (const int other : step.waits_for) names.push_back(printable(all[static_cast<std::size_t>(other)].definition->name()));
  if (!names.empty()) out += (out.empty() ? "(" : " (") + joined(names) + ")";
  return out;
}

std::string level_text(const graph_step& step) {
  switch (step.definition->finally()) {
    case v1::FINALLY_ALWAYS: return step.level == 1 ? "end" : "end " + std::to_string(step.level);
    case v1::FINALLY_AFTER_FAILURE: return step.level == 1 ? "after failure" : "after failure " + std::to_string(step.level);
    default: return std::to_string(step.level);
  }
}

}  // namespace

std::string graph_text(const v1::WorkflowDefinition& definition) {
  const auto steps = graph_steps(definition);
  std::vector<std::size_t> order(steps.size());
  std::iota(order.begin(), order.end(), 0);
  const auto place = [&](std::size_t i) { return std::make_pair(static_cast<int>(steps[i].definition->finally()), steps[i].level); };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
  int levels = 0;
  text_table table{{{"LEVEL"}, {"STEP"}, {"DOES"}, {"NEEDS", align::left, narrow::below}, {"MARKS", align::left, narrow::below}}};
  std::string shown;
  std::int64_t row = 0;
  for (const auto i : order) {
    const auto& step = steps[i];
    if (step.definition->finally() == v1::FINALLY_NO) levels = step.level;
    auto level = level_text(step);
    // A level is named once, so that it is seen where the next one begins.
    table.add({cell{level == shown ? "" : level, row++}, printable(step.definition->name()), does_text(*step.definition),
               needs_text(step, steps), joined(marks_of(*step.definition, definition))});
    shown = std::move(level);
  }
  const auto count = [](std::size_t n, const char* what) { return std::to_string(n) + " " + what + (n == 1 ? "" : "s"); };
  return "workflow " + printable(definition.name()) + ": " + count(steps.size(), "step") + " in " +
         count(static_cast<std::size_t>(levels), "level") + "\n\n" + table.text();
}

}  // namespace fairlead::app
