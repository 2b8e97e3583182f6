#pragma once
// Tasks as text.

#include <string>

#include "app/json/task.hpp"
#include "messages/api.pb.h"

namespace fairlead::app {

std::string task_show_text(const v1::TaskShowReply& reply, const known_agents& agents = {});

/// Only the steps, or only the history, of a task.
std::string task_steps_text(const v1::TaskShowReply& reply, const known_agents& agents = {});
std::string task_history_text(const v1::TaskShowReply& reply);

}  // namespace fairlead::app
