#include "actors/expressions/deployer_actor.hpp"

#include <utility>

#include "actors/core/workflow/check.hpp"
#include "actors/core/workflow/templates.hpp"
#include "actors/core/workflow/workflow.hpp"
#include "actors/supervision/guardian.hpp"

namespace fairlead {

namespace {

/// The expressions of a definition that only the worker can compile. Empty also for an unsound definition, which the Scheduler refuses.
std::vector<std::string> worker_expressions(const v1::WorkflowDefinition& definition) {
  std::vector<std::string> out;
  if (definition.ByteSizeLong() > core::max_definition_bytes) return out;
  for (const auto& [where, text] : core::templates_of(definition)) {
    const auto compiled = core::input_template::compile(*text);
    if (compiled.ok()) out.insert(out.end(), compiled->worker_expressions().begin(), compiled->worker_expressions().end());
  }
  return out;
}

}  // namespace

deployer_actor::behavior_type run_deployer(supervised_pointer<deployer_actor> self, deployer_setup setup) {
  end_on_bug(self, "deployer");
  return {
      [setup = std::move(setup)](const v1::DeployRequest& what) {
        v1::DeployReply reply;
        const auto expressions = worker_expressions(what.definition());
        if (expressions.empty() || !setup.check_expressions) return reply;
        if (const auto checked = setup.check_expressions(expressions); !checked.ok()) *reply.mutable_error() = checked.failure().to_proto();
        return reply;
      },
  };
}

}  // namespace fairlead
