#pragma once
// What scripted agents are told to answer (docs/cli.md, `fairlead dev`).
//
// A script is what successive attempts get, separated by commas; the last one is for all that follow:
//   echo                      the output is the input
//   sleep:2s                  the same, after a while
//   fail:transient            a fault; or permanent, or in_doubt
//   fail:permanent:no_funds   with a code
//   return:{"receipt": "r1"}  this output; takes the rest of the text, so it stands last
// A file has the same as YAML: a text, or a list with an item for each attempt, where `return` may be a map of its own.

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
  std::string output;  // JSON text to give
};

/// Never empty.
using script = std::vector<script_action>;

/// By agent and call.
using scripts = std::map<std::pair<std::string, std::string>, script>;

/// The error names the place in `text`, counted in characters from 1.
result<script> parse_script(std::string_view text);

/// `agent.call=SCRIPT`, into `out`. Refused when the call has a script already.
status add_script(std::string_view text, scripts& out);

/// A file of scripts, into `out`; what the command line has said already stays.
std::vector<problem> read_scripts(const std::string& path, scripts& out);

/// The action of the n-th attempt (1, 2, …).
const script_action& action_of(const script& what, std::uint32_t attempt);

}  // namespace fairlead::app
