#include <array>

#include "app/cli/graph/graph.hpp"
#include "app/cli/graph/levels.hpp"
#include "app/cli/screen/table.hpp"

namespace fairlead::app {

namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

/// Lines of one label. `\n` is Graphviz's own word for a new line.
std::string label_of(const graph_step& step, const v1::WorkflowDefinition& definition) {
  auto out = quoted(step.definition->name());
  out.pop_back();
  auto lines = marks_of(*step.definition, definition);
  lines.insert(lines.begin(), does_text(*step.definition));
  for (const auto& line : lines) {
    const auto one = quoted(line);
    out += "\\n" + one.substr(1, one.size() - 2);
  }
  return out + "\"";
}

const char* shape_of(v1::StepKind kind) {
  switch (kind) {
    case v1::STEP_KIND_VALUE: return "note";
    case v1::STEP_KIND_WAIT: return "ellipse";
    case v1::STEP_KIND_SIGNAL: return "hexagon";
    case v1::STEP_KIND_WORKFLOW: return "component";
    default: return "box";
  }
}

std::string node_line(const graph_step& step, const v1::WorkflowDefinition& definition) {
  const auto& of = *step.definition;
  auto out = quoted(of.name()) + " [label=" + label_of(step, definition) + ", shape=" + shape_of(of.kind());
  if (of.pivot()) out += ", peripheries=2";
  if (!of.when_json().empty()) out += ", style=dashed";
  return out + "];\n";
}

}  // namespace

std::string graph_dot(const v1::WorkflowDefinition& definition) {
  const auto steps = graph_steps(definition);
  auto out =
      "digraph " + quoted(definition.name()) + " {\n  rankdir=LR;\n  node [fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\"];\n";
  for (const auto& step : steps)
    if (step.definition->finally() == v1::FINALLY_NO) out += "  " + node_line(step, definition);
  struct part {
    v1::Finally which;
    const char* name;
    const char* label;
  };
  constexpr std::array<part, 2> ends{
      {{v1::FINALLY_ALWAYS, "cluster_end", "at the end"}, {v1::FINALLY_AFTER_FAILURE, "cluster_after_failure", "after a failure"}}};
  for (const auto& end : ends) {
    std::string inside;
    for (const auto& step : steps)
      if (step.definition->finally() == end.which) inside += "    " + node_line(step, definition);
    if (!inside.empty()) out += std::string{"  subgraph "} + end.name + " {\n    label=" + quoted(end.label) + ";\n" + inside + "  }\n";
  }
  for (const auto& step : steps) {
    const auto join = join_text(*step.definition);
    for (const int need : step.needs) {
      out += "  " + quoted(steps[static_cast<std::size_t>(need)].definition->name()) + " -> " + quoted(step.definition->name());
      out += join.empty() ? ";\n" : " [style=dashed, label=" + quoted(join + " " + std::to_string(step.needs.size())) + "];\n";
    }
    for (const int other : step.waits_for)
      out += "  " + quoted(steps[static_cast<std::size_t>(other)].definition->name()) + " -> " + quoted(step.definition->name()) +
             " [style=dotted];\n";
  }
  return out + "}\n";
}

}  // namespace fairlead::app
