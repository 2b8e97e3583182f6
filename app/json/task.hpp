#pragma once
// Tasks as JSON.

#include <cstdint>
#include <string>

#include "app/json/waits.hpp"
#include "app/json/writer.hpp"
#include "messages/api.pb.h"

namespace fairlead::app {

/// A task that was submitted; `end`: it was waited for. `output`: its output, where it has one; empty: whoever asks may not see it.
std::string submit_json(const v1::SubmitResult& taken, const v1::TaskEnd* end = nullptr, const std::string& output = {});

/// Of its text in bytes, also where only a part of the text is there, or none.
std::uint64_t size_of(const v1::Payload& payload);

/// Only the state. null as the state: there is no such task.
std::string state_json(const v1::TaskEnd& task);
std::string task_summary_json(const v1::TaskSummary& task);
/// `agents`: the registered agents, to explain why steps wait.
std::string task_show_json(const v1::TaskShowReply& reply, const known_agents& agents = {});

/// Only the steps, or only the history, of a task.
std::string task_steps_json(const v1::TaskShowReply& reply, const known_agents& agents = {});
std::string task_history_json(const v1::TaskShowReply& reply);

/// `step`: the path of the step; empty: the event concerns the task itself.
std::string event_json(const v1::HistoryEvent& event, const std::string& step);

/// Whether the task has no event `after`: the place is of another history, as after a restore, or made up.
inline bool is_ahead(std::uint64_t after, const v1::WatchReply& reply) { return reply.latest() != 0 && after > reply.latest(); }

/// The path of the step that the event is about; empty: the task itself.
std::string path_of(const v1::WatchReply& reply, const v1::HistoryEvent& event);
std::string progress_json(const v1::StepProgress& one);
/// The state in which a watched task is.
std::string end_json(const v1::WatchReply& reply);

}  // namespace fairlead::app
