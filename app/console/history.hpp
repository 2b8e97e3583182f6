#pragma once
// The lines that operators typed into consoles. The file has one line for each; only its owner can
// read it.

#include <cstddef>
#include <string>
#include <vector>

namespace fairlead::app {

class console_history {
 public:
  static constexpr std::size_t most_lines = 1'000;

  /// `$XDG_STATE_HOME/fairlead/console_history`, else `~/.local/state/fairlead/console_history`.
  /// Empty: no home directory.
  static std::string default_path();

  /// Reads the history of earlier consoles. If the file cannot be used, the history stays in
  /// memory, and `trouble` gives the reason.
  explicit console_history(std::string path);

  const std::vector<std::string>& lines() const { return lines_; }
  const std::string& trouble() const { return trouble_; }

  /// Does not keep blank lines, lines that begin with a blank, and repetitions of the last line.
  /// False: not kept.
  bool add(const std::string& line);

 private:
  void load();
  void rewrite();

  std::string path_;
  std::vector<std::string> lines_;
  std::string trouble_;
};

}  // namespace fairlead::app
