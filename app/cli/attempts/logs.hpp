#pragma once
// What the steps of a task have printed, as far as it is kept (docs/agents.md).

#include <string>

#include "app/cli/context.hpp"
#include "messages/task.pb.h"

namespace fairlead::app {

void add_task_logs(CLI::App& group, cli_context& context);
void add_job_logs(CLI::App& group, cli_context& context);

/// `record`: whole, as TaskShowReply has it. With `step` only the log of that step.
bool has_logs(const v1::TaskRecord& record, const std::string& step = {});
std::string logs_text(const v1::TaskRecord& record, const std::string& step = {});
std::string logs_json(const v1::TaskRecord& record, const std::string& step = {});

}  // namespace fairlead::app
