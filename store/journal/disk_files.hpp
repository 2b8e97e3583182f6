#pragma once
// The journal's files on a disk: direct writes (O_DIRECT and O_DSYNC) where the file system has them, else writes through the page cache
// with fdatasync.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/directory.hpp"
#include "store/journal/files.hpp"

namespace fairlead::store {

class disk_files final : public journal_files {
 public:
  enum class access { write, read, read_while_written };
  /// Holds the directory until destruction, but for `read_while_written`, which sees what a running node has just written, or half of it.
  /// Only `write` makes a directory that is not there. Errors: store_in_use, not_found, disk.
  static result<std::unique_ptr<disk_files>> in(const std::string& directory, access how = access::write);

  result<std::vector<std::string>> list() const override;
  result<std::unique_ptr<block_file>> open(const std::string& name) override;
  status create(const std::string& name, std::uint64_t bytes, const std::function<making_pace()>& pace) override;
  status rename(const std::string& from, const std::string& to) override;
  status remove(const std::string& name) override;
  status sync() override;
  const std::string& path() const override { return path_; }
  bool direct() const override { return direct_; }

 private:
  disk_files(std::string path, std::optional<directory_lock> lock, bool read_only)
      : path_(std::move(path)), lock_(std::move(lock)), read_only_(read_only) {}
  status probe();
  std::string at(const std::string& name) const { return path_ + "/" + name; }

  std::string path_;
  std::optional<directory_lock> lock_;
  bool read_only_;
  bool direct_ = false;
};

}  // namespace fairlead::store
