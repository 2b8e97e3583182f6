#pragma once
// Problems in files that people wrote, for people and for programs.

#include <string>
#include <vector>

#include "app/cli_json.hpp"
#include "app/yaml_document.hpp"

namespace fairlead::app {

/// One line each to stderr, then how many there are. Returns the exit code.
int fail_with(const std::vector<problem>& problems);

void write_problems(json_writer& out, const std::vector<problem>& problems, const char* key = "problems");

}  // namespace fairlead::app
