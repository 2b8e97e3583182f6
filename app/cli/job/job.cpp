#include "app/cli/job/job.hpp"

#include "app/cli/attempts/logs.hpp"
#include "app/cli/commands.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

void add_job_commands(CLI::App& app, cli_context& context) {
  auto* group = app.add_subcommand("job", "Deploy, show and control jobs: workflows that are launched by a schedule");
  group->require_subcommand(1);
  add_job_deploy(*group, context);
  add_job_add(*group, context);
  add_job_import(*group, context);
  add_job_list(*group, context);
  add_job_show(*group, context);
  add_job_verbs(*group, context);
  add_job_history(*group, context);
  add_job_logs(*group, context);
  add_job_next(*group, context);
}

}  // namespace fairlead::app
