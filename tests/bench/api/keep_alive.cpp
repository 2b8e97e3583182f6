#include "tests/bench/api/keep_alive.hpp"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace fairlead::bench {

namespace {

using steady = std::chrono::steady_clock;

int connect_to(int port) {
  const auto out = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  const int on = 1;
  const timeval patience{30, 0};
  if (out < 0 || ::connect(out, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    if (out >= 0) ::close(out);
    throw std::runtime_error("nobody listens on port " + std::to_string(port));
  }
  ::setsockopt(out, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(out, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  return out;
}

/// One connection, which waits for one answer at a time.
class kept {
 public:
  explicit kept(int port) : fd_(connect_to(port)) {}
  kept(kept&& from) noexcept : fd_(std::exchange(from.fd_, -1)), got_(std::move(from.got_)) {}
  kept& operator=(kept&&) = delete;
  ~kept() {
    if (fd_ >= 0) ::close(fd_);
  }

  int fd() const { return fd_; }

  void send(std::string_view request) const {
    while (!request.empty()) {
      const auto sent = ::send(fd_, request.data(), request.size(), MSG_NOSIGNAL);
      if (sent <= 0) throw std::runtime_error("the server has closed a connection");
      request.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  /// Takes what has come; true: the answer is whole.
  bool read() {
    std::array<char, 65'536> chunk;
    const auto size = ::recv(fd_, chunk.data(), chunk.size(), 0);
    if (size <= 0) throw std::runtime_error("the server has closed a connection, or did not answer within 30 s");
    got_.append(chunk.data(), static_cast<std::size_t>(size));
    const auto head = got_.find("\r\n\r\n");
    if (head == std::string::npos) return false;
    if (got_.compare(0, 10, "HTTP/1.1 2") != 0) throw std::runtime_error("the server answered: " + got_.substr(0, 600));
    const auto length = got_.find("\r\nContent-Length: ");
    if (length == std::string::npos || length > head) throw std::runtime_error("an answer has no length: " + got_.substr(0, head));
    body_at_ = head + 4;
    return got_.size() >= body_at_ + std::strtoull(got_.c_str() + length + 18, nullptr, 10);
  }

  std::string take_body() { return std::exchange(got_, {}).substr(body_at_); }
  void forget() { got_.clear(); }

 private:
  int fd_;
  std::string got_;
  std::size_t body_at_ = 0;
};

struct epoll_handle {
  epoll_handle() : fd(::epoll_create1(EPOLL_CLOEXEC)) {}
  epoll_handle(const epoll_handle&) = delete;
  epoll_handle& operator=(const epoll_handle&) = delete;
  ~epoll_handle() { ::close(fd); }
  const int fd;
};

}  // namespace

std::string request_text(const std::string& method, const std::string& target, const std::string& body) {
  auto out = method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n";
  if (!body.empty()) out += "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
  return out + "\r\n" + body;
}

double requests_per_s(int port, std::uint32_t connections, std::uint64_t requests, const std::function<std::string()>& next) {
  const epoll_handle epoll;
  std::vector<kept> all;
  for (std::uint32_t i = 0; i < connections; ++i) {
    all.emplace_back(port);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u32 = i;
    ::epoll_ctl(epoll.fd, EPOLL_CTL_ADD, all.back().fd(), &event);
  }
  const auto start = steady::now();
  std::uint64_t begun = 0, done = 0;
  for (auto& one : all)
    if (begun < requests) {
      one.send(next());
      ++begun;
    }
  while (done < requests) {
    std::array<epoll_event, 64> events{};
    const auto found = ::epoll_wait(epoll.fd, events.data(), static_cast<int>(events.size()), 30'000);
    if (found == 0 || (found < 0 && errno != EINTR)) throw std::runtime_error("no answer for 30 s");
    for (int i = 0; i < found; ++i) {
      auto& one = all[events[static_cast<std::size_t>(i)].data.u32];
      if (!one.read()) continue;
      one.forget();
      ++done;
      if (begun >= requests) continue;
      one.send(next());
      ++begun;
    }
  }
  return static_cast<double>(requests) / std::chrono::duration<double>(steady::now() - start).count();
}

struct kept_connection::connection : kept {
  using kept::kept;
};

kept_connection::kept_connection(int port) : it_(std::make_unique<connection>(port)) {}
kept_connection::~kept_connection() = default;

std::string kept_connection::ask(const std::string& request) {
  it_->send(request);
  while (!it_->read()) {
  }
  return it_->take_body();
}

std::string ask(int port, const std::string& request) { return kept_connection{port}.ask(request); }

open_streams::open_streams(int port, std::size_t count, const std::function<std::string(std::size_t)>& request) {
  try {
    for (std::size_t i = 0; i < count; ++i) {
      all_.push_back(connect_to(port));
      const auto text = request(i);
      std::array<char, 16> beginning{};
      if (::send(all_.back(), text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size()) ||
          ::recv(all_.back(), beginning.data(), beginning.size(), MSG_WAITALL) != static_cast<ssize_t>(beginning.size()) ||
          std::string_view{beginning.data(), 12} != "HTTP/1.1 200")
        throw std::runtime_error("a stream was not begun: " + std::string{beginning.data(), beginning.size()});
    }
  } catch (...) {
    close_all();
    throw;
  }
}

open_streams::~open_streams() { close_all(); }

void open_streams::close_all() {
  for (const auto one : all_) ::close(one);
  all_.clear();
}

std::size_t open_streams::ended() const {
  std::size_t out = 0;
  for (const auto one : all_) {
    std::array<char, 65'536> chunk;
    ssize_t size = 0;
    while ((size = ::recv(one, chunk.data(), chunk.size(), MSG_DONTWAIT)) > 0) {
    }
    if (size == 0) ++out;
  }
  return out;
}

}  // namespace fairlead::bench
