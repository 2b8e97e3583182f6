// Copies of a store that another process writes to, and a process that was killed while it made one.

#include "store/lmdb/copy.hpp"

#include <gtest/gtest.h>
#include <lmdb.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "store/lmdb/env.hpp"
#include "tests/store/fixture.hpp"

namespace fairlead::store {
namespace {

using namespace testing;
namespace fs = std::filesystem;

constexpr std::uint64_t map_bytes = std::uint64_t{1} << 28;

/// A process that does something until it is killed; it is known to have begun.
class other_process {
 public:
  explicit other_process(const std::function<void(const std::function<void()>& begun)>& work) {
    int fds[2];
    if (::pipe(fds) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      work([fd = fds[1]] { (void)!::write(fd, "b", 1); });
      ::_exit(1);
    }
    ::close(fds[1]);
    char byte = 0;
    begun_ = ::read(fds[0], &byte, 1) == 1;
    ::close(fds[0]);
  }
  ~other_process() { kill(); }
  other_process(const other_process&) = delete;

  bool begun() const { return begun_; }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(std::exchange(pid_, -1), nullptr, 0);
  }

 private:
  pid_t pid_ = -1;
  bool begun_ = false;
};

bool write_both(env& to, const std::string& value) {
  auto txn = to.write();
  return txn.ok() && txn->put(table::task, "a", value).ok() && txn->put(table::task_id, "b", value).ok() && txn->commit().ok();
}

struct copies : ::testing::Test {
  temporary_directory here;
  std::string from = here / "store";
};

TEST_F(copies, taken_while_another_process_writes_are_committed_states) {
  const other_process writer([this](const auto& begun) {
    auto it = env::open({from, map_bytes, false});
    for (std::uint64_t n = 0; it.ok(); ++n) {
      if (!write_both(**it, std::string(10'000, 'x') + std::to_string(n))) return;
      if (n == 0) begun();
    }
  });
  ASSERT_TRUE(writer.begun());
  std::string last;
  for (int i = 0; i < 20; ++i) {
    const auto to = here / ("copy-" + std::to_string(i));
    fs::create_directory(to);
    const auto copied = copy_environment(from, to);
    ASSERT_TRUE(copied.ok()) << copied.failure().sentence;
    auto opened = env::open({to, map_bytes, true});
    ASSERT_TRUE(opened.ok()) << opened.failure().sentence;
    const auto now = (*opened)->read();
    const auto a = now.get(table::task, "a");
    const auto b = now.get(table::task_id, "b");
    ASSERT_TRUE(a.ok() && *a && b.ok() && *b);
    EXPECT_EQ(**a, **b);
    last = std::string{**a};
  }
  EXPECT_NE(last.substr(10'000), "0") << "the other process did not write meanwhile";
}

TEST_F(copies, that_were_killed_keep_no_pages_of_the_store) {
  auto it = env::open({from, map_bytes, false});
  ASSERT_TRUE(it.ok());
  ASSERT_TRUE(write_both(**it, "first"));
  other_process reader([this](const auto& begun) {
    MDB_env* raw = nullptr;
    MDB_txn* txn = nullptr;
    if (mdb_env_create(&raw) != 0 || mdb_env_open(raw, from.c_str(), MDB_RDONLY | MDB_NOTLS, 0640) != 0) return;
    if (mdb_txn_begin(raw, nullptr, MDB_RDONLY, &txn) != 0) return;
    begun();
    ::pause();
  });
  ASSERT_TRUE(reader.begun());
  reader.kill();
  const auto write_often = [&] {
    for (int i = 0; i < 700; ++i) ASSERT_TRUE(write_both(**it, std::string(20'000, 'x')));
  };
  write_often();
  const auto bytes = (*it)->file_bytes();
  write_often();
  EXPECT_LT((*it)->file_bytes(), bytes + bytes / 4);
}

TEST_F(copies, of_nothing_are_refused_and_leave_nothing_behind) {
  fs::create_directory(from);
  EXPECT_EQ(copy_environment(from, here.path()).failure().code, v1::ERROR_CODE_NOT_FOUND);
  EXPECT_TRUE(fs::is_empty(from));
}

}  // namespace
}  // namespace fairlead::store
