#pragma once
// A classic crontab as a person wrote it: text to entries that say what cron would run, when and in which surroundings. It is read as Debian's
// cron (Vixie 3.0) reads it; what cron would pass over in silence, cut off or take for something else is named with its line.
// No file, clock or zone data is touched here. docs/cron.md tells people what becomes of each line.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/yaml/document.hpp"

namespace fairlead::app {

inline constexpr std::size_t max_crontab_bytes = 1'048'576;

struct crontab_variable {
  std::string name;
  std::string value;
};

struct crontab_entry {
  int line = 0;
  std::string text;      // the line as written, without the blanks before it
  std::string schedule;  // five fields with one blank between them, or a macro
  std::string zone;
  std::string user;                       // empty without a column for it
  std::string written;                    // the command as it stands there, with what follows its first `%`
  std::string command;                    // what the shell is given
  std::optional<std::string> stdin_text;  // with the newline that cron adds
  std::vector<crontab_variable> environment;
  std::string shell;
  std::optional<std::string> home;  // of the crontab; absent: the user's own
  std::int64_t jitter_ms = 0;
  std::vector<std::string> comments;  // the lines directly above, without `#`
};

struct crontab_options {
  bool user_column = false;
  std::string default_zone = "UTC";
  std::function<bool(const std::string& name)> zone_known;  // is asked about CRON_TZ
};

struct crontab {
  std::vector<crontab_entry> entries;
  std::vector<problem> problems;  // lines that are refused; none of them is among the entries
  std::vector<problem> notices;   // lines that are understood and still deserve a word
};

/// Total on any bytes.
crontab read_crontab(const std::string& file, std::string_view text, const crontab_options& options);

/// `NAME = value` as cron takes it apart; nullopt: cron would look for a schedule in this line. `line` begins with no blank.
std::optional<crontab_variable> read_crontab_variable(std::string_view line);

/// What cron makes of a command's `%` and `\`.
struct crontab_command {
  std::string command;
  std::optional<std::string> stdin_text;
  bool joined_backslashes = false;  // `\\` became `\`
};
crontab_command read_crontab_command(std::string_view written);

}  // namespace fairlead::app
