// Where requests may go: redirects, lists of hosts, proxies; and secrets on their way out.

#include <gtest/gtest.h>

#include "actors/agents/http/hosts.hpp"
#include "actors/agents/http/http.hpp"
#include "actors/agents/http/request.hpp"
#include "actors/agents/secrets/vault.hpp"
#include "tests/actors/agents/http/http_backends.hpp"
#include "tests/actors/agents/http/http_test_server.hpp"
#include "tests/actors/agents/http/http_test_support.hpp"

namespace fairlead::test {
namespace {

using agents::http_agent_config;

std::string refusal(const http_agent_config& config) {
  const auto checked = agents::check_http_agent(config);
  return checked.ok() ? "accepted" : checked.failure().sentence;
}

// Sends whoever asks for a path to where the script says.
struct redirecting_server {
  std::function<std::string(const seen_request&)> where;  // empty: here it is
  int status = 302;
  http_test_server server{[this](peer& p, const seen_request& r) {
    const auto to = where(r);
    if (to.empty()) return p.answer(200, "OK", "\"here\"");
    p.answer(status, "Elsewhere", "", "Location: " + to + "\r\n");
  }};

  http_agent_config agent(const std::string& method, std::uint32_t redirects) const {
    auto out = one_call(server.url());
    out.calls["do"].method = method;
    out.redirects = redirects;
    return out;
  }
};

TEST(http_redirects, are_permanent_faults_that_name_where_they_lead_unless_they_are_allowed) {
  redirecting_server there{[](const seen_request&) { return "/other"; }};
  const auto result = run_one(*make(there.agent("GET", 0)), a_perform(1, "do"));
  EXPECT_EQ(brief(result), "permanent http_302");
  EXPECT_TRUE(says(result.fault->message(), "a redirect to /other")) << result.fault->message();
  EXPECT_EQ(there.server.seen().size(), 1U);
}

TEST(http_redirects, are_followed_on_the_same_host) {
  redirecting_server there{[](const seen_request& r) { return r.target == "/do" ? "/a?b=1#c" : r.target == "/a?b=1" ? "../x/./y" : ""; }};
  EXPECT_EQ(brief(run_one(*make(there.agent("GET", 2)), a_perform(1, "do"))), "ok \"here\"");
  ASSERT_EQ(there.server.seen().size(), 3U);
  EXPECT_EQ(there.server.seen()[2].headers.at("idempotency-key"), "order-1/charge/perform/1");
  EXPECT_EQ(there.server.connections(), 1);
}

TEST(http_redirects, in_a_circle_or_without_end_are_named) {
  redirecting_server circle{[](const seen_request& r) { return r.target == "/do" ? "/b" : "/do"; }};
  EXPECT_EQ(brief(run_one(*make(circle.agent("GET", 20)), a_perform(1, "do"))), "permanent http_redirects");
  EXPECT_EQ(circle.server.seen().size(), 2U);
  redirecting_server endless{[](const seen_request& r) { return r.target + "x"; }};
  EXPECT_EQ(brief(run_one(*make(endless.agent("GET", 3)), a_perform(1, "do"))), "permanent http_redirects");
  EXPECT_EQ(endless.server.seen().size(), 4U);
  redirecting_server itself{[](const seen_request&) { return "/do"; }};
  EXPECT_EQ(brief(run_one(*make(itself.agent("HEAD", 3)), a_perform(1, "do"))), "permanent http_redirects");
}

TEST(http_redirects, carry_a_body_along_only_by_307_and_308) {
  for (const int status : {301, 302, 303}) {
    redirecting_server there{[](const seen_request& r) { return r.target == "/do" ? "/b" : ""; }, status};
    EXPECT_EQ(brief(run_one(*make(there.agent("POST", 5)), a_perform(1, "do"))), "permanent http_" + std::to_string(status));
    EXPECT_EQ(there.server.seen().size(), 1U);
  }
  for (const int status : {307, 308}) {
    redirecting_server there{[](const seen_request& r) { return r.target == "/do" ? "/b" : ""; }, status};
    EXPECT_EQ(brief(run_one(*make(there.agent("POST", 5)), a_perform(1, "do", R"({"a":1})"))), "ok \"here\"");
    ASSERT_EQ(there.server.seen().size(), 2U);
    EXPECT_EQ(there.server.seen()[1].method, "POST");
    EXPECT_EQ(there.server.seen()[1].body, R"({"a":1})");
  }
}

TEST(http_redirects, lead_to_another_host_only_out_of_the_list_and_without_credentials) {
  http_test_server other{[](peer& p, const seen_request&) { p.answer(200, "OK", "\"other\""); }};
  redirecting_server there{[&](const seen_request&) { return other.url() + "/x"; }};
  auto config = there.agent("GET", 5);
  config.headers = {{"Authorization", "Bearer abc"}, {"X-Team", "a"}};
  EXPECT_EQ(brief(run_one(*make(config), a_perform(1, "do"))), "permanent http_302") << "no list, so only the same host";
  config.allow_hosts = {"127.0.0.1:" + std::to_string(there.server.port())};
  EXPECT_EQ(brief(run_one(*make(config), a_perform(2, "do"))), "permanent url_not_allowed");
  EXPECT_TRUE(other.seen().empty());
  config.allow_hosts.push_back("127.0.0.1:" + std::to_string(other.port()));
  EXPECT_EQ(brief(run_one(*make(config), a_perform(3, "do"))), "ok \"other\"");
  ASSERT_EQ(other.seen().size(), 1U);
  EXPECT_EQ(other.seen()[0].headers.count("authorization"), 0U);
  EXPECT_EQ(other.seen()[0].headers.at("x-team"), "a");
}

TEST(http_redirects, never_leave_http) {
  for (const char* bad : {"ftp://127.0.0.1/x", "file:///etc/passwd", "http://user:secret@127.0.0.1/", "http://", "javascript:x"}) {
    redirecting_server there{[&](const seen_request&) { return bad; }};
    EXPECT_EQ(brief(run_one(*make(there.agent("GET", 5)), a_perform(1, "do"))), "permanent http_302") << bad;
  }
}

TEST(http_redirects, lead_nowhere_without_a_url) {
  for (const std::string nowhere : {"", " ", "#here"}) {
    http_test_server server{[&](peer& p, const seen_request&) { p.answer(307, "Elsewhere", "", "Location: " + nowhere + "\r\n"); }};
    auto config = one_call(server.url());
    config.calls["do"].url = "/c/do";
    config.redirects = 5;
    const auto result = run_one(*make(config), a_perform(1, "do"));
    EXPECT_EQ(brief(result), "permanent http_307");
    EXPECT_TRUE(says(result.fault->message(), nowhere == "#here" ? "only a fragment" : "with an empty Location"))
        << result.fault->message();
    EXPECT_EQ(server.seen().size(), 1U) << "nobody has named /c/";
  }
}

TEST(http_redirects, that_a_call_names_are_its_answer) {
  redirecting_server there{[](const seen_request&) { return "/other"; }, 303};
  auto config = there.agent("GET", 5);
  config.calls["do"].statuses.success = {{303, 303}};
  config.calls["do"].output_template = R"("${ .headers.location }")";
  EXPECT_EQ(brief(run_one(*make(config), a_perform(1, "do"))), "ok \"/other\"");
}

TEST(http_hosts, are_named_by_host_port_and_suffix) {
  const auto allows = [](const std::vector<std::string>& list, const std::string& url) {
    const auto parsed = agents::http_host_list::parse(list);
    const auto origin = agents::origin_of(url);
    return parsed.ok() && origin && parsed->allows(*origin);
  };
  EXPECT_TRUE(allows({"api.example"}, "https://API.example/x"));
  EXPECT_TRUE(allows({"api.example"}, "http://api.example:8080/"));
  EXPECT_FALSE(allows({"api.example"}, "http://api.example.evil/"));
  EXPECT_FALSE(allows({"api.example"}, "http://evil-api.example/"));
  EXPECT_TRUE(allows({"api.example:443"}, "https://api.example/"));
  EXPECT_FALSE(allows({"api.example:443"}, "http://api.example/"));
  EXPECT_TRUE(allows({"*.example"}, "http://a.b.example/"));
  EXPECT_FALSE(allows({"*.example"}, "http://example/"));
  EXPECT_FALSE(allows({"*.example"}, "http://notexample/"));
  EXPECT_TRUE(allows({"[::1]:8443"}, "https://[::1]:8443/"));
  EXPECT_TRUE(allows({"127.0.0.1"}, "http://127.1:99/")) << "the same address";
  EXPECT_TRUE(allows({}, "http://anything/"));
  for (const char* bad :
       {"", "a b", "http://a", "a/b", "*", "*.", "a.*.b", "host:0", "host:99999", "host:x", "[::1", ".a", "a..b", "user@a"})
    EXPECT_FALSE(agents::http_host_list::parse({bad}).ok()) << bad;
}

TEST(http_hosts, outside_the_list_are_refused_when_the_agent_is_read) {
  auto config = one_call("http://127.0.0.1:1");
  config.allow_hosts = {"127.0.0.1"};
  EXPECT_EQ(refusal(config), "accepted");
  config.calls["other"].url = "http://10.0.0.1/x";
  EXPECT_TRUE(says(refusal(config), "call other: url leads to 10.0.0.1:80, which is not among the agent's allow_hosts")) << refusal(config);
  config.allow_hosts = {"a b"};
  EXPECT_TRUE(says(refusal(config), "allow_hosts: 'a b' is not a valid host"));
}

TEST(http_hosts, may_be_chosen_by_a_field_out_of_the_list_alone) {
  http_test_server server{[](peer& p, const seen_request&) { p.answer(200, "OK", "{}"); }};
  auto config = one_call("");
  config.calls["do"].url = "http://{where}:" + std::to_string(server.port()) + "/x";
  EXPECT_TRUE(says(refusal(config), "in the host"));
  config.allow_hosts = {"127.0.0.1"};
  const auto agent = make(config);
  const auto end = [&](std::uint64_t task, const std::string& where) {
    const auto result = run_one(*agent, a_perform(task, "do", R"({"where":")" + where + R"("})"));
    return brief(result);
  };
  EXPECT_EQ(end(1, "127.0.0.1"), "ok {}");
  EXPECT_EQ(end(2, "127.0.0.2"), "permanent url_not_allowed");
  for (const char* bad : {"127.0.0.1/x?", "a@127.0.0.1", "127.0.0.1:80", "", "a b", "[::1]", "127.0.0.1#"})
    EXPECT_EQ(end(3, bad), "permanent bad_request_template") << bad;
  EXPECT_EQ(server.seen().size(), 1U);
}

TEST(http_proxy, is_used_for_all_but_those_named) {
  http_test_server proxy{[](peer& p, const seen_request& r) { p.answer(200, "OK", "\"by proxy: " + r.target + "\""); }};
  auto config = one_call("http://service.invalid");
  config.proxy = proxy.url();
  EXPECT_EQ(brief(run_one(*make(config), a_perform(1, "do"))), "ok \"by proxy: http://service.invalid/do\"");
  http_test_server direct{[](peer& p, const seen_request&) { p.answer(200, "OK", "\"direct\""); }};
  config = one_call(direct.url());
  config.proxy = proxy.url();
  config.no_proxy = {"localhost", "127.0.0.1"};
  ::setenv("no_proxy", "*", 1);
  EXPECT_EQ(brief(run_one(*make(config), a_perform(2, "do"))), "ok \"direct\"");
  config.no_proxy.clear();
  EXPECT_EQ(brief(run_one(*make(config), a_perform(3, "do"))).substr(0, 12), "ok \"by proxy") << "the environment has no say";
  ::unsetenv("no_proxy");
}

TEST(http_proxy, that_does_not_let_through_leaves_nothing_sent) {
  http_test_server proxy{[](peer& p, const seen_request&) {
    p.send("HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n\r\n");
    p.close();
  }};
  auto config = one_call("https://service.invalid");
  config.proxy = proxy.url();
  EXPECT_EQ(brief(run_one(*make(config), a_perform(1, "do"))), "transient proxy");
  EXPECT_EQ(proxy.seen().at(0).method, "CONNECT");
  EXPECT_EQ(proxy.seen().at(0).headers.count("idempotency-key"), 0U) << "what is meant for the service";
  config.proxy = "http://127.0.0.1:1";
  EXPECT_EQ(brief(run_one(*make(config), a_perform(2, "do"))), "transient connection_refused");
}

TEST(http_proxy, has_an_address_and_nothing_else) {
  auto config = one_call("http://h");
  for (const char* bad : {"https://h:1", "http://u:p@h:1", "http://h:1/path", "h:1", "socks5://h:1"}) {
    config.proxy = bad;
    EXPECT_NE(refusal(config), "accepted") << bad;
  }
  config.proxy.clear();
  config.no_proxy = {"a"};
  EXPECT_TRUE(says(refusal(config), "no_proxy is given without proxy"));
}

class two_secrets final : public agents::secrets {
 public:
  result<std::string> resolve(std::string_view text) const override {
    if (text == "$secret{TOKEN}") return std::string{"s3cr/t +\"é"};
    if (text == "$secret{BROKEN}") return std::string{"a\r\nX-Evil: 1"};
    return error{v1::ERROR_CODE_NOT_FOUND, "there is no secret named so", ""};
  }
  result<std::string> resolve_json(std::string_view json, const std::vector<std::string>&) const override { return std::string{json}; }
  std::string redact(std::string text) const override { return text; }
};

TEST(http_secrets, are_put_in_where_the_configuration_names_them_and_nowhere_else) {
  http_test_server server{[](peer& p, const seen_request&) { p.answer(200, "OK", "{}"); }};
  auto config = one_call(server.url());
  config.secrets = std::make_shared<two_secrets>();
  auto& call = config.calls["do"];
  call.url = "/hooks/$secret{TOKEN}/{id}?t=$secret{TOKEN}";
  call.headers = {{"Authorization", "Bearer $secret{TOKEN}"}, {"X-Id", "{id}"}};
  call.body_template = R"({"password":"=$secret{TOKEN}=","again":"$secret{TOKEN}","note":"${ .input.id }"})";
  EXPECT_EQ(brief(run_one(*make(config), a_perform(1, "do", R"({"id":"$secret{TOKEN}"})"))), "ok {}");
  const auto seen = server.seen().at(0);
  EXPECT_EQ(seen.target, "/hooks/s3cr/t%20%2B%22%C3%A9/%24secret%7BTOKEN%7D?t=s3cr%2Ft%20%2B%22%C3%A9");
  EXPECT_EQ(seen.headers.at("authorization"), "Bearer s3cr/t +\"é");
  EXPECT_EQ(seen.headers.at("x-id"), "$secret{TOKEN}") << "what the input says is no reference";
  EXPECT_EQ(seen.body, R"({"password":"=s3cr/t +\"é=","again":"s3cr/t +\"é","note":"$secret{TOKEN}"})");
}

TEST(http_secrets, that_are_missing_or_do_not_fit_send_nothing) {
  auto config = one_call("http://127.0.0.1:1");
  config.calls["do"].headers = {{"X-Key", "$secret{GONE}"}};
  EXPECT_EQ(brief(run_one(*make(config), a_perform(1, "do"))), "transient secret_missing") << "no secrets at all";
  config.secrets = std::make_shared<two_secrets>();
  EXPECT_EQ(brief(run_one(*make(config), a_perform(2, "do"))), "transient secret_missing");
  config.calls["do"].headers = {{"X-Key", "$secret{BROKEN}"}};
  const auto broken = run_one(*make(config), a_perform(3, "do"));
  EXPECT_EQ(brief(broken), "permanent bad_request_template");
  EXPECT_FALSE(says(broken.fault->message(), "Evil"));
}

TEST(http_secrets, are_refused_in_the_host_and_when_they_are_no_reference) {
  auto config = one_call("http://h");
  config.calls["do"].url = "http://$secret{HOST}/x";
  EXPECT_TRUE(says(refusal(config), "a secret in the host"));
  for (const char* bad : {"$secret{", "$secret{}", "$secret{a b}", "$secret{a"}) {
    config = one_call("http://h");
    config.calls["do"].headers = {{"X-Key", bad}};
    EXPECT_NE(refusal(config), "accepted") << bad;
  }
}

TEST(http_secrets, of_an_input_stay_with_the_host_they_were_written_for) {
  agents::secret_vault vault;
  ASSERT_TRUE(vault.add_value("TOKEN", "tk-4242-xyz").ok());
  http_test_server other{[](peer& p, const seen_request&) { p.answer(200, "OK", "\"other\""); }};
  redirecting_server there{[&](const seen_request&) { return other.url() + "/x"; }, 307};
  auto config = there.agent("POST", 5);
  config.secrets = {&vault, [](const agents::secrets*) {}};
  config.allow_hosts = {"127.0.0.1"};
  config.headers = {{"X-Api-Key", "{token}"}, {"Host", "there.example"}};
  const std::string input = R"({"token":"tk-4242-xyz"})";
  EXPECT_EQ(brief(run_one(*make(config), a_perform(1, "do", input))), "permanent http_307");
  EXPECT_EQ(other.seen().size(), 0U);
  config.calls["do"].body_template = "none";
  EXPECT_EQ(brief(run_one(*make(config), a_perform(1, "do", input))), "ok \"other\"");
  EXPECT_EQ(other.seen().at(0).headers.count("x-api-key"), 0U);
  EXPECT_NE(other.seen().at(0).headers.at("host"), "there.example");
}

TEST(http_secrets, stay_with_the_host_they_were_written_for) {
  http_test_server other{[](peer& p, const seen_request&) { p.answer(200, "OK", "\"other\""); }};
  redirecting_server there{[&](const seen_request&) { return other.url() + "/x"; }};
  auto config = there.agent("GET", 5);
  config.secrets = std::make_shared<two_secrets>();
  config.headers = {{"X-Api-Key", "$secret{TOKEN}"}};
  config.allow_hosts = {"127.0.0.1"};
  EXPECT_EQ(brief(run_one(*make(config), a_perform(1, "do"))), "ok \"other\"");
  EXPECT_EQ(there.server.seen().at(0).headers.count("x-api-key"), 1U);
  EXPECT_EQ(other.seen().at(0).headers.count("x-api-key"), 0U);
}

TEST(http_callbacks, are_awaited_whatever_the_service_says_to_its_acceptance) {
  std::string said;
  int status = 202;
  http_test_server server{[&](peer& p, const seen_request&) { p.answer(status, "Accepted", said); }};
  auto config = one_call(server.url());
  config.calls["do"].output_template = R"("${ .body.id }")";
  const auto agent = make(config);
  auto what = a_perform(1, "do");
  EXPECT_EQ(brief(run_one(*agent, what)), "in_doubt bad_response");
  what.set_callback("AbC-_9");
  what.set_callback_url("http://h/v1/callbacks/AbC-_9");
  for (const auto* const body : {"", "<html>thanks</html>", "{\"id\":1}"}) {
    said = body;
    EXPECT_EQ(brief(run_one(*agent, what)), "ok null") << body;
  }
  status = 422;
  EXPECT_EQ(brief(run_one(*agent, what)), "permanent http_422");
}

TEST(http_callbacks, stay_with_the_host_they_were_given_to) {
  http_test_server other{[](peer& p, const seen_request&) { p.answer(200, "OK", "\"other\""); }};
  redirecting_server there{[&](const seen_request&) { return other.url() + "/x"; }, 307};
  auto config = there.agent("POST", 5);
  config.allow_hosts = {"127.0.0.1"};
  auto& call = config.calls["do"];
  call.headers = {{"X-Notify", "{callback_url}"}, {"X-Team", "a"}};
  call.body_template = R"({"url":"${ .callback_url }"})";
  auto what = a_perform(1, "do");
  what.set_callback("AbC-_9");
  what.set_callback_url("http://h/v1/callbacks/AbC-_9");
  const auto refused = run_one(*make(config), what);
  EXPECT_EQ(brief(refused), "permanent http_307");
  EXPECT_TRUE(says(refused.fault->message(), "the URL of the callback")) << refused.fault->message();
  EXPECT_EQ(other.seen().size(), 0U);
  EXPECT_EQ(there.server.seen().at(0).headers.at("fairlead-callback-url"), "http://h/v1/callbacks/AbC-_9");
  call.body_template = "none";
  EXPECT_EQ(brief(run_one(*make(config), what)), "ok null");
  const auto& seen = other.seen().at(0).headers;
  EXPECT_EQ(seen.count("fairlead-callback-url") + seen.count("x-notify"), 0U);
  EXPECT_EQ(seen.at("x-team"), "a");
}

}  // namespace
}  // namespace fairlead::test
