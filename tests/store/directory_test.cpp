// What is synced when a store is opened. Every fsync of this program is counted here.

#include "store/directory.hpp"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "store/lmdb/env.hpp"
#include "tests/store/fixture.hpp"

namespace {

std::mutex guard;
std::vector<std::string> synced;

}  // namespace

extern "C" int fsync(int fd) {
  std::error_code ignored;
  const auto path = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), ignored).string();
  {
    const std::lock_guard lock{guard};
    synced.push_back(path);
  }
  return static_cast<int>(::syscall(SYS_fsync, fd));
}

namespace fairlead::store::testing {
namespace {

bool was_synced(const std::string& path) {
  const std::lock_guard lock{guard};
  return std::find(synced.begin(), synced.end(), path) != synced.end();
}

void forget() {
  const std::lock_guard lock{guard};
  synced.clear();
}

TEST(directories, have_durable_names_after_any_opening_for_writing_whoever_made_them) {
  temporary_directory here;
  const auto place = here / "store";
  ASSERT_TRUE(env::open({place, 1 << 20, false}).ok());
  EXPECT_TRUE(was_synced(place) && was_synced(here.path()));
  // Another process had made both, and was killed before it synced their names.
  forget();
  ASSERT_TRUE(env::open({place, 1 << 20, false}).ok());
  EXPECT_TRUE(was_synced(place));
  EXPECT_TRUE(was_synced(here.path()));
}

TEST(directories, are_left_alone_by_who_only_reads) {
  temporary_directory here;
  const auto place = here / "store";
  ASSERT_TRUE(env::open({place, 1 << 20, false}).ok());
  forget();
  ASSERT_TRUE(env::open({place, 1 << 20, true}).ok());
  EXPECT_FALSE(was_synced(place));
}

}  // namespace
}  // namespace fairlead::store::testing
