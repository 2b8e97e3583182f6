#pragma once
// The options of `submit` that say which client gets the status events of the task.

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "messages/error.hpp"
#include "messages/task.pb.h"

namespace fairlead::app {

struct reply_options {
  std::optional<std::string> client;
  std::optional<std::string> webhook;
  bool steps = false;
};

void add_reply_options(CLI::App& command, reply_options& options);

/// The reply address of the options; nullopt without options. Error: invalid_argument.
result<std::optional<v1::ReplyAddress>> reply_address_of(const reply_options& options);

}  // namespace fairlead::app
