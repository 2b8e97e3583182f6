#pragma once
// Scripts: the answers of scripted agents (docs/cli.md, `fairlead dev`).
//
// A script lists the actions of successive attempts, separated by commas. The last action is
// repeated for all later attempts:
//   echo                      the output is the input
//   sleep:2s                  the same, after a delay
//   fail:transient            a fault; also permanent or in_doubt
//   fail:permanent:no_funds   with a code
//   return:{"receipt": "r1"}  this output; takes the rest of the text, so it must be last
// A file has the same as YAML: a text, or a list with one item for each attempt. `return` may be a
// map.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/yaml/document.hpp"
#include "messages/common.pb.h"
#include "messages/error.hpp"

namespace fairlead::app {

struct script_action {
  enum class kind { echo, sleep, fail, give };
  kind what = kind::echo;
  std::int64_t sleep_ms = 0;
  v1::FaultKind fault = v1::FAULT_KIND_UNSPECIFIED;
  std::string code;    // of the fault
  std::string output;  // JSON text to return
};

/// Never empty.
using script = std::vector<script_action>;

/// By agent and call.
using scripts = std::map<std::pair<std::string, std::string>, script>;

/// The error gives the position in `text`, in characters from 1.
result<script> parse_script(std::string_view text);

/// Adds `agent.call=SCRIPT` to `out`. Refused if the call already has a script.
status add_script(std::string_view text, scripts& out);

/// Adds the scripts of a file to `out`. Scripts from the command line take precedence.
std::vector<problem> read_scripts(const std::string& path, scripts& out);

/// The action of the n-th attempt (1, 2, …).
const script_action& action_of(const script& what, std::uint32_t attempt);

}  // namespace fairlead::app
