#pragma once
// Tasks as JSON for programs and as text for people.

#include <string>

#include "app/cli/json.hpp"
#include "app/cli/task/waits.hpp"
#include "messages/api.pb.h"

namespace fairlead::app {

std::string task_summary_json(const v1::TaskSummary& task);
/// `agents`: who is there, for steps that wait for one who is not.
std::string task_show_json(const v1::TaskShowReply& reply, const known_agents& agents = {});
std::string task_show_text(const v1::TaskShowReply& reply, const known_agents& agents = {});

/// The steps alone, and the history alone.
std::string task_steps_json(const v1::TaskShowReply& reply, const known_agents& agents = {});
std::string task_steps_text(const v1::TaskShowReply& reply, const known_agents& agents = {});
std::string task_history_json(const v1::TaskShowReply& reply);
std::string task_history_text(const v1::TaskShowReply& reply);

/// `step` is the step's path, empty for the task itself.
std::string event_json(const v1::HistoryEvent& event, const std::string& step);

}  // namespace fairlead::app
