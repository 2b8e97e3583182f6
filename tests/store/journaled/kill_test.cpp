// A process that commits through a journal is killed at random moments and at each failpoint; whatever it had acknowledged must be there.

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <random>

#include "store/check/check.hpp"
#include "store/failpoint.hpp"
#include "store/journaled/applier.hpp"
#include "store/rows/archive_rows.hpp"
#include "tests/store/journaled/checks.hpp"

namespace fairlead::store {
namespace {

using namespace testing;

constexpr applier_options busy{std::chrono::milliseconds{10}, std::size_t{64} << 10, 500, std::chrono::milliseconds{20}};

[[noreturn]] void stop(const error& why) {
  std::fprintf(stderr, "the process that commits ended: %s\n", why.sentence.c_str());
  ::_exit(3);
}

constexpr std::int64_t archived_day = 20'000;

/// A completed order goes to its archive, and now and then another archive is dropped.
void archive_order(on_disk& here, test_shard& shard, std::uint64_t number) {
  auto one = shard.next();
  put_move(one, **load_task(*here.stores->at(0).read(), number), {archived_day, 0});
  move_to_archive(shard.state(), v1::TASK_STATE_COMPLETED, 1);
  if (number % 20 == 1) put_drop(one, 90, archived_day + static_cast<std::int64_t>(number));
  shard.expect_committed(std::move(one));
}

/// Creates, completes and archives orders until it ends, and writes each sequence to `ack` once it is durable.
[[noreturn]] void commit_until_killed(const std::string& directory, int ack, const char* failpoints) {
  on_disk here{directory, {}, {}};
  const auto opened = here.open();
  if (!opened.ok()) stop(opened.failure());
  if (!set_failpoints(failpoints).ok()) ::_exit(1);
  test_shard shard(here.stores->at(0));
  if (shard.sequence() == 0) shard.deploy_order();
  const applier threads(*here.stores, busy, stop);
  for (std::uint64_t number = shard.state().next_task_number();; ++number) {
    shard.create(running_order(number, "o-" + std::to_string(number)));
    if (number % 3 != 0) shard.change(number, [](v1::TaskRecord& task) { complete(task, 3'000); });
    if (number % 3 == 1) archive_order(here, shard, number);
    const auto sequence = shard.sequence();
    if (::write(ack, &sequence, sizeof sequence) != sizeof sequence) ::_exit(1);
  }
}

struct child {
  pid_t pid = -1;
  int acks = -1;
  std::uint64_t acknowledged = 0;

  explicit child(const std::string& directory, const char* failpoints = "") {
    int fds[2];
    if (::pipe(fds) != 0) return;
    pid = ::fork();
    if (pid == 0) {
      ::close(fds[0]);
      commit_until_killed(directory, fds[1], failpoints);
    }
    ::close(fds[1]);
    acks = fds[0];
  }
  ~child() { ::close(acks); }

  /// Reads one acknowledgement; false: there is none in time, or the child has ended.
  bool next() {
    pollfd ready{acks, POLLIN, 0};
    return ::poll(&ready, 1, 20'000) == 1 && ::read(acks, &acknowledged, sizeof acknowledged) == sizeof acknowledged;
  }
  int wait() {
    int how = 0;
    while (next()) {
    }
    ::waitpid(pid, &how, 0);
    return how;
  }
};

void expect_all_there(const std::string& directory, std::uint64_t acknowledged) {
  on_disk here{directory, {}, {}};
  const auto opened = here.open();
  ASSERT_TRUE(opened.ok()) << opened.failure().sentence;
  const auto shown = here.stores->at(0).read();
  EXPECT_GE(shown->get_progress().sequence, acknowledged);
  const auto report = check(*shown, {}, 100, here.archives.get());
  EXPECT_TRUE(report.clean()) << report.findings.front();
  if (acknowledged != 0) {
    EXPECT_GT(report.tasks, 0u);
  }
  ASSERT_TRUE(here.stores->at(0).apply_all().ok());
  const auto settled = check(*here.stores->at(0).read_settled(), {}, 100, here.archives.get());
  EXPECT_TRUE(settled.clean()) << settled.findings.front();
  EXPECT_EQ(settled.tasks + settled.archived_tasks + 1, std::max<std::uint64_t>(shown->get_progress().shard.next_task_number(), 1));
}

TEST(journaled_kill, everything_acknowledged_outlives_kill_9) {
  const temporary_directory place;
  std::mt19937_64 random(2'026);
  for (int round = 0; round < 15; ++round) {
    child one(place.path());
    // Kills count only in the midst of work: after at least 20 acknowledgements, then at a random moment.
    for (auto wanted = 20 + random() % 200; wanted > 0; --wanted) ASSERT_TRUE(one.next()) << "status " << one.wait();
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(random() % 2'000);
    while (std::chrono::steady_clock::now() < until) {
    }
    ::kill(one.pid, SIGKILL);
    ASSERT_TRUE(WIFSIGNALED(one.wait()));
    expect_all_there(place.path(), one.acknowledged);
    if (HasFailure()) return;
  }
}

TEST(journaled_kill, and_a_crash_at_each_failpoint) {
  for (const char* name : {"journal.before_write", "journal.after_write", "journal.stage_before_rename", "journal.stage_after_rename",
                           "apply.before_txn", "apply.mid_txn", "apply.after_commit", "apply.archived", "apply.dropped"}) {
    SCOPED_TRACE(name);
    const temporary_directory place;
    // Staging is rare: it happens once a start until a segment is full.
    const bool rare = std::string_view{name}.substr(0, 13) == "journal.stage" || std::string_view{name} == "apply.dropped";
    child one(place.path(), (std::string(name) + (rare ? "=crash" : "=crash@9")).c_str());
    const auto how = one.wait();
    ASSERT_TRUE(WIFEXITED(how));
    EXPECT_EQ(WEXITSTATUS(how), 99);
    expect_all_there(place.path(), one.acknowledged);
  }
}

}  // namespace
}  // namespace fairlead::store
