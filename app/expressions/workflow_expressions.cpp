#include "app/expressions/workflow_expressions.hpp"

#include <string>
#include <vector>

#include "actors/core/expression/expression.hpp"
#include "actors/core/workflow/templates.hpp"

namespace fairlead::app {

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

}  // namespace fairlead::app
