#include "app/process/service_manager.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>

namespace fairlead::app {
namespace {

/// The service manager's end.
class listener {
 public:
  explicit listener(const std::string& name) {
    fd_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    std::memcpy(at.sun_path, name.data(), name.size());
    if (name[0] == '@') at.sun_path[0] = '\0';
    const auto size = offsetof(sockaddr_un, sun_path) + name.size() + (name[0] == '@' ? 0 : 1);
    if (::bind(fd_, reinterpret_cast<sockaddr*>(&at), static_cast<socklen_t>(size)) != 0) throw std::runtime_error(name);
  }
  ~listener() { ::close(fd_); }
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;

  /// Empty when nothing comes within the limit.
  std::string next(int limit_ms = 20'000) const {
    pollfd p{fd_, POLLIN, 0};
    if (::poll(&p, 1, limit_ms) <= 0) return "";
    char buffer[4096];
    const auto size = ::recv(fd_, buffer, sizeof buffer, 0);
    return {buffer, static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
  }

 private:
  int fd_ = -1;
};

class service_manager_test : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "manager.XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    ::unsetenv("WATCHDOG_USEC");
    ::unsetenv("WATCHDOG_PID");
  }
  void TearDown() override {
    for (const auto* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) ::unsetenv(name);
    std::filesystem::remove_all(folder_);
  }
  std::string path() const { return folder_ / "socket"; }

  std::filesystem::path folder_;
};

TEST_F(service_manager_test, is_told_ready_and_stopping_with_a_line) {
  const listener manager{path()};
  ::setenv("NOTIFY_SOCKET", path().c_str(), 1);
  auto told = service_manager::from_environment();
  ASSERT_TRUE(told.there());
  told.ready("n1 is ready on 127.0.0.1:7100\nREADY=0");
  EXPECT_EQ(manager.next(), "READY=1\nSTATUS=n1 is ready on 127.0.0.1:7100 READY=0");
  told.say("taking up tasks");
  EXPECT_EQ(manager.next(), "STATUS=taking up tasks");
  told.stopping();
  EXPECT_EQ(manager.next(), "STOPPING=1\nSTATUS=ending");
}

TEST_F(service_manager_test, is_reached_at_an_abstract_socket) {
  const auto name = "@fairlead-test-" + std::to_string(::getpid());
  const listener manager{name};
  ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
  service_manager::from_environment().ready("here");
  EXPECT_EQ(manager.next(), "READY=1\nSTATUS=here");
}

TEST_F(service_manager_test, is_no_longer_in_the_environment_of_what_the_node_starts) {
  const listener manager{path()};
  ::setenv("NOTIFY_SOCKET", path().c_str(), 1);
  ::setenv("WATCHDOG_USEC", "1000000", 1);
  ::setenv("WATCHDOG_PID", "1", 1);
  const auto told = service_manager::from_environment();
  for (const auto* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) EXPECT_EQ(std::getenv(name), nullptr) << name;
}

TEST_F(service_manager_test, hears_that_the_process_lives_while_it_is_healthy_and_not_when_it_is_sick_or_cannot_say) {
  const listener manager{path()};
  ::setenv("NOTIFY_SOCKET", path().c_str(), 1);
  ::setenv("WATCHDOG_USEC", "40000", 1);
  ::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
  auto told = service_manager::from_environment();
  EXPECT_EQ(told.watchdog_period(), duration{40});
  enum { well, sick, confused };
  std::atomic<int> state{well};
  std::atomic<int> looks{0};
  told.watch([&] {
    ++looks;
    if (state == confused) throw std::runtime_error("no answer");
    return state == well;
  });
  EXPECT_EQ(manager.next(), "WATCHDOG=1");
  EXPECT_EQ(manager.next(), "WATCHDOG=1");
  for (const int bad : {sick, confused}) {
    state = bad;
    // A look that had begun before may still say so; two looks later none can.
    const auto wait_for_looks = [&, deadline = std::chrono::steady_clock::now() + std::chrono::seconds{20}](int more) {
      for (const int wanted = looks + more; looks < wanted && std::chrono::steady_clock::now() < deadline;) std::this_thread::yield();
    };
    wait_for_looks(2);
    while (!manager.next(0).empty()) {
    }
    wait_for_looks(2);
    EXPECT_EQ(manager.next(0), "");
    state = well;
    EXPECT_EQ(manager.next(), "WATCHDOG=1");
  }
  told.stopping();
  std::string last;
  for (auto next = manager.next(0); !next.empty(); next = manager.next(0)) last = next;
  EXPECT_EQ(last, "STOPPING=1\nSTATUS=ending");
}

TEST_F(service_manager_test, that_watches_another_process_hears_nothing_of_this_one) {
  const listener manager{path()};
  ::setenv("NOTIFY_SOCKET", path().c_str(), 1);
  ::setenv("WATCHDOG_USEC", "40000", 1);
  ::setenv("WATCHDOG_PID", "1", 1);
  const auto told = service_manager::from_environment();
  EXPECT_TRUE(told.there());
  EXPECT_EQ(told.watchdog_period(), duration{0});
}

TEST_F(service_manager_test, that_is_not_there_or_has_gone_changes_nothing) {
  service_manager::from_environment().ready("nobody hears it");
  for (const auto* name : {"", "relative", "vsock:2:1234", "/nowhere/at/all"}) {
    ::setenv("NOTIFY_SOCKET", name, 1);
    auto told = service_manager::from_environment();
    told.ready("nobody hears it");
    told.stopping();
  }
  ::setenv("NOTIFY_SOCKET", std::string(500, '/').c_str(), 1);
  EXPECT_FALSE(service_manager::from_environment().there());
}

}  // namespace
}  // namespace fairlead::app
