#include "tests/bench/bench_http_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <deque>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace fairlead::bench {

namespace {

using steady = std::chrono::steady_clock;

constexpr std::string_view answer =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 29\r\n\r\n{\"id\":\"ch_12345\",\"paid\":true}";
static_assert(answer.size() - answer.find("\r\n\r\n") - 4 == 29);

class server {
 public:
  server(int listener, std::chrono::milliseconds delay) : listener_(listener), delay_(delay), epoll_(::epoll_create1(0)) {
    watch(listener);
  }

  [[noreturn]] void run() {
    for (;;) {
      epoll_event events[256];
      const int count = ::epoll_wait(epoll_, events, 256, patience_ms());
      for (int i = 0; i < count; ++i) {
        if (events[i].data.fd == listener_) {
          accept_all();
        } else {
          read_from(events[i].data.fd);
        }
      }
      while (!due_.empty() && due_.front().first <= steady::now()) {
        send_to(due_.front().second);
        due_.pop_front();
      }
    }
  }

 private:
  int patience_ms() const {
    if (due_.empty()) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(due_.front().first - steady::now()).count();
    return left < 0 ? 0 : static_cast<int>(left);
  }
  void watch(int fd) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
  }
  void accept_all() {
    for (int fd = 0; (fd = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK)) >= 0;) {
      const int on = 1;
      ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      watch(fd);
    }
  }
  void read_from(int fd) {
    char chunk[16'384];
    const auto n = ::recv(fd, chunk, sizeof chunk, 0);
    if (n <= 0) {
      ::close(fd);
      read_.erase(fd);
      return;
    }
    auto& got = read_[fd];
    got.append(chunk, static_cast<std::size_t>(n));
    for (std::size_t size = 0; (size = whole_request(got)) != 0; got.erase(0, size)) {
      if (delay_.count() == 0) {
        send_to(fd);
      } else {
        due_.emplace_back(steady::now() + delay_, fd);
      }
    }
  }
  static std::size_t whole_request(const std::string& got) {
    const auto end = got.find("\r\n\r\n");
    if (end == std::string::npos) return 0;
    const auto at = got.find("Content-Length: ");
    const auto length = at < end ? std::strtoul(got.c_str() + at + 16, nullptr, 10) : 0;
    return got.size() >= end + 4 + length ? end + 4 + length : 0;
  }
  static void send_to(int fd) {
    if (::send(fd, answer.data(), answer.size(), MSG_NOSIGNAL) < 0) return;  // whoever asked has gone
  }

  int listener_;
  std::chrono::milliseconds delay_;
  int epoll_;
  std::unordered_map<int, std::string> read_;
  std::deque<std::pair<steady::time_point, int>> due_;
};

}  // namespace

bench_http_server::bench_http_server(int answer_after_ms) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listener, 16'384) != 0 ||
      ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    throw std::runtime_error("the bench's server cannot listen");
  port_ = ntohs(address.sin_port);
  process_ = ::fork();
  if (process_ < 0) throw std::runtime_error("the bench's server cannot be started");
  if (process_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    server{listener, std::chrono::milliseconds{answer_after_ms}}.run();
  }
  ::close(listener);
}

bench_http_server::~bench_http_server() {
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
}

}  // namespace fairlead::bench
