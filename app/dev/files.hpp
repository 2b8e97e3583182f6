#pragma once
// The workflow files that `fairlead dev` watches.

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "messages/error.hpp"

namespace fairlead::app {

/// Folders (their *.yaml and *.yml, without subfolders) and single files. The watch is on folders
/// rather than files, because editors replace a file by a new one.
class watched_files {
 public:
  struct change {
    std::string path;
    bool gone = false;
    std::string text;  // empty if the file is gone
  };

  /// Errors (not_found, invalid_argument): a path that is neither file nor folder, or cannot be
  /// watched.
  static result<std::unique_ptr<watched_files>> open(const std::vector<std::string>& paths);
  ~watched_files();
  watched_files(const watched_files&) = delete;
  watched_files& operator=(const watched_files&) = delete;

  /// Readable when something may have changed.
  int descriptor() const noexcept { return notify_; }
  /// Discards the pending events. Call `look` afterwards.
  void drain();
  /// The changes since the last look, by path; the first look returns every file. A file that
  /// cannot be read is tried again at the next look.
  std::vector<change> look();

 private:
  watched_files() = default;
  status watch(const std::string& folder);
  std::set<std::string> present() const;

  int notify_ = -1;
  std::set<std::string> folders_;  // all their workflow files are watched
  std::set<std::string> files_;    // single files
  std::map<std::string, std::string> known_;
};

}  // namespace fairlead::app
