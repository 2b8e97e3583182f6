#include "app/console/history.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "app/process/write_all.hpp"

namespace fairlead::app {

namespace {

/// The file is rewritten once it has twice as many lines as the console reads.
constexpr std::size_t rewritten_at = 2 * console_history::most_lines;

}  // namespace

std::string console_history::default_path() {
  const char* state = std::getenv("XDG_STATE_HOME");
  // The XDG rules ignore a path that is not absolute.
  if (state != nullptr && *state == '/') return std::string{state} + "/fairlead/console_history";
  const char* home = std::getenv("HOME");
  return home == nullptr || *home != '/' ? "" : std::string{home} + "/.local/state/fairlead/console_history";
}

console_history::console_history(std::string path) : path_(std::move(path)) {
  if (path_.empty()) return;
  std::error_code failed;
  const auto folder = std::filesystem::path{path_}.parent_path();
  if (!std::filesystem::exists(folder, failed)) {
    std::filesystem::create_directories(folder, failed);
    if (!failed) std::filesystem::permissions(folder, std::filesystem::perms::owner_all, failed);
  }
  load();
}

void console_history::load() {
  std::ifstream file{path_, std::ios::binary};
  if (!file && errno != ENOENT) {
    trouble_ = "The history in " + path_ + " cannot be read: " + std::strerror(errno);
    path_.clear();
    return;
  }
  for (std::string line; std::getline(file, line);)
    if (!line.empty()) lines_.push_back(line);
  if (lines_.size() <= most_lines) return;
  const bool rewritten = lines_.size() >= rewritten_at;
  lines_.erase(lines_.begin(), lines_.end() - most_lines);
  if (rewritten) rewrite();
}

/// Writes a new file and renames it over the old one. If the console is killed meanwhile, one
/// complete file remains.
void console_history::rewrite() {
  const auto fresh = path_ + "." + std::to_string(::getpid());
  const int fd = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return;  // harmless: the old file is only longer than needed
  std::string text;
  for (const auto& line : lines_) text += line + "\n";
  const bool written = write_all(fd, text);
  ::close(fd);
  if (!written || std::rename(fresh.c_str(), path_.c_str()) != 0) ::unlink(fresh.c_str());
}

bool console_history::add(const std::string& line) {
  if (line.find_first_not_of(" \t") != 0 || (!lines_.empty() && lines_.back() == line)) return false;
  lines_.push_back(line);
  if (path_.empty()) return true;
  // Each line is appended at once. Consoles that run at the same time do not overwrite each other's
  // lines, and a killed console loses none.
  const int fd = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0 || !write_all(fd, line + "\n")) {
    trouble_ = "The history in " + path_ + " cannot be written: " + std::strerror(errno);
    path_.clear();
  }
  if (fd >= 0) ::close(fd);
  return true;
}

}  // namespace fairlead::app
