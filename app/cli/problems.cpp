#include "app/cli/problems.hpp"

#include <cstdio>
#include <set>

#include "app/cli/context.hpp"
#include "app/cli/screen/table.hpp"

namespace fairlead::app {

int fail_with(const std::vector<problem>& problems, const std::string& remedy) {
  std::set<std::string> files;
  for (const auto& problem : problems) {
    files.insert(problem.file);
    std::fputs((printable(to_text(problem)) + "\n").c_str(), stderr);
  }
  auto count = problems.size() == 1 ? std::string{"one problem"} : std::to_string(problems.size()) + " problems";
  auto where = files.size() == 1 ? *files.begin() : std::to_string(files.size()) + " files";
  return fail({v1::ERROR_CODE_INVALID_ARGUMENT, (problems.size() == 1 ? "There is " : "There are ") + count + " in " + where, remedy});
}

void write_problems(json_writer& out, const std::vector<problem>& problems, const char* key) {
  out.key(key).begin_array();
  for (const auto& problem : problems) {
    out.begin_object()
        .key("file")
        .string(problem.file)
        .key("line")
        .number(std::int32_t{problem.line})
        .key("column")
        .number(std::int32_t{problem.column});
    out.key("where").string(problem.where).key("sentence").string(problem.sentence).key("remedy").string(problem.remedy).end_object();
  }
  out.end_array();
}

}  // namespace fairlead::app
