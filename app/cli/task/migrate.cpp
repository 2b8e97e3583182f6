// `fairlead workflow migrate`: tasks that have not ended go on by another version of their workflow.

#include <memory>

#include "actors/core/request_limits.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/operator_name.hpp"
#include "app/cli/task/operate.hpp"
#include "app/cli/versions/versions.hpp"

namespace fairlead::app {

namespace {

struct migrate_options {
  std::string workflow;
  std::string from;
  std::string to;
  operate_options common;
  bool dry_run = false;
};

constexpr v1::TaskState live_states[] = {v1::TASK_STATE_PENDING, v1::TASK_STATE_RUNNING, v1::TASK_STATE_UNDOING};

/// The tasks of the workflow that have not ended, and that the filter is about.
result<v1::TaskListRequest> tasks_meant(migrate_options& options) {
  auto& filter = options.common.filter;
  if (filter.workflow) return invalid("--workflow is given, and the workflow is named already", "Leave --workflow out");
  filter.workflow = options.workflow;
  auto which = list_request(filter);
  if (which && which->states().empty() && !which->parked_only())
    for (const auto state : live_states) which->add_states(state);
  return which;
}

void migrate(cli_context& context, migrate_options& options) {
  const auto refuse = [&](const error& why) { context.code = fail(why); };
  auto which = tasks_meant(options);
  if (!which) return refuse(which.failure());
  if (options.common.reason.size() > reason_limit)
    return refuse(invalid("The reason is longer than " + std::to_string(reason_limit) + " bytes", "Give a shorter reason"));
  auto connected = connect(context);
  if (!connected) return refuse(connected.failure());
  const auto from = ask_for_version(*connected, options.workflow, options.from);
  if (!from) return refuse(from.failure());
  const auto to = ask_for_version(*connected, options.workflow, options.to);
  if (!to) return refuse(to.failure());
  if (from->workflow().content_hash() == to->workflow().content_hash())
    return refuse(invalid("Both versions are the same", "Give another one as --from or --to; fairlead workflow list shows them"));
  operation what;
  what.action.set_verb(v1::OPERATOR_VERB_MIGRATE);
  what.action.set_from_hash(from->workflow().content_hash());
  what.action.set_to_hash(to->workflow().content_hash());
  what.action.set_dry_run(options.dry_run);
  what.action.set_reason(options.common.reason);
  what.action.set_who(operator_name(options.common.by));
  what.which = std::move(*which);
  context.code = operate_on_many(context, options.common, what);
}

}  // namespace

void add_workflow_migrate(CLI::App& group, cli_context& context) {
  auto* command = group.add_subcommand("migrate",
                                       "Let live tasks go on by another version of their workflow. A task is refused whose begun steps "
                                       "differ there; the refusals name them");
  auto options = std::make_shared<migrate_options>();
  options->common.verb = "migrate";
  command->add_option("NAME", options->workflow, "Name of the workflow")->required();
  command->add_option("--from", options->from, "The tasks that go by the version whose content begins so")->type_name("HASH")->required();
  command->add_option("--to", options->to, "The version by which they are to go on (default: the current one)")->type_name("HASH");
  command->add_flag("--dry-run", options->dry_run, "Only say for which tasks it would be done, and why others would be refused");
  command->add_option("--reason", options->common.reason, "Reason, stored in the task's history")->type_name("TEXT");
  add_operator_option(*command, options->common.by);
  add_filter_options(*command, options->common.filter);
  command->add_flag("--yes", options->common.yes, "Do not ask for confirmation");
  add_client_options(*command, context);
  // A copy each time: the console runs a command more than once.
  command->callback([&context, options] {
    auto given = *options;
    migrate(context, given);
  });
}

}  // namespace fairlead::app
