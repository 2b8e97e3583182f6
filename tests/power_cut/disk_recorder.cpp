// A library for LD_PRELOAD that records what a process does to the files below one folder, so that a test can build the disks that a power
// cut could have left (crash_images.py). The process must not notice: each call has its usual effect and result.
//
//   FAIRLEAD_RECORDED_FOLDER   the folder, as an absolute path without links; it exists
//   FAIRLEAD_RECORDING         the file that the events are appended to; not below the folder
//
// An event, little endian: u32 bytes of all that follows | u8 kind | u8 flags | u64 operation | u64 CLOCK_MONOTONIC in ns | u64 inode |
// u64 offset | u32 bytes of `name` | name | data. The kinds and what they use are in `enum kind`. Writes and syncs give an event before and one
// after (`ended`); names change within one event, under one lock, so the order of events is the order of their effects.
//
// What the recorder does not know it does not let pass: a call below the folder that would change it in another way ends the process.
// LMDB's lock.mdb is left out: it holds nothing beyond the life of its processes.

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>

namespace {

enum class kind : std::uint8_t {
  ended = 0,       // operation; flags: 1 it succeeded
  write = 1,       // inode, offset, data; flags: 1 durable when it has ended
  resize = 2,      // inode, offset: the new size
  sync_file = 3,   // inode
  sync_names = 4,  // inode of a directory
  sync_all = 5,
  create = 6,  // inode, name; flags: 1 a directory
  remove = 7,  // name
  rename = 8,  // name, data: the new name
};

constexpr std::uint8_t tracked = 1;
constexpr std::uint8_t durable = 2;
constexpr std::uint8_t directory = 4;

struct open_file {
  std::atomic<std::uint8_t> flags{0};
  std::atomic<std::uint64_t> inode{0};
};

std::array<open_file, 65'536> files;
std::mutex names_guard;  // one change of names at a time
std::mutex log_guard;
std::atomic<std::uint64_t> operations{0};

template <class Function>
Function next(const char* name) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): what dlsym gives
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

[[noreturn]] void give_up(const std::string& why) {
  const auto text = "disk_recorder: " + why + "\n";
  static const auto write_now = next<ssize_t (*)(int, const void*, std::size_t)>("write");
  (void)!write_now(2, text.data(), text.size());
  ::_exit(98);
}

const std::string& folder() {
  static const std::string out = std::getenv("FAIRLEAD_RECORDED_FOLDER") != nullptr ? std::getenv("FAIRLEAD_RECORDED_FOLDER") : "";
  return out;
}

int log_file() {
  static const int fd = [] {
    const char* path = std::getenv("FAIRLEAD_RECORDING");
    if (path == nullptr || folder().empty()) give_up("FAIRLEAD_RECORDED_FOLDER or FAIRLEAD_RECORDING is not set");
    static const auto open_now = next<int (*)(const char*, int, ...)>("open");
    const int out = open_now(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
    if (out < 0) give_up("the recording cannot be opened");
    return out;
  }();
  return fd;
}

template <class Number>
void add(std::string& to, Number value) {
  for (std::size_t i = 0; i < sizeof value; ++i) to.push_back(static_cast<char>(value >> (8 * i)));
}

/// Returns the number of the operation.
std::uint64_t note(kind what, std::uint8_t flags, std::uint64_t inode, std::uint64_t offset, std::string_view name, std::string_view data,
                   std::uint64_t operation = 0) {
  if (operation == 0) operation = (static_cast<std::uint64_t>(::getpid()) << 32) + ++operations;
  std::string event;
  event.reserve(data.size() + name.size() + 64);
  add(event, std::uint32_t{0});
  event.push_back(static_cast<char>(what));
  event.push_back(static_cast<char>(flags));
  add(event, operation);
  static const auto write_now = next<ssize_t (*)(int, const void*, std::size_t)>("write");
  const int fd = log_file();
  const std::lock_guard lock(log_guard);
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  add(event, static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec));
  add(event, inode);
  add(event, offset);
  add(event, static_cast<std::uint32_t>(name.size()));
  event.append(name).append(data);
  const auto bytes = static_cast<std::uint32_t>(event.size() - 4);
  std::memcpy(event.data(), &bytes, sizeof bytes);
  if (write_now(fd, event.data(), event.size()) != static_cast<ssize_t>(event.size())) give_up("the recording cannot be written");
  return operation;
}

void ended(std::uint64_t operation, bool well) {
  const int kept = errno;
  note(kind::ended, well ? 1 : 0, 0, 0, {}, {}, operation);
  errno = kept;
}

std::string of_descriptor(int fd) {
  std::array<char, 4'096> text{};
  const auto size = ::readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), text.data(), text.size());
  return size < 0 ? std::string{} : std::string(text.data(), static_cast<std::size_t>(size));
}

/// The path below the folder, without it; empty: it is elsewhere or is left out.
std::string below(int at, const char* path) {
  if (folder().empty()) return {};
  std::string whole = path;
  if (path[0] != '/') {
    std::array<char, 4'096> here{};
    whole = (at == AT_FDCWD ? std::string(::getcwd(here.data(), here.size())) : of_descriptor(at)) + "/" + whole;
  }
  while (whole.size() > 1 && whole.back() == '/') whole.pop_back();
  const auto cut = whole.rfind('/');
  const auto name = whole.substr(cut + 1);
  char* parent = ::realpath(cut == 0 ? "/" : whole.substr(0, cut).c_str(), nullptr);
  if (parent == nullptr) return {};
  whole = std::string(parent) + "/" + name;
  std::free(parent);  // NOLINT(cppcoreguidelines-no-malloc): realpath's own
  if (!whole.starts_with(folder() + "/") || name == "lock.mdb") return {};
  return whole.substr(folder().size() + 1);
}

open_file* tracked_at(int fd) {
  if (fd < 0 || static_cast<std::size_t>(fd) >= files.size()) return nullptr;
  auto& out = files[static_cast<std::size_t>(fd)];
  return (out.flags & tracked) != 0 ? &out : nullptr;
}

void forget(int fd) {
  if (auto* file = tracked_at(fd)) file->flags = 0;
}

template <class Open>
int opened(int at, const char* path, int flags, Open&& open_now) {
  const auto name = below(at, path);
  if (name.empty() && (folder().empty() || folder() != path)) return open_now();
  const std::lock_guard lock(names_guard);
  struct stat before {};
  const bool was_there = ::fstatat(at, path, &before, AT_SYMLINK_NOFOLLOW) == 0;
  const int fd = open_now();
  if (fd < 0) return fd;
  struct stat found {};
  if (::fstat(fd, &found) != 0 || static_cast<std::size_t>(fd) >= files.size()) give_up("a file cannot be followed: " + name);
  auto& file = files[static_cast<std::size_t>(fd)];
  file.inode = found.st_ino;
  std::uint8_t known = tracked;
  if ((flags & (O_DSYNC | O_SYNC)) != 0) known |= durable;
  if (S_ISDIR(found.st_mode)) known |= directory;
  file.flags = known;
  if (!was_there && (flags & O_CREAT) != 0) {
    note(kind::create, 0, found.st_ino, 0, name, {});
  } else if ((flags & O_TRUNC) != 0 && before.st_size != 0) {
    ended(note(kind::resize, 0, found.st_ino, 0, {}, {}), true);
  }
  return fd;
}

template <class Write>
ssize_t written(int fd, std::uint64_t offset, std::string_view data, Write&& write_now) {
  auto* file = tracked_at(fd);
  if (file == nullptr) return write_now();
  const auto operation = note(kind::write, (file->flags & durable) != 0 ? 1 : 0, file->inode, offset, {}, data);
  const auto done = write_now();
  if (done >= 0 && static_cast<std::size_t>(done) != data.size()) give_up("a write was short; its event says otherwise");
  ended(operation, done >= 0);
  return done;
}

std::uint64_t place_of(int fd) {
  if ((::fcntl(fd, F_GETFL) & O_APPEND) != 0) {
    struct stat found {};
    ::fstat(fd, &found);
    return static_cast<std::uint64_t>(found.st_size);
  }
  return static_cast<std::uint64_t>(::lseek(fd, 0, SEEK_CUR));
}

std::string joined(const iovec* parts, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out.append(static_cast<const char*>(parts[i].iov_base), parts[i].iov_len);
  return out;
}

int resized(int fd, off_t size, int (*now)(int, off_t)) {
  auto* file = tracked_at(fd);
  if (file == nullptr) return now(fd, size);
  const auto operation = note(kind::resize, 0, file->inode, static_cast<std::uint64_t>(size), {}, {});
  const int rc = now(fd, size);
  ended(operation, rc == 0);
  return rc;
}

int synced(int fd, int (*now)(int)) {
  auto* file = tracked_at(fd);
  if (file == nullptr) return now(fd);
  const auto operation = note((file->flags & directory) != 0 ? kind::sync_names : kind::sync_file, 0, file->inode, 0, {}, {});
  const int rc = now(fd);
  ended(operation, rc == 0);
  return rc;
}

template <class Remove>
int removed(int at, const char* path, Remove&& now) {
  const auto name = below(at, path);
  if (name.empty()) return now();
  const std::lock_guard lock(names_guard);
  const int rc = now();
  const int kept = errno;
  if (rc == 0) note(kind::remove, 0, 0, 0, name, {});
  errno = kept;
  return rc;
}

template <class Refused>
auto refuse_below(const char* what, int at, const char* path, Refused&& now) {
  if (!below(at, path).empty()) give_up(std::string{what} + " is not recorded: " + path);
  return now();
}

}  // namespace

// The names and types are those of the C library.
// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier)
extern "C" {

int openat(int at, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  static const auto now = next<int (*)(int, const char*, int, ...)>("openat");
  return opened(at, path, flags, [&] { return now(at, path, flags, mode); });
}

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return openat(AT_FDCWD, path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open(path, flags, mode);
}

int close(int fd) {
  static const auto now = next<int (*)(int)>("close");
  forget(fd);
  return now(fd);
}

// The next two close their descriptor within the C library.
int closedir(DIR* what) {
  static const auto now = next<int (*)(DIR*)>("closedir");
  forget(::dirfd(what));
  return now(what);
}

int fclose(FILE* what) {
  static const auto now = next<int (*)(FILE*)>("fclose");
  forget(::fileno(what));
  return now(what);
}

ssize_t write(int fd, const void* data, size_t bytes) {
  static const auto now = next<ssize_t (*)(int, const void*, size_t)>("write");
  if (tracked_at(fd) == nullptr) return now(fd, data, bytes);
  return written(fd, place_of(fd), {static_cast<const char*>(data), bytes}, [&] { return now(fd, data, bytes); });
}

ssize_t pwrite(int fd, const void* data, size_t bytes, off_t offset) {
  static const auto now = next<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite");
  return written(fd, static_cast<std::uint64_t>(offset), {static_cast<const char*>(data), bytes},
                 [&] { return now(fd, data, bytes, offset); });
}

ssize_t pwrite64(int fd, const void* data, size_t bytes, off_t offset) { return pwrite(fd, data, bytes, offset); }

ssize_t writev(int fd, const iovec* parts, int count) {
  static const auto now = next<ssize_t (*)(int, const iovec*, int)>("writev");
  if (tracked_at(fd) == nullptr) return now(fd, parts, count);
  return written(fd, place_of(fd), joined(parts, count), [&] { return now(fd, parts, count); });
}

ssize_t pwritev(int fd, const iovec* parts, int count, off_t offset) {
  static const auto now = next<ssize_t (*)(int, const iovec*, int, off_t)>("pwritev");
  if (tracked_at(fd) == nullptr) return now(fd, parts, count, offset);
  return written(fd, static_cast<std::uint64_t>(offset), joined(parts, count), [&] { return now(fd, parts, count, offset); });
}

int ftruncate(int fd, off_t size) noexcept {
  static const auto now = next<int (*)(int, off_t)>("ftruncate");
  return resized(fd, size, now);
}

int ftruncate64(int fd, off_t size) noexcept { return ftruncate(fd, size); }

int fsync(int fd) {
  static const auto now = next<int (*)(int)>("fsync");
  return synced(fd, now);
}

int fdatasync(int fd) {
  static const auto now = next<int (*)(int)>("fdatasync");
  return synced(fd, now);
}

int syncfs(int fd) noexcept {
  static const auto now = next<int (*)(int)>("syncfs");
  if (tracked_at(fd) == nullptr) return now(fd);
  const auto operation = note(kind::sync_all, 0, 0, 0, {}, {});
  const int rc = now(fd);
  ended(operation, rc == 0);
  return rc;
}

int mkdir(const char* path, mode_t mode) noexcept {
  static const auto now = next<int (*)(const char*, mode_t)>("mkdir");
  const auto name = below(AT_FDCWD, path);
  if (name.empty()) return now(path, mode);
  const std::lock_guard lock(names_guard);
  const int rc = now(path, mode);
  const int kept = errno;
  struct stat found {};
  if (rc == 0 && ::stat(path, &found) == 0) note(kind::create, 1, found.st_ino, 0, name, {});
  errno = kept;
  return rc;
}

int unlink(const char* path) noexcept {
  static const auto now = next<int (*)(const char*)>("unlink");
  return removed(AT_FDCWD, path, [&] { return now(path); });
}

int unlinkat(int at, const char* path, int flags) noexcept {
  static const auto now = next<int (*)(int, const char*, int)>("unlinkat");
  return removed(at, path, [&] { return now(at, path, flags); });
}

int remove(const char* path) noexcept {
  static const auto now = next<int (*)(const char*)>("remove");
  return removed(AT_FDCWD, path, [&] { return now(path); });
}

int rmdir(const char* path) noexcept {
  static const auto now = next<int (*)(const char*)>("rmdir");
  return removed(AT_FDCWD, path, [&] { return now(path); });
}

int rename(const char* from, const char* to) noexcept {
  static const auto now = next<int (*)(const char*, const char*)>("rename");
  const auto name = below(AT_FDCWD, from);
  const auto target = below(AT_FDCWD, to);
  if (name.empty() != target.empty()) give_up(std::string{"a rename over the folder's border is not recorded: "} + from);
  if (name.empty()) return now(from, to);
  const std::lock_guard lock(names_guard);
  const int rc = now(from, to);
  const int kept = errno;
  if (rc == 0) note(kind::rename, 0, 0, 0, name, target);
  errno = kept;
  return rc;
}

void* mmap(void* address, size_t bytes, int protection, int flags, int fd, off_t offset) noexcept {
  static const auto now = next<void* (*)(void*, size_t, int, int, int, off_t)>("mmap");
  if (tracked_at(fd) != nullptr && (flags & MAP_SHARED) != 0 && (protection & PROT_WRITE) != 0) give_up("a writable map is not recorded");
  return now(address, bytes, protection, flags, fd, offset);
}

int posix_fallocate(int fd, off_t offset, off_t bytes) {
  static const auto now = next<int (*)(int, off_t, off_t)>("posix_fallocate");
  if (tracked_at(fd) != nullptr) give_up("posix_fallocate is not recorded");
  return now(fd, offset, bytes);
}

int fallocate(int fd, int mode, off_t offset, off_t bytes) {
  static const auto now = next<int (*)(int, int, off_t, off_t)>("fallocate");
  if (tracked_at(fd) != nullptr) give_up("fallocate is not recorded");
  return now(fd, mode, offset, bytes);
}

int truncate(const char* path, off_t size) noexcept {
  static const auto now = next<int (*)(const char*, off_t)>("truncate");
  return refuse_below("truncate", AT_FDCWD, path, [&] { return now(path, size); });
}

int link(const char* from, const char* to) noexcept {
  static const auto now = next<int (*)(const char*, const char*)>("link");
  return refuse_below("link", AT_FDCWD, to, [&] { return now(from, to); });
}

int symlink(const char* from, const char* to) noexcept {
  static const auto now = next<int (*)(const char*, const char*)>("symlink");
  return refuse_below("symlink", AT_FDCWD, to, [&] { return now(from, to); });
}

FILE* fopen64(const char* path, const char* mode) {
  static const auto now = next<FILE* (*)(const char*, const char*)>("fopen64");
  if (mode[0] == 'r' && std::strchr(mode, '+') == nullptr) return now(path, mode);
  return refuse_below("fopen for writing", AT_FDCWD, path, [&] { return now(path, mode); });
}

FILE* fopen(const char* path, const char* mode) { return fopen64(path, mode); }

ssize_t sendfile(int to, int from, off_t* offset, size_t bytes) noexcept {
  static const auto now = next<ssize_t (*)(int, int, off_t*, size_t)>("sendfile");
  if (tracked_at(to) != nullptr) give_up("sendfile is not recorded");
  return now(to, from, offset, bytes);
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier)
