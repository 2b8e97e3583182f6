#pragma once
// Checks a workflow definition before it runs. The same check serves `fairlead workflow check` and the node, where a client may send
// anything: it is total, bounded in time and memory, and never throws for any input.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "messages/workflow.pb.h"

namespace fairlead::core {

/// Agents by name. nullopt: the agent exists, and its calls are unknown here.
using agent_catalog = std::map<std::string, std::optional<std::set<std::string>>>;

struct definition_problem {
  std::string step;      // empty: the workflow itself
  std::string field;     // dotted, as in the YAML file: `needs`, `backoff.first`, `undo.with`; empty: the step or workflow as a whole
  std::string sentence;  // one sentence without a full stop
  std::string remedy;    // may be empty
};

/// All problems of `definition`, in the order of its steps; empty: it may run. At most `max_problems` are listed. Without a catalog, the
/// names of agents and calls are only checked for their form.
std::vector<definition_problem> check_definition(const v1::WorkflowDefinition& definition, const agent_catalog* agents);

inline constexpr int max_steps = 1000;
inline constexpr std::size_t max_problems = 100;
inline constexpr std::size_t max_definition_bytes = 1'048'576;

/// Some step's name is so long that nothing else is said about the definition: each problem has the name of its step.
bool has_endless_name(const v1::WorkflowDefinition& definition);

/// For workflows and steps: a lower-case letter, then lower-case letters, digits, `_` and `-`; at most 64 in all.
bool valid_name(std::string_view name);

inline constexpr const char* name_rule = "a lower-case letter, then lower-case letters, digits, _ and -; at most 64 in all";

/// A name that any client may have sent, for a sentence: in quotes, short, and without control characters.
std::string shown_name(std::string_view name);

/// For agents and calls: a letter, then letters, digits, `_`, `.` and `-`; at most 64 in all.
bool valid_agent_name(std::string_view name);

}  // namespace fairlead::core
