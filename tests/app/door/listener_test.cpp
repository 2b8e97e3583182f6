// The port with a service of the test's own, over real sockets.

#include "app/door/listener.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>

namespace fairlead::app::door {
namespace {

constexpr int patience_ms = 10'000;

class client_socket {
 public:
  explicit client_socket(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd_, reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
  }
  ~client_socket() { close(); }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  void ask(const std::string& target, const std::string& more = {}, const std::string& method = "GET") {
    const auto text = method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n" + more + "\r\n";
    EXPECT_EQ(::send(fd_, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  }
  /// All that has come, up to `end` or the end of the connection.
  const std::string& read_until(const std::string& end) {
    while (seen_.find(end) == std::string::npos) {
      pollfd one{fd_, POLLIN, 0};
      if (::poll(&one, 1, patience_ms) <= 0) {
        ADD_FAILURE() << "nothing more came behind " << seen_;
        break;
      }
      char piece[4096];
      const auto size = ::recv(fd_, piece, sizeof piece, 0);
      if (size <= 0) break;
      seen_.append(piece, static_cast<std::size_t>(size));
    }
    return seen_;
  }
  const std::string& read_all() { return read_until(std::string(1, '\0')); }

 private:
  int fd_;
  std::string seen_;
};

class listener_test : public ::testing::Test {
 protected:
  listener_test() {
    auto made = listener::start(
        std::move(listen_on({"127.0.0.1", 0}).value()), {},
        [this](request what, std::shared_ptr<answerer> to) {
          const std::lock_guard lock{guard_};
          asked_.emplace_back(std::move(what), std::move(to));
          came_.notify_all();
          return soon_.load();
        },
        [] { return "made"; }, "1.2.3");
    EXPECT_TRUE(made.ok());
    port_ = std::move(made.value());
  }
  std::pair<request, std::shared_ptr<answerer>> next() {
    std::unique_lock lock{guard_};
    EXPECT_TRUE(came_.wait_for(lock, std::chrono::milliseconds{patience_ms}, [this] { return !asked_.empty(); }));
    auto out = std::move(asked_.front());
    asked_.pop_front();
    return out;
  }
  static bool is_over_soon(const answerer& to) {
    for (int i = 0; i < patience_ms && !to.is_over(); ++i) ::poll(nullptr, 0, 1);
    return to.is_over();
  }

  std::atomic<bool> soon_ = false;
  std::mutex guard_;
  std::condition_variable came_;
  std::deque<std::pair<request, std::shared_ptr<answerer>>> asked_;
  std::unique_ptr<listener> port_;
};

TEST(listener_of_writes, says_which_of_them_were_refused_before_the_service_had_them) {
  std::vector<std::string> refused;  // the answer comes after it
  std::mutex guard;
  door::guard guards;
  guards.on_refused_write = [&](const request& what, const problem& why) {
    const std::lock_guard lock{guard};
    refused.push_back(what.head.method + " " + what.head.target + " " + what.from.address + " " + what.id + " " + why.code);
  };
  const auto made = listener::start(
      std::move(listen_on({"127.0.0.1", 0}).value()), guards,
      [](const request& what, const std::shared_ptr<answerer>& to) {
        (*to)(to_answer({"method_not_allowed", "It does not have it.", "", {}, {}, false}, what.id));
        return false;
      },
      [] { return "made"; }, "1.2.3");
  ASSERT_TRUE(made.ok());
  const auto answered = [&](const std::string& method, const std::string& more) {
    client_socket from{(*made)->port()};
    from.ask("/v1/tasks", more + "Connection: close\r\n", method);
    return from.read_all().substr(0, std::string_view{"HTTP/1.1 403"}.size());
  };
  const std::string other_site = "Origin: https://evil.example\r\n", body = "Content-Length: 2\r\n";
  EXPECT_EQ(answered("POST", other_site), "HTTP/1.1 403");
  EXPECT_EQ(answered("PUT", "Content-Type: text/plain\r\n" + body), "HTTP/1.1 415");
  EXPECT_EQ(answered("DELETE", "Accept: text/html\r\n"), "HTTP/1.1 406");
  EXPECT_EQ(answered("GET", "Accept: text/html\r\n"), "HTTP/1.1 406") << "it only looks";
  EXPECT_EQ(answered("POST", {}), "HTTP/1.1 405") << "the service itself refused it";
  const std::lock_guard lock{guard};
  EXPECT_EQ(refused,
            (std::vector<std::string>{"POST /v1/tasks 127.0.0.1 made cross_origin", "PUT /v1/tasks 127.0.0.1 made unsupported_media_type",
                                      "DELETE /v1/tasks 127.0.0.1 made not_acceptable"}));
}

TEST_F(listener_test, answers_later_and_from_another_thread) {
  client_socket from{port_->port()};
  from.ask("/a%2Fb?c=d", "X-Request-Id: mine\r\n");
  const auto [what, to] = next();
  EXPECT_EQ(what.head.target, "/a%2Fb?c=d") << "nothing is decoded";
  EXPECT_EQ(what.id, "mine");
  answer out;
  out.status = 201;
  out.body = "{\"done\":true}";
  (*to)(std::move(out));
  const auto& said = from.read_until("{\"done\":true}");
  EXPECT_TRUE(said.starts_with("HTTP/1.1 201")) << said;
  EXPECT_NE(said.find("X-Request-Id: mine"), std::string::npos) << said;
  EXPECT_TRUE(to->is_over());
}

TEST_F(listener_test, an_answer_that_was_to_come_soon_is_given_whenever_it_comes) {
  soon_ = true;
  client_socket from{port_->port()}, late{port_->port()};
  late.ask("/late");
  auto waits = next().second;
  for (int i = 0; i < 100; ++i) {
    from.ask("/" + std::to_string(i));
    auto [what, to] = next();
    answer out;
    out.body = "body of " + what.head.target + ";";
    (*to)(std::move(out));
    from.read_until("body of /" + std::to_string(i) + ";");
  }
  answer out;
  out.body = "late body";
  (*waits)(std::move(out));
  EXPECT_TRUE(late.read_until("late body").starts_with("HTTP/1.1 200"));
}

TEST_F(listener_test, a_client_that_goes_before_an_answer_that_was_to_come_soon_is_noticed) {
  soon_ = true;
  client_socket from{port_->port()};
  from.ask("/");
  const auto to = next().second;
  from.close();
  EXPECT_TRUE(is_over_soon(*to));
}

TEST_F(listener_test, whoever_works_for_a_client_hears_once_that_it_has_gone) {
  client_socket stays{port_->port()}, goes{port_->port()};
  stays.ask("/");
  const auto for_it = next().second;
  goes.ask("/");
  const auto for_nobody = next().second;
  std::atomic<int> stays_heard = 0, goes_heard = 0;
  for_it->on_gone([&] { ++stays_heard; });
  for_nobody->on_gone([&] { ++goes_heard; });
  goes.close();
  for (int i = 0; i < patience_ms && goes_heard == 0; ++i) ::poll(nullptr, 0, 1);
  for_nobody->on_gone([&] { goes_heard += 10; });
  EXPECT_EQ(goes_heard, 11) << "who asks too late hears at once";
  (*for_it)({});
  stays.read_until("\r\n\r\n");
  port_.reset();
  EXPECT_EQ(stays_heard, 0);
}

TEST_F(listener_test, says_that_a_request_was_dropped) {
  client_socket from{port_->port()};
  from.ask("/");
  next().second.reset();
  EXPECT_NE(from.read_until("\"code\":\"internal\"").find("HTTP/1.1 500"), std::string::npos);
}

TEST_F(listener_test, streams_what_comes_and_ends_with_it) {
  client_socket from{port_->port()};
  from.ask("/", "Connection: close\r\n");
  const auto to = next().second;
  answer head;
  head.content_type = "text/event-stream";
  to->begin(std::move(head));
  to->send("one,");
  from.read_until("one,");
  // The connection is idle now, and more wakes it.
  to->send("two,");
  from.read_until("two,");
  to->send("three");
  to->end();
  to->send("never");
  const auto& said = from.read_all();
  EXPECT_NE(said.find("three"), std::string::npos) << said;
  EXPECT_EQ(said.find("never"), std::string::npos) << said;
  EXPECT_TRUE(said.ends_with("0\r\n\r\n")) << said;
}

TEST_F(listener_test, sends_a_long_part_whole_and_drops_a_client_that_has_it_before_it_when_more_comes) {
  client_socket from{port_->port()};
  from.ask("/", "Connection: close\r\n");
  const auto to = next().second;
  to->begin({});
  to->send(std::string(6 << 20, 'x'));
  to->end();
  EXPECT_GT(from.read_all().size(), std::size_t{6 << 20});
  EXPECT_TRUE(from.read_all().ends_with("0\r\n\r\n"));
  client_socket lazy{port_->port()};
  lazy.ask("/");
  const auto other = next().second;
  other->begin({});
  other->send(std::string(24 << 20, 'x'));
  EXPECT_FALSE(other->is_over());
  other->send("more");
  EXPECT_TRUE(is_over_soon(*other));
}

TEST_F(listener_test, sees_that_the_client_of_a_stream_has_gone) {
  client_socket from{port_->port()};
  from.ask("/");
  const auto to = next().second;
  to->begin({});
  to->send("one");
  from.read_until("one");
  EXPECT_FALSE(to->is_over());
  from.close();
  EXPECT_TRUE(is_over_soon(*to));
}

TEST_F(listener_test, drops_a_client_that_does_not_take_its_stream) {
  client_socket from{port_->port()};
  from.ask("/");
  const auto to = next().second;
  to->begin({});
  for (int i = 0; i < 200 && !to->is_over(); ++i) to->send(std::string(100'000, 'x'));
  EXPECT_TRUE(is_over_soon(*to));
}

TEST_F(listener_test, ends_in_order_and_says_so) {
  client_socket waits{port_->port()}, streams{port_->port()};
  waits.ask("/waits");
  const auto first = next().second;
  streams.ask("/streams");
  const auto second = next().second;
  answer head;
  head.farewell = "bye";
  second->begin(std::move(head));
  second->send("one");
  streams.read_until("one");
  port_.reset();
  EXPECT_TRUE(first->is_over());
  EXPECT_TRUE(second->is_over());
  EXPECT_NE(waits.read_all().find("HTTP/1.1 503"), std::string::npos);
  EXPECT_NE(streams.read_all().find("bye"), std::string::npos);
}

TEST(listener_of_late_answers, says_that_one_was_not_sent_whose_client_went_as_it_came) {
  std::unique_ptr<client_socket> goes;
  std::shared_ptr<answerer> for_nobody;
  std::atomic<bool> waits = false;
  std::atomic<int> unsent = 0;
  const auto made = listener::start(
      std::move(listen_on({"127.0.0.1", 0}).value()), {},
      [&](const request&, std::shared_ptr<answerer> to) {
        if (!for_nobody) {
          for_nobody = std::move(to);
          waits = true;
          return false;
        }
        // On the listener's thread: the answer is put and the client goes before it looks at either.
        answer out;
        out.if_unsent = [&] { ++unsent; };
        (*for_nobody)(std::move(out));
        goes->close();
        ::poll(nullptr, 0, 5);  // its end arrives
        (*to)({});
        return false;
      },
      [] { return "made"; }, "1.2.3");
  ASSERT_TRUE(made.ok());
  goes = std::make_unique<client_socket>((*made)->port());
  goes->ask("/");
  for (int i = 0; i < patience_ms && !waits; ++i) ::poll(nullptr, 0, 1);
  client_socket stays{(*made)->port()};
  stays.ask("/");
  stays.read_until("\r\n\r\n");
  for (int i = 0; i < patience_ms && unsent == 0; ++i) ::poll(nullptr, 0, 1);
  EXPECT_EQ(unsent, 1);
}

}  // namespace
}  // namespace fairlead::app::door
