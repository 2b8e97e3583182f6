#pragma once
// Bodies that are files of people: workflows and jobs, in YAML or JSON.

#include <string>
#include <vector>

#include "app/door/problem.hpp"
#include "app/yaml/document.hpp"

namespace fairlead::app::api {

/// Each problem of a file, with its line.
inline door::problem problem_of_file(const std::vector<problem>& found) {
  auto first = found.front();
  first.remedy.clear();
  const auto more = found.size() == 1 ? std::string{} : " (and " + std::to_string(found.size() - 1) + " more)";
  door::problem out{"invalid_argument", to_text(first) + more, {}, {}, {}, false};
  for (const auto& one : found)
    out.faults.push_back({one.where, one.sentence,
                          one.remedy.empty() ? "Correct the file here, and send it again." : with_requests(one.remedy, out.what_helps),
                          one.line, one.column});
  out.remedy = out.faults.front().remedy;
  return out;
}

}  // namespace fairlead::app::api
