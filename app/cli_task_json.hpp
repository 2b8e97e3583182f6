#pragma once
// Tasks as JSON for programs and as text for people.

#include <string>

#include "app/cli_json.hpp"
#include "messages/api.pb.h"

namespace fairlead::app {

std::string task_summary_json(const v1::TaskSummary& task);
std::string task_show_json(const v1::TaskShowReply& reply);
std::string task_show_text(const v1::TaskShowReply& reply);

/// `step` is the step's path, empty for the task itself.
std::string event_json(const v1::HistoryEvent& event, const std::string& step);

}  // namespace fairlead::app
