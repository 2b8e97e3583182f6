#include "store/disk/set_aside.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "store/directory.hpp"
#include "store/journal/recovery.hpp"

namespace fairlead::store {

namespace {

namespace fs = std::filesystem;

// Of docs/operations.md, The store directory.
constexpr const char* names_in_store[] = {"archive", "incoming", "outgoing", "working", "lock.mdb", "data.mdb"};

error refused_by_system(const std::string& sentence, const std::error_code& why) {
  return {v1::ERROR_CODE_DISK, sentence + ": " + why.message() + ".", "Check the disk and the permissions there."};
}

result<std::vector<found_part>> all_of(const std::vector<std::string>& paths) {
  std::vector<found_part> out;
  for (const auto& path : paths) {
    auto found = find_part(path);
    if (!found) return found.failure();
    if (*found) out.push_back(std::move(**found));
  }
  return out;
}

}  // namespace

result<std::optional<found_part>> find_part(const std::string& path) {
  struct statx found {};
  if (::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_INO | STATX_BTIME, &found) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::optional<found_part>{};
    return refused_by_system(path + " cannot be looked at", {errno, std::generic_category()});
  }
  const bool knows_birth = (found.stx_mask & STATX_BTIME) != 0;
  return std::optional(found_part{path, found.stx_ino, knows_birth ? found.stx_btime.tv_sec * 1'000'000'000 + found.stx_btime.tv_nsec : 0});
}

result<std::vector<found_part>> parts_of_store(const std::string& directory) {
  std::vector<std::string> paths;
  for (const auto* name : names_in_store) paths.push_back(directory + "/" + name);
  return all_of(paths);
}

result<std::vector<found_part>> parts_of_journal(const std::string& journal) {
  std::vector<std::string> paths;
  std::error_code failed;
  if (!fs::exists(journal, failed) && !failed) return std::vector<found_part>{};
  for (fs::directory_iterator it(journal, failed), end; !failed && it != end; it.increment(failed))
    if (segment_number(it->path().filename().string())) paths.push_back(it->path().string());
  if (failed) return refused_by_system("The journal " + journal + " cannot be read", failed);
  std::sort(paths.begin(), paths.end());
  return all_of(paths);
}

status set_aside(const found_part& what) {
  const auto now = find_part(what.path);
  if (!now) return now.failure();
  if (*now != what) return nothing{};
  const fs::path from(what.path);
  const auto directory = from.parent_path().string();
  const auto folder = set_aside_in(directory);
  if (auto made = prepare_directory(folder, false); !made) return made;
  // What was left there under this name stays.
  auto to = (fs::path(folder) / from.filename()).string();
  std::error_code failed;
  for (int n = 2; fs::exists(fs::symlink_status(to, failed)); ++n)
    to = (fs::path(folder) / from.filename()).string() + "." + std::to_string(n);
  fs::rename(from, to, failed);
  if (failed) return refused_by_system(what.path + " cannot be set aside", failed);
  if (auto synced = sync_directory(folder); !synced) return synced;
  return sync_directory(directory);
}

std::optional<fs::file_time_type> last_set_aside(const std::string& directory) {
  std::error_code failed;
  const auto at = fs::last_write_time(set_aside_in(directory), failed);
  return failed ? std::nullopt : std::optional{at};
}

status forget_set_aside(const std::string& directory) {
  std::error_code failed;
  fs::remove_all(set_aside_in(directory), failed);
  if (failed) return refused_by_system("What was set aside in " + directory + " cannot be removed", failed);
  return nothing{};
}

}  // namespace fairlead::store
