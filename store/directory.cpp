#include "store/directory.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>

namespace fairlead::store {

namespace {

error refused_by_system(const std::string& what, int code) {
  const bool rights = code == EACCES || code == EPERM || code == EROFS;
  return {v1::ERROR_CODE_DISK, what + ": " + std::strerror(code) + ".",
          rights ? "Give this user write permission there, or use another directory." : "Check the disk, or use another directory."};
}

/// `shard-7`.
bool is_shard(const std::string& name) {
  constexpr std::string_view prefix = "shard-";
  return name.starts_with(prefix) && name.size() > prefix.size() &&
         name.find_first_not_of("0123456789", prefix.size()) == std::string::npos;
}

/// Also of a name that ends in a slash.
std::string parent_of(std::string directory) {
  while (directory.size() > 1 && directory.back() == '/') directory.pop_back();
  const auto parent = std::filesystem::path(directory).parent_path().string();
  return parent.empty() ? "." : parent;
}

/// `sync` is fsync for the names alone, or syncfs for all below them, too.
status make_durable(const std::string& directory, int (*sync)(int)) {
  const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return refused_by_system("The directory " + directory + " cannot be opened", errno);
  const int failed = sync(fd) != 0 ? errno : 0;
  ::close(fd);
  if (failed != 0) return refused_by_system("The directory " + directory + " cannot be written to disk", failed);
  return nothing{};
}

// Behind the pid of a holder that only reads.
constexpr char reads[] = " reads";

struct holder {
  std::string name = "another process";
  bool only_reads = false;
};

holder holder_of(int fd) {
  char text[32] = {};
  const auto size = ::pread(fd, text, sizeof text - 1, 0);
  long pid = 0;
  if (size <= 0) return {};
  const auto [rest, failed] = std::from_chars(text, text + size, pid);
  if (failed != std::errc{}) return {};
  const auto number = std::to_string(pid);
  return {pid == ::getpid() ? "this process (pid " + number + ")" : "process " + number, std::string_view{rest}.starts_with(reads)};
}

}  // namespace

std::vector<std::string> stores_in(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code failed;
  if (fs::exists(path + "/data.mdb", failed)) return {path};
  std::vector<std::string> out;
  for (fs::directory_iterator it{path, failed}, end; !failed && it != end; it.increment(failed)) {
    // What a restore that was cut short left, or what an operator has put aside, is no store of the node.
    if (is_shard(it->path().filename().string()) && fs::exists(it->path() / "data.mdb")) out.push_back(it->path().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

error no_store(const std::string& directory) {
  std::string folders;
  for (const auto& one : stores_in(directory)) folders += (folders.empty() ? "" : ", ") + one;
  return {v1::ERROR_CODE_NOT_FOUND, "There is no store in " + directory + ".",
          folders.empty() ? "Give the directory that store.path in the node file has."
                          : "It has the stores of several shards. Give one of these: " + folders + "."};
}

status prepare_directory(const std::string& directory, bool read_only) {
  if (directory.empty())
    return error{v1::ERROR_CODE_INVALID_ARGUMENT, "No directory is given for the store.", "Set store.path in the node file."};
  struct stat found {};
  if (::stat(directory.c_str(), &found) == 0) {
    if (S_ISDIR(found.st_mode)) {
      // A read-only opening leaves nothing behind if there is no store, not even a lock.
      if (read_only) return ::stat((directory + "/data.mdb").c_str(), &found) != 0 ? status(no_store(directory)) : status(nothing{});
      // The process that made the directory may have ended before its name was durable. If the parent is not readable, somebody else has
      // made it.
      const auto parent = parent_of(directory);
      return ::access(parent.c_str(), R_OK) == 0 ? sync_directory(parent) : status(nothing{});
    }
    return error{v1::ERROR_CODE_INVALID_ARGUMENT, directory + " is not a directory.", "Use another path."};
  }
  if (errno != ENOENT) return refused_by_system("The directory " + directory + " cannot be reached", errno);
  if (read_only) return no_store(directory);
  if (::mkdir(directory.c_str(), 0750) != 0) {
    if (errno == ENOENT) {
      const auto parent = parent_of(directory);
      return error{v1::ERROR_CODE_NOT_FOUND, "The directory " + directory + " cannot be created: " + parent + " does not exist.",
                   "Create it (mkdir -p " + parent + ") or correct the path."};
    }
    return refused_by_system("The directory " + directory + " cannot be created", errno);
  }
  return sync_directory(parent_of(directory));
}

status sync_directory(const std::string& directory) { return make_durable(directory, ::fsync); }

status publish_directory(const std::string& part, const std::string& to) {
  if (auto synced = make_durable(part, ::syncfs); !synced) return synced;
  // rename(2) takes the place of an empty directory only.
  if (::rename(part.c_str(), to.c_str()) != 0) return refused_by_system("The directory " + part + " cannot become " + to, errno);
  return sync_directory(parent_of(to));
}

result<directory_lock> directory_lock::take(const std::string& directory, bool read_only) {
  const auto path = directory + "/lock";
  int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640);
  if (fd < 0 && read_only) {
    // Where nothing can be written no node can run; an existing lock file is still respected.
    fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return directory_lock{-1};
  }
  if (fd < 0) return refused_by_system("The directory " + directory + " cannot be written", errno);
  directory_lock held{fd};
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return refused_by_system("The directory " + directory + " cannot be locked", errno);
    const auto who = holder_of(fd);
    return error{v1::ERROR_CODE_STORE_IN_USE,
                 "The directory " + directory + " is in use by " + who.name + (who.only_reads ? ", which only reads it." : "."),
                 who.only_reads ? "Wait until that process has ended." : "Stop that process first, or use another directory."};
  }
  // Only for the sentence above: the system knows whether the lock is held, so a file left by a dead process does no harm.
  const auto pid = std::to_string(::getpid()) + (read_only ? reads : "") + "\n";
  if (::ftruncate(fd, 0) == 0 && ::pwrite(fd, pid.data(), pid.size(), 0) < 0 && !read_only) {
    return refused_by_system("The directory " + directory + " cannot be written", errno);
  }
  return held;
}

bool directory_lock::is_taken_to_read(const std::string& directory) {
  const int fd = ::open((directory + "/lock").c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const auto who = holder_of(fd);
  ::close(fd);
  return who.only_reads;
}

directory_lock::directory_lock(directory_lock&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }

directory_lock::~directory_lock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace fairlead::store
