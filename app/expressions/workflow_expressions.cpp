#include "app/expressions/workflow_expressions.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "actors/core/expression/check.hpp"
#include "actors/core/expression/expression.hpp"
#include "actors/core/expression/lexer.hpp"
#include "actors/core/expression/path.hpp"
#include "actors/core/expression/together.hpp"
#include "actors/core/text/text.hpp"
#include "actors/core/workflow/templates.hpp"
#include "app/expressions/worker.hpp"
#include "app/yaml/document.hpp"

namespace fairlead::app {

namespace {

// Of what is compiled ahead: it has to fit into one group of a check.
constexpr std::size_t most_ahead = 1'024, most_ahead_bytes = 131'072;

}  // namespace

likely_expressions guess_expressions(std::string_view text) {
  likely_expressions out;
  std::size_t bytes = 0;
  for (auto at = text.find("${"); at != std::string_view::npos; at = text.find("${", at + 2)) {
    const auto end = core::end_of_embedded(text.substr(at, core::max_expression_bytes + 3));
    const auto inside = end == std::string_view::npos ? std::string_view{} : core::trimmed(text.substr(at + 2, end - 3));
    if (core::parse_plain_path(inside)) continue;
    out.some = true;
    bytes += inside.size();
    if (out.known.size() == most_ahead || bytes > most_ahead_bytes) break;
    // What is escaped reads otherwise in YAML.
    const auto as_written = !inside.empty() && inside.find_first_of("\\\n") == std::string_view::npos;
    if (as_written && core::binds_nothing(inside)) out.known.emplace_back(inside);
  }
  return out;
}

void check_expressions(workflow_file& file, expression_pool& worker) {
  if (!file.problems.empty()) return;
  std::vector<std::string> expressions, keys;
  for (const auto& [where, text] : core::templates_of(file.definition)) {
    const auto compiled = core::input_template::compile(*text);
    if (!compiled.ok()) continue;  // check_definition has said so
    for (const auto& expression : compiled->worker_expressions()) {
      expressions.push_back(expression);
      keys.push_back(where);
    }
  }
  const auto checked = worker.check_each(expressions);
  for (std::size_t i = 0; i < checked.size(); ++i) {
    if (checked[i].ok()) continue;
    const auto at = file.place_of(keys[i]);
    file.problems.push_back({file.file, at.first, at.second, keys[i], checked[i].failure().sentence, checked[i].failure().remedy});
  }
}

workflow_file read_with_expressions(const std::string& path, const core::agent_catalog* agents, expression_pool& worker) {
  workflow_file out;
  out.file = path;
  if (const auto text = read_text_file(path, out.problems)) {
    if (const auto likely = guess_expressions(*text); likely.some)
      worker.start_copy([&likely] { return run_expression_worker(default_expression_memory_bytes, likely.known); });
    const core::remembered_checks remembered;  // not in the copy
    out = parse_workflow(path, *text, agents);
    check_expressions(out, worker);
  }
  return out;
}

}  // namespace fairlead::app
