#pragma once
// Outputs for a console's commands.

#include <memory>
#include <string>

#include "app/cli/context.hpp"
#include "app/console/actor.hpp"

namespace fairlead::app {

/// Writes to stdout and stderr until the console abandons the command.
class console_output final : public command_output {
 public:
  explicit console_output(std::shared_ptr<const console_shared> shared) : shared_(std::move(shared)) {}
  bool say(const std::string& text) override;
  void complain(const std::string& text) override;

 private:
  std::shared_ptr<const console_shared> shared_;
};

/// Collects the whole output in order.
class captured_output final : public command_output {
 public:
  bool say(const std::string& text) override {
    text_ += text;
    return true;
  }
  void complain(const std::string& text) override { text_ += text; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// A picture of `columns` by `rows` characters that overwrites the one before: a title line, and as
/// much of `text` as fits below the title.
std::string watch_picture(const std::string& title, const std::string& text, std::size_t columns, std::size_t rows);

/// The size of the terminal at stdout; 80 by 24 if the terminal does not report its size.
struct terminal_size {
  std::size_t columns = 80;
  std::size_t rows = 24;
};
terminal_size size_of_terminal();

}  // namespace fairlead::app
