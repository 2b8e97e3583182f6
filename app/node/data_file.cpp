#include "app/node/data_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "app/process/write_all.hpp"
#include "store/directory.hpp"

namespace fairlead::app {

namespace {

status sync_folder_of(const std::string& path) { return store::sync_directory(std::filesystem::path(path).parent_path().string()); }

}  // namespace

error data_file_error(const std::string& what, int code) {
  return {v1::ERROR_CODE_DISK, what + ": " + std::strerror(code), "Check the disk and the permissions, or set node.data to another folder"};
}

result<std::optional<std::string>> read_data_file(const std::string& path, std::size_t most_bytes) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    if (errno == ENOENT) return std::optional<std::string>{};
    return data_file_error("cannot open " + path, errno);
  }
  struct stat found {};
  const auto length = ::fstat(fd, &found) == 0 ? static_cast<std::size_t>(found.st_size) : most_bytes;
  std::string text(std::min(length, most_bytes) + 1, '\0');
  std::size_t size = 0;
  ssize_t n = 0;
  int failed = 0;
  while (size < text.size() && (n = ::read(fd, text.data() + size, text.size() - size)) != 0) {
    if (n > 0) {
      size += static_cast<std::size_t>(n);
    } else if (errno != EINTR) {
      failed = errno;
      break;
    }
  }
  ::close(fd);
  if (failed != 0) return data_file_error("cannot read " + path, failed);
  text.resize(size);
  return std::optional(std::move(text));
}

status replace_data_file(const std::string& path, const std::string& text) {
  const auto fresh = path + ".new";
  const int fd = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
  if (fd < 0) return data_file_error("cannot write " + fresh, errno);
  int failed = write_all(fd, text) && ::fsync(fd) == 0 ? 0 : errno;
  ::close(fd);
  if (failed == 0 && ::rename(fresh.c_str(), path.c_str()) != 0) failed = errno;
  if (failed != 0) return data_file_error("cannot write " + path, failed);
  return sync_folder_of(path);
}

status remove_data_file(const std::string& path) {
  if (::unlink(path.c_str()) == 0) return sync_folder_of(path);
  return errno == ENOENT ? status(nothing{}) : data_file_error("cannot remove " + path, errno);
}

}  // namespace fairlead::app
