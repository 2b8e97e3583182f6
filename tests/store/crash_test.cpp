// A process that commits is killed at random moments; whatever it had acknowledged must be there, and the store must be sound.

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <random>

#include "store/check/check.hpp"
#include "store/failpoint.hpp"
#include "store/lmdb/store.hpp"
#include "tests/store/fixture.hpp"

namespace fairlead::store {
namespace {

using namespace testing;

/// Creates and completes orders until it is killed, and writes each sequence to `ack` once it is durable.
[[noreturn]] void commit_until_killed(const std::string& path, int ack) {
  auto opened = lmdb_store::open({path, std::uint64_t{1} << 30, false});
  if (!opened.ok()) ::_exit(1);
  auto& it = **opened;
  test_shard shard(it);
  if (shard.sequence() == 0) shard.deploy_order();
  for (std::uint64_t number = shard.state().next_task_number();; ++number) {
    shard.create(running_order(number, "o-" + std::to_string(number)));
    if (number % 3 != 0) shard.change(number, [](v1::TaskRecord& task) { complete(task, 3'000); });
    const auto sequence = it.sequence();
    if (::write(ack, &sequence, sizeof sequence) != sizeof sequence) ::_exit(1);
  }
}

TEST(crash, everything_acknowledged_outlives_kill_9) {
  temporary_directory here;
  const auto path = here / "store";
  std::mt19937_64 random(2'026);
  std::uint64_t all = 0;
  for (int round = 0; round < 12; ++round) {
    int fds[2];
    ASSERT_EQ(::pipe(fds), 0);
    const auto child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::close(fds[0]);
      commit_until_killed(path, fds[1]);
    }
    ::close(fds[1]);
    // Kills count only in the midst of work: after at least 20 acknowledgements, then at a random moment.
    std::uint64_t acknowledged = 0, seen = 0;
    const auto wanted = 20 + random() % 40;
    pollfd ready{fds[0], POLLIN, 0};
    while (seen < wanted && ::poll(&ready, 1, 20'000) == 1 && ::read(fds[0], &acknowledged, sizeof acknowledged) == sizeof acknowledged)
      ++seen;
    ASSERT_GE(seen, wanted);
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(random() % 2'000);
    while (std::chrono::steady_clock::now() < until) {
    }
    ::kill(child, SIGKILL);
    int how = 0;
    ::waitpid(child, &how, 0);
    ASSERT_TRUE(WIFSIGNALED(how));
    while (::read(fds[0], &acknowledged, sizeof acknowledged) == sizeof acknowledged) ++seen;
    ::close(fds[0]);
    all += seen;

    auto opened = lmdb_store::open({path, std::uint64_t{1} << 30, false});
    ASSERT_TRUE(opened.ok()) << opened.failure().sentence;
    EXPECT_GE((*opened)->sequence(), acknowledged);
    const auto report = check(*(*opened)->read());
    EXPECT_TRUE(report.clean()) << report.findings.front();
    EXPECT_GE(report.tasks, all);
  }
}

TEST(crash, at_each_failpoint_leaves_all_of_a_group_or_nothing) {
  for (const char* name : {"store.before_txn", "store.mid_txn", "store.before_commit", "store.after_commit"}) {
    temporary_directory here;
    const auto child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      auto opened = lmdb_store::open({here / "store", std::uint64_t{1} << 30, false});
      if (!opened.ok()) ::_exit(1);
      test_shard shard(**opened);
      shard.deploy_order();
      (void)set_failpoints(std::string(name) + "=crash");
      shard.create(running_order(1, "o-1"));
      ::_exit(2);
    }
    int how = 0;
    ::waitpid(child, &how, 0);
    ASSERT_TRUE(WIFEXITED(how));
    EXPECT_EQ(WEXITSTATUS(how), 99) << name;
    auto opened = lmdb_store::open({here / "store", std::uint64_t{1} << 30, false});
    ASSERT_TRUE(opened.ok());
    EXPECT_EQ((*opened)->sequence(), name == std::string("store.after_commit") ? 2u : 1u) << name;
    const auto report = check(*(*opened)->read());
    EXPECT_TRUE(report.clean()) << name << ": " << report.findings.front();
  }
}

}  // namespace
}  // namespace fairlead::store
