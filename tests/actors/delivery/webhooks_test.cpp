#include "actors/delivery/webhooks.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <optional>

#include "tests/actors/agents/http/http_test_server.hpp"

namespace fairlead::test {
namespace {

using namespace std::chrono_literals;

/// Collects how posts ended, by the name the test gave them.
class endings {
 public:
  std::function<void(status)> taker(const std::string& name) {
    return [this, name](const status& how) {
      const std::lock_guard lock{guard_};
      ++told_[name];
      how_.insert_or_assign(name, how);
      changed_.notify_all();
    };
  }
  bool wait_for(std::size_t count, std::chrono::milliseconds limit = 15s) {
    std::unique_lock lock{guard_};
    return changed_.wait_for(lock, limit, [&] { return how_.size() >= count; });
  }
  std::size_t count() const {
    const std::lock_guard lock{guard_};
    return how_.size();
  }
  int told(const std::string& name) const {
    const std::lock_guard lock{guard_};
    const auto it = told_.find(name);
    return it == told_.end() ? 0 : it->second;
  }
  /// `ok`, or the sentence.
  std::string of(const std::string& name) const {
    const std::lock_guard lock{guard_};
    const auto it = how_.find(name);
    if (it == how_.end()) return "nothing was told";
    return it->second.ok() ? "ok" : it->second.failure().sentence;
  }

 private:
  mutable std::mutex guard_;
  std::condition_variable changed_;
  std::map<std::string, int> told_;
  std::map<std::string, status> how_;
};

webhook_limits quick() {
  webhook_limits out;
  out.time_limit = 300ms;
  return out;
}

std::string post_one(webhooks& port, const std::string& url, const std::string& body = "{}") {
  endings seen;
  port.post({url, body, {}}, seen.taker("one"));
  EXPECT_TRUE(seen.wait_for(1));
  return seen.of("one");
}

TEST(webhooks_test, post_the_body_with_their_headers_and_take_any_2xx_as_success) {
  http_test_server server{[](peer& to, const seen_request&) { to.answer(204, "No Content", ""); }};
  webhooks port;
  endings seen;
  port.post({server.url() + "/hook?key=1", R"({"a":1})", {{"X-Token", "abc"}}}, seen.taker("one"));
  ASSERT_TRUE(seen.wait_for(1));
  EXPECT_EQ(seen.of("one"), "ok");
  const auto requests = server.seen();
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].method, "POST");
  EXPECT_EQ(requests[0].target, "/hook?key=1");
  EXPECT_EQ(requests[0].body, R"({"a":1})");
  EXPECT_EQ(requests[0].headers.at("content-type"), "application/json");
  EXPECT_EQ(requests[0].headers.at("x-token"), "abc");
}

TEST(webhooks_test, say_what_came_when_it_is_no_success) {
  http_test_server server{[](peer& to, const seen_request&) { to.answer(503, "Service Unavailable", "later"); }};
  webhooks port;
  EXPECT_EQ(post_one(port, server.url()), "it answered 503 Service Unavailable");
}

TEST(webhooks_test, do_not_follow_redirects) {
  http_test_server server{[](peer& to, const seen_request&) { to.answer(307, "Temporary Redirect", "", "Location: /elsewhere\r\n"); }};
  webhooks port;
  EXPECT_EQ(post_one(port, server.url()), "it answered 307 Temporary Redirect, and redirects are not followed");
  EXPECT_EQ(server.seen().size(), 1u);
}

TEST(webhooks_test, fail_when_nobody_listens_and_when_the_connection_breaks) {
  http_test_server server{[](peer& to, const seen_request&) { to.close(); }};
  webhooks port;
  EXPECT_NE(post_one(port, server.url()), "ok");
  server.stop_listening();
  EXPECT_EQ(post_one(port, server.url()).rfind("it could not be reached: ", 0), 0u);
}

TEST(webhooks_test, give_up_a_receiver_that_does_not_answer_in_time) {
  http_test_server server{[](peer& to, const seen_request&) {
    to.wait_for_client_to_close(15s);
    to.close();
  }};
  webhooks port{quick()};
  EXPECT_EQ(post_one(port, server.url()), "it did not answer in time");
}

TEST(webhooks_test, take_a_success_for_what_it_is_though_its_answer_is_too_long) {
  http_test_server server{[](peer& to, const seen_request&) {
    to.answer(200, "OK", std::string(4'000'000, 'x'));
    to.close();
  }};
  webhooks port;
  EXPECT_EQ(post_one(port, server.url()), "ok");
}

TEST(webhooks_test, carry_a_bounded_number_at_a_time_and_let_the_others_wait_without_using_up_their_time) {
  std::mutex guard;
  std::condition_variable opened;
  bool open = false;
  http_test_server server{[&](peer& to, const seen_request&) {
    std::unique_lock lock{guard};
    opened.wait(lock, [&] { return open; });
    lock.unlock();
    to.answer(200, "OK", "{}");
  }};
  auto limits = quick();
  limits.at_once = 2;
  webhooks port{limits};
  endings seen;
  for (int i = 0; i < 6; ++i) port.post({server.url(), "{}", {}}, seen.taker("p" + std::to_string(i)));
  // The first two run into their limit while the others wait; only then the receiver answers.
  ASSERT_TRUE(seen.wait_for(2));
  {
    const std::lock_guard lock{guard};
    open = true;
  }
  opened.notify_all();
  ASSERT_TRUE(seen.wait_for(6));
  EXPECT_EQ(seen.of("p0"), "it did not answer in time");
  EXPECT_EQ(seen.of("p4"), "ok");
  EXPECT_EQ(seen.of("p5"), "ok");
  for (int i = 0; i < 6; ++i) EXPECT_EQ(seen.told("p" + std::to_string(i)), 1) << i;
}

TEST(webhooks_test, never_have_more_under_way_than_the_limit) {
  http_test_server server{[](peer& to, const seen_request&) { to.answer(200, "OK", "{}"); }};
  webhook_limits limits;
  limits.at_once = 3;
  webhooks port{limits};
  endings seen;
  for (int i = 0; i < 60; ++i) port.post({server.url(), "{}", {}}, seen.taker(std::to_string(i)));
  ASSERT_TRUE(seen.wait_for(60));
  EXPECT_LE(server.most_at_once(), 3);
  EXPECT_EQ(server.seen().size(), 60u);
}

TEST(webhooks_test, end_at_once_with_posts_under_way_and_tell_nothing_after) {
  http_test_server server{[](peer& to, const seen_request&) {
    to.wait_for_client_to_close(15s);
    to.close();
  }};
  endings seen;
  webhook_limits limits;
  limits.at_once = 1;
  webhooks port{limits};
  port.post({server.url(), "{}", {}}, seen.taker("under way"));
  port.post({server.url(), "{}", {}}, seen.taker("waiting"));
  const auto began = std::chrono::steady_clock::now();
  port.shut_down();
  EXPECT_LT(std::chrono::steady_clock::now() - began, 10s);
  port.post({server.url(), "{}", {}}, seen.taker("late"));
  EXPECT_EQ(seen.count(), 0u);
}

std::string judged(const std::string& url) {
  const auto out = check_webhook_url(url);
  if (out.ok()) return "fine";
  EXPECT_EQ(out.failure().code, v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_FALSE(out.failure().remedy.empty());
  return out.failure().sentence;
}

TEST(webhook_url_test, takes_what_a_post_can_go_to) {
  for (const auto* url : {"http://127.0.0.1:8080/hook", "https://example.com", "HTTPS://example.com/a?b=c%20d&e", "http://[::1]:9000/x",
                          "http://localhost:65535/"})
    EXPECT_EQ(judged(url), "fine") << url;
  EXPECT_EQ(judged("http://h/" + std::string(max_webhook_url_bytes - 9, 'a')), "fine");
}

TEST(webhook_url_test, refuses_what_is_none_and_says_why) {
  EXPECT_EQ(judged(""), "The webhook URL is empty");
  EXPECT_EQ(judged("ftp://host/x"), "The webhook URL does not begin with http:// or https://");
  EXPECT_EQ(judged("file:///etc/passwd"), "The webhook URL does not begin with http:// or https://");
  EXPECT_EQ(judged("host:8080/x"), "The webhook URL does not begin with http:// or https://");
  EXPECT_EQ(judged("http:host"), "The webhook URL does not begin with http:// or https://");
  EXPECT_EQ(judged("http://"), "The webhook URL has no host");
  EXPECT_EQ(judged("http:///path"), "The webhook URL has no host");
  EXPECT_EQ(judged("http://:80/path"), "The webhook URL has no host");
  EXPECT_EQ(judged("http://?x"), "The webhook URL is not a URL");
  EXPECT_EQ(judged("http://host:0/"), "The webhook URL has no valid port");
  EXPECT_EQ(judged("http://host:65536/"), "The webhook URL has no valid port");
  EXPECT_EQ(judged("http://host:port/"), "The webhook URL has no valid port");
  EXPECT_EQ(judged("http://[::1/"), "The webhook URL is not a URL");
  EXPECT_EQ(judged("http://user:secret@host/"), "The webhook URL has a user or a password");
  EXPECT_EQ(judged("http://user@host/"), "The webhook URL has a user or a password");
  EXPECT_EQ(judged("http://host/#part"), "The webhook URL has a fragment (#...)");
  const std::string blank = "The webhook URL has a blank, a control character or a byte that is not ASCII";
  EXPECT_EQ(judged("http://host/a b"), blank);
  EXPECT_EQ(judged("http://host/a\r\nX: y"), blank);
  EXPECT_EQ(judged("http://h\xc3\xb6st/"), blank);
  EXPECT_EQ(judged(std::string{"http://host/\0x", 14}), blank);
  EXPECT_EQ(judged("http://h/" + std::string(max_webhook_url_bytes, 'a')), "The webhook URL is longer than 2048 bytes");
}

}  // namespace
}  // namespace fairlead::test
