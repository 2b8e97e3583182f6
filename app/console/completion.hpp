#pragma once
// Candidates for the word at the cursor: commands and options from their description, names from
// the node.

#include <string>
#include <vector>

#include "app/console/commands.hpp"

namespace fairlead::app {

enum class name_kind { task, parked_task, step, signal, workflow, agent, instance, node, alert, job };

class name_source {
 public:
  virtual ~name_source() = default;
  /// The names that are known now, in any order. `of`: the task whose steps are wanted.
  virtual std::vector<std::string> names(name_kind kind, const std::string& of) = 0;
};

struct console_candidates {
  std::size_t start = 0;           // offset in the text of the word to be replaced
  char quote = 0;                  // the quote that the word begins with, 0 for none
  std::vector<std::string> words;  // sorted, without duplicates
};

/// `text` is the text before the cursor.
console_candidates complete(console_parser& parser, std::string_view text, name_source& names);

/// The longest common prefix of all words.
std::string common_beginning(const std::vector<std::string>& words);

}  // namespace fairlead::app
