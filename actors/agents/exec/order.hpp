#pragma once
// Messages between a node and the shepherds of its commands (app/shepherd/shepherd.*). Both are the same binary, so there is only one
// layout.
//
// For each attempt the node sends one packet with six descriptors: the first is one end of a stream socket, the second holds the order. The
// shepherd writes one `shepherd_record` at its start and one when everything is over, and nothing else. The node writes nothing. When its
// side of the socket is shut, because it wants an end or because it died, the shepherd ends every process at once.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/agents/exec/exec.hpp"

namespace fairlead::agents {

/// In the order of sending. Input, output, errors and progress become 0 to 3 of the command.
enum class order_descriptor { control, order, input, output, errors, progress };
inline constexpr int order_descriptors = 6;
inline constexpr int progress_descriptor = 3;  // in the command

struct exec_order {
  std::vector<std::string> command;
  std::vector<std::string> environment;  // NAME=value
  std::string directory;
  exec_identity identity;
  exec_process_limits limits;
  std::int64_t terminate_at_ns = 0;  // by CLOCK_MONOTONIC; SIGTERM to all
  std::int64_t kill_at_ns = 0;       // SIGKILL to all
};

std::string encode(const exec_order& order);
std::optional<exec_order> decode_order(std::string_view bytes);

enum class shepherd_says : std::uint8_t { is_there = 1, not_started, exited, signalled };

/// The failed stage of a start.
enum class start_stage : std::uint8_t { none, order, too_late, fork, limits, groups, user, directory, command };

enum class ended_by : std::uint8_t { itself, deadline, node };

struct shepherd_record {
  std::uint32_t mark = 0x5e9e4d01;
  shepherd_says what = shepherd_says::is_there;
  start_stage stage = start_stage::none;
  ended_by by = ended_by::itself;
  std::uint8_t asked = 0;   // SIGTERM was sent before the end
  std::int32_t value = 0;   // shepherd's pid | errno | exit code | signal
  std::uint32_t swept = 0;  // processes that still ran when the command had ended, and were ended
};
static_assert(sizeof(shepherd_record) == 16);

}  // namespace fairlead::agents
