// A disk that is full, or becomes so: the store says it by name, and nothing ends the process by a signal.

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "store/lmdb/store.hpp"
#include "tests/store/fixture.hpp"

namespace fairlead::store {
namespace {

using testing::temporary_directory;

/// A disk of 1 MiB of its own. Only root can have one.
class small_disk {
 public:
  small_disk() { mounted_ = ::mount("none", here_.path().c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "size=1m") == 0; }
  ~small_disk() {
    if (mounted_) ::umount2(here_.path().c_str(), MNT_DETACH);
  }
  small_disk(const small_disk&) = delete;
  small_disk& operator=(const small_disk&) = delete;

  bool mounted() const { return mounted_; }
  std::string operator/(const std::string& name) const { return here_ / name; }

  /// Leaves `bytes` free, which are whole pages.
  void fill(off_t leave) const {
    const int fd = ::open((here_ / "filler").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0640);
    ASSERT_GE(fd, 0);
    const std::string page(4'096, 'x');
    off_t written = 0;
    for (ssize_t n = 0; (n = ::pwrite(fd, page.data(), page.size(), written)) > 0;) written += n;
    EXPECT_EQ(::ftruncate(fd, written - leave), 0);
    ::close(fd);
  }

 private:
  temporary_directory here_;
  bool mounted_ = false;
};

result<std::unique_ptr<lmdb_store>> open(const std::string& path) { return lmdb_store::open({path, std::uint64_t{1} << 30, false}); }

/// As releases left it that let LMDB make it: a file of the same length that holds nothing.
void make_holes(const std::string& lock_file) {
  const auto size = std::filesystem::file_size(lock_file);
  std::filesystem::resize_file(lock_file, 0);
  std::filesystem::resize_file(lock_file, size);
}

TEST(full_disk, there_are_no_holes_in_the_file_that_is_written_through_a_map) {
  const temporary_directory here;
  const auto path = here / "store";
  const auto holes = [&path] {
    struct stat found {};
    EXPECT_EQ(::stat((path + "/lock.mdb").c_str(), &found), 0);
    return found.st_size > found.st_blocks * 512;
  };
  EXPECT_TRUE(open(path).ok());
  EXPECT_FALSE(holes());
  make_holes(path + "/lock.mdb");
  EXPECT_TRUE(open(path).ok());
  EXPECT_FALSE(holes());
}

TEST(full_disk, is_named_at_the_opening) {
  const small_disk disk;
  if (!disk.mounted()) GTEST_SKIP() << "this user may not mount a disk";
  const auto path = disk / "store";
  ASSERT_TRUE(open(path).ok());
  make_holes(path + "/lock.mdb");
  disk.fill(4'096);
  const auto refused = open(path);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.failure().code, v1::ERROR_CODE_DISK);
  EXPECT_NE(refused.failure().sentence.find("No space left on device"), std::string::npos) << refused.failure().sentence;
}

TEST(full_disk, is_named_when_a_commit_fills_it) {
  const small_disk disk;
  if (!disk.mounted()) GTEST_SKIP() << "this user may not mount a disk";
  auto it = open(disk / "store");
  ASSERT_TRUE(it.ok());
  batch large;
  large.epoch = *(*it)->raise_epoch();
  large.sequence = 1;
  large.put(table::task, "a", std::string(200'000, 'x'));
  // It takes a part of what is written, which LMDB calls an input/output error.
  disk.fill(64 << 10);
  const auto failed = (*it)->commit({large});
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.failure().code, v1::ERROR_CODE_DISK);
  EXPECT_NE(failed.failure().sentence.find("No space left on device"), std::string::npos) << failed.failure().sentence;
  EXPECT_EQ(failed.failure().remedy, "Make room on the disk and start the node again.");
}

}  // namespace
}  // namespace fairlead::store
