#pragma once
// The state that a console keeps between commands, and the run of one command. Only one thread uses
// a session, and the thread may block.

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
  std::string timeout;  // default for commands without --timeout; empty: the command's own default
  bool json = false;
  std::string token_file = {}, ca_file = {};
};

/// What its commands begin with.
cli_context context_of(const console_settings& settings);

struct console_outcome {
  int code = exit_ok;
  bool quit = false;
  std::optional<watch_plan> watch;
};

class console_session {
 public:
  /// `stop` returns true once nobody waits for the command any longer.
  console_session(console_settings settings, std::function<bool()> stop);

  console_outcome run(const console_words& words);
  /// One repetition of a watch. A late answer is soon an error, so that the picture is never old.
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
