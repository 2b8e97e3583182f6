// What becomes of an attempt when the service, or the way to it, misbehaves.

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "actors/agents/http/http.hpp"
#include "tests/actors/agents/http/http_backends.hpp"
#include "tests/actors/agents/http/http_test_server.hpp"
#include "tests/actors/agents/http/http_test_support.hpp"

namespace fairlead::test {
namespace {

using namespace std::chrono_literals;
using agents::http_agent_config;

agents::attempt_result end_with(http_test_server::script script, http_agent_config config = one_call("")) {
  http_test_server server{std::move(script)};
  config.base_url = server.url();
  return run_one(*make(std::move(config)), a_perform(1, "do"));
}

std::string end_of(int status, const std::string& body = "{}", const std::string& headers = "") {
  return brief(end_with([=](peer& p, const seen_request&) { p.answer(status, "Whatever", body, headers); }));
}

int a_closed_port() {
  http_test_server server{[](peer&, const seen_request&) {}};
  return server.port();
}

TEST(http_faults, map_statuses_by_default) {
  EXPECT_EQ(end_of(200, R"({"id":12345678901234567890})"), R"(ok {"id":12345678901234567890})");
  EXPECT_EQ(end_of(201, "[1]"), "ok [1]");
  EXPECT_EQ(end_of(200, ""), "ok null");
  for (const int s : {408, 425, 429, 503}) EXPECT_EQ(end_of(s), "transient http_" + std::to_string(s));
  for (const int s : {500, 502, 504, 599}) EXPECT_EQ(end_of(s), "in_doubt http_" + std::to_string(s));
  for (const int s : {304, 400, 404, 422}) EXPECT_EQ(end_of(s, s == 304 ? "" : "{}"), "permanent http_" + std::to_string(s));
}

TEST(http_faults, let_a_call_say_what_a_status_means) {
  auto config = one_call("");
  config.calls["do"].statuses.success = {{409, 409}};
  config.calls["do"].statuses.transient = {{500, 500}};
  config.calls["do"].statuses.permanent = {{500, 599}};
  const auto end = [&](int status) {
    return brief(end_with([=](peer& p, const seen_request&) { p.answer(status, "", R"("x")"); }, config));
  };
  EXPECT_EQ(end(409), R"(ok "x")");
  EXPECT_EQ(end(500), "transient http_500");
  EXPECT_EQ(end(503), "permanent http_503");
  EXPECT_EQ(end(404), "permanent http_404");
}

TEST(http_faults, quote_at_most_200_printable_bytes_of_the_body) {
  const auto result = end_with([](peer& p, const seen_request&) { p.answer(503, "Busy", "no\n\xff\x1b[31m" + std::string(5000, 'x')); });
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->message(), "503 Busy: no...[31m" + std::string(200 - 9, 'x'));
}

TEST(http_faults, do_not_follow_redirects) {
  std::atomic<int> requests{0};
  const auto result = end_with([&](peer& p, const seen_request&) {
    ++requests;
    p.answer(307, "Elsewhere", "", "Location: /other\r\n");
  });
  EXPECT_EQ(brief(result), "permanent http_307");
  EXPECT_EQ(requests, 1);
}

TEST(http_faults, are_transient_when_nothing_was_sent) {
  const auto refused = run_one(*make(one_call("http://127.0.0.1:" + std::to_string(a_closed_port()))), a_perform(1, "do"));
  EXPECT_EQ(brief(refused), "transient connection_refused");
  const auto unknown = run_one(*make(one_call("http://nowhere.invalid")), a_perform(1, "do"));
  EXPECT_EQ(brief(unknown), "transient dns");
  http_test_server closes{[](peer&, const seen_request&) {}, [] { return false; }};
  const auto tls = run_one(*make(one_call("https://127.0.0.1:" + std::to_string(closes.port()))), a_perform(1, "do"));
  EXPECT_EQ(brief(tls), "transient tls");
}

TEST(http_faults, are_transient_when_the_connection_cannot_be_made_in_time) {
  // A listener with a full backlog: the kernel leaves further connections unanswered.
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(fd, 0), 0);
  ASSERT_EQ(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
  std::vector<int> fill;
  for (int i = 0; i < 4; ++i) {
    fill.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    ::connect(fill.back(), reinterpret_cast<sockaddr*>(&address), size);
  }
  auto config = one_call("http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)));
  config.connect_timeout_ms = 100;
  EXPECT_EQ(brief(run_one(*make(config), a_perform(1, "do"))), "transient connect_timeout");
  for (const int f : fill) ::close(f);
  ::close(fd);
}

TEST(http_faults, are_in_doubt_when_the_connection_is_lost_after_sending) {
  EXPECT_EQ(brief(end_with([](peer& p, const seen_request&) { p.close(); })), "in_doubt connection_lost");
  EXPECT_EQ(brief(end_with([](peer& p, const seen_request&) {
              p.send("HTTP/1.1 200 OK\r\nContent-");
              p.close();
            })),
            "in_doubt bad_response");
  http_test_server before_reading{[](peer&, const seen_request&) {}, [] { return false; }};
  EXPECT_EQ(brief(run_one(*make(one_call(before_reading.url())), a_perform(1, "do"))), "in_doubt connection_lost");
}

TEST(http_faults, are_in_doubt_when_a_success_cannot_be_read) {
  const auto truncated = [](peer& p, const seen_request&) {
    p.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"id\":");
    p.close();
  };
  EXPECT_EQ(brief(end_with(truncated)), "in_doubt bad_response");
  const auto broken_chunks = [](peer& p, const seen_request&) {
    p.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n");
    p.close();
  };
  EXPECT_EQ(brief(end_with(broken_chunks)), "in_doubt bad_response");
  auto config = one_call("");
  config.max_response_bytes = 1000;
  const auto huge = [](peer& p, const seen_request&) { p.answer(200, "OK", "\"" + std::string(2000, 'x') + "\""); };
  EXPECT_EQ(brief(end_with(huge, config)), "in_doubt response_too_large");
  EXPECT_EQ(
      brief(end_with([](peer& p, const seen_request&) { p.answer(200, "OK", "\"" + std::string(998, 'x') + "\""); }, config)).substr(0, 4),
      "ok \"");
  EXPECT_EQ(end_of(200, "{\"id\":}"), "in_doubt bad_response");
  EXPECT_EQ(end_of(200, "<html>"), "in_doubt bad_response");
  const auto endless_header = [](peer& p, const seen_request&) {
    p.send("HTTP/1.1 200 OK\r\n");
    for (int i = 0; i < 100; ++i) p.send("X-" + std::to_string(i) + ": " + std::string(1000, 'x') + "\r\n");
    p.close();
  };
  EXPECT_EQ(brief(end_with(endless_header)), "in_doubt response_too_large");
  EXPECT_EQ(brief(end_with([](peer& p, const seen_request&) {
              p.send("SMTP ready\r\n");
              p.close();
            })),
            "in_doubt bad_response");
}

TEST(http_faults, are_in_doubt_when_any_answer_breaks_off) {
  for (const char* status : {"503 Busy", "400 Bad", "404 Gone"}) {
    const auto truncated = [status](peer& p, const seen_request&) {
      p.send(std::string{"HTTP/1.1 "} + status + "\r\nContent-Length: 100\r\n\r\nlat");
      p.close();
    };
    EXPECT_EQ(brief(end_with(truncated)), "in_doubt bad_response") << status;
  }
}

TEST(http_faults, believe_the_status_of_a_failure_whose_body_is_too_large) {
  auto config = one_call("");
  config.max_response_bytes = 1000;
  const auto huge = [](peer& p, const seen_request&) { p.answer(503, "Busy", std::string(5000, 'x')); };
  EXPECT_EQ(brief(end_with(huge, config)), "transient http_503");
}

// Whether the 409 of a request may be its own doing depends on whether it was the first.
std::string end_of_409(std::uint32_t attempt, std::uint32_t try_number, const http_agent_config& config = one_call("")) {
  http_test_server server{[](peer& p, const seen_request&) { p.answer(409, "There", R"({"code":"exists"})"); }};
  auto at = config;
  at.base_url = server.url();
  auto what = a_perform(1, "do");
  what.set_attempt(attempt);
  what.set_try_number(try_number);
  return brief(run_one(*make(at), what));
}

TEST(http_faults, take_a_409_to_a_request_that_was_sent_before_for_what_may_be_its_own) {
  EXPECT_EQ(end_of_409(1, 1), "permanent http_409");
  EXPECT_EQ(end_of_409(1, 0), "permanent http_409");
  EXPECT_EQ(end_of_409(2, 1), "in_doubt http_409_repeated");
  EXPECT_EQ(end_of_409(1, 2), "in_doubt http_409_repeated");
  auto config = one_call("");
  config.calls["do"].statuses.permanent = {{400, 499}};
  EXPECT_EQ(end_of_409(2, 2, config), "permanent http_409") << "the call says so itself";
  config = one_call("");
  config.calls["do"].rules.push_back({{{409, 409}}, ".body.code", {R"("exists")"}, {}, agents::http_meaning::success, "", ""});
  EXPECT_EQ(end_of_409(2, 2, config), R"(ok {"code":"exists"})");
}

TEST(http_faults, take_plain_text_as_a_json_string) {
  const auto text = [](peer& p, const seen_request&) {
    p.send("HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 10\r\n\r\nall \"good\"");
  };
  EXPECT_EQ(brief(end_with(text)), R"(ok "all \"good\"")");
}

TEST(http_faults, take_json_behind_a_byte_order_mark) {
  EXPECT_EQ(end_of(200, "\xef\xbb\xbf{\"id\":1}"), R"(ok {"id":1})");
  EXPECT_EQ(end_of(200, "\xef\xbb\xbf"), "ok null");
  EXPECT_EQ(end_of(200, "\xef\xbb\xbfoops"), "in_doubt bad_response");
}

TEST(http_faults, say_what_is_wrong_with_a_body) {
  const auto message = [](const std::string& body) {
    const auto result = end_with([&](peer& p, const seen_request&) { p.answer(200, "OK", body); });
    return result.fault ? result.fault->message() : "none";
  };
  EXPECT_EQ(message(std::string(64, '[') + std::string(64, ']')), "none");
  EXPECT_EQ(message(std::string(65, '[') + std::string(65, ']')).substr(0, 78),
            "status 200, but the body is nested more than 64 levels deep at byte 65: [[[[[[");
  EXPECT_EQ(message("{\"id\":}"), "status 200, but the body is not valid JSON at byte 7: expected a value: {\"id\":}");
}

TEST(http_faults, wait_out_interim_responses) {
  const auto interim = [](peer& p, const seen_request&) {
    p.send("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n");
    p.answer(200, "OK", "1");
  };
  EXPECT_EQ(brief(end_with(interim)), "ok 1");
}

// What follows is about a kept-alive connection that the service closed. libcurl sends the request again on a fresh connection.

TEST(http_keep_alive, sends_again_with_the_same_key_when_the_old_connection_broke) {
  http_test_server server{[](peer& p, const seen_request& r) {
    if (r.number_on_connection == 1) return p.answer(200, "OK", "{}");
    p.close();  // read, and perhaps carried out, but never answered
  }};
  const auto agent = make(one_call(server.url()));
  EXPECT_EQ(brief(run_one(*agent, a_perform(1, "do"))), "ok {}");
  const auto again = run_one(*agent, a_perform(2, "do"));
  EXPECT_EQ(brief(again), "ok {}");
  EXPECT_EQ(again.tries, 2U);
  const auto seen = server.seen();
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_EQ(seen[1].connection, 1);
  EXPECT_EQ(seen[2].connection, 2);
  EXPECT_EQ(seen[1].headers, seen[2].headers);
  EXPECT_EQ(seen[1].body, seen[2].body);
}

TEST(http_keep_alive, stays_in_doubt_when_the_second_sending_fails) {
  // Refused on reconnecting: by itself that would mean "nothing happened", but the first sending was read.
  http_test_server* self = nullptr;
  http_test_server server{[&](peer& p, const seen_request& r) {
    if (r.number_on_connection == 1) return p.answer(200, "OK", "{}");
    self->stop_listening();
    p.close();
  }};
  self = &server;
  const auto agent = make(one_call(server.url()));
  EXPECT_EQ(brief(run_one(*agent, a_perform(1, "do"))), "ok {}");
  EXPECT_EQ(brief(run_one(*agent, a_perform(2, "do"))), "in_doubt connection_lost");
}

TEST(http_keep_alive, stays_in_doubt_when_the_second_sending_is_turned_away) {
  http_test_server server{[](peer& p, const seen_request& r) {
    if (r.connection == 2) return p.answer(503, "Busy", "");
    if (r.number_on_connection == 1) return p.answer(200, "OK", "{}");
    p.close();
  }};
  const auto agent = make(one_call(server.url()));
  EXPECT_EQ(brief(run_one(*agent, a_perform(1, "do"))), "ok {}");
  const auto second = run_one(*agent, a_perform(2, "do"));
  EXPECT_EQ(brief(second), "in_doubt http_503");
  EXPECT_EQ(second.tries, 2U);
}

}  // namespace
}  // namespace fairlead::test
