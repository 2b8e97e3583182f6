#pragma once
// The API of a node as the client sees it, for tests of the client: a socket of loopback that answers each request as it is told.

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace fairlead::testing {

struct api_request {
  std::string head;  // in lower case, but for its first line
  std::string body;

  /// `/v1/requests/StatusRequest`.
  std::string path() const {
    const auto begin = head.find(' ') + 1;
    return head.substr(begin, head.find(' ', begin) - begin);
  }
};

struct api_answer {
  int status = 200;
  std::string type = "application/x-protobuf";
  std::string body = {};
  bool hangs_up = false;  // without an answer
};

/// One connection at a time, one request a connection.
class small_api {
 public:
  using handler = std::function<api_answer(const api_request&)>;

  /// `me`: the answer to `/v1/me`, by which the client finds a node.
  explicit small_api(handler answer, api_answer me = {200, "application/json", "{}"})
      : answer_(std::move(answer)), me_(std::move(me)), fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(fd_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(fd_, 8) != 0 ||
        ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
      throw std::runtime_error("the test's port cannot be made");
    address_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::thread{[this] { run(); }};
  }
  ~small_api() {
    ::shutdown(fd_, SHUT_RDWR);
    thread_.join();
    ::close(fd_);
  }
  small_api(const small_api&) = delete;
  small_api& operator=(const small_api&) = delete;

  const std::string& address() const { return address_; }
  std::vector<api_request> asked() {
    const std::lock_guard lock{guard_};
    return asked_;
  }

 private:
  void run() {
    for (;;) {
      const int one = ::accept(fd_, nullptr, nullptr);
      if (one < 0) return;
      serve(one);
      ::close(one);
    }
  }

  void serve(int one) {
    std::string came;
    const auto more = [&] {
      char part[4096];
      const auto size = ::recv(one, part, sizeof part, 0);
      if (size > 0) came.append(part, static_cast<std::size_t>(size));
      return size > 0;
    };
    while (came.find("\r\n\r\n") == std::string::npos)
      if (!more()) return;
    const auto end = came.find("\r\n\r\n") + 4;
    api_request what{came.substr(0, end), ""};
    for (auto at = what.head.find('\n'); at < what.head.size(); ++at)
      if (what.head[at] >= 'A' && what.head[at] <= 'Z') what.head[at] = static_cast<char>(what.head[at] + 32);
    const auto length = what.head.find("content-length: ");
    const auto bytes = length == std::string::npos ? 0 : std::stoul(what.head.substr(length + 16));
    while (came.size() < end + bytes)
      if (!more()) return;
    what.body = came.substr(end);
    const auto said = what.path() == "/v1/me" ? me_ : answered(what);
    if (said.hangs_up) return;
    const auto text = "HTTP/1.1 " + std::to_string(said.status) + " Status\r\nContent-Type: " + said.type +
                      "\r\nFairlead-Version: 1\r\nConnection: close\r\nContent-Length: " + std::to_string(said.body.size()) + "\r\n\r\n" +
                      said.body;
    for (std::size_t sent = 0; sent < text.size();) {
      const auto size = ::send(one, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (size <= 0) return;
      sent += static_cast<std::size_t>(size);
    }
  }

  api_answer answered(const api_request& what) {
    {
      const std::lock_guard lock{guard_};
      asked_.push_back(what);
    }
    return answer_(what);
  }

  const handler answer_;
  const api_answer me_;
  const int fd_;
  std::string address_;
  std::mutex guard_;
  std::vector<api_request> asked_;
  std::thread thread_;  // last: it uses the others
};

}  // namespace fairlead::testing
