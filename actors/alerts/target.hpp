#pragma once
// A target of alerts: a webhook or a command.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "messages/time.hpp"

namespace fairlead {

struct alert_target {
  std::string name;              // valid_alert_target_name; unique among all targets of a node, because it names the durable cursor
  std::string url;               // of a webhook; empty: a command
  std::vector<std::string> run;  // of a command: its program and arguments, handed over without a shell
  duration timeout = std::chrono::seconds{10};  // of a command
  bool resolved = true;                         // is told, too, when an alert is resolved of which it was told by itself
  std::uint32_t at_most = 20;                   // messages in `window`; further alerts go out as one digest
  duration window = std::chrono::minutes{1};
};

/// Lower-case letters, digits, _ and -; 1 to 64 of them.
inline bool valid_alert_target_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 && name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") == std::string_view::npos;
}

}  // namespace fairlead
