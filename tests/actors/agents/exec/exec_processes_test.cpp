// Whatever a command starts, none of it outlives its attempt.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <set>

#include "tests/actors/agents/exec/exec_test_support.hpp"

namespace fairlead::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

class exec_processes : public ::testing::Test {
 protected:
  agents::attempt_result run(const std::string& script, std::int64_t budget_ms = 20'000) {
    const auto agent = running(one_script(script));
    return run_one(*agent, a_perform(1, "do", folder.input(), budget_ms));
  }
  /// Starts the script and waits until `count` processes have written their numbers to the file `pid`.
  std::vector<pid_t> begin(agents::backend& agent, const v1::Perform& what, std::size_t count) {
    agent.start(what, box.taker());
    auto out = folder.processes("pid", count);
    EXPECT_EQ(out.size(), count);
    return out;
  }

  exec_folder folder;
  inbox box;
};

// Writes its number, ignores what can be ignored, and waits for ever.
const std::string stubborn = "trap '' TERM HUP INT; echo $$ >> \"$0\"pid; while :; do sleep 1000; done";
// The same in a session of its own, after its parent has gone.
const std::string escaped = "setsid sh -c 'trap \"\" TERM HUP INT; echo $$ >> \"$0\"pid; while :; do sleep 1000; done' \"$0\"";
const std::string twice_forked = "( ( " + escaped + " & ) & ); ";

TEST_F(exec_processes, a_stop_ends_a_command_that_ignores_sigterm_at_once) {
  const auto agent = running(one_script(stubborn));
  const auto what = a_perform(1, "do", folder.input(), 600'000);
  const auto pids = begin(*agent, what, 1);
  agent->stop(key_of(what));
  EXPECT_TRUE(exec_folder::gone(pids));
  agent->shut_down();
  EXPECT_EQ(box.total(), 0U);
}

TEST_F(exec_processes, a_stop_ends_those_that_forked_away_into_sessions_of_their_own) {
  const auto agent = running(one_script(twice_forked + escaped + " & " + stubborn));
  const auto what = a_perform(1, "do", folder.input(), 600'000);
  const auto pids = begin(*agent, what, 3);
  agent->stop(key_of(what));
  EXPECT_TRUE(exec_folder::gone(pids));
}

TEST_F(exec_processes, nothing_is_left_at_complete_by_and_nothing_is_said_of_it) {
  const auto agent = running(one_script(twice_forked + stubborn));
  const auto what = a_perform(1, "do", folder.input(), 3'000);
  const auto pids = begin(*agent, what, 2);
  EXPECT_TRUE(eventually([&] { return now_ms() >= what.complete_by_unix_ms(); }));
  EXPECT_TRUE(exec_folder::gone(pids));
  agent->stop(key_of(what));
  agent->shut_down();
  EXPECT_EQ(box.total(), 0U);
}

TEST_F(exec_processes, an_attempt_that_nobody_stops_is_not_lost) { EXPECT_EQ(brief(run(stubborn, 1'000)), "in_doubt timeout"); }

TEST_F(exec_processes, a_try_that_runs_out_is_in_doubt_at_once_and_its_processes_are_gone) {
  const auto agent = running(one_script(twice_forked + stubborn));
  auto what = a_perform(1, "do", folder.input(), 600'000);
  what.set_try_until_unix_ms(now_ms() + 2'000);
  const auto pids = begin(*agent, what, 2);
  ASSERT_TRUE(box.wait_for(1));
  EXPECT_TRUE(exec_folder::gone(pids));
  EXPECT_EQ(brief(box.of(1)), "in_doubt timeout");
}

TEST_F(exec_processes, before_its_time_is_up_a_command_is_asked_and_may_say_how_it_ends) {
  const auto agent = running(one_script("trap 'exit 75' TERM; echo $$ > \"$0\"pid; while :; do sleep 0.01; done"));
  auto what = a_perform(1, "do", folder.input(), 600'000);
  what.set_try_until_unix_ms(now_ms() + 5'000);
  begin(*agent, what, 1);
  ASSERT_TRUE(box.wait_for(1));
  EXPECT_EQ(brief(box.of(1)), "transient exit_75");
  EXPECT_EQ(box.of(1).fault->message().rfind("/bin/sh ended with exit code 75 when it was asked to stop", 0), 0U);
}

TEST_F(exec_processes, a_daemon_that_keeps_stdout_open_neither_hangs_the_attempt_nor_stays) {
  const auto began = steady_clock::now();
  EXPECT_EQ(brief(run("echo 1; " + twice_forked + "while [ ! -s \"$0\"pid ]; do sleep 0.01; done; exit 0")), "ok 1");
  EXPECT_LT(steady_clock::now() - began, 15s);
  EXPECT_TRUE(exec_folder::gone(folder.processes("pid"), 0ms));
}

TEST_F(exec_processes, what_a_pipeline_prints_just_after_the_command_counts) {
  EXPECT_EQ(brief(run("( while kill -0 $$ 2>/dev/null; do sleep 0.005; done; echo 5 ) & exit 0")), "ok 5");
}

TEST_F(exec_processes, a_shepherd_survives_that_the_command_kills_its_own_group) {
  EXPECT_EQ(brief(run(twice_forked + "while [ ! -s \"$0\"pid ]; do sleep 0.01; done; kill -9 0")), "in_doubt signal_9");
  EXPECT_TRUE(exec_folder::gone(folder.processes("pid"), 0ms));
}

TEST_F(exec_processes, a_command_with_a_user_of_its_own_cannot_kill_its_shepherd) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  auto config = one_script("kill -9 $PPID 2>/dev/null && exit 1; echo 7");
  config.user = "54321";
  const auto agent = running(config);
  EXPECT_EQ(brief(run_one(*agent, a_perform(1, "do", folder.input()))), "ok 7");
}

TEST_F(exec_processes, a_command_that_kills_its_shepherd_is_in_doubt_and_dies) {
  EXPECT_EQ(brief(run("echo $$ > \"$0\"pid; kill -9 $PPID; exec sleep 1000")), "in_doubt shepherd_lost");
  EXPECT_TRUE(exec_folder::gone(folder.processes("pid")));
}

TEST_F(exec_processes, a_fork_bomb_ends_with_its_attempt) {
  auto config = one_script("b() { b & b & while :; do sleep 0.01; b & done; }; : > \"$0\"began; b 2>/dev/null");
  config.user = geteuid() == 0 ? "54323" : "";
  config.process.processes = 64;
  std::filesystem::permissions(folder.path(""), std::filesystem::perms::all);
  const auto mine = [] {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      struct stat what {};
      if (stat(entry.path().c_str(), &what) == 0 && what.st_uid == 54323) ++count;
    }
    return count;
  };
  if (geteuid() != 0) GTEST_SKIP() << "needs root, for a user whose processes can be counted";
  const auto agent = running(config);
  const auto what = a_perform(1, "do", folder.input(), 600'000);
  agent->start(what, box.taker());
  ASSERT_TRUE(eventually([&] { return mine() > 30; }));
  agent->stop(key_of(what));
  EXPECT_TRUE(eventually([&] { return mine() == 0; }, 5s));
}

TEST_F(exec_processes, input_that_nobody_reads_does_no_harm) {
  const auto large = R"({"at":")" + folder.path("") + R"(","more":")" + std::string(1'000'000, 'x') + R"("})";
  for (const auto* script : {"exit 0", "exec <&-; sleep 0.05", "head -c 10 > /dev/null"}) {
    const auto agent = running(one_script(script));
    EXPECT_EQ(brief(run_one(*agent, a_perform(1, "do", large))), "ok null") << script;
  }
  const auto agent = running(one_script("wc -c"));
  EXPECT_EQ(brief(run_one(*agent, a_perform(1, "do", large))), "ok " + std::to_string(large.size()));
}

TEST_F(exec_processes, shutting_down_ends_all_that_runs_without_waiting_for_it) {
  const auto agent = running(one_script(twice_forked + stubborn));
  for (std::uint64_t task = 1; task <= 5; ++task) agent->start(a_perform(task, "do", folder.input(), 600'000), box.taker());
  const auto pids = folder.processes("pid", 10);
  ASSERT_EQ(pids.size(), 10U);
  const auto began = steady_clock::now();
  agent->shut_down();
  EXPECT_LT(steady_clock::now() - began, 15s) << "ten minutes are what they would take";
  EXPECT_TRUE(exec_folder::gone(pids));
  EXPECT_EQ(box.total(), 0U);
}

TEST_F(exec_processes, nothing_outlives_a_node_that_is_killed) {
  const auto node = fork();
  if (node == 0) {
    try {
      const auto agent = running(one_script(twice_forked + escaped + " & " + stubborn));
      agent->start(a_perform(1, "do", folder.input(), 600'000), [](const auto&, auto) {});
      for (;;) pause();
    } catch (...) {
    }
    _exit(1);
  }
  const auto pids = folder.processes("pid", 3);
  EXPECT_EQ(pids.size(), 3U);
  kill(node, SIGKILL);
  waitpid(node, nullptr, 0);
  EXPECT_TRUE(exec_folder::gone(pids, 2s));
}

TEST_F(exec_processes, two_hundred_run_at_a_time_and_leave_no_descriptor) {
  const auto before = open_descriptors();
  {
    const auto agent = running(one_script(
        "cat > /dev/null; echo $$ >> \"$0\"pid; while [ ! -e \"$0\"go ]; do sleep 0.5; done; echo $FAIRLEAD_TASK | tr -dc 0-9", 200));
    EXPECT_EQ(agent->capacity(), 200U);
    for (std::uint64_t task = 1; task <= 200; ++task) agent->start(a_perform(task, "do", folder.input(), 120'000), box.taker());
    EXPECT_EQ(folder.processes("pid", 200, 90s).size(), 200U) << "all at the same time";
    std::ofstream{folder.path("go")};
    ASSERT_TRUE(box.wait_for(200, 60s));
    for (std::uint64_t task = 1; task <= 200; ++task) EXPECT_EQ(brief(box.of(task)), "ok " + std::to_string(task));
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(exec_processes, beyond_its_concurrency_attempts_wait_and_a_stopped_one_is_never_begun) {
  const auto agent = running(one_script("echo $$ >> \"$0\"pid; while [ ! -e \"$0\"go ]; do sleep 0.01; done", 1));
  agent->start(a_perform(1, "do", folder.input()), box.taker());
  agent->start(a_perform(2, "do", folder.input()), box.taker());
  agent->start(a_perform(3, "do", folder.input()), box.taker());
  ASSERT_EQ(folder.processes("pid").size(), 1U);
  agent->stop(key_of(a_perform(2, "do")));
  std::ofstream{folder.path("go")};
  ASSERT_TRUE(box.wait_for(2));
  EXPECT_EQ(brief(box.of(3)), "ok null");
  EXPECT_EQ(folder.processes("pid", 2).size(), 2U);
  EXPECT_EQ(box.total(), 2U);
}

TEST_F(exec_processes, without_a_shepherd_nothing_is_started_and_another_attempt_may_do_better) {
  const auto before = open_descriptors();
  for (const auto* program : {"/nowhere/fairlead", "/bin/false"}) {
    auto made = agents::make_exec_backend(one_script("touch \"$0\"ran"), {program});
    ASSERT_TRUE(made.ok());
    EXPECT_EQ(brief(run_one(**made, a_perform(1, "do", folder.input()))), "transient not_started") << program;
  }
  EXPECT_FALSE(std::filesystem::exists(folder.path("ran")));
  EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace fairlead::test
