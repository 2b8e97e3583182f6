#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "app/config/config.hpp"
#include "tests/app/agents_of.hpp"
#include "tests/app/config/node_file.hpp"

namespace fairlead::app {
namespace {

using agents::http_meaning;

// One http agent; what is said of it stands on line 5, what is said of its call on line 7.
std::string agent_with(const std::string& agent, const std::string& call = "") {
  return "agents:\n  pay: { kind: http, base_url: \"http://127.0.0.1:1\",\n" + agent + "\n calls: { do: { path: /x,\n" + call + "\n } } }";
}
lines agent_problems(const std::string& agent) { return problems_of(agent_with(agent)); }
lines call_problems(const std::string& call) { return problems_of(agent_with("", call)); }

TEST(config_http, reads_every_key_of_an_agent) {
  const auto file = parsed(agent_with(
      R"(concurrency: 16384, compression: true, redirects: 3, allow_hosts: [127.0.0.1, "*.example", "a.example:8443"],
 proxy: "http://10.0.0.1:3128", no_proxy: [localhost, .local], tls: { min_version: 1.3 },)",
      ""));
  EXPECT_EQ(shown(file.problems), lines{});
  const auto agent = agents_of<agents::http_agent_config>(file.config).at(0);
  EXPECT_EQ(agent.concurrency, 16'384U);
  EXPECT_TRUE(agent.compression);
  EXPECT_EQ(agent.redirects, 3U);
  EXPECT_EQ(agent.allow_hosts, (std::vector<std::string>{"127.0.0.1", "*.example", "a.example:8443"}));
  EXPECT_EQ(agent.proxy, "http://10.0.0.1:3128");
  EXPECT_EQ(agent.no_proxy, (std::vector<std::string>{"localhost", ".local"}));
  EXPECT_EQ(agent.tls.least, agents::http_tls::version::tls_1_3);
}

TEST(config_http, is_careful_unless_told_otherwise) {
  const auto file = parsed(agent_with("headers: {},"));
  EXPECT_EQ(shown(file.problems), lines{});
  const auto agent = agents_of<agents::http_agent_config>(file.config).at(0);
  EXPECT_FALSE(agent.compression);
  EXPECT_EQ(agent.redirects, 0U);
  EXPECT_TRUE(agent.allow_hosts.empty() && agent.proxy.empty() && agent.tls.ca_file.empty());
  EXPECT_EQ(agent.tls.least, agents::http_tls::version::tls_1_2);
  const auto& call = agent.calls.at("do");
  EXPECT_EQ(call.idempotency.header, "Idempotency-Key");
  EXPECT_EQ(call.idempotency.valid_for_ms, 0);
  EXPECT_FALSE(call.idempotency.replays_errors);
  EXPECT_FALSE(call.lookup);
}

TEST(config_http, reads_rules_idempotency_and_lookup) {
  const auto file = parsed(agent_with("", R"(
    rules: [ { status: 2xx, path: .body.error.code, equals: insufficient_funds, is: permanent, code: no_money, message: "${ .body.error.text }" },
             { status: [409, 412], is: success }, { path: .body.n, one_of: [1, "1", true, null], is: transient }, { path: .body.e, present: false, is: in_doubt } ],
    idempotency: { header: X-Key, valid_for: 24h, replays_errors: true },
    lookup: { method: POST, path: "/by-key/{perform_key}", headers: { X-A: b }, done: 200, never_happened: [404], output: { id: "${ .body.id }" },
              rules: [ { path: .body.state, equals: pending, is: transient }, { status: 410, is: never_happened }, { status: 202, is: unknown }, { status: 208, is: done } ] },
    retry: { tries: 5 })"));
  EXPECT_EQ(shown(file.problems), lines{});
  const auto agent = agents_of<agents::http_agent_config>(file.config).at(0);
  const auto& call = agent.calls.at("do");
  ASSERT_EQ(call.rules.size(), 4U);
  EXPECT_EQ(call.rules[0].path, ".body.error.code");
  EXPECT_EQ(call.rules[0].one_of, std::vector<std::string>{R"("insufficient_funds")"});
  EXPECT_EQ(call.rules[0].code, R"("no_money")");
  EXPECT_EQ(call.rules[0].message, R"("${ .body.error.text }")");
  EXPECT_EQ(call.rules[1].status.size(), 2U);
  EXPECT_EQ(call.rules[1].is, http_meaning::success);
  EXPECT_EQ(call.rules[2].one_of, (std::vector<std::string>{"1", R"("1")", "true", "null"}));
  EXPECT_EQ(call.rules[3].present, false);
  EXPECT_EQ(call.idempotency.header, "X-Key");
  EXPECT_EQ(call.idempotency.valid_for_ms, 86'400'000);
  EXPECT_TRUE(call.idempotency.replays_errors);
  ASSERT_TRUE(call.lookup);
  EXPECT_EQ(call.lookup->method, "POST");
  EXPECT_EQ(call.lookup->url, "/by-key/{perform_key}");
  EXPECT_EQ(call.lookup->done.at(0).first, 200);
  EXPECT_EQ(call.lookup->never_happened.at(0).first, 404);
  ASSERT_EQ(call.lookup->rules.size(), 4U);
  EXPECT_EQ(call.lookup->rules[1].is, http_meaning::never_happened);
  EXPECT_EQ(agent.settings.call_retry.at("do").tries, 5U);
}

// Each at the key that brought it in: line, column and the beginning of what is said.
void expect_problem(const lines& found, const std::string& begins, const std::string& holds) {
  ASSERT_EQ(found.size(), 1U) << begins;
  EXPECT_EQ(found[0].substr(0, begins.size()), begins);
  EXPECT_NE(found[0].find(holds), std::string::npos) << found[0];
}

TEST(config_http, refuses_wrong_values_of_an_agent_at_their_place) {
  expect_problem(agent_problems("concurrency: 16385,"), "5:14: agents.pay.concurrency:", "from 1 to 16384");
  expect_problem(agent_problems("redirects: 21,"), "5:12: agents.pay.redirects:", "from 0 to 20");
  expect_problem(agent_problems("compression: gzip,"), "5:14: agents.pay.compression:", "expected");
  expect_problem(agent_problems("allow_hosts: [127.0.0.1, \"a b\"],"), "5:26: agents.pay.allow_hosts[1]:", "'a b' is not a valid host");
  expect_problem(agent_problems("allow_hosts: [],"), "5:14: agents.pay.allow_hosts:", "the list is empty");
  expect_problem(agent_problems("allow_hosts: [other.example],"), "4:32: agents.pay.base_url:", "not among the agent's allow_hosts");
  expect_problem(agent_problems("proxy: \"https://h:1\","), "5:8: agents.pay.proxy:", "more than http://host:port");
  expect_problem(agent_problems("no_proxy: [localhost],"), "5:11: agents.pay.no_proxy:", "no_proxy is given without proxy");
  expect_problem(agent_problems("proxy: \"http://h:1\", no_proxy: [\"a, b\"],"), "5:33: agents.pay.no_proxy[0]:", "is not a valid host");
  expect_problem(agent_problems("tls: { min_version: 1.1 },"), "5:21: agents.pay.tls.min_version:", "expected 1.2 or 1.3");
  expect_problem(agent_problems("tls: { verify: false },"), "5:8: agents.pay.tls.verify:", "not known here");
}

TEST(config_http, refuses_wrong_rules_at_their_place) {
  expect_problem(call_problems("rules: [ { status: 200 } ]"), "7:10: agents.pay.calls.do.rules[0].is:", "missing");
  expect_problem(call_problems("rules: [ { status: 200, is: done } ]"),
                 "7:29: agents.pay.calls.do.rules[0].is:", "expected success, transient");
  expect_problem(call_problems("rules: [ { status: 600, is: permanent } ]"),
                 "7:20: agents.pay.calls.do.rules[0].status:", "a status such as");
  expect_problem(call_problems("rules: [ { is: permanent } ]"), "7:10: agents.pay.calls.do.rules[0]:", "neither status nor path");
  expect_problem(call_problems("rules: [ { status: 200, equals: 1, is: permanent } ]"),
                 "7:33: agents.pay.calls.do.rules[0].equals:", "path is missing");
  expect_problem(call_problems("rules: [ { path: .body.a, is: permanent } ]"), "7:10: agents.pay.calls.do.rules[0]:", "does not say");
  expect_problem(call_problems("rules: [ { path: .body.a, equals: 1, present: true, is: permanent } ]"),
                 "7:10: agents.pay.calls.do.rules[0]:", "more than one comparison");
  expect_problem(call_problems("rules: [ { path: .body.a, equals: [1], is: permanent } ]"),
                 "7:35: agents.pay.calls.do.rules[0].equals:", "expected a string");
  expect_problem(call_problems("rules: [ { path: .body.a, one_of: [], is: permanent } ]"),
                 "7:35: agents.pay.calls.do.rules[0].one_of:", "is empty");
  expect_problem(call_problems("rules: [ { path: .input.a, equals: 1, is: permanent } ]"),
                 "7:18: agents.pay.calls.do.rules[0].path:", "not a plain path");
  expect_problem(call_problems("rules: [ { status: 200, is: permanent, code: \"two words\" } ]"),
                 "7:46: agents.pay.calls.do.rules[0].code:", "is not a valid code");
  expect_problem(call_problems("rules: [ { status: 200, is: permanent, message: \"${ .input.a }\" } ]"),
                 "7:49: agents.pay.calls.do.rules[0].message:", "does not begin with");
  expect_problem(call_problems("rules: [ { status: 200, is: permanent, cod: x } ]"),
                 "7:40: agents.pay.calls.do.rules[0].cod:", "did you mean code?");
  expect_problem(call_problems("rules: { status: 200 }"), "7:8: agents.pay.calls.do.rules:", "expected a list");
}

TEST(config_http, refuses_wrong_lookups_and_keys_at_their_place) {
  expect_problem(call_problems("idempotency: { header: \"a b\" }"),
                 "7:24: agents.pay.calls.do.idempotency.header:", "is not a valid header name");
  expect_problem(call_problems("idempotency: { header: Content-Length }"),
                 "7:24: agents.pay.calls.do.idempotency.header:", "another meaning");
  expect_problem(call_problems("idempotency: { valid_for: 1ms }"), "7:27: agents.pay.calls.do.idempotency.valid_for:", "");
  expect_problem(call_problems("idempotency: { replay: true }"), "7:16: agents.pay.calls.do.idempotency.replay:", "not known here");
  expect_problem(call_problems("lookup: { done: 200 }"), "7:9: agents.pay.calls.do.lookup:", "the lookup has neither path nor url");
  expect_problem(call_problems("lookup: { path: /x, method: DELETE }"), "7:29: agents.pay.calls.do.lookup.method:", "GET, HEAD or POST");
  expect_problem(call_problems("lookup: { path: \"/{open\" }"), "7:17: agents.pay.calls.do.lookup.path:", "does not begin a {field}");
  expect_problem(call_problems("lookup: { path: /x, headers: { Connection: a } }"),
                 "7:30: agents.pay.calls.do.lookup.headers:", "set by the agent");
  expect_problem(call_problems("lookup: { path: /x, output: \"${ .input.a }\" }"),
                 "7:29: agents.pay.calls.do.lookup.output:", "does not begin with");
  expect_problem(call_problems("lookup: { path: /x, never_happened: [4x4] }"),
                 "7:38: agents.pay.calls.do.lookup.never_happened[0]:", "a status such as");
  expect_problem(call_problems("lookup: { path: /x, rules: [ { status: 200, is: success } ] }"),
                 "7:49: agents.pay.calls.do.lookup.rules[0].is:", "expected done");
}

class config_http_files : public testing::Test {
 protected:
  config_http_files() {
    std::string pattern = (std::filesystem::temp_directory_path() / "fairlead-config-XXXXXX").string();
    folder = ::mkdtemp(pattern.data());
    write("ca.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    write("key.pem", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n");
    write("empty.pem", "");
  }
  ~config_http_files() override { std::filesystem::remove_all(folder); }
  void write(const std::string& name, const std::string& text) const { std::ofstream{folder + "/" + name} << text; }
  config_file read(const std::string& tls) const { return parsed(agent_with("tls: { " + tls + " },"), folder + "/n.yaml"); }
  lines problems(const std::string& tls) const {
    lines out;
    for (const auto& one : read(tls).problems)
      out.push_back(std::to_string(one.line) + ":" + std::to_string(one.column) + ": " + one.where + ": " + one.sentence);
    return out;
  }
  std::string folder;
};

TEST_F(config_http_files, are_found_beside_the_node_file) {
  const auto file = read("ca_file: ca.pem, client_certificate: ca.pem, client_key: key.pem");
  EXPECT_TRUE(file.problems.empty());
  EXPECT_EQ(agents_of<agents::http_agent_config>(file.config).at(0).tls.ca_file, folder + "/ca.pem");
  EXPECT_EQ(agents_of<agents::http_agent_config>(file.config).at(0).tls.client_key, folder + "/key.pem");
}

TEST_F(config_http_files, that_are_missing_or_something_else_are_named_with_their_place) {
  expect_problem(problems("ca_file: gone.pem"), "5:17: agents.pay.tls.ca_file: there is no file " + folder + "/gone.pem", "");
  expect_problem(problems("ca_file: ."), "5:17: agents.pay.tls.ca_file: there is no file", "");
  expect_problem(problems("ca_file: empty.pem"), "5:17: agents.pay.tls.ca_file:", "holds no CERTIFICATE in PEM");
  expect_problem(problems("client_certificate: ca.pem, client_key: ca.pem"),
                 "5:48: agents.pay.tls.client_key:", "holds no PRIVATE KEY in PEM");
  expect_problem(problems("client_key: key.pem"), "5:6: agents.pay.tls:", "client_key is given without client_certificate");
}

}  // namespace
}  // namespace fairlead::app
