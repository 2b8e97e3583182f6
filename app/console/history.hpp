#pragma once
// The lines that were typed into consoles, one a line, in a file that only its owner can read.

#include <cstddef>
#include <string>
#include <vector>

namespace fairlead::app {

class console_history {
 public:
  static constexpr std::size_t most_lines = 1'000;

  /// `$XDG_STATE_HOME/fairlead/console_history`, else below `~/.local/state`; empty when there is no home.
  static std::string default_path();

  /// What is there of an earlier console is read. Where that cannot be done, history is kept for this console alone; why not is told.
  explicit console_history(std::string path);

  const std::vector<std::string>& lines() const { return lines_; }
  const std::string& trouble() const { return trouble_; }

  /// Not kept are blank lines, those that begin with a blank, and a repetition of the last one. False: it was not kept.
  bool add(const std::string& line);

 private:
  void load();
  void rewrite();

  std::string path_;
  std::vector<std::string> lines_;
  std::string trouble_;
};

}  // namespace fairlead::app
