#include "app/crontab/file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <utility>
#include <variant>

#include "actors/core/cron/expression.hpp"
#include "actors/core/cron/next.hpp"
#include "actors/core/text/text.hpp"
#include "app/crontab/words.hpp"

namespace fairlead::app {

namespace {

constexpr std::size_t most_debian_bytes = 998;  // of a command; Debian's cron refuses longer ones
constexpr std::int64_t most_delay_minutes = 1'440;
constexpr std::array<const char*, 5> field_names{"minute", "hour", "day of the month", "month", "day of the week"};

struct placed_word {
  std::string_view text;
  std::size_t at = 0;  // in the line
};

/// Removes from a hint what only the schedule of a job may have: a crontab has no `L`, `W`, `#` or
/// `?`.
std::string without_signs_of_jobs(std::string sentence) {
  // A later pattern may be part of an earlier one, so the order matters.
  constexpr std::array<std::array<std::string_view, 2>, 6> known{{{", `L`, `*` or `?`", " or `*`"},
                                                                  {", `*` or `?`", " or `*`"},
                                                                  {"expected `-`, `/`, ", "expected `-`, "},
                                                                  {"`W`, `-`, ", ""},
                                                                  {"`W`, ", ""},
                                                                  {"`#`, `L`, ", ""}}};
  for (const auto& [what, instead] : known)
    if (const auto at = sentence.find(what); at != std::string::npos) sentence.replace(at, what.size(), instead);
  return sentence;
}

class crontab_reader {
 public:
  crontab_reader(const std::string& file, const crontab_options& options) : file_{file}, options_{options}, zone_{options.default_zone} {}

  crontab read(std::string_view text) {
    if (text.size() > max_crontab_bytes) {
      out_.problems.push_back({file_, 0, 0, "", "the file is larger than 1 MiB", ""});
      return std::move(out_);
    }
    if (text.substr(0, 3) == "\xef\xbb\xbf") {
      text.remove_prefix(3);
      number_ = 1;
      notice(0, "the file begins with a byte order mark; it is ignored (cron would take it as part of the first line)");
      number_ = 0;
    }
    while (!text.empty()) {
      const auto end = text.find('\n');
      ++number_;
      line_ = text.substr(0, end);
      read_line();
      if (end == std::string_view::npos) {
        notice(line_.size(), "the last line does not end in a newline; the line is read anyway (Debian's cron refuses such a file)");
        break;
      }
      text.remove_prefix(end + 1);
    }
    return std::move(out_);
  }

 private:
  void note(std::vector<problem>& to, std::size_t at, std::string sentence, std::string remedy) {
    to.push_back({file_, number_, characters(line_.substr(0, at)) + 1, "", std::move(sentence), std::move(remedy)});
  }
  void refuse(std::size_t at, std::string sentence, std::string remedy = "") {
    note(out_.problems, at, std::move(sentence), std::move(remedy));
  }
  void notice(std::size_t at, std::string sentence, std::string remedy = "") {
    note(out_.notices, at, std::move(sentence), std::move(remedy));
  }

  void read_line() {
    if (!line_.empty() && line_.back() == '\r') {
      line_.remove_suffix(1);
      if (!std::exchange(told_of_returns_, true))
        notice(line_.size(), "the line ends in CR LF; the CR is left out, here and below (cron would make it a part of the command)");
    }
    const auto begin = skip_blanks(line_, 0);
    if (begin == line_.size()) {
      comments_.clear();
      return;
    }
    if (line_[begin] == '#') {
      read_comment(line_.substr(begin));
      return;
    }
    const auto comments = std::exchange(comments_, {});
    if (const auto bad = first_bad_byte()) {
      refuse(*bad,
             line_[*bad] == '\0'   ? "the line has a byte with the value 0"
             : line_[*bad] == '\r' ? "the line has a carriage return in the middle"
                                   : "the line has a byte that is not UTF-8 text",
             line_[*bad] == '\r' ? "end each line with a newline" : "save the file as UTF-8");
      return;
    }
    if (const auto variable = read_crontab_variable(line_.substr(begin))) {
      read_variable(*variable, begin);
    } else {
      read_entry(begin, comments);
    }
  }

  std::optional<std::size_t> first_bad_byte() const {
    if (const auto at = line_.find_first_of(std::string_view{"\0\r", 2}); at != std::string_view::npos) return at;
    const auto clean = core::clean_text(line_, line_.size());
    if (clean == line_) return std::nullopt;
    return static_cast<std::size_t>(std::mismatch(clean.begin(), clean.end(), line_.begin(), line_.end()).second - line_.begin());
  }

  void read_comment(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of("# \t"), text.size()));
    // Most crontabs begin with a heading of the columns. The heading is no comment about the line
    // below.
    const auto first = text.substr(0, end_of_word(text, 0));
    const auto second = skip_blanks(text, first.size());
    const bool heading = (first == "m" || first == "minute") && second < text.size() && text[second] == 'h';
    if (text.empty() || heading) return;
    constexpr std::size_t most_growth = 3;  // one invalid byte becomes U+FFFD, three bytes
    comments_.push_back(core::clean_text(text, text.size() * most_growth));
  }

  void read_variable(const crontab_variable& variable, std::size_t begin) {
    const auto& [name, value] = variable;
    if (!is_identifier(name)) {
      refuse(begin, quote(name) + " is not a valid name for a shell variable", "use letters, digits and _");
      return;
    }
    if (value.empty() && line_[end_of_text() - 1] == '=')
      notice(begin, "the value after `=` is empty, and Debian's cron refuses that; " + name + " is empty", "write " + name + "=\"\"");
    if (name == "LOGNAME") {
      notice(begin, "cron does not allow LOGNAME to be set; the line is ignored");
      return;
    }
    if (name == "CRON_TZ" && !accept_zone(value, begin)) return;
    if (name == "SHELL" && !accept_shell(value, begin)) return;
    if (name == "RANDOM_DELAY" && !accept_delay(value, begin)) return;
    if (name == "TZ")
      notice(begin, "TZ is passed to the commands below; it does not change their schedules",
             "use CRON_TZ for the time zone of the schedules");
    if (name == "MAILTO" && !value.empty() && !std::exchange(told_of_mail_, true))
      notice(begin, "no mail is sent: the output of a command is the output of its task");
    const auto same = std::find_if(environment_.begin(), environment_.end(), [&name = name](const auto& one) { return one.name == name; });
    if (same == environment_.end()) {
      environment_.push_back(variable);
    } else {
      same->value = value;
    }
  }

  std::size_t end_of_text() const {
    auto end = line_.size();
    while (end > 0 && (is_blank(line_[end - 1]) || line_[end - 1] == '\v' || line_[end - 1] == '\f')) --end;
    return end;
  }

  bool accept_zone(const std::string& name, std::size_t begin) {
    // An empty CRON_TZ selects the machine's zone, as if the line were absent.
    if (name.empty() || !options_.zone_known || options_.zone_known(name)) {
      zone_ = name.empty() ? options_.default_zone : name;
      broken_.erase("CRON_TZ");
      return true;
    }
    refuse(begin, "there is no time zone " + quote(name), "use a name of the time zone database, such as Europe/Berlin");
    broken_["CRON_TZ"] = number_;
    return false;
  }

  bool accept_shell(const std::string& path, std::size_t begin) {
    if (!path.empty() && path.front() == '/') {
      broken_.erase("SHELL");
      return true;
    }
    refuse(begin, "SHELL must be the absolute path of a program, not " + quote(path), "write SHELL=/bin/bash, for instance");
    broken_["SHELL"] = number_;
    return false;
  }

  bool accept_delay(const std::string& text, std::size_t begin) {
    std::int64_t minutes = -1;
    const auto* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, minutes);
    if (read.ec == std::errc{} && read.ptr == end && minutes >= 0 && minutes <= most_delay_minutes) {
      delay_ms_ = minutes * 60'000;
      return true;
    }
    refuse(begin, "RANDOM_DELAY must be a whole number of minutes from 0 to 1440, not " + quote(text));
    return false;
  }

  void read_entry(std::size_t begin, const std::vector<std::string>& comments) {
    if (explain_variable(begin)) return;
    crontab_entry entry;
    entry.line = number_;
    entry.text = line_.substr(begin);
    auto at = begin;
    const bool unlogged = line_[at] == '-' && at + 1 < line_.size() && !is_blank(line_[at + 1]);
    if (unlogged) ++at;
    const auto command_at = read_schedule(at, entry);
    if (!command_at) return;
    at = *command_at;
    if (options_.user_column && !read_user(at, entry)) return;
    if (!read_command(at, entry)) return;
    if (!broken_.empty()) {
      const auto& [name, line] = *broken_.begin();
      refuse(begin, name + " on line " + std::to_string(line) + " applies to this line and was refused", "correct that line");
      return;
    }
    if (unlogged) notice(begin, "the `-` in front of the line is ignored: launches are always recorded (cronie would not log the line)");
    add_notices(at, entry);
    entry.zone = zone_;
    entry.environment = environment_;
    entry.shell = value_of("SHELL").value_or("/bin/sh");
    entry.home = value_of("HOME");
    entry.jitter_ms = delay_ms_;
    entry.comments = comments;
    out_.entries.push_back(std::move(entry));
  }

  /// Refuses a setting with unbalanced quotes, which cron would read as a schedule.
  bool explain_variable(std::size_t begin) {
    auto at = begin;
    while (at < line_.size() && (is_letter(line_[at]) || is_digit(line_[at]) || line_[at] == '_')) ++at;
    if (!is_identifier(line_.substr(begin, at - begin))) return false;
    at = skip_blanks(line_, at);
    if (at == line_.size() || line_[at] != '=') return false;
    at = skip_blanks(line_, at + 1);
    refuse(at, "the value begins with a quote but does not end with the same quote",
           "end the line with the same quote, or put the value in quotes of the other kind");
    return true;
  }

  /// The offset at which the user or the command begins.
  std::optional<std::size_t> read_schedule(std::size_t at, crontab_entry& entry) {
    if (line_[at] == '@') return read_macro(at, entry);
    std::array<placed_word, 5> fields;
    for (std::size_t field = 0; field < fields.size(); ++field) {
      const auto end = end_of_word(line_, at);
      if (end == at) {
        refuse(at, "the " + std::string{field_names[field]} + " is missing: a line has five fields before the command");
        return std::nullopt;
      }
      fields[field] = {line_.substr(at, end - at), at};
      at = skip_blanks(line_, end);
    }
    std::array<std::string, 5> read;
    for (std::size_t field = 0; field < fields.size(); ++field) {
      read[field] = without_long_steps(fields[field], field);
      entry.schedule += (entry.schedule.empty() ? "" : " ") + read[field];
    }
    if (!check_fields(fields, read, entry.schedule)) return std::nullopt;
    return at;
  }

  /// Debian's cron takes a step that is greater than its field for "the first value only"; a job's schedule refuses such a step.
  std::string without_long_steps(const placed_word& field, std::size_t which) {
    static constexpr std::array<int, 5> longest{60, 24, 31, 12, 7};
    static constexpr std::array<const char*, 5> first{"0", "0", "1", "1", "0"};
    std::string out;
    for (std::size_t begin = 0; begin <= field.text.size();) {
      const auto end = std::min(field.text.find(',', begin), field.text.size());
      const auto part = field.text.substr(begin, end - begin);
      const auto slash = part.find('/');
      auto kept = std::string{part};
      if (slash != std::string_view::npos && is_longer(part.substr(slash + 1), longest[which])) {
        const auto range = part.substr(0, slash);
        kept = range == "*" ? first[which] : std::string{range.substr(0, range.find('-'))};
        notice(field.at + begin + slash, "the step " + std::string{part.substr(slash + 1)} + " is greater than the " + field_names[which] +
                                             "; only its first value, " + kept + ", is taken, as Debian's cron does");
      }
      out += (begin == 0 ? "" : ",") + kept;
      begin = end + 1;
    }
    return out;
  }

  static bool is_longer(std::string_view step, int longest) {
    if (step.empty() || step.size() > 9 || !std::all_of(step.begin(), step.end(), is_digit)) return false;
    return std::stoi(std::string{step}) > longest;
  }

  static const char* remedy_for(char sign) {
    if (sign == '/') return "put a range or `*` before the step";
    if (sign == '~')
      return "in a job, `?` is a value that is derived from the job's name, and `?(0-5)` is one from a range: add this job with `fairlead "
             "job add`";
    return "crontabs do not have this, but jobs do: add this job with `fairlead job add`";
  }

  /// `read`: the fields as they stand in `schedule`.
  bool check_fields(const std::array<placed_word, 5>& fields, const std::array<std::string, 5>& read, const std::string& schedule) {
    for (std::size_t field = 0; field < fields.size(); ++field) {
      const auto beyond = beyond_cron(fields[field].text);
      if (!beyond) continue;
      refuse(fields[field].at + *beyond,
             "cron does not know " + quote(fields[field].text.substr(*beyond)) + " in the " + field_names[field],
             remedy_for(fields[field].text[*beyond]));
      return false;
    }
    const auto parsed = core::cron_expression::parse(schedule, "");
    if (const auto* bad = std::get_if<core::cron_problem>(&parsed)) {
      // The blanks in `schedule` differ from those in the line, so the offset is counted field by
      // field.
      auto offset = bad->position - 1;
      std::size_t field = 0;
      while (field + 1 < fields.size() && offset > read[field].size()) offset -= read[field++].size() + 1;
      refuse(fields[field].at + std::min(offset, fields[field].text.size()), without_signs_of_jobs(bad->sentence));
      return false;
    }
    if (core::ever_matches(std::get<core::cron_expression>(parsed))) return true;
    refuse(fields[2].at, "no day of any year matches: the line would never run");
    return false;
  }

  std::optional<std::size_t> read_macro(std::size_t at, crontab_entry& entry) {
    const auto end = end_of_word(line_, at);
    entry.schedule = line_.substr(at, end - at);
    std::string word = entry.schedule;
    std::transform(word.begin(), word.end(), word.begin(), lower);
    if (word == "@reboot") {
      refuse(at, "@reboot is not supported: it has no time", "start the command with the machine, for example from a systemd unit");
      return std::nullopt;
    }
    static constexpr std::array<std::string_view, 7> known{"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"};
    if (std::find(known.begin(), known.end(), word) == known.end()) {
      refuse(at, quote(entry.schedule) + " is unknown; the names are @yearly, @annually, @monthly, @weekly, @daily, @midnight and @hourly");
      return std::nullopt;
    }
    return skip_blanks(line_, end);
  }

  bool read_user(std::size_t& at, crontab_entry& entry) {
    const auto end = end_of_word(line_, at);
    const auto user = line_.substr(at, end - at);
    if (user.empty()) {
      refuse(at, "the user and the command are missing");
      return false;
    }
    if (looks_like_field(user)) {
      refuse_sixth(at, user, entry.schedule);
      return false;
    }
    if (!is_user_name(user)) {
      refuse(at, quote(user) + " is not a valid user name", "if this file has no user column, leave out --user-column");
      return false;
    }
    entry.user = user;
    at = skip_blanks(line_, end);
    return true;
  }

  void refuse_sixth(std::size_t at, std::string_view word, const std::string& schedule) {
    const auto where = quote(word) + " is where the " + (options_.user_column ? "user" : "command") + " should begin: ";
    if (schedule.front() == '@') {
      refuse(at, where + "nothing may be between " + schedule + " and it",
             is_digit(word.front()) ? "if this is an anacrontab, remove the delay and the name" : "");
      return;
    }
    refuse(at, where + "this line seems to have six fields, but a crontab line has five",
           "use `fairlead job add` for a job with seconds, or remove one field");
  }

  bool read_command(std::size_t at, crontab_entry& entry) {
    entry.written = line_.substr(at);
    if (entry.written.find_first_not_of(" \t") == std::string::npos) {
      refuse(at, "the command is missing");
      return false;
    }
    // Cron refuses a command that begins with `*`: the line probably has a wrong number of fields.
    const auto word = line_.substr(at, end_of_word(line_, at) - at);
    if (line_[at] == '*' || looks_like_field(word)) {
      refuse_sixth(at, word, entry.schedule);
      return false;
    }
    auto command = read_crontab_command(entry.written);
    entry.command = std::move(command.command);
    entry.stdin_text = std::move(command.stdin_text);
    if (entry.command.find_first_not_of(" \t") != std::string::npos) return true;
    refuse(at, "the command before the `%` is missing");
    return false;
  }

  void add_notices(std::size_t at, const crontab_entry& entry) {
    if (entry.stdin_text)
      notice(at + unescaped_percent(entry.written),
             "the text after this `%` is the standard input of the command; each further `%` is a newline",
             "write `\\%` for a percent sign");
    if (read_crontab_command(entry.written).joined_backslashes)
      notice(at + entry.written.find("\\\\"), "`\\\\` becomes `\\`, as with Debian's cron (cronie keeps both)");
    if (entry.written.size() > most_debian_bytes)
      notice(at, "the command has more than 998 bytes; it is imported anyway (Debian's cron refuses it)");
    if (!options_.user_column && (entry.written.substr(0, 5) == "root " || entry.written.substr(0, 5) == "root\t"))
      notice(at, "the command begins with `root`", "if the file has a user column, as /etc/crontab does, use --user-column");
  }

  static std::size_t unescaped_percent(std::string_view written) {
    std::size_t at = 0;
    while (at < written.size() && written[at] != '%') at += written[at] == '\\' ? 2 : 1;
    return at;
  }

  std::optional<std::string> value_of(std::string_view name) const {
    for (const auto& one : environment_)
      if (one.name == name) return one.value;
    return std::nullopt;
  }

  const std::string& file_;
  const crontab_options& options_;
  crontab out_;
  int number_ = 0;
  std::string_view line_;
  std::string zone_;
  std::int64_t delay_ms_ = 0;
  std::vector<crontab_variable> environment_;
  std::vector<std::string> comments_;  // the lines directly above the current line
  // Settings that were refused, with their lines. An entry below such a setting would run at other
  // times or by another program.
  std::map<std::string, int> broken_;
  bool told_of_returns_ = false;
  bool told_of_mail_ = false;
};

}  // namespace

crontab read_crontab(const std::string& file, std::string_view text, const crontab_options& options) {
  return crontab_reader{file, options}.read(text);
}

}  // namespace fairlead::app
