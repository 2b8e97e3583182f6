#include "app/console/line.hpp"

#include <utility>

#include "actors/core/text/text.hpp"

namespace fairlead::app {

namespace {

bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool special(char c) { return blank(c) || c == '\n' || c == ';' || c == '#' || c == '\'' || c == '"' || c == '\\'; }

class scanner {
 public:
  explicit scanner(std::string_view text) : text_(text) {}

  void run() {
    for (; at_ < text_.size(); ++at_) take(text_[at_]);
  }

  void end_command() {
    end_word();
    if (!words_.empty()) commands_.push_back(std::exchange(words_, {}));
    remark_ = false;
  }

  bool open_quote() const { return quote_ != 0; }
  bool open_escape() const { return escaped_; }
  std::size_t quote_at() const { return quote_at_; }
  std::vector<console_words>& commands() { return commands_; }

  console_point point() && { return {std::move(words_), std::move(word_), in_word_ ? word_at_ : text_.size(), quote_, remark_}; }

 private:
  void take(char c) {
    if (remark_ && c != '\n') return;
    if (escaped_) {
      // In double quotes a backslash is an ordinary character, except before `"` and `\`.
      if (quote_ == '"' && c != '"' && c != '\\') word_ += '\\';
      word_ += c;
      escaped_ = false;
    } else if (quote_ != 0) {
      if (c == quote_)
        quote_ = 0;
      else if (c == '\\' && quote_ == '"')
        escaped_ = true;
      else
        word_ += c;
    } else if (c == '\n' || c == ';') {
      end_command();
    } else if (blank(c)) {
      end_word();
    } else if (c == '#' && !in_word_) {
      remark_ = true;
    } else {
      begin_word();
      if (c == '\'' || c == '"') {
        quote_ = c;
        quote_at_ = at_;
      } else if (c == '\\') {
        escaped_ = true;
      } else {
        word_ += c;
      }
    }
  }

  void begin_word() {
    if (!in_word_) word_at_ = at_;
    in_word_ = true;
  }

  void end_word() {
    if (in_word_) words_.push_back(std::exchange(word_, {}));
    in_word_ = false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<console_words> commands_;
  console_words words_;
  std::string word_;
  bool in_word_ = false;
  std::size_t word_at_ = 0;
  char quote_ = 0;
  std::size_t quote_at_ = 0;
  bool escaped_ = false;
  bool remark_ = false;
};

}  // namespace

result<std::vector<console_words>> parse_console(std::string_view text) {
  if (text.size() > longest_console_line)
    return invalid("A line of " + std::to_string(text.size()) + " bytes is longer than " + std::to_string(longest_console_line),
                   "Write long JSON to a file and give @FILE");
  // Requests must be UTF-8: a node cannot read others.
  if (core::clean_text(text, text.size()) != text) return invalid("The line is not valid UTF-8", "Set the terminal's encoding to UTF-8");
  scanner read{text};
  read.run();
  if (read.open_quote())
    return invalid("The quote that opens at character " + std::to_string(read.quote_at() + 1) + " is not closed",
                   "Close the quote, or write a backslash before it");
  if (read.open_escape())
    return invalid("The line ends in a backslash", "Write \\\\ for a backslash; a command cannot continue on the next line");
  read.end_command();
  return std::move(read.commands());
}

console_point console_point_of(std::string_view text) {
  scanner read{text};
  read.run();
  return std::move(read).point();
}

std::string quoted_word(std::string_view word, char quote) {
  if (quote == '\'') {
    // Single quotes cannot contain a single quote. The quotes are closed, an escaped quote is
    // added, and the quotes are opened again.
    std::string out = "'";
    for (const char c : word) out += c == '\'' ? std::string{"'\\''"} : std::string{c};
    return out + "'";
  }
  std::string out = quote == 0 ? "" : "\"";
  for (const char c : word) {
    if (quote == 0 ? special(c) : c == '"' || c == '\\') out += '\\';
    out += c;
  }
  if (quote == 0 && word.empty()) return "''";
  return quote == 0 ? out : out + "\"";
}

}  // namespace fairlead::app
