#pragma once
// From an agent's configuration and an attempt to the command that is run. Everything that can be refused is refused when the configuration
// is prepared, so a running agent only meets bad input.

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
  command_template lookup_words;  // empty: it cannot be looked up
  exec_call settings;
};

using prepared_commands = std::map<std::string, std::shared_ptr<const prepared_command>>;

/// The error (invalid_argument) names agent, call and field.
result<prepared_commands> prepare_commands(const exec_agent_config& config);

/// A command without its place in the configuration, for complaints by line.
status check_command(const std::vector<std::string>& words, std::string_view what);

/// A name that the configuration may give to an environment variable; those that begin with FAIRLEAD_ are ours.
bool valid_variable_name(std::string_view name);

/// Why an attempt's input cannot become arguments: the code and message of its fault. Never holds a value.
struct unfit_input {
  std::string code;
  std::string sentence;
};
std::variant<std::vector<std::string>, unfit_input> words_for(const command_template& command, std::string_view input);

/// The configured environment with its secrets put in and the defaults added, `NAME=value`.
result<std::vector<std::string>> base_environment(const exec_agent_config& config);

/// What the attempt itself says: FAIRLEAD_KEY and the others.
void append_attempt(std::vector<std::string>& environment, const v1::Perform& what);

}  // namespace fairlead::agents
