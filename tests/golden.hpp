#pragma once
// Golden transcripts: commands and what they gave, as text, so that a change of behaviour is seen in review. A file is a sequence of
//
//   COMMAND
//   [more lines of the command]
//   ----
//   what it gave
//
// each ended by an empty line; lines with `#` before a command are kept. With FAIRLEAD_REWRITE=1 in the environment the files are written
// anew instead of compared.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

namespace fairlead {

/// Carries out one command, given in lines. Its answer ends with a line feed.
using golden_interpreter = std::function<std::string(const std::vector<std::string>&)>;

/// The file with the answers that its commands give now.
inline std::string replay_golden(const std::filesystem::path& file, const golden_interpreter& run) {
  std::ifstream in{file};
  std::string out, line;
  std::vector<std::string> command;
  bool answer = false;
  while (std::getline(in, line)) {
    if (answer) {  // what stood there is replaced
      if (line.empty()) answer = false;
      continue;
    }
    if (line == "----") {
      out += "----\n" + run(command) + "\n";
      command.clear();
      answer = true;
      continue;
    }
    out += line + "\n";
    if (!line.empty() && line[0] != '#') command.push_back(line);
  }
  return out;
}

/// Every .txt in `folder`, a path below the source tree, `least` files at least. `begin` makes the interpreter of a file.
inline void compare_with_golden(const std::string& folder, int least, const std::function<golden_interpreter()>& begin) {
  const auto* source = std::getenv("FAIRLEAD_SOURCE");
  const auto root = source != nullptr ? std::filesystem::path{source} : std::filesystem::path{__FILE__}.parent_path().parent_path();
  int seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator{root / folder}) {
    if (entry.path().extension() != ".txt") continue;
    ++seen;
    const auto now = replay_golden(entry.path(), begin());
    if (std::getenv("FAIRLEAD_REWRITE") != nullptr) {
      std::ofstream{entry.path()} << now;
      continue;
    }
    std::ifstream in{entry.path()};
    const std::string stood{std::istreambuf_iterator<char>{in}, {}};
    EXPECT_EQ(now, stood) << entry.path().filename() << ": run with FAIRLEAD_REWRITE=1 and review the difference";
  }
  EXPECT_GE(seen, least);
}

}  // namespace fairlead
