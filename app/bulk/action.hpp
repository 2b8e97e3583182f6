#pragma once
// One action on many tasks as a durable operation: a task of its own, with one step, which a node carries out (agent.hpp). So an operation goes on
// through the death of nodes, is paused and stopped like any task, and ends in the archive.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "actors/core/reserved.hpp"
#include "app/json/fields.hpp"
#include "messages/api.pb.h"
#include "messages/workflow.pb.h"

namespace fairlead::app::bulk {

/// The ids of such tasks begin so. Only the API submits them, once somebody who may has confirmed.
inline constexpr std::string_view id_prefix = "fairlead:operation:";
static_assert(id_prefix.starts_with(core::reserved_ids));
inline constexpr const char* workflow_name = core::operations_workflow;
inline constexpr const char* agent_name = core::operations_agent;
inline constexpr const char* step_name = "act";

/// Exactly the ids that id_of() makes. A launch of a job whose name begins so is none: its id has an @ behind the name.
inline bool is_operation(std::string_view task_id) {
  return task_id.size() == id_prefix.size() + 24 && task_id.starts_with(id_prefix) &&
         task_id.find_first_not_of("0123456789abcdef", id_prefix.size()) == std::string_view::npos;
}

inline constexpr std::uint32_t default_rate = 200;
inline constexpr std::uint32_t max_rate = 5'000;

struct action {
  v1::OperatorAction what;            // without a token
  std::vector<std::string> ids;       // these tasks; empty: all of the next
  v1::TaskListRequest which;          // without a moment
  std::string filter;                 // the latter as it was given, JSON
  std::uint32_t rate = default_rate;  // tasks a second
  // Of the set that was approved.
  std::int64_t as_of_unix_ms = 0;
  std::uint64_t count = 0;
};

/// Reads `{"verb": …, "filter": {…} or "ids": […], …}`; `more`: fields that stand there besides. On an error `pointer` is the field at fault.
result<action> read_action(std::string_view json, const std::vector<json_field>& more, std::string& pointer);

/// The input of an operation's task, and back.
std::string input_of(const action& one);
result<action> action_of_input(std::string_view json);

/// `COUNT.MOMENT.MARKS.SEAL`: what a dry run has found, bound to what it was asked. The marks tell which part of another action differs. The seal is a
/// checksum and no secret: whoever may act may act.
std::string confirmation_of(const action& one);
/// Takes count and moment from it, and gives the input that the action has with them. Errors: it is of another action, and which
/// part differs, or it is over an hour old.
result<std::string> take_confirmation(const std::string& text, std::int64_t now_unix_ms, action& one);
/// The same confirmation is the same operation, however often it is sent.
std::string id_of(std::string_view input);

/// Of all operations. The node deploys it on its own account.
v1::DeployRequest workflow();

}  // namespace fairlead::app::bulk
