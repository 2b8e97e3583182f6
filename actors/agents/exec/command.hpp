#pragma once
// Builds commands from an agent's configuration and an attempt. Everything that can be refused is refused when the configuration is
// prepared, so a running agent only meets bad input.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "actors/agents/exec/exec.hpp"
#include "actors/agents/text_template.hpp"
#include "messages/agent.pb.h"

namespace fairlead::agents {

/// The words of a command, compiled once.
using command_template = std::vector<field_template>;

struct prepared_command {
  std::string name;  // of the call
  command_template words;
  command_template lookup_words;  // empty: no look-up
  exec_call settings;
};

using prepared_commands = std::map<std::string, std::shared_ptr<const prepared_command>>;

/// The error (invalid_argument) names agent, call and field.
result<prepared_commands> prepare_commands(const exec_agent_config& config);

/// Checks a command without its place in the configuration, for complaints by line.
status check_command(const std::vector<std::string>& words, std::string_view what);

/// Whether the configuration may set this environment variable; names that begin with FAIRLEAD_ are reserved.
bool valid_variable_name(std::string_view name);

/// Why an attempt's input does not fit the arguments: code and message of the fault. Never holds a value.
struct unfit_input {
  std::string code;
  std::string sentence;
};
std::variant<std::vector<std::string>, unfit_input> words_for(const command_template& command, std::string_view input);

/// The configured environment with its secrets' values and the defaults, `NAME=value`.
result<std::vector<std::string>> base_environment(const exec_agent_config& config);

/// Appends the attempt's own variables: FAIRLEAD_KEY and the others.
void append_attempt(std::vector<std::string>& environment, const v1::Perform& what);

}  // namespace fairlead::agents
