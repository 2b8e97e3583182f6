#pragma once
// Problems in files that people wrote, for people and for programs.

#include <string>
#include <vector>

#include "app/cli/json.hpp"
#include "app/yaml/document.hpp"

namespace fairlead::app {

/// One line each to stderr, then how many there are, and what to do about it. Returns the exit code.
int fail_with(const std::vector<problem>& problems, const std::string& remedy = "Correct the errors listed above");

void write_problems(json_writer& out, const std::vector<problem>& problems, const char* key = "problems");

}  // namespace fairlead::app
