#pragma once
// The command groups, one file each.

#include "app/cli/context.hpp"

namespace fairlead::app {

void add_dev_command(CLI::App& app, cli_context& context);        // cli_dev.cpp
void add_submit_command(CLI::App& app, cli_context& context);     // cli_submit.cpp
void add_replies_command(CLI::App& app, cli_context& context);    // cli_replies.cpp
void add_task_commands(CLI::App& app, cli_context& context);      // cli_task.cpp
void add_workflow_commands(CLI::App& app, cli_context& context);  // cli_workflow.cpp
void add_status_command(CLI::App& app, cli_context& context);     // cli_status.cpp
void add_agent_commands(CLI::App& app, cli_context& context);     // cli_agent.cpp
void add_alert_commands(CLI::App& app, cli_context& context);     // cli_alert.cpp
void add_brake_commands(CLI::App& app, cli_context& context);     // cli_alert.cpp
void add_job_commands(CLI::App& app, cli_context& context);       // cli_job.cpp
void add_console_command(CLI::App& app, cli_context& context);    // console.cpp
void add_config_commands(CLI::App& app, cli_context& context);    // cli_config.cpp
void add_store_commands(CLI::App& app, cli_context& context);     // cli_store.cpp
void add_node_verbs(CLI::App& group, cli_context& context);       // console_actions.cpp
void add_restore_command(CLI::App& app, cli_context& context);    // cli_restore.cpp

}  // namespace fairlead::app
