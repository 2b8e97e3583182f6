#include "app/certificates/files.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "app/process/write_all.hpp"
#include "store/directory.hpp"

namespace fairlead::app {

namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t most_pem_bytes = 1 << 20;
constexpr mode_t for_everybody = 0644;
constexpr mode_t for_the_owner = 0600;
constexpr mode_t rights_of_others = 0007;

error file_error(const std::string& what, int code) {
  return {v1::ERROR_CODE_DISK, what + ": " + std::strerror(code), "Check the disk and the rights of this user, or use another folder"};
}

error file_exists(const std::string& path) {
  return {v1::ERROR_CODE_CONFLICT, "The file " + path + " is there already", "Use another folder with --out, or replace it with --force"};
}

std::string folder_of(const std::string& path) {
  const auto parent = fs::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

/// A file under a temporary name, which is removed unless it is published.
class staged_file {
 public:
  explicit staged_file(std::string path) : path_(std::move(path)), temporary_(path_ + ".XXXXXX") {}
  staged_file(staged_file&& other) noexcept : path_(std::move(other.path_)), temporary_(std::exchange(other.temporary_, {})) {}
  staged_file& operator=(staged_file&&) = delete;
  ~staged_file() {
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }

  const std::string& path() const { return path_; }

  /// `as`: the file whose owner and rights it gets, if any.
  status write(const file_to_write& what, const struct stat* as) {
    const int fd = ::mkostemp(temporary_.data(), O_CLOEXEC);
    if (fd < 0) {
      temporary_.clear();
      return file_error("The file " + path_ + " cannot be written", errno);
    }
    const auto usual = what.secret ? for_the_owner : for_everybody;
    const auto rights = as == nullptr ? usual : (as->st_mode & 0777) & ~(what.secret ? rights_of_others : 0U);
    struct stat made {};
    const bool owned = ::fstat(fd, &made) == 0 && (as == nullptr || (made.st_uid == as->st_uid && made.st_gid == as->st_gid) ||
                                                   ::fchown(fd, as->st_uid, as->st_gid) == 0);
    const int failed = owned && ::fchmod(fd, rights) == 0 && write_all(fd, what.text) && ::fsync(fd) == 0 ? 0 : errno;
    ::close(fd);
    return failed == 0 ? status(nothing{}) : file_error("The file " + path_ + " cannot be written", failed);
  }

  status publish(bool may_replace) {
    // Not every file system knows the flag; whether the file is there has been looked at before.
    int done = ::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), may_replace ? 0U : RENAME_NOREPLACE);
    if (done != 0 && errno == EINVAL) done = ::rename(temporary_.c_str(), path_.c_str());
    if (done != 0) return errno == EEXIST ? file_exists(path_) : file_error("The file " + path_ + " cannot be written", errno);
    temporary_.clear();
    return nothing{};
  }

 private:
  std::string path_;
  std::string temporary_;
};

status create_folder(const std::string& folder) {
  if (::mkdir(folder.c_str(), 0755) == 0) return store::sync_directory(folder_of(folder));
  if (errno == EEXIST && fs::is_directory(folder)) return nothing{};
  return file_error("The folder " + folder + " cannot be created", errno == EEXIST ? ENOTDIR : errno);
}

std::optional<struct stat> state_of(const std::string& path) {
  struct stat out {};
  return ::lstat(path.c_str(), &out) == 0 ? std::optional{out} : std::nullopt;
}

result<staged_file> stage(file_to_write file, existing_files existing) {
  if (existing == existing_files::renew) {
    std::error_code failed;
    if (auto target = fs::canonical(file.path, failed).string(); !failed) file.path = std::move(target);
  }
  const auto before = state_of(file.path);
  if (before && S_ISDIR(before->st_mode)) return file_error("The file " + file.path + " cannot be written", EISDIR);
  if (before && existing == existing_files::refuse) return file_exists(file.path);
  staged_file out{file.path};
  const bool keep = before && existing == existing_files::renew;
  if (auto written = out.write(file, keep ? &*before : nullptr); !written) return written.failure();
  return out;
}

}  // namespace

std::string authority_certificate_path(const std::string& folder) { return (fs::path(folder) / "ca.pem").string(); }

std::string authority_key_path(const std::string& folder) { return (fs::path(folder) / "ca-key.pem").string(); }

std::string key_path_of(const std::string& certificate_path) {
  const fs::path path{certificate_path};
  const auto stem = path.extension() == ".pem" ? path.stem() : path.filename();
  return (path.parent_path() / (stem.string() + "-key.pem")).string();
}

result<named_pem> read_pem_file(const std::string& path) {
  const auto cannot = "The file " + path + " cannot be read";
  std::error_code failed;
  const auto kind = fs::status(path, failed);
  if (kind.type() == fs::file_type::not_found)
    return error{v1::ERROR_CODE_NOT_FOUND, "There is no file " + path, "Check the name of the file"};
  if (failed) return file_error(cannot, failed.value());
  if (!fs::is_regular_file(kind)) return invalid("The file " + path + " is no regular file", "Name a file in PEM form");
  const auto size = fs::file_size(path, failed);
  if (failed) return file_error(cannot, failed.value());
  if (size > most_pem_bytes)
    return invalid("The file " + path + " is too large for certificates", "Name a file in PEM form of at most 1 MiB");
  std::ifstream in{path, std::ios::binary};
  std::ostringstream text;
  if (!in || (size > 0 && !(text << in.rdbuf()))) return file_error(cannot, errno);
  return named_pem{path, std::move(text).str()};
}

result<authority> read_authority(const std::string& folder) {
  const auto file_in = [&folder](const std::string& path) {
    auto read = read_pem_file(path);
    if (!read && read.failure().code == v1::ERROR_CODE_NOT_FOUND)
      return result<named_pem>{error{v1::ERROR_CODE_NOT_FOUND, "The folder " + folder + " has no authority: there is no file " + path,
                                     "Make one with 'fairlead certificate create-ca', or name its folder with --ca"}};
    return read;
  };
  auto certificate = file_in(authority_certificate_path(folder));
  if (!certificate) return certificate.failure();
  auto key = file_in(authority_key_path(folder));
  if (!key) return key.failure();
  return authority{std::move(*certificate), std::move(*key)};
}

status write_together(std::vector<file_to_write> files, existing_files existing) {
  std::vector<staged_file> staged;
  for (auto& file : files) {
    if (auto created = create_folder(folder_of(file.path)); !created) return created.failure();
    auto one = stage(std::move(file), existing);
    if (!one) return one.failure();
    staged.push_back(std::move(*one));
  }
  for (auto one = staged.begin(); one != staged.end(); ++one) {
    auto published = one->publish(existing != existing_files::refuse);
    if (published) continue;
    // A key without its certificate would keep the next attempt from writing.
    if (existing == existing_files::refuse)
      for (auto before = staged.begin(); before != one; ++before) ::unlink(before->path().c_str());
    return published.failure();
  }
  for (const auto& one : staged)
    if (auto durable = store::sync_directory(folder_of(one.path())); !durable) return durable.failure();
  return nothing{};
}

}  // namespace fairlead::app
