#pragma once
// Bodies that are files of people: workflows and jobs, in YAML or JSON.

#include <string>
#include <vector>

#include "app/door/problem.hpp"
#include "app/yaml/document.hpp"

namespace fairlead::app::api {

/// Each problem of a file, with its line.
inline door::problem problem_of_file(const std::vector<problem>& found) {
  const auto& first = found.front();
  const auto more = found.size() == 1 ? std::string{} : " (and " + std::to_string(found.size() - 1) + " more)";
  door::problem out{"invalid_argument", to_text(first) + more, first.remedy, {}, {}, false};
  for (const auto& one : found) out.faults.push_back({one.where, one.sentence, one.remedy, one.line, one.column});
  return out;
}

}  // namespace fairlead::app::api
