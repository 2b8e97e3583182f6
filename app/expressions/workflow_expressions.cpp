#include "app/expressions/workflow_expressions.hpp"

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "actors/core/expression/expression.hpp"
#include "actors/core/workflow/templates.hpp"
#include "app/expressions/worker.hpp"
#include "app/yaml/document.hpp"

namespace fairlead::app {

namespace {

/// Whether `text` has a `${ … }` that is more than a path. A guess: the file has not been read as YAML.
bool seems_to_need_jq(std::string_view text) {
  constexpr std::string_view of_paths = "._- \"[]";
  for (auto at = text.find("${"); at != std::string_view::npos; at = text.find("${", at + 2)) {
    const auto inside = text.substr(at + 2, text.find('}', at) - at - 2);
    for (const char c : inside)
      if (std::isalnum(static_cast<unsigned char>(c)) == 0 && of_paths.find(c) == std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

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
    if (seems_to_need_jq(*text)) worker.start_copy([] { return run_expression_worker(); });
    out = parse_workflow(path, *text, agents);
  }
  check_expressions(out, worker);
  return out;
}

}  // namespace fairlead::app
