#pragma once
// An exec agent's section of a node file, read by app/config/exec.cpp, carried out by exec.*.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/agents/secrets/secrets.hpp"
#include "actors/agents/settings.hpp"

namespace fairlead::agents {

/// Exit codes, both ends included: `75`, `64-78`.
struct exit_range {
  int first = 0;
  int last = 0;
};

enum class exec_meaning { success, transient, in_doubt, permanent };

/// Meanings of exit codes; the first list with the code decides: success, transient, in_doubt, permanent. Codes in no list have the default
/// meaning (docs/agents.md): 0 success, 75 transient, the rest of 64 to 78 permanent, all others in doubt.
struct exec_exit_codes {
  std::vector<exit_range> success;
  std::vector<exit_range> transient;
  std::vector<exit_range> in_doubt;
  std::vector<exit_range> permanent;
  exec_meaning signals = exec_meaning::in_doubt;  // of a command that a signal has ended; never success
};

/// A command that finds out whether the call was carried out. Empty lists mean 0, 3 and 4; codes in no list are transient faults.
struct exec_lookup {
  std::vector<std::string> command;
  std::vector<exit_range> done;
  std::vector<exit_range> never_happened;
  std::vector<exit_range> unknown;
};

enum class exec_input { json, none };
/// `log`: what the command prints on stdout and stderr is no output, and its end is kept for people. The output is null.
enum class exec_output { json, text, lines, log };

struct exec_call {
  /// The program's absolute path, then its arguments. `{field}` in an argument stands for a top-level field of the step's input (string,
  /// number or boolean) and never makes more than that one argument. Every user of the machine can read arguments, so no secrets.
  std::vector<std::string> command;
  exec_input input = exec_input::json;
  exec_output output = exec_output::json;
  exec_exit_codes exit_codes;
  std::int64_t key_valid_for_ms = 0;  // how long the command honours an idempotency key; 0: for ever
  std::optional<exec_lookup> lookup;
};

/// Limits of each process that a command starts; 0: those of the node.
struct exec_process_limits {
  std::uint64_t memory_bytes = 0;  // address space
  std::uint64_t cpu_seconds = 0;
  std::uint64_t files = 0;      // open descriptors
  std::uint64_t processes = 0;  // of the user as a whole
  std::uint64_t file_bytes = 0;
};

struct exec_agent_config {
  std::string name;  // the name steps use
  std::uint32_t concurrency = 16;
  std::string user;   // name or number; empty: the node's own
  std::string group;  // empty: the user's own
  std::string directory = "/";
  /// The whole environment of a command, beside PATH, LANG and TZ, which have defaults. Values may hold $secret{NAME}.
  std::vector<std::pair<std::string, std::string>> environment;
  exec_process_limits process;
  std::uint64_t max_output_bytes = 1'048'576;
  std::int64_t stop_grace_ms = 2'000;  // between SIGTERM and SIGKILL, part of the attempt's own time
  std::map<std::string, exec_call> calls;
  agent_settings settings;
  std::shared_ptr<const agents::secrets> secrets;  // null: none
};

struct exec_options {
  /// The program that looks after commands, run with the one argument `exec-shepherd` (app/shepherd/shepherd.hpp).
  std::string shepherd = "/proc/self/exe";
};

}  // namespace fairlead::agents
