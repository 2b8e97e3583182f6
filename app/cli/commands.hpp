#pragma once
// The command groups. The comment behind each function names its file.

#include "app/cli/context.hpp"

namespace fairlead::app {

void add_dev_command(CLI::App& app, cli_context& context);         // app/cli/node/dev.cpp
void add_submit_command(CLI::App& app, cli_context& context);      // app/cli/task/submit.cpp
void add_replies_command(CLI::App& app, cli_context& context);     // app/cli/node/replies.cpp
void add_task_commands(CLI::App& app, cli_context& context);       // app/cli/task/task.cpp
void add_workflow_commands(CLI::App& app, cli_context& context);   // app/cli/workflow/workflow.cpp
void add_status_command(CLI::App& app, cli_context& context);      // app/cli/node/status.cpp
void add_agent_commands(CLI::App& app, cli_context& context);      // app/cli/node/agent.cpp
void add_agent_check(CLI::App& group, cli_context& context);       // app/cli/node/agent_check.cpp; under `fairlead agent`
void add_alert_commands(CLI::App& app, cli_context& context);      // app/cli/node/alert.cpp
void add_audit_command(CLI::App& app, cli_context& context);       // app/cli/access/audit.cpp
void add_brake_commands(CLI::App& app, cli_context& context);      // app/cli/node/alert.cpp
void add_job_commands(CLI::App& app, cli_context& context);        // app/cli/job/job.cpp
void add_cluster_commands(CLI::App& app, cli_context& context);    // app/cli/node/cluster.cpp
void add_token_commands(CLI::App& app, cli_context& context);      // app/cli/access/token.cpp
void add_console_command(CLI::App& app, cli_context& context);     // console.cpp
void add_config_commands(CLI::App& app, cli_context& context);     // app/cli/node/config.cpp
void add_store_commands(CLI::App& app, cli_context& context);      // app/cli/node/store.cpp
void add_node_verbs(CLI::App& group, cli_context& context);        // app/console/views/actions.cpp
void add_journal_commands(CLI::App& app, cli_context& context);    // app/cli/node/journal.cpp
void add_backup_command(CLI::App& app, cli_context& context);      // app/cli/node/backup.cpp
void add_recover_command(CLI::App& group, cli_context& context);   // app/cli/node/recover.cpp; under `fairlead cluster`
void add_compare_command(CLI::App& group, cli_context& context);   // app/cli/node/compare.cpp; under `fairlead cluster`
void add_member_commands(CLI::App& group, cli_context& context);   // app/cli/node/members.cpp; under `fairlead cluster`
void add_restore_command(CLI::App& app, cli_context& context);     // app/cli/node/restore.cpp
void add_workflow_migrate(CLI::App& group, cli_context& context);  // app/cli/task/migrate.cpp; under `fairlead workflow`

void add_certificate_commands(CLI::App& app, cli_context& context);  // app/cli/certificate/certificate.cpp
void add_operation_commands(CLI::App& app, cli_context& context);    // app/cli/task/operation.cpp
void add_workflow_schema(CLI::App& group, cli_context& context);     // app/cli/workflow/schema.cpp; under `fairlead workflow`
void add_workflow_new(CLI::App& group, cli_context& context);        // app/cli/workflow/new.cpp; under `fairlead workflow`

}  // namespace fairlead::app
