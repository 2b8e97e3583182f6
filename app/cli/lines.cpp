#include "app/cli/lines.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

namespace fairlead::app {

namespace {

constexpr int look_every_ms = 100;
constexpr std::size_t read_bytes = 65'536;

}  // namespace

result<line_reader> line_reader::open(const std::string& path) {
  if (path == "-") return line_reader{STDIN_FILENO};
  auto refused = [&](const std::string& why) {
    return error{v1::ERROR_CODE_INVALID_ARGUMENT, "The file " + path + " cannot be read: " + why,
                 "Name a readable file, or - for standard input"};
  };
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return refused(std::strerror(errno));
  line_reader out{fd};
  struct stat about {};
  if (::fstat(fd, &about) == 0 && S_ISDIR(about.st_mode)) return refused("it is a directory");
  return out;
}

line_reader::line_reader(line_reader&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), buffer_(std::move(other.buffer_)), begin_(other.begin_), ended_(other.ended_) {}

line_reader::~line_reader() {
  if (fd_ > STDERR_FILENO) ::close(fd_);
}

line_read line_reader::next(std::string& line, const std::function<bool()>& stop) {
  bool too_long = false;
  std::size_t searched = begin_;
  for (;;) {
    auto end = buffer_.find('\n', searched);
    if (end != std::string::npos || (ended_ && begin_ < buffer_.size())) {
      if (end == std::string::npos) end = buffer_.size();
      too_long = too_long || end - begin_ > max_line_bytes;
      line = too_long ? std::string{} : buffer_.substr(begin_, end - begin_);
      begin_ = std::min(end + 1, buffer_.size());
      return too_long ? line_read::too_long : line_read::line;
    }
    if (ended_) return too_long ? line_read::too_long : line_read::end;
    buffer_.erase(0, begin_);
    begin_ = 0;
    if (buffer_.size() > max_line_bytes) {
      too_long = true;
      buffer_.clear();
    }
    searched = buffer_.size();

    pollfd ready{fd_, POLLIN, 0};
    if (::poll(&ready, 1, look_every_ms) <= 0) {
      if (stop()) return line_read::stopped;
      continue;
    }
    std::vector<char> chunk(read_bytes);
    auto got = ::read(fd_, chunk.data(), chunk.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return line_read::failed;
    if (got == 0) ended_ = true;
    buffer_.append(chunk.data(), static_cast<std::size_t>(got));
  }
}

std::uint64_t line_reader::count_lines() const {
  struct stat about {};
  if (::fstat(fd_, &about) != 0 || !S_ISREG(about.st_mode)) return 0;
  std::uint64_t lines = 0;
  bool something = false;
  std::vector<char> chunk(read_bytes);
  for (off_t at = 0;;) {
    auto got = ::pread(fd_, chunk.data(), chunk.size(), at);
    if (got <= 0) break;
    at += got;
    for (ssize_t i = 0; i < got; ++i) {
      const char c = chunk[static_cast<std::size_t>(i)];
      if (c == '\n') {
        lines += something ? 1 : 0;
        something = false;
      } else if (c != ' ' && c != '\t' && c != '\r') {
        something = true;
      }
    }
  }
  return lines + (something ? 1 : 0);
}

}  // namespace fairlead::app
