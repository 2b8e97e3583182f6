#pragma once
// One case: rehearsed, and held against what is expected of it.

#include <memory>
#include <string>
#include <vector>

#include "actors/core/workflow/workflow.hpp"
#include "app/rehearsal/virtual_run.hpp"
#include "app/workflow_test/test_file.hpp"

namespace fairlead::app {

struct case_failure {
  file_place at;
  std::string where;  // `expect.undone`; empty: the case as a whole
  std::string sentence;
  std::string remedy;  // may be empty
};

struct case_result {
  std::string name;
  file_place at;
  std::string end;  // as in `expect.end`; empty: the run broke off
  std::int64_t took_ms = 0;
  std::vector<case_failure> failures;
  std::vector<std::pair<std::int64_t, std::string>> story;  // since the submission
};

/// `of` has no problems, and `definition` is its workflow.
case_result run_case(const test_file& of, const test_case& what, const std::shared_ptr<const core::workflow>& definition,
                     const virtual_run::evaluator& evaluate);

}  // namespace fairlead::app
