// Many attempts at once, leases that end, stops and shutdowns.

#include <gtest/gtest.h>

#include <future>
#include <set>

#include "actors/agents/http/http.hpp"
#include "tests/actors/agents/http/http_backends.hpp"
#include "tests/actors/agents/http/http_test_server.hpp"
#include "tests/actors/agents/http/http_test_support.hpp"

namespace fairlead::test {
namespace {

using namespace std::chrono_literals;
using agents::attempt_key;
using steady = std::chrono::steady_clock;

// Holds answers back until the test lets them go.
class gate {
 public:
  ~gate() { open(); }
  void open() {
    const std::lock_guard lock{guard_};
    open_ = true;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock{guard_};
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
  }
  bool wait_for_waiting(int count) {
    std::unique_lock lock{guard_};
    return changed_.wait_for(lock, 10s, [&] { return waiting_ >= count; });
  }

 private:
  std::mutex guard_;
  std::condition_variable changed_;
  bool open_ = false;
  int waiting_ = 0;
};

// Answers nothing; notes when the client gives up.
struct patient_server {
  std::mutex guard;
  std::condition_variable changed;
  std::vector<std::int64_t> read_at, closed_at;
  http_test_server server{[this](peer& p, const seen_request&) {
    note(read_at);
    if (p.wait_for_client_to_close(15s)) note(closed_at);
    p.close();
  }};

  void note(std::vector<std::int64_t>& where) {
    const std::lock_guard lock{guard};
    where.push_back(now_ms());
    changed.notify_all();
  }
  bool wait_for(const std::vector<std::int64_t>& what, std::size_t count) {
    std::unique_lock lock{guard};
    return changed.wait_for(lock, 10s, [&] { return what.size() >= count; });
  }
};

TEST(http_transfers, send_the_headers_that_make_an_attempt_known) {
  http_test_server server{[](peer& p, const seen_request&) { p.answer(200, "OK", "{}"); }};
  auto config = one_call(server.url());
  config.headers = {{"X-Team", "payments"}, {"X-Empty", ""}};
  config.calls["do"].headers = {{"X-Order", "o-{order}"}};
  const auto what = a_perform(7, "do", R"({"order":"12","amount":9007199254740993})");
  EXPECT_EQ(brief(run_one(*make(config), what)), "ok {}");
  const auto seen = server.seen().at(0);
  EXPECT_EQ(seen.method, "POST");
  EXPECT_EQ(seen.target, "/do");
  EXPECT_EQ(seen.body, what.input());
  auto headers = seen.headers;
  EXPECT_EQ(headers["idempotency-key"], "order-7/charge/perform/1");
  EXPECT_EQ(headers["fairlead-attempt"], "3");
  EXPECT_EQ(headers["fairlead-complete-by"], format_utc(what.complete_by_unix_ms()));
  EXPECT_EQ(headers["content-type"], "application/json");
  EXPECT_EQ(headers["user-agent"], "fairlead");
  EXPECT_EQ(headers["x-team"], "payments");
  EXPECT_EQ(headers["x-order"], "o-12");
  EXPECT_EQ(headers.count("x-empty"), 1U);
  EXPECT_EQ(headers.count("expect"), 0U);
  EXPECT_EQ(headers["traceparent"].size(), 55U);
}

TEST(http_transfers, ignore_the_proxies_of_the_environment) {
  http_test_server server{[](peer& p, const seen_request&) { p.answer(200, "OK", "{}"); }};
  ::setenv("http_proxy", "http://127.0.0.1:1", 1);
  ::setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
  const auto result = run_one(*make(one_call(server.url())), a_perform(1, "do"));
  ::unsetenv("http_proxy");
  ::unsetenv("ALL_PROXY");
  EXPECT_EQ(brief(result), "ok {}");
}

TEST(http_transfers, carry_each_method_with_and_without_a_body) {
  http_test_server server{[](peer& p, const seen_request& r) { p.answer(200, "OK", r.method == "HEAD" ? "" : "{}"); }};
  auto config = one_call(server.url());
  for (const char* method : {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}) {
    auto& call = config.calls[std::string{"bare-"} + method];
    call.method = method;
    call.url = "/x";
    call.body_template = "none";
  }
  config.calls["put"].method = "PUT";
  config.calls["delete"].method = "DELETE";
  const auto agent = make(config);
  std::uint64_t task = 0;
  for (const auto& call : agent->calls()) EXPECT_FALSE(run_one(*agent, a_perform(++task, call, R"({"a":1})")).fault) << call;
  std::set<std::string> seen;
  for (const auto& r : server.seen()) {
    seen.insert(r.method + " " + r.body);
    EXPECT_EQ(r.headers.count("content-type"), r.body.empty() ? 0U : 1U) << r.method;
  }
  EXPECT_EQ(seen, (std::set<std::string>{"GET ", "HEAD ", "POST ", "PUT ", "PATCH ", "DELETE ", R"(POST {"a":1})", R"(PUT {"a":1})",
                                         R"(DELETE {"a":1})"}));
}

TEST(http_transfers, bring_a_thousand_attempts_through_sixteen_connections) {
  http_test_server server{[](peer& p, const seen_request& r) { p.answer(200, "OK", r.body); }};
  auto config = one_call(server.url());
  config.concurrency = 16;
  const auto agent = make(config);
  EXPECT_EQ(agent->capacity(), 16U);
  inbox box;
  for (std::uint64_t n = 1; n <= 1000; ++n) agent->start(a_perform(n, "do", "{\"n\":" + std::to_string(n) + "}"), box.taker());
  ASSERT_TRUE(box.wait_for(1000, 60s)) << box.total();
  for (std::uint64_t n = 1; n <= 1000; ++n) EXPECT_EQ(brief(box.of(n)), "ok {\"n\":" + std::to_string(n) + "}");
  EXPECT_EQ(box.total(), 1000U);
  EXPECT_EQ(server.seen().size(), 1000U);
  EXPECT_EQ(server.connections(), 16);
  EXPECT_LE(server.most_at_once(), 16);
}

TEST(http_transfers, leave_a_busy_connection_when_it_is_old_so_that_a_name_that_moves_is_followed) {
  http_test_server server{[](peer& p, const seen_request& r) { p.answer(200, "OK", r.body); }};
  auto config = one_call(server.url());
  config.connection_age_ms = 1'000;
  const auto agent = make(config);
  std::uint64_t n = 0;
  EXPECT_TRUE(eventually([&] {
    ++n;
    EXPECT_EQ(brief(run_one(*agent, a_perform(n, "do", "1"))), "ok 1");
    return server.connections() == 2;
  }));
  EXPECT_GT(server.seen()[1].number_on_connection, 1) << "until then it was kept";
}

TEST(http_transfers, never_exceed_the_limit_even_when_stopped_ones_are_replaced) {
  gate held;
  http_test_server server{[&](peer& p, const seen_request& r) {
    if (r.body == "\"held\"") held.pass();
    p.answer(200, "OK", "{}");
  }};
  auto config = one_call(server.url());
  config.concurrency = 3;
  const auto agent = make(config);
  inbox box;
  for (std::uint64_t n = 1; n <= 3; ++n) agent->start(a_perform(n, "do", "\"held\""), box.taker());
  for (std::uint64_t n = 4; n <= 9; ++n) agent->start(a_perform(n, "do", "1"), box.taker());
  ASSERT_TRUE(held.wait_for_waiting(3));
  EXPECT_EQ(server.seen().size(), 3U) << "those above the limit must wait";
  EXPECT_EQ(server.connections(), 3);
  held.open();
  ASSERT_TRUE(box.wait_for(9));
  EXPECT_LE(server.most_at_once(), 3);
  EXPECT_EQ(server.connections(), 3);
}

TEST(http_transfers, cut_the_transfer_when_the_lease_ends) {
  patient_server patient;
  const auto agent = make(one_call(patient.server.url()));
  inbox box;
  const auto what = a_perform(1, "do", "{}", 400);
  agent->start(what, box.taker());
  ASSERT_TRUE(patient.wait_for(patient.closed_at, 1));
  EXPECT_GE(patient.closed_at[0], what.complete_by_unix_ms() - 100);
  EXPECT_LE(patient.closed_at[0], what.complete_by_unix_ms() + 10'000);
}

TEST(http_transfers, obey_the_shorter_of_budget_and_complete_by) {
  patient_server patient;
  const auto agent = make(one_call(patient.server.url()));
  inbox box;
  auto by_budget = a_perform(1, "do", "{}", 60'000);
  by_budget.set_budget_ms(200);
  auto by_moment = a_perform(2, "do", "{}", 200);
  by_moment.set_budget_ms(60'000);
  const auto began = now_ms();
  agent->start(by_budget, box.taker());
  agent->start(by_moment, box.taker());
  ASSERT_TRUE(patient.wait_for(patient.closed_at, 2));
  EXPECT_LE(patient.closed_at[1], began + 10'000);
}

TEST(http_transfers, say_nothing_when_stopped_as_the_lease_ends) {
  patient_server patient;
  const auto agent = make(one_call(patient.server.url()));
  inbox box;
  const auto what = a_perform(1, "do", "{}", 300);
  agent->start(what, box.taker());
  ASSERT_TRUE(patient.wait_for(patient.closed_at, 1));
  agent->stop(key_of(what));
  // Another attempt that outlives the grace shows that the first had every chance to speak.
  const auto later = a_perform(2, "do", "{}", 500);
  agent->start(later, box.taker());
  ASSERT_TRUE(box.wait_for(1));
  EXPECT_EQ(box.total(), 1U);
  EXPECT_EQ(brief(box.of(2)), "in_doubt timeout");
}

TEST(http_transfers, are_in_doubt_when_the_lease_ended_and_nobody_stopped_them) {
  patient_server patient;
  const auto agent = make(one_call(patient.server.url()));
  EXPECT_EQ(brief(run_one(*agent, a_perform(1, "do", "{}", 200))), "in_doubt timeout");
  http_test_server half{[](peer& p, const seen_request&) {
    p.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n123");
    p.wait_for_client_to_close(15s);
    p.close();
  }};
  EXPECT_EQ(brief(run_one(*make(one_call(half.url())), a_perform(1, "do", "{}", 200))), "in_doubt timeout");
}

TEST(http_transfers, send_nothing_when_the_lease_is_over_already) {
  http_test_server server{[](peer& p, const seen_request&) { p.answer(200, "OK", "{}"); }};
  const auto agent = make(one_call(server.url()));
  EXPECT_EQ(brief(run_one(*agent, a_perform(1, "do", "{}", -5))), "transient timeout");
  EXPECT_EQ(server.connections(), 0);
}

TEST(http_transfers, cancel_and_say_nothing_when_stopped) {
  patient_server patient;
  const auto agent = make(one_call(patient.server.url()));
  inbox box;
  const auto what = a_perform(1, "do");
  agent->start(what, box.taker());
  ASSERT_TRUE(patient.wait_for(patient.read_at, 1));
  const auto began = now_ms();
  agent->stop(key_of(what));
  ASSERT_TRUE(patient.wait_for(patient.closed_at, 1));
  EXPECT_LE(patient.closed_at[0], began + 10'000);
  agent->stop(key_of(what));
  agent->stop({99, 0, v1::DIRECTION_UNDO, 1});
  agent->shut_down();
  EXPECT_EQ(box.total(), 0U);
}

TEST(http_transfers, say_nothing_of_one_that_was_stopped_when_its_answer_was_there_already) {
  // Two answers leave together; whichever completes first stops the other, whose answer is often read in the same turn of the loop.
  std::mutex guard;
  std::condition_variable changed;
  int arrived = 0;
  http_test_server server{[&](peer& p, const seen_request& r) {
    if (r.body == "2") {
      std::unique_lock lock{guard};
      const int pair = arrived++ / 2;
      changed.notify_all();
      changed.wait_for(lock, 10s, [&] { return arrived >= 2 * pair + 2; });
    }
    p.answer(200, "OK", "{}");
  }};
  const auto agent = make(one_call(server.url()));
  inbox box;
  constexpr std::size_t rounds = 200;
  for (std::uint64_t n = 0; n < rounds; ++n) {
    const auto a = a_perform(3 * n + 1, "do", "2");
    const auto b = a_perform(3 * n + 2, "do", "2");
    const auto stops = [&](const attempt_key& other) {
      return [&agent, &box, other](const attempt_key& key, agents::attempt_result result) {
        agent->stop(other);
        box.taker()(key, std::move(result));
      };
    };
    agent->start(a, stops(key_of(b)));
    agent->start(b, stops(key_of(a)));
    ASSERT_TRUE(box.wait_for(2 * n + 1));
    agent->start(a_perform(3 * n + 3, "do", "1"), box.taker());  // its completion shows that the loop has gone on
    ASSERT_TRUE(box.wait_for(2 * n + 2));
    ASSERT_EQ(box.total(), 2 * n + 2);
  }
}

TEST(http_transfers, end_with_a_shutdown_and_stay_silent) {
  patient_server patient;
  auto config = one_call(patient.server.url());
  const auto agent = make(config);
  inbox box;
  for (std::uint64_t n = 1; n <= 8; ++n) agent->start(a_perform(n, "do"), box.taker());
  ASSERT_TRUE(patient.wait_for(patient.read_at, 4));
  const auto began = steady::now();
  agent->shut_down();
  EXPECT_LT(steady::now() - began, 10s);
  agent->start(a_perform(20, "do"), box.taker());
  agent->shut_down();
  EXPECT_EQ(box.total(), 0U);
}

TEST(http_transfers, survive_a_completion_that_throws) {
  http_test_server server{[](peer& p, const seen_request&) { p.answer(200, "OK", "{}"); }};
  const auto agent = make(one_call(server.url()));
  std::promise<void> thrown;
  agent->start(a_perform(1, "do"), [&](const agents::attempt_key&, agents::attempt_result) {
    thrown.set_value();
    throw std::runtime_error("a bug");
  });
  thrown.get_future().wait();
  EXPECT_EQ(brief(run_one(*agent, a_perform(2, "do"))), "ok {}");
}

TEST(http_transfers, refuse_to_start_the_same_attempt_twice) {
  patient_server patient;
  const auto agent = make(one_call(patient.server.url()));
  inbox box;
  agent->start(a_perform(1, "do"), box.taker());
  EXPECT_THROW(agent->start(a_perform(1, "do"), box.taker()), std::logic_error);
}

TEST(http_transfers, answer_for_calls_they_do_not_know) {
  const auto agent = make(one_call("http://127.0.0.1:1"));
  EXPECT_EQ(brief(run_one(*agent, a_perform(1, "refund"))), "permanent unknown_call");
}

}  // namespace
}  // namespace fairlead::test
