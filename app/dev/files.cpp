#include "app/dev/files.hpp"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "app/yaml/document.hpp"

namespace fairlead::app {

namespace {

namespace fs = std::filesystem;

bool is_workflow_name(const fs::path& path) {
  const auto name = path.filename().string();
  return !name.empty() && name.front() != '.' && (path.extension() == ".yaml" || path.extension() == ".yml");
}

}  // namespace

result<std::unique_ptr<watched_files>> watched_files::open(const std::vector<std::string>& paths) {
  std::unique_ptr<watched_files> out{new watched_files};
  out->notify_ = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (out->notify_ < 0)
    return error{v1::ERROR_CODE_UNAVAILABLE, std::string{"files cannot be watched: "} + std::strerror(errno),
                 "see fs.inotify.max_user_instances"};
  for (const auto& path : paths) {
    std::error_code ignored;
    const auto kind = fs::status(path, ignored).type();
    if (kind == fs::file_type::directory) {
      out->folders_.insert(path);
      if (auto watched = out->watch(path); !watched.ok()) return watched.failure();
    } else if (kind == fs::file_type::regular) {
      out->files_.insert(path);
      const auto folder = fs::path{path}.parent_path();
      if (auto watched = out->watch(folder.empty() ? "." : folder.string()); !watched.ok()) return watched.failure();
    } else {
      return error{v1::ERROR_CODE_NOT_FOUND, path + " is neither a folder nor a file",
                   "give workflow files, or a folder with workflow files"};
    }
  }
  return out;
}

watched_files::~watched_files() {
  if (notify_ >= 0) ::close(notify_);
}

status watched_files::watch(const std::string& folder) {
  constexpr std::uint32_t events = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ATTRIB | IN_ONLYDIR;
  if (::inotify_add_watch(notify_, folder.c_str(), events) >= 0) return nothing{};
  return error{v1::ERROR_CODE_UNAVAILABLE, "the folder " + folder + " cannot be watched: " + std::strerror(errno),
               "see its permissions, and fs.inotify.max_user_watches"};
}

void watched_files::drain() {
  // The events are dropped. look() finds the changes itself, so an overflow of the event queue
  // loses nothing.
  alignas(inotify_event) std::array<char, 4096> told{};
  while (::read(notify_, told.data(), told.size()) > 0) continue;
}

std::set<std::string> watched_files::present() const {
  std::set<std::string> out;
  std::error_code failed;
  for (const auto& folder : folders_)
    for (fs::directory_iterator at{folder, failed}, end; !failed && at != end; at.increment(failed)) {
      std::error_code ignored;
      if (is_workflow_name(at->path()) && at->is_regular_file(ignored)) out.insert(at->path().string());
    }
  for (const auto& file : files_)
    if (fs::is_regular_file(file, failed)) out.insert(file);
  return out;
}

std::vector<watched_files::change> watched_files::look() {
  std::vector<change> out;
  const auto now = present();
  for (auto it = known_.begin(); it != known_.end();) {
    if (now.count(it->first) != 0) {
      ++it;
      continue;
    }
    out.push_back({it->first, true, {}});
    it = known_.erase(it);
  }
  for (const auto& path : now) {
    std::vector<problem> unreadable;
    auto text = read_text_file(path, unreadable);
    if (!text) continue;
    const auto found = known_.find(path);
    if (found != known_.end() && found->second == *text) continue;
    known_[path] = *text;
    out.push_back({path, false, std::move(*text)});
  }
  return out;
}

}  // namespace fairlead::app
