// How cron splits settings and commands, byte for byte.

#include "app/crontab/file.hpp"

namespace fairlead::app {

namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace

std::optional<crontab_variable> read_crontab_variable(std::string_view line) {
  crontab_variable out;
  std::size_t at = 0;
  const auto skip_spaces = [&] {
    while (at < line.size() && is_space(line[at])) ++at;
  };
  // Takes the text up to the closing quote and skips the quote. False: the closing quote is
  // missing.
  const auto take_quoted = [&](std::string& to) {
    const auto end = line.find(line[at], at + 1);
    if (end == std::string_view::npos) return false;
    to = line.substr(at + 1, end - at - 1);
    at = end + 1;
    return true;
  };
  const auto at_quote = [&] { return at < line.size() && (line[at] == '\'' || line[at] == '"'); };

  if (at_quote()) {
    if (!take_quoted(out.name) || out.name.find('=') != std::string::npos) return std::nullopt;
  } else {
    while (at < line.size() && line[at] != '=' && !is_space(line[at])) out.name += line[at++];
  }
  skip_spaces();
  if (at >= line.size() || line[at] != '=') return std::nullopt;
  ++at;
  skip_spaces();
  if (at_quote()) {
    if (!take_quoted(out.value)) return std::nullopt;
    skip_spaces();
    if (at != line.size()) return std::nullopt;
    return out;
  }
  out.value = line.substr(at);
  while (!out.value.empty() && is_space(out.value.back())) out.value.pop_back();
  return out;
}

crontab_command read_crontab_command(std::string_view written) {
  crontab_command out;
  std::size_t at = 0;
  for (; at < written.size() && written[at] != '%'; ++at) {
    const char next = at + 1 < written.size() ? written[at + 1] : '\0';
    if (written[at] != '\\' || next == '\0') {
      out.command += written[at];
      continue;
    }
    // Cron removes the backslash only before `%` and `\`. The shell interprets other backslashes.
    if (next != '%' && next != '\\') out.command += '\\';
    out.joined_backslashes = out.joined_backslashes || next == '\\';
    out.command += next;
    ++at;
  }
  if (at == written.size()) return out;
  auto& input = out.stdin_text.emplace();
  for (++at; at < written.size(); ++at) {
    if (written[at] == '%') {
      // In the input, unlike in the command, `\\` stays, and its second backslash still escapes the
      // next character.
      if (!input.empty() && written[at - 1] == '\\') {
        input.back() = '%';
      } else {
        input += '\n';
      }
    } else {
      input += written[at];
    }
  }
  if (!input.empty() && input.back() != '\n') input += '\n';
  return out;
}

}  // namespace fairlead::app
