#include "store/journal/disk_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>
#include <utility>

namespace fairlead::store {

namespace {

constexpr std::size_t zeros_at_a_time = std::size_t{1} << 20;
constexpr auto pause_between_zeros = std::chrono::milliseconds{20};  // 50 MiB/s
constexpr std::uint64_t synced_at_a_time = std::uint64_t{16} << 20;
constexpr std::uint64_t most_left_to_tables = std::uint64_t{16} << 20;  // of the disk, behind a new file

error file_error(const std::string& path, const char* doing, int code) {
  const auto sentence = "The journal's file " + path + " could not be " + doing + ": " + std::strerror(code) + ".";
  if (code == EACCES || code == EPERM || code == EROFS)
    return {v1::ERROR_CODE_DISK, sentence, "Give this user write permission there, or use another directory."};
  if (code == ENOSPC || code == EDQUOT) return {v1::ERROR_CODE_STORE_FULL, sentence, "Make room on the disk and start the node again."};
  return {v1::ERROR_CODE_DISK, sentence, "Check the disk and the system's log; start the node again."};
}

/// 0, or an errno. A write that stops half way is an error of the disk.
int write_all(int fd, std::uint64_t offset, const char* data, std::size_t bytes) {
  while (bytes > 0) {
    const auto done = ::pwrite(fd, data, bytes, static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno;
    if (done == 0 || static_cast<std::size_t>(done) % journal_block_bytes != 0) return EIO;
    data += done;
    offset += static_cast<std::uint64_t>(done);
    bytes -= static_cast<std::size_t>(done);
  }
  return 0;
}

class disk_file final : public block_file {
 public:
  /// Of a file that is only read `direct` is true: there is nothing to make durable.
  disk_file(std::string path, int fd, std::uint64_t bytes, bool direct) : path_(std::move(path)), fd_(fd), bytes_(bytes), direct_(direct) {}
  ~disk_file() override { ::close(fd_); }
  disk_file(const disk_file&) = delete;

  std::uint64_t size() const override { return bytes_; }

  status write(std::uint64_t offset, const char* data, std::size_t bytes) override {
    if (const int failed = write_all(fd_, offset, data, bytes); failed != 0) return file_error(path_, "written", failed);
    if (!direct_ && ::fdatasync(fd_) != 0) return file_error(path_, "written", errno);
    return nothing{};
  }

  status read(std::uint64_t offset, char* data, std::size_t bytes) const override {
    while (bytes > 0) {
      const auto done = ::pread(fd_, data, bytes, static_cast<off_t>(offset));
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) return file_error(path_, "read", done < 0 ? errno : EIO);
      data += done;
      offset += static_cast<std::uint64_t>(done);
      bytes -= static_cast<std::size_t>(done);
    }
    return nothing{};
  }

  // The page cache may show what the disk never took: Rebello et al., "Can Applications Recover from fsync Failures?", USENIX ATC 2020. So
  // without direct reads the blocks are written once more.
  status settle(std::uint64_t end) override {
    block_buffer buffer(direct_ ? 0 : zeros_at_a_time);
    for (std::uint64_t at = 0; !direct_ && at < end; at += buffer.size()) {
      const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), end - at));
      if (auto got = read(at, buffer.data(), bytes); !got) return got;
      if (const int failed = write_all(fd_, at, buffer.data(), bytes); failed != 0) return file_error(path_, "written", failed);
    }
    if (::fdatasync(fd_) != 0) return file_error(path_, "written", errno);
    return nothing{};
  }

 private:
  std::string path_;
  int fd_;
  std::uint64_t bytes_;
  bool direct_;
};

}  // namespace

result<std::unique_ptr<disk_files>> disk_files::in(const std::string& directory, access how) {
  const bool read_only = how != access::write;
  struct stat found {};
  if (read_only && ::stat(directory.c_str(), &found) != 0) {
    if (errno != ENOENT) return file_error(directory, "reached", errno);
    return error{v1::ERROR_CODE_NOT_FOUND, "There is no journal in " + directory + ".", {}};
  }
  if (!read_only) {
    if (auto ready = prepare_directory(directory, false); !ready) return ready.failure();
  }
  std::optional<directory_lock> lock;
  if (how != access::read_while_written) {
    auto taken = directory_lock::take(directory, read_only);
    if (!taken) return taken.failure();
    lock.emplace(std::move(*taken));
  }
  std::unique_ptr<disk_files> out(new disk_files(directory, std::move(lock), read_only));
  if (!read_only) {
    if (auto probed = out->probe(); !probed) return probed.failure();
  }
  return out;
}

/// Finds out whether the file system has direct writes: tmpfs, for example, has none.
status disk_files::probe() {
  const auto path = at("probe.tmp");
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_DIRECT | O_DSYNC, 0640);
  if (fd < 0 && errno != EINVAL) return file_error(path, "created", errno);
  if (fd >= 0) {
    block_buffer zeros(journal_block_bytes);
    std::memset(zeros.data(), 0, zeros.size());
    const int failed = write_all(fd, 0, zeros.data(), zeros.size());
    ::close(fd);
    // A full disk is no reason to refuse a journal that has its files.
    if (failed != 0 && failed != EINVAL && failed != ENOSPC) {
      (void)::unlink(path.c_str());
      return file_error(path, "written", failed);
    }
    direct_ = failed != EINVAL;
  }
  (void)::unlink(path.c_str());
  return nothing{};
}

result<std::vector<std::string>> disk_files::list() const {
  auto* directory = ::opendir(path_.c_str());
  if (directory == nullptr) return file_error(path_, "read", errno);
  std::vector<std::string> out;
  errno = 0;
  while (const auto* entry = ::readdir(directory)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") out.push_back(name);
    errno = 0;
  }
  const int failed = errno;
  ::closedir(directory);
  if (failed != 0) return file_error(path_, "read", failed);
  return out;
}

result<std::unique_ptr<block_file>> disk_files::open(const std::string& name) {
  const int flags = read_only_ ? O_RDONLY : direct_ ? O_RDWR | O_DIRECT | O_DSYNC : O_RDWR;
  const int fd = ::open(at(name).c_str(), flags | O_CLOEXEC);
  if (fd < 0) return file_error(at(name), "opened", errno);
  struct stat found {};
  if (::fstat(fd, &found) != 0) {
    const int failed = errno;
    ::close(fd);
    return file_error(at(name), "read", failed);
  }
  return std::unique_ptr<block_file>(
      std::make_unique<disk_file>(at(name), fd, static_cast<std::uint64_t>(found.st_size), direct_ || read_only_));
}

status disk_files::create(const std::string& name, std::uint64_t bytes, const std::function<making_pace()>& pace) {
  // A file that fills the disk and is removed again would take the last room from the tables for a while. If somebody waits for the file, it
  // goes before them.
  auto how = pace();
  struct statvfs room {};
  const auto needed = bytes + (how == making_pace::at_once ? 0 : std::min(bytes / 4, most_left_to_tables));
  if (::statvfs(path_.c_str(), &room) == 0 && room.f_bavail * room.f_frsize < needed) return file_error(at(name), "created", ENOSPC);
  const int fd = ::open(at(name).c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | (direct_ ? O_DIRECT : 0), 0640);
  if (fd < 0) return file_error(at(name), "created", errno);
  block_buffer zeros(zeros_at_a_time);
  std::memset(zeros.data(), 0, zeros.size());
  int failed = 0;
  for (std::uint64_t done = 0; failed == 0 && done < bytes && (how = pace()) != making_pace::stop;) {
    const auto now = static_cast<std::size_t>(std::min<std::uint64_t>(zeros.size(), bytes - done));
    failed = write_all(fd, done, zeros.data(), now);
    done += now;
    // By and by, so that the last sync is no long one: that would look like a disk that hangs.
    if (failed == 0 && done % synced_at_a_time == 0 && ::fdatasync(fd) != 0) failed = errno;
    if (done < bytes && how == making_pace::spread) std::this_thread::sleep_for(pause_between_zeros);
  }
  const bool stopped = how == making_pace::stop;
  if (failed == 0 && !stopped && ::fsync(fd) != 0) failed = errno;
  ::close(fd);
  if (failed == 0 && !stopped) return nothing{};
  (void)::unlink(at(name).c_str());  // what was written of it takes room
  if (stopped) return not_completed(at(name));
  return file_error(at(name), "created", failed);
}

status disk_files::rename(const std::string& from, const std::string& to) {
  if (::rename(at(from).c_str(), at(to).c_str()) != 0) return file_error(at(from), "renamed", errno);
  return nothing{};
}

status disk_files::remove(const std::string& name) {
  if (::unlink(at(name).c_str()) != 0) return file_error(at(name), "removed", errno);
  return nothing{};
}

status disk_files::sync() { return sync_directory(path_); }

}  // namespace fairlead::store
