// Copies of a store in LMDB: the data file as one transaction sees it, without its free pages. What goes out is a file in `outgoing/`, what comes in
// one in `incoming/`, both in the store's directory; an opening removes them.

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include "store/lmdb/open_file.hpp"
#include "store/lmdb/snapshot.hpp"
#include "store/lmdb/store.hpp"
#include "store/lmdb/synced_in_steps.hpp"

namespace fairlead::store {

namespace {

namespace fs = std::filesystem;

// A copy leaves so much of the disk free: what is acknowledged meanwhile needs some of it.
constexpr std::uint64_t left_free_bytes = std::uint64_t{64} << 20;
constexpr const char* outgoing = "/outgoing";
constexpr const char* incoming_name = "/incoming";

error not_made(const std::string& path, int code) {
  return {v1::ERROR_CODE_DISK, "The file " + path + " cannot be written: " + std::error_code{code, std::generic_category()}.message() + ".",
          code == ENOSPC ? "Make room on the disk; the copy is made again by itself." : "Check the disk and the permissions."};
}

/// An empty directory of this name, with room for so many bytes.
status make_room(const std::string& directory, std::uint64_t bytes) {
  std::error_code failed;
  fs::remove_all(directory, failed);
  if (!failed) fs::create_directory(directory, failed);
  if (failed) return not_made(directory, failed.value());
  struct statvfs disk {};
  if (::statvfs(directory.c_str(), &disk) != 0) return not_made(directory, errno);
  if (disk.f_bavail * disk.f_frsize < bytes + left_free_bytes) return not_made(directory, ENOSPC);
  return nothing{};
}

/// A directory that goes away unless it was handed over.
struct removed_directory {
  std::string path;
  ~removed_directory() {
    std::error_code ignored;
    if (!path.empty()) fs::remove_all(path, ignored);
  }
};

class copy_in_file final : public tables_copy {
 public:
  copy_in_file(std::string directory, std::unique_ptr<lmdb_store> opened, int file, std::uint64_t bytes)
      : directory_(std::move(directory)), opened_(std::move(opened)), file_{file}, bytes_(bytes) {}
  ~copy_in_file() override {
    opened_.reset();
    std::error_code ignored;
    fs::remove_all(directory_, ignored);
  }

  std::uint64_t bytes() const override { return bytes_; }
  result<std::string> read(std::uint64_t offset, std::size_t most) const override {
    std::string out(most, '\0');
    std::size_t got = 0;
    while (got < most) {
      const auto n = ::pread(file_.fd, out.data() + got, most - got, static_cast<off_t>(offset + got));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return not_made(directory_, errno);
      if (n == 0) break;
      got += static_cast<std::size_t>(n);
    }
    out.resize(got);
    return out;
  }
  std::unique_ptr<snapshot> read_tables() const override { return opened_->read_tables(); }

 private:
  std::string directory_;
  std::unique_ptr<lmdb_store> opened_;
  open_file file_;
  std::uint64_t bytes_;
};

}  // namespace

class lmdb_store::incoming final : public incoming_copy {
 public:
  incoming(lmdb_store& of, std::string directory, int file) : of_(of), directory_(std::move(directory)), file_{file} {}
  ~incoming() override {
    opened_.reset();
    std::error_code ignored;
    fs::remove_all(directory_, ignored);
  }

  status write(std::string_view bytes) override {
    const int failed = into_.write(bytes);
    return failed == 0 ? status(nothing{}) : status(not_made(directory_, failed));
  }
  std::uint64_t bytes() const override { return into_.bytes(); }

  result<tables*> open() override {
    if (opened_) return opened_.get();
    // LMDB would begin a new store in it.
    if (bytes() == 0) return error{v1::ERROR_CODE_CORRUPT, "The copy in " + directory_ + " is empty.", "It is sent again."};
    if (const int failed = into_.sync(); failed != 0) return not_made(directory_, failed);
    auto opened = lmdb_store::open({directory_, of_.max_size_bytes_, false}, true);
    if (!opened) return opened.failure();
    opened_ = std::move(*opened);
    return opened_.get();
  }

  status take_over() override { return of_.take(*opened_); }

 private:
  lmdb_store& of_;
  std::string directory_;
  open_file file_;
  synced_in_steps into_{file_.fd};
  std::unique_ptr<lmdb_store> opened_;
};

/// Of a process that has ended.
void lmdb_store::remove_copies() const {
  std::error_code ignored;
  for (const auto* name : {outgoing, incoming_name}) fs::remove_all(directory_ + name, ignored);
}

result<std::unique_ptr<tables_copy>> lmdb_store::copy() {
  const auto directory = directory_ + outgoing;
  removed_directory unless_done{directory};
  if (auto made = make_room(directory, get_usage().used_bytes); !made) return made.failure();
  open_file to{::open((directory + "/data.mdb").c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640)};
  if (to.fd < 0) return not_made(directory, errno);
  if (auto copied = current()->copy_to(to.fd); !copied) return copied.failure();
  const auto bytes = ::lseek(to.fd, 0, SEEK_END);
  if (bytes < 0) return not_made(directory, errno);
  // LMDB has just written it, and whoever gets it looks at all of it.
  auto opened = open({directory, max_size_bytes_, true}, true, false);
  if (!opened) return opened.failure();
  unless_done.path.clear();
  return std::unique_ptr<tables_copy>(
      new copy_in_file(directory, std::move(*opened), std::exchange(to.fd, -1), static_cast<std::uint64_t>(bytes)));
}

result<std::unique_ptr<incoming_copy>> lmdb_store::receive(std::uint64_t bytes) {
  if (bytes > max_size_bytes_) {
    return error{v1::ERROR_CODE_STORE_FULL,
                 "The store " + directory_ + " may have at most " + std::to_string(max_size_bytes_) + " bytes, and the copy has " +
                     std::to_string(bytes) + ".",
                 "Raise `store.max_size` on this node to that of the others, and restart it."};
  }
  const auto directory = directory_ + incoming_name;
  if (auto made = make_room(directory, bytes); !made) return made.failure();
  open_file to{::open((directory + "/data.mdb").c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640)};
  if (to.fd < 0) return not_made(directory, errno);
  return std::unique_ptr<incoming_copy>(new incoming(*this, directory, std::exchange(to.fd, -1)));
}

status lmdb_store::take(lmdb_store& other) {
  const std::lock_guard lock(commit_guard_);
  if (failed_) return *failed_;
  if (on_other_file_) on_other_file_(other.directory_);
  if (auto placed = remember(other.env_->take_place_of(*env_)); !placed) return placed;
  if (on_other_file_) on_other_file_(directory_);
  {
    const std::lock_guard pointer(env_guard_);
    env_ = other.env_;
  }
  sequence_ = other.sequence_.load();
  epoch_ = other.epoch_;
  shard_state_ = other.shard_state_;
  const std::lock_guard counted(usage_guard_);
  free_counted_ = false;
  return nothing{};
}

}  // namespace fairlead::store
