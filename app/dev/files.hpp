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

/// Folders (their *.yaml and *.yml, without those below) and single files. Watches folders rather than files, because editors put a new file in
/// the place of the old one.
class watched_files {
 public:
  struct change {
    std::string path;
    bool gone = false;
    std::string text;  // when it is not gone
  };

  /// Errors (not_found, invalid_argument): what is none of both, or cannot be watched.
  static result<std::unique_ptr<watched_files>> open(const std::vector<std::string>& paths);
  ~watched_files();
  watched_files(const watched_files&) = delete;
  watched_files& operator=(const watched_files&) = delete;

  /// Readable when something may have changed.
  int descriptor() const noexcept { return notify_; }
  /// Takes what has been told. To be followed by `look`.
  void drain();
  /// What differs from the look before, by path; at first everything. Files that cannot be read now are looked at again the next time.
  std::vector<change> look();

 private:
  watched_files() = default;
  status watch(const std::string& folder);
  std::set<std::string> present() const;

  int notify_ = -1;
  std::set<std::string> folders_;  // taken whole
  std::set<std::string> files_;    // named one by one
  std::map<std::string, std::string> known_;
};

}  // namespace fairlead::app
