#pragma once
// What a console keeps from one command to the next, and how it runs one. Used by one thread, which may block.

#include <functional>
#include <memory>
#include <string>

#include "app/console/commands.hpp"
#include "app/console/completion.hpp"
#include "app/console/link.hpp"
#include "app/console/names.hpp"

namespace fairlead::app {

struct console_settings {
  std::string nodes;
  std::string timeout;  // of every command that does not say it itself; empty: the command's own
  bool json = false;
};

struct console_outcome {
  int code = exit_ok;
  bool quit = false;
  std::optional<watch_plan> watch;
};

class console_session {
 public:
  /// `stop` says that nobody waits for the command any more.
  console_session(console_settings settings, std::function<bool()> stop);

  console_outcome run(const console_words& words);
  /// One look of a watch: an answer that is late is an error soon, so that the picture is not an old one.
  console_outcome look(const console_words& words);
  console_candidates complete(const std::string& text);

 private:
  cli_context context() const;

  console_settings settings_;
  std::function<bool()> stop_;
  std::shared_ptr<console_link> link_ = std::make_shared<console_link>();
  console_memory memory_;
  console_names names_;
};

}  // namespace fairlead::app
