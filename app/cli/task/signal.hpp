#pragma once
// `fairlead task signal`: gives one task a signal.

#include <optional>
#include <string>

#include "app/cli/context.hpp"

namespace fairlead::app {

/// The options of the command, as typed.
struct signal_options {
  std::string id, name;
  std::optional<std::string> data;
  std::optional<std::string> key;
  std::string reason;
  std::string by;
};

/// Makes all checks that need no node. The request has a key, also where none is given. Errors: invalid_argument.
result<v1::OperateRequest> read_signal(const signal_options& options);

/// `task t1: signal approved taken`. `has_key`: whoever sent it gave it a key.
std::string signaled_text(const v1::OperateResult& result, const std::string& name, bool has_key);

void add_signal_command(CLI::App& group, cli_context& context);

}  // namespace fairlead::app
