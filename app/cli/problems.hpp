#pragma once
// Problems in files, as text and as JSON.

#include <string>
#include <vector>

#include "app/json/writer.hpp"
#include "app/yaml/document.hpp"

namespace fairlead::app {

/// Writes one line for each problem, their number and the remedy to stderr. Returns the exit code.
int fail_with(const std::vector<problem>& problems, const std::string& remedy = "Correct the errors listed above");

void write_problems(json_writer& out, const std::vector<problem>& problems, const char* key = "problems");

}  // namespace fairlead::app
