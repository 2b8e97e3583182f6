#include "actors/agents/secrets/file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>

#include "actors/agents/secrets/memory.hpp"

namespace fairlead::agents {

namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
/// Longer than a tick of any file system's clock.
constexpr std::int64_t settling_ns = second_ns / 5;

std::int64_t in_ns(const timespec& time) { return std::int64_t{time.tv_sec} * second_ns + time.tv_nsec; }

secret_file_mark mark_of(const struct stat& about) {
  secret_file_mark out;
  out.device = about.st_dev;
  out.inode = about.st_ino;
  out.size = about.st_size;
  out.modified_ns = in_ns(about.st_mtim);
  out.changed_ns = in_ns(about.st_ctim);
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const auto age = in_ns(now) - out.changed_ns;
  out.settled = age > settling_ns || age < 0;
  return out;
}

struct descriptor {
  int number;
  ~descriptor() {
    if (number >= 0) ::close(number);
  }
};

}  // namespace

status check_secret_value(std::string_view value) {
  if (value.empty()) return invalid("the secret is empty", "give it a value");
  if (value.size() > most_secret_bytes)
    return invalid("the secret is longer than 64KiB", "store long data elsewhere, and use only its key as the secret");
  if (value.find('\0') != std::string_view::npos)
    return invalid("the secret has a byte with the value 0, which headers and environment variables cannot have",
                   "encode the secret, for example in base64");
  if (value.size() < least_secret_bytes)
    return invalid("the secret is shorter than 4 bytes: it would be hidden wherever these few characters occur in outputs",
                   "use a longer secret");
  return nothing{};
}

bool secret_file_changed(const std::string& path, const secret_file_mark& mark) {
  struct stat about {};
  return !mark.settled || ::stat(path.c_str(), &about) != 0 || !(mark_of(about) == mark);
}

result<std::string> read_private_file(const std::string& path, std::size_t most_bytes, secret_file_mark& mark) {
  mark = {};
  // Not blocking: a pipe without a writer would block the node.
  const descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.number < 0)
    return invalid("the file " + path + " cannot be read: " + std::strerror(errno), "give the node's user read permission");
  struct stat about {};
  if (::fstat(file.number, &about) != 0 || !S_ISREG(about.st_mode))
    return invalid(path + " is not a regular file", "give the path of a file");
  mark = mark_of(about);
  if ((about.st_mode & 07U) != 0) return invalid("the file " + path + " can be used by every user of this machine", "chmod o= " + path);
  const auto too_large = invalid("the file " + path + " has more than " + std::to_string(most_bytes) + " bytes", "give another file");
  if (static_cast<std::uint64_t>(about.st_size) > most_bytes) return too_large;
  std::string out(most_bytes + 1, '\0');
  std::size_t held = 0;
  while (held < out.size()) {
    const auto got = ::read(file.number, out.data() + held, out.size() - held);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      const auto why = errno;
      wipe(out);
      return invalid("the file " + path + " cannot be read: " + std::strerror(why), "check the disk");
    }
    if (got == 0) break;
    held += static_cast<std::size_t>(got);
  }
  // A string of exact size: shortening would leave the spare capacity to be copied around.
  std::string content(out, 0, held);
  wipe(out);
  if (held > most_bytes) {
    wipe(content);
    return too_large;
  }
  return content;
}

result<std::string> read_secret_file(const std::string& path, secret_file_mark& mark) {
  // With a newline.
  auto content = read_private_file(path, most_secret_bytes + 2, mark);
  if (!content) return content.failure();
  auto held = content->size();
  if (held > 0 && (*content)[held - 1] == '\n') --held;
  if (held > 0 && (*content)[held - 1] == '\r') --held;
  const auto checked = check_secret_value({content->data(), held});
  if (!checked.ok()) {
    wipe(*content);
    auto why = checked.failure();
    if (held == 0) why.sentence = "the file " + path + " is empty";
    return why;
  }
  std::string value(*content, 0, held);
  wipe(*content);
  return value;
}

}  // namespace fairlead::agents
