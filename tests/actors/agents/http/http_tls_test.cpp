// Certificates that are not what they should be, and those that are.

#include <gtest/gtest.h>

#include "actors/agents/http/http.hpp"
#include "tests/actors/agents/http/http_backends.hpp"
#include "tests/actors/agents/http/http_test_server.hpp"
#include "tests/actors/agents/http/http_test_support.hpp"
#include "tests/actors/agents/http/https_test_server.hpp"

namespace fairlead::test {
namespace {

class http_tls : public testing::Test {
 protected:
  identity authority = make_identity("test authority", nullptr, "");
  pem_folder files;
  std::string ca_file = files.certificate("ca.pem", authority);

  agents::http_agent_config to(const std::string& url) const {
    auto out = one_call(url);
    out.tls.ca_file = ca_file;
    return out;
  }
  std::string end_at(const identity& shown) const {
    https_test_server server{shown};
    auto out = brief(run_one(*make(to(server.url())), a_perform(1, "do")));
    EXPECT_EQ(server.requests(), out == "ok {}" ? 1 : 0);
    return out;
  }
};

TEST_F(http_tls, trusts_what_its_authority_has_signed_and_keeps_the_connection) {
  https_test_server server{make_identity("service", &authority, "IP:127.0.0.1")};
  const auto agent = make(to(server.url()));
  for (std::uint64_t n = 1; n <= 5; ++n) EXPECT_EQ(brief(run_one(*agent, a_perform(n, "do"))), "ok {}");
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(http_tls, leaves_doubt_when_an_answer_may_have_been_cut) {
  https_test_server server{make_identity("service", &authority, "IP:127.0.0.1")};
  const std::string to_the_end = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nfifty";
  server.answer_and_close(to_the_end, true);
  EXPECT_EQ(brief(run_one(*make(to(server.url())), a_perform(1, "do"))), R"(ok "fifty")");
  server.answer_and_close(to_the_end, false);
  EXPECT_EQ(brief(run_one(*make(to(server.url())), a_perform(2, "do"))), "in_doubt bad_response") << "it may have been fifty thousand";
  server.answer_and_close("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", false);
  EXPECT_EQ(brief(run_one(*make(to(server.url())), a_perform(3, "do"))), "ok {}") << "the length says that this is all";
}

TEST_F(http_tls, refuses_certificates_that_prove_nothing) {
  EXPECT_EQ(end_at(make_identity("service", &authority, "IP:127.0.0.1")), "ok {}");
  EXPECT_EQ(end_at(make_identity("service", nullptr, "IP:127.0.0.1")), "transient tls") << "signed by itself";
  EXPECT_EQ(end_at(make_identity("service", &authority, "IP:127.0.0.1", -7'200, -3'600)), "transient tls") << "expired";
  EXPECT_EQ(end_at(make_identity("service", &authority, "IP:127.0.0.1", 3'600, 7'200)), "transient tls") << "not valid yet";
  EXPECT_EQ(end_at(make_identity("service", &authority, "DNS:other.example")), "transient tls") << "of another host";
  const auto stranger = make_identity("another authority", nullptr, "");
  EXPECT_EQ(end_at(make_identity("service", &stranger, "IP:127.0.0.1")), "transient tls") << "of another authority";
}

TEST_F(http_tls, does_not_trust_the_authority_of_another_agent) {
  https_test_server server{make_identity("service", &authority, "IP:127.0.0.1")};
  EXPECT_EQ(brief(run_one(*make(one_call(server.url())), a_perform(1, "do"))), "transient tls") << "the system knows nothing of it";
}

TEST_F(http_tls, shows_a_certificate_to_services_that_ask) {
  https_test_server server{make_identity("service", &authority, "IP:127.0.0.1"), &authority};
  const auto client = make_identity("agent", &authority, "");
  auto config = to(server.url());
  config.tls.client_certificate = files.certificate("client.pem", client);
  config.tls.client_key = files.key("client.key", client);
  EXPECT_EQ(brief(run_one(*make(config), a_perform(1, "do"))), "ok {}");
  EXPECT_EQ(server.requests(), 1);
}

TEST_F(http_tls, is_turned_away_without_a_certificate) {
  const auto own = make_identity("service", &authority, "IP:127.0.0.1");
  https_test_server old{own, &authority, TLS1_2_VERSION};
  EXPECT_EQ(brief(run_one(*make(to(old.url())), a_perform(1, "do"))), "transient tls");
  EXPECT_EQ(old.requests(), 0);
  // By TLS 1.3 the service looks at the certificate only after the client may have begun to send.
  https_test_server fresh{own, &authority};
  EXPECT_EQ(brief(run_one(*make(to(fresh.url())), a_perform(1, "do"))), "in_doubt connection_lost");
  EXPECT_EQ(fresh.requests(), 0);
}

TEST_F(http_tls, insists_on_the_version_it_was_told) {
  https_test_server old{make_identity("service", &authority, "IP:127.0.0.1"), nullptr, TLS1_2_VERSION};
  auto config = to(old.url());
  EXPECT_EQ(brief(run_one(*make(config), a_perform(1, "do"))), "ok {}");
  config.tls.least = agents::http_tls::version::tls_1_3;
  EXPECT_EQ(brief(run_one(*make(config), a_perform(2, "do"))), "transient tls");
}

TEST_F(http_tls, does_not_take_plain_text_for_tls_nor_tls_for_plain_text) {
  http_test_server plain{[](peer& p, const seen_request&) { p.answer(200, "OK", "{}"); }, [] { return true; }};
  auto config = to("https://127.0.0.1:" + std::to_string(plain.port()));
  auto what = a_perform(1, "do");
  what.set_try_until_unix_ms(now_ms() + 1'000);  // a server that waits for the end of a line waits for ever
  EXPECT_EQ(brief(run_one(*make(config), what)).substr(0, 9), "transient");
  EXPECT_TRUE(plain.seen().empty());
  https_test_server tls{make_identity("service", &authority, "IP:127.0.0.1")};
  EXPECT_EQ(brief(run_one(*make(one_call("http://127.0.0.1:" + std::to_string(tls.port()))), a_perform(2, "do"))).substr(0, 8), "in_doubt");
  EXPECT_EQ(tls.requests(), 0);
}

TEST_F(http_tls, does_not_start_over_a_file_that_went_away) {
  https_test_server server{make_identity("service", &authority, "IP:127.0.0.1")};
  auto config = to(server.url());
  config.tls.ca_file += ".gone";
  EXPECT_EQ(brief(run_one(*make(config), a_perform(1, "do"))), "transient tls");
  config = to(server.url());
  config.tls.client_certificate = ca_file + ".gone";
  EXPECT_EQ(brief(run_one(*make(config), a_perform(1, "do"))), "transient tls");
}

}  // namespace
}  // namespace fairlead::test
