#include "app/expressions/workflow_expressions.hpp"

#include "actors/core/expression/expression.hpp"
#include "actors/core/workflow/templates.hpp"

namespace fairlead::app {

void check_expressions(workflow_file& file, expression_pool& worker) {
  if (!file.problems.empty()) return;
  const auto check = [&](const std::string& where, const std::string& text) {
    const auto compiled = core::input_template::compile(text);
    if (!compiled.ok()) return;  // check_definition has said so
    for (const auto& expression : compiled->worker_expressions()) {
      const auto checked = worker.check({expression});
      if (checked.ok()) continue;
      const auto at = file.place_of(where);
      file.problems.push_back({file.file, at.first, at.second, where, checked.failure().sentence, checked.failure().remedy});
    }
  };
  for (const auto& [where, text] : core::templates_of(file.definition)) check(where, *text);
}

}  // namespace fairlead::app
