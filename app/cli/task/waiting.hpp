#pragma once
// `submit --wait`: waits for the end of one task, and says on stderr what the task waits for, whenever that changes.

#include <map>
#include <string>

#include "actors/client/client.hpp"
#include "app/cli/context.hpp"
#include "app/json/waits.hpp"

namespace fairlead::app {

/// What a task was last said to wait for.
class told_waits {
 public:
  /// A line for each step that waits for something else than it did, and one for a task that is paused. A new moment, or another attempt
  /// that begins and ends as the one before, is no news.
  std::string news(const v1::TaskShowReply& reply, const known_agents& agents);

 private:
  bool paused_ = false;
  std::map<std::string, std::string> steps_;  // by path: what was said, without moments
};

/// Until the task has ended or is parked. `limit` zero: for ever. With `--json` it says nothing meanwhile.
result<v1::TaskEnd> wait_aloud(client& to, cli_context& context, const std::string& id, duration limit);

}  // namespace fairlead::app
