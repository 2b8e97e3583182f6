#pragma once
// Reads the text of a classic crontab: for each entry, what cron would run, when, and in which
// environment. The reader follows Debian's cron (Vixie 3.0). Where cron would silently ignore, cut
// off or misread something, the result names the line. The reader touches no file, clock or zone
// data. docs/cron.md lists what becomes of each line.

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
  std::string text;      // the line as written, without leading blanks
  std::string schedule;  // five fields with one blank between them, or a macro
  std::string zone;
  std::string user;                       // empty if the crontab has no user column
  std::string written;                    // the command as written, with the text after its first `%`
  std::string command;                    // what the shell gets
  std::optional<std::string> stdin_text;  // ends with the newline that cron adds
  std::vector<crontab_variable> environment;
  std::string shell;
  std::optional<std::string> home;  // HOME as the crontab sets it; absent: the user's home
  std::int64_t jitter_ms = 0;
  std::vector<std::string> comments;  // the comment lines directly above, without `#`
};

struct crontab_options {
  bool user_column = false;
  std::string default_zone = "UTC";
  std::function<bool(const std::string& name)> zone_known;  // checks the name in CRON_TZ
};

struct crontab {
  std::vector<crontab_entry> entries;
  std::vector<problem> problems;  // refused lines; `entries` has none of them
  std::vector<problem> notices;   // warnings about lines that were read
};

/// Accepts any bytes.
crontab read_crontab(const std::string& file, std::string_view text, const crontab_options& options);

/// Splits `NAME = value` as cron does. nullopt: cron would read the line as a schedule. `line`
/// begins with no blank.
std::optional<crontab_variable> read_crontab_variable(std::string_view line);

/// A command after cron's handling of `%` and `\`.
struct crontab_command {
  std::string command;
  std::optional<std::string> stdin_text;
  bool joined_backslashes = false;  // `\\` became `\`
};
crontab_command read_crontab_command(std::string_view written);

}  // namespace fairlead::app
