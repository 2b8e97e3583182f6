#include "app/metrics/http_port.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace fairlead::app {
namespace {

class connection {
 public:
  explicit connection(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at.sin_port = htons(port);
    if (::connect(fd_, reinterpret_cast<sockaddr*>(&at), sizeof at) != 0) throw std::runtime_error("cannot connect");
  }
  ~connection() { ::close(fd_); }
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  void send(const std::string& bytes) const { ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL); }
  /// Until the other side closes; nothing more after the limit.
  std::string rest(int limit_ms = 20'000) const {
    std::string out;
    char buffer[4096];
    for (pollfd p{fd_, POLLIN, 0}; ::poll(&p, 1, limit_ms) > 0;) {
      const auto size = ::recv(fd_, buffer, sizeof buffer, 0);
      if (size <= 0) return out + "[closed]";
      out.append(buffer, static_cast<std::size_t>(size));
    }
    return out;
  }

 private:
  int fd_;
};

class http_port_test : public ::testing::Test {
 protected:
  void SetUp() override {
    http_handlers handlers;
    handlers["/figures"] = [this] {
      ++called_;
      return http_answer{200, "text/plain; version=9", "fifty bytes of figures\n"};
    };
    handlers["/sick"] = [] { return http_answer{503, "application/json", "{}\n"}; };
    handlers["/buggy"] = []() -> http_answer { throw std::logic_error("a bug"); };
    auto started = http_port::start({"127.0.0.1", 0}, std::move(handlers));
    ASSERT_TRUE(started.ok()) << started.failure().sentence;
    port_ = std::move(*started);
    ASSERT_NE(port_->port(), 0);
  }
  std::string answer(const std::string& request) const {
    const connection to{port_->port()};
    to.send(request);
    return to.rest();
  }
  static std::string request(const std::string& first_line) { return first_line + "\r\nHost: here\r\n\r\n"; }
  static bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

  std::atomic<int> called_{0};
  std::unique_ptr<http_port> port_;
};

TEST_F(http_port_test, answers_get_with_the_handlers_status_type_and_body_and_closes) {
  const auto got = answer(request("GET /figures HTTP/1.1"));
  EXPECT_TRUE(has(got, "HTTP/1.1 200 OK\r\n")) << got;
  EXPECT_TRUE(has(got, "Content-Type: text/plain; version=9\r\n")) << got;
  EXPECT_TRUE(has(got, "Connection: close\r\n")) << got;
  EXPECT_TRUE(has(got, "\r\n\r\nfifty bytes of figures\n[closed]")) << got;
  EXPECT_TRUE(has(answer(request("GET /sick HTTP/1.1")), " 503 "));
}

TEST_F(http_port_test, answers_head_without_a_body) {
  const auto got = answer(request("HEAD /figures HTTP/1.1"));
  EXPECT_TRUE(has(got, "HTTP/1.1 200 OK\r\n")) << got;
  EXPECT_TRUE(has(got, "Content-Length: 23\r\n")) << got;
  EXPECT_FALSE(has(got, "fifty bytes")) << got;
}

TEST_F(http_port_test, takes_a_query_and_an_old_client) {
  EXPECT_TRUE(has(answer(request("GET /figures?from=prometheus HTTP/1.1")), " 200 "));
  EXPECT_TRUE(has(answer("GET /figures HTTP/1.0\r\n\r\n"), " 200 "));
}

TEST_F(http_port_test, refuses_other_methods_and_says_which_it_takes) {
  for (const std::string method : {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "get"}) {
    const auto got = answer(request(method + " /figures HTTP/1.1"));
    EXPECT_TRUE(has(got, " 405 ")) << got;
    EXPECT_TRUE(has(got, "Allow: GET, HEAD\r\n")) << got;
  }
  EXPECT_EQ(called_, 0);
}

TEST_F(http_port_test, answers_a_request_with_a_body_without_waiting_for_it) {
  const auto got = answer("POST /figures HTTP/1.1\r\nHost: here\r\nContent-Length: 1000000000\r\n\r\nabc");
  EXPECT_TRUE(has(got, " 405 ")) << got;
  EXPECT_TRUE(has(got, "[closed]")) << got;
}

TEST_F(http_port_test, knows_its_paths_to_the_letter) {
  for (const std::string path : {"/", "/figures/", "/FIGURES", "/figures%00", "//figures", "/../figures"}) {
    const auto got = answer(request("GET " + path + " HTTP/1.1"));
    EXPECT_TRUE(has(got, " 404 ")) << path << ": " << got;
    EXPECT_TRUE(has(got, "there is /buggy /figures /sick")) << got;
  }
}

TEST_F(http_port_test, answers_500_for_a_handler_that_throws_and_goes_on) {
  EXPECT_TRUE(has(answer(request("GET /buggy HTTP/1.1")), " 500 "));
  EXPECT_TRUE(has(answer(request("GET /figures HTTP/1.1")), " 200 "));
}

TEST_F(http_port_test, refuses_headers_beyond_its_memory) {
  const auto got = answer("GET /figures HTTP/1.1\r\nHost: here\r\nX: " + std::string(100'000, 'x') + "\r\n\r\n");
  EXPECT_TRUE(got == "[closed]" || has(got, " 431 ") || has(got, " 414 ")) << got;
  EXPECT_EQ(called_, 0);
}

TEST_F(http_port_test, answers_one_of_many_pipelined_requests) {
  std::string many;
  for (int i = 0; i < 100; ++i) many += request("GET /figures HTTP/1.1");
  answer(many);
  EXPECT_EQ(called_, 1);
}

TEST_F(http_port_test, closes_a_connection_that_stays_silent) {
  const connection silent{port_->port()};
  EXPECT_TRUE(has(silent.rest(), "[closed]"));
}

TEST_F(http_port_test, serves_on_while_many_more_connections_are_silent_than_it_keeps_and_the_oldest_make_room) {
  std::vector<std::unique_ptr<connection>> silent;
  for (int i = 0; i < 700; ++i) silent.push_back(std::make_unique<connection>(port_->port()));
  const connection in_earnest{port_->port()};
  in_earnest.send(request("GET /figures HTTP/1.1"));
  // Sooner than silence alone would have ended the others.
  EXPECT_TRUE(has(in_earnest.rest(3'000), " 200 "));
  EXPECT_EQ(silent.front()->rest(1'000), "[closed]");
  EXPECT_EQ(silent.back()->rest(0), "");
}

TEST_F(http_port_test, can_be_stopped_while_connections_are_open) {
  const connection silent{port_->port()};
  const connection half{port_->port()};
  half.send("GET /figures HT");
  EXPECT_TRUE(has(answer(request("GET /figures HTTP/1.1")), " 200 "));
  port_.reset();
  EXPECT_TRUE(has(silent.rest(), "[closed]"));
}

TEST_F(http_port_test, says_who_is_in_the_way) {
  const auto second = http_port::start({"127.0.0.1", port_->port()}, {});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.failure().code, v1::ERROR_CODE_UNAVAILABLE);
  EXPECT_EQ(second.failure().sentence, "cannot serve HTTP on 127.0.0.1:" + std::to_string(port_->port()) + ": the port is in use");
  const auto nowhere = http_port::start({"192.0.2.1", 0}, {});
  ASSERT_FALSE(nowhere.ok());
  EXPECT_TRUE(has(nowhere.failure().sentence, "cannot serve HTTP on 192.0.2.1:0: ")) << nowhere.failure().sentence;
}

TEST(http_port, listens_on_ipv6_where_there_is_some) {
  const auto started = http_port::start({"::1", 0}, {});
  if (!started.ok()) GTEST_SKIP() << started.failure().sentence;
  EXPECT_NE((*started)->port(), 0);
}

}  // namespace
}  // namespace fairlead::app
