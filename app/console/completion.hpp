#pragma once
// What could stand where the cursor is: commands and options from their description, names from the node.

#include <string>
#include <vector>

#include "app/console/commands.hpp"

namespace fairlead::app {

enum class name_kind { task, parked_task, step, workflow, agent, instance, node, alert, job };

class name_source {
 public:
  virtual ~name_source() = default;
  /// Those that are known now, in any order. `of`: the task whose steps are meant.
  virtual std::vector<std::string> names(name_kind kind, const std::string& of) = 0;
};

struct console_candidates {
  std::size_t start = 0;           // where in the text the word begins that is to be replaced
  char quote = 0;                  // with which it was begun
  std::vector<std::string> words;  // sorted, each once
};

/// `text` is what stands before the cursor.
console_candidates complete(console_parser& parser, std::string_view text, name_source& names);

/// What all of them begin with.
std::string common_beginning(const std::vector<std::string>& words);

}  // namespace fairlead::app
