#pragma once
// A small HTTP server on loopback whose every answer is scripted by the test, down to the bytes and the moment a connection closes.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace fairlead::test {

struct seen_request {
  std::string method;
  std::string target;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  int connection = 0;            // 1, 2, … in order of acceptance
  int number_on_connection = 0;  // 1, 2, …
};

/// The server's end of one connection.
class peer {
 public:
  explicit peer(int fd) : fd_(fd) {}
  /// False when the client takes no more.
  bool send(const std::string& bytes) {
    std::size_t at = 0;
    while (at < bytes.size()) {
      const auto n = ::send(fd_, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
      if (n <= 0) return false;
      at += static_cast<std::size_t>(n);
    }
    return true;
  }
  void answer(int status, const std::string& reason, const std::string& body, const std::string& more_headers = "") {
    send("HTTP/1.1 " + std::to_string(status) + " " + reason +
         "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + more_headers + "\r\n" + body);
  }
  void close() { closed_ = true; }
  /// The client gets a reset in place of an orderly end.
  void reset() {
    const linger at_once{1, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    closed_ = true;
  }
  bool closed() const { return closed_; }
  /// Waits until the client has closed its end; false when it has not within the limit.
  bool wait_for_client_to_close(std::chrono::milliseconds limit) {
    pollfd p{fd_, POLLIN | POLLRDHUP, 0};
    return ::poll(&p, 1, static_cast<int>(limit.count())) > 0;
  }

 private:
  int fd_;
  bool closed_ = false;
};

class http_test_server {
 public:
  using script = std::function<void(peer&, const seen_request&)>;

  /// `on_accept` returns false to close a new connection before reading from it.
  explicit http_test_server(
      script answer, std::function<bool()> on_accept = [] { return true; })
      : answer_(std::move(answer)), on_accept_(std::move(on_accept)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (listener_ < 0 || ::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listener_, 512) != 0 ||
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      throw std::runtime_error("the test server cannot listen");
    }
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept_all(); });
  }
  ~http_test_server() {
    stop_listening();
    {
      const std::lock_guard lock{guard_};
      for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
    }
    for (auto& t : threads_) t.join();
    ::close(listener_);
  }
  http_test_server(const http_test_server&) = delete;
  http_test_server& operator=(const http_test_server&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  int port() const { return port_; }
  std::vector<seen_request> seen() const {
    const std::lock_guard lock{guard_};
    return seen_;
  }
  int connections() const { return connections_; }
  /// How many of them the server has closed.
  int closed() const { return closed_; }
  int most_at_once() const { return most_; }
  /// From now on connecting is refused.
  void stop_listening() {
    ::shutdown(listener_, SHUT_RDWR);
    const std::lock_guard lock{acceptor_guard_};
    if (acceptor_.joinable() && acceptor_.get_id() != std::this_thread::get_id()) acceptor_.join();
  }

 private:
  void accept_all() {
    for (;;) {
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) return;
      const int number = ++connections_;
      if (!on_accept_()) {
        ::close(fd);
        continue;
      }
      const std::lock_guard lock{guard_};
      open_.push_back(fd);
      threads_.emplace_back([this, fd, number] { serve(fd, number); });
    }
  }

  void serve(int fd, int number) {
    std::string buffer;
    peer client{fd};
    for (int n = 1; !client.closed(); ++n) {
      seen_request request;
      if (!read_request(fd, buffer, request)) break;
      request.connection = number;
      request.number_on_connection = n;
      {
        const std::lock_guard lock{guard_};
        seen_.push_back(request);
      }
      const int now = ++busy_;
      for (int most = most_; now > most && !most_.compare_exchange_weak(most, now);) {
      }
      answer_(client, request);
      --busy_;
    }
    const std::lock_guard lock{guard_};
    open_.erase(std::find(open_.begin(), open_.end(), fd));
    ::close(fd);
    ++closed_;
  }

  static bool read_request(int fd, std::string& buffer, seen_request& out) {
    const auto more = [&] {
      char chunk[16384];
      const auto n = ::recv(fd, chunk, sizeof chunk, 0);
      if (n <= 0) return false;
      buffer.append(chunk, static_cast<std::size_t>(n));
      return true;
    };
    std::size_t end = 0;
    while ((end = buffer.find("\r\n\r\n")) == std::string::npos) {
      if (!more()) return false;
    }
    auto head = buffer.substr(0, end + 2);
    buffer.erase(0, end + 4);
    auto line = head.substr(0, head.find("\r\n"));
    out.method = line.substr(0, line.find(' '));
    out.target = line.substr(out.method.size() + 1, line.rfind(' ') - out.method.size() - 1);
    for (auto at = line.size() + 2; at < head.size();) {
      const auto stop = head.find("\r\n", at);
      const auto colon = head.find(':', at);
      auto name = head.substr(at, colon - at);
      for (auto& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      const auto value = head.find_first_not_of(' ', colon + 1);
      out.headers[name] = value < stop ? head.substr(value, stop - value) : "";
      at = stop + 2;
    }
    const auto length = out.headers.count("content-length") != 0 ? std::stoul(out.headers["content-length"]) : 0UL;
    while (buffer.size() < length) {
      if (!more()) return false;
    }
    out.body = buffer.substr(0, length);
    buffer.erase(0, length);
    return true;
  }

  script answer_;
  std::function<bool()> on_accept_;
  int listener_ = -1;
  int port_ = 0;
  mutable std::mutex guard_;
  std::mutex acceptor_guard_;
  std::vector<int> open_;
  std::vector<seen_request> seen_;
  std::atomic<int> connections_{0}, closed_{0}, busy_{0}, most_{0};
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

}  // namespace fairlead::test
