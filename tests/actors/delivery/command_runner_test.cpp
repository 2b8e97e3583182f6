#include "actors/delivery/command_runner.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <future>
#include <sstream>
#include <thread>

#include "tests/store/fixture.hpp"

namespace fairlead::testing {
namespace {

using std::chrono::steady_clock;

class command_runner_test : public ::testing::Test {
 protected:
  static command_run shell(const std::string& script) {
    command_run out;
    out.run = {"/bin/sh", "-c", script};
    return out;
  }

  status result_of(command_run what) {
    auto told = std::make_shared<std::promise<status>>();
    auto answer = told->get_future();
    runner.run(std::move(what), [told](status how) { told->set_value(std::move(how)); });
    if (answer.wait_for(std::chrono::seconds{30}) != std::future_status::ready)
      return error{v1::ERROR_CODE_TIMED_OUT, "nothing was told of the command", ""};
    return answer.get();
  }

  std::string why(command_run what) {
    const auto how = result_of(std::move(what));
    return how.ok() ? "it succeeded" : how.failure().sentence;
  }

  std::string content(const std::string& name) const {
    std::ifstream file{folder / name};
    std::ostringstream out;
    out << file.rdbuf();
    return out.str();
  }

  std::string quoted(const std::string& name) const { return "'" + (folder / name) + "'"; }

  /// True as soon as no process has this number any more.
  static bool gone(pid_t pid) {
    const auto end = steady_clock::now() + std::chrono::seconds{20};
    while (kill(pid, 0) == 0) {
      if (steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    return true;
  }

  store::testing::temporary_directory folder;
  command_runner runner;
};

TEST_F(command_runner_test, hands_over_input_arguments_and_environment) {
  auto what = shell("cat > " + quoted("in") + "; printf '%s' \"$1|$2|$FAIRLEAD_ALERT_NUMBER|$HOME\" > " + quoted("rest"));
  what.run.insert(what.run.end(), {"name", "two words; $(touch x)", "*"});
  what.input = std::string(200'000, 'a') + "\n";
  what.environment = {{"FAIRLEAD_ALERT_NUMBER", "17"}, {"HOME", "/nowhere"}};
  EXPECT_EQ(why(what), "it succeeded");
  EXPECT_EQ(content("in"), what.input);
  EXPECT_EQ(content("rest"), "two words; $(touch x)|*|17|/nowhere");
}

TEST_F(command_runner_test, says_how_a_command_failed_with_its_last_words) {
  EXPECT_EQ(why(shell("exit 3")), "/bin/sh ended with exit code 3");
  EXPECT_EQ(why(shell("echo first >&2; printf 'no \\033[31mroute\\n\\n' >&2; exit 1")), "/bin/sh ended with exit code 1: no ?[31mroute");
  EXPECT_EQ(why(shell("kill -TERM $$")), "/bin/sh was ended by signal 15");
  EXPECT_EQ(why(shell("echo standard output is for nobody; exit 1")), "/bin/sh ended with exit code 1");
}

TEST_F(command_runner_test, says_that_a_program_is_not_there) {
  command_run what;
  what.run = {"/no/such/program"};
  const auto how = result_of(what);
  ASSERT_FALSE(how.ok());
  EXPECT_EQ(how.failure().sentence, "/no/such/program cannot be started: No such file or directory");
}

TEST_F(command_runner_test, does_not_mind_a_command_that_does_not_read_its_input) {
  auto what = shell("exec <&-; exit 0");
  what.input = std::string(1'000'000, 'a');
  EXPECT_EQ(why(what), "it succeeded");
}

TEST_F(command_runner_test, kills_what_takes_too_long_and_all_it_has_started) {
  auto what = shell("sleep 600 & echo $! > " + quoted("child") + "; echo still at it >&2; wait");
  what.time_limit = std::chrono::milliseconds{500};
  EXPECT_EQ(why(what), "/bin/sh did not end within 500ms: still at it");
  const auto child = std::atoi(content("child").c_str());
  ASSERT_GT(child, 0);
  EXPECT_TRUE(gone(child)) << "the process that it had started lives on";
}

TEST_F(command_runner_test, does_not_wait_for_what_a_command_leaves_running) {
  auto what = shell("sleep 600 & echo $! > " + quoted("child"));
  const auto began = steady_clock::now();
  EXPECT_EQ(why(what), "it succeeded");
  EXPECT_LT(steady_clock::now() - began, what.time_limit);
  kill(std::atoi(content("child").c_str()), SIGKILL);
}

TEST_F(command_runner_test, gives_a_command_nothing_of_the_node_s_open_files) {
  const int open_file = ::open((folder / "secret").c_str(), O_CREAT | O_RDWR, 0600);
  ASSERT_GE(open_file, 0);
  EXPECT_EQ(why(shell("test ! -e /proc/self/fd/" + std::to_string(open_file))), "it succeeded");
  ::close(open_file);
}

TEST_F(command_runner_test, a_slow_command_delays_no_other) {
  auto slow = shell("while [ ! -e " + quoted("go") + " ]; do sleep 0.01; done");
  auto told = std::make_shared<std::promise<status>>();
  auto answer = told->get_future();
  runner.run(slow, [told](status how) { told->set_value(std::move(how)); });
  EXPECT_EQ(why(shell("touch " + quoted("go"))), "it succeeded");
  ASSERT_EQ(answer.wait_for(std::chrono::seconds{20}), std::future_status::ready);
  EXPECT_TRUE(answer.get().ok());
}

TEST_F(command_runner_test, ends_with_everything_that_runs_and_says_nothing_any_more) {
  bool told = false;
  runner.run(shell("echo $$ > " + quoted("self.part") + "; mv " + quoted("self.part") + " " + quoted("self") + "; sleep 600"),
             [&](const status&) { told = true; });
  const auto end = steady_clock::now() + std::chrono::seconds{20};
  while (content("self").empty() && steady_clock::now() < end) std::this_thread::sleep_for(std::chrono::milliseconds{5});
  ASSERT_FALSE(content("self").empty());
  const auto began = steady_clock::now();
  runner.shut_down();
  EXPECT_LT(steady_clock::now() - began, std::chrono::seconds{15});
  EXPECT_FALSE(told);
  EXPECT_TRUE(gone(std::atoi(content("self").c_str())));
  runner.run(shell("exit 0"), [&](const status&) { told = true; });
  EXPECT_FALSE(told);
}

}  // namespace
}  // namespace fairlead::testing
