#pragma once
// What `workflow test` shows: text, JSON, and JUnit XML.

#include <string>
#include <vector>

#include "app/workflow_test/run_case.hpp"

namespace fairlead::app {

struct file_result {
  std::string file;
  std::string workflow;
  std::vector<case_result> cases;
  std::vector<double> seconds;    // of each case, by the machine's clock
  std::vector<problem> problems;  // then there are no cases
};

/// How many cases failed.
std::size_t failed_cases(const std::vector<file_result>& files);

/// A line for each case; below those that fail, what was expected, what was found, and what has happened. `verbose`: that of all cases.
std::string test_text(const std::vector<file_result>& files, bool verbose);
std::string test_json(const std::vector<file_result>& files);
std::string test_junit(const std::vector<file_result>& files);

}  // namespace fairlead::app
