#pragma once
// Tasks as text.

#include <string>

#include "app/json/task.hpp"
#include "messages/api.pb.h"

namespace fairlead::app {

/// `transient http_503: MESSAGE`; empty: there is none.
std::string fault_text(const v1::StepRecord& step);
/// `retrying`; `completed, in doubt`.
std::string step_state_text(const v1::TaskRecord& task, const v1::StepRecord& step);

std::string task_show_text(const v1::TaskShowReply& reply, const known_agents& agents = {});

/// Only the steps, or only the history, of a task.
std::string task_steps_text(const v1::TaskShowReply& reply, const known_agents& agents = {});
std::string task_history_text(const v1::TaskShowReply& reply);

}  // namespace fairlead::app
