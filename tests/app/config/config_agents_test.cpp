#include <gtest/gtest.h>

#include "app/config/config.hpp"
#include "tests/app/agents_of.hpp"
#include "tests/app/config/node_file.hpp"

namespace fairlead::app {
namespace {

// One http agent; `call` stands on line 6.
std::string with_call(const std::string& call) {
  return "agents:\n  payment: { kind: http, base_url: \"http://127.0.0.1:7102\", calls: {\n    charge:\n" + call + "\n  } }";
}

TEST(config_agents, reads_an_http_agent) {
  const auto file = parsed(R"(agents:
  payment:
    kind: http
    base_url: http://127.0.0.1:7102/v1/
    concurrency: 32
    connect_timeout: 3s
    max_response: 2MiB
    headers: { X-Team: orders, X-Level: 5 }
    calls:
      charge:
        method: PUT
        path: /charges/{order}
        headers: { Accept: application/json }
        body: { amount: "${ .input.amount_cents }", big: 9007199254740993 }
        output: { id: "${ .body.id }" }
        statuses: { success: [2xx, 409], transient: 503, in_doubt: [500-502], permanent: [4xx] }
      ping: { method: GET, url: "http://localhost:9/ping", body: none }
)");
  EXPECT_EQ(shown(file.problems), lines{});
  ASSERT_EQ(agents_of<agents::http_agent_config>(file.config).size(), 1U);
  const auto agent = agents_of<agents::http_agent_config>(file.config)[0];
  EXPECT_EQ(agent.name, "payment");
  EXPECT_EQ(agent.base_url, "http://127.0.0.1:7102/v1");
  EXPECT_EQ(agent.concurrency, 32U);
  EXPECT_EQ(agent.connect_timeout_ms, 3'000);
  EXPECT_EQ(agent.max_response_bytes, 2'097'152U);
  EXPECT_EQ(agent.headers, (std::vector<std::pair<std::string, std::string>>{{"X-Team", "orders"}, {"X-Level", "5"}}));
  ASSERT_EQ(agent.calls.size(), 2U);
  const auto& charge = agent.calls.at("charge");
  EXPECT_EQ(charge.method, "PUT");
  EXPECT_EQ(charge.url, "/charges/{order}");
  EXPECT_EQ(charge.headers, (std::vector<std::pair<std::string, std::string>>{{"Accept", "application/json"}}));
  EXPECT_EQ(charge.body_template, R"({"amount":"${ .input.amount_cents }","big":9007199254740993})");
  EXPECT_EQ(charge.output_template, R"({"id":"${ .body.id }"})");
  ASSERT_EQ(charge.statuses.success.size(), 2U);
  EXPECT_EQ(charge.statuses.success[0].first, 200);
  EXPECT_EQ(charge.statuses.success[0].last, 299);
  EXPECT_EQ(charge.statuses.success[1].first, 409);
  ASSERT_EQ(charge.statuses.transient.size(), 1U);
  EXPECT_EQ(charge.statuses.in_doubt[0].last, 502);
  EXPECT_EQ(charge.statuses.permanent[0].first, 400);
  EXPECT_EQ(agent.calls.at("ping").url, "http://localhost:9/ping");
  EXPECT_EQ(agent.calls.at("ping").body_template, "none");
}

TEST(config_agents, has_the_defaults_that_the_documentation_promises) {
  const auto file = parsed(with_call("      { path: /charges }"));
  EXPECT_EQ(shown(file.problems), lines{});
  const auto agent = agents_of<agents::http_agent_config>(file.config).at(0);
  EXPECT_EQ(agent.concurrency, 64U);
  EXPECT_EQ(agent.connect_timeout_ms, 2'000);
  EXPECT_EQ(agent.max_response_bytes, 1'048'576U);
  EXPECT_EQ(agent.calls.at("charge").method, "POST");
  EXPECT_EQ(agent.calls.at("charge").body_template, "");
  EXPECT_EQ(agent.calls.at("charge").output_template, "");
}

TEST(config_agents, refuses_agents_without_a_kind_or_of_another) {
  EXPECT_EQ(problems_of("agents:\n  a: { calls: {} }"), lines{"4:6: agents.a.kind: this key is missing; expected http, native or exec"});
  EXPECT_EQ(problems_of("agents:\n  a: { kind: htpt }"),
            lines{"4:14: agents.a.kind: expected http, native or exec, found \"htpt\"; did you mean http?"});
  EXPECT_EQ(problems_of("agents:\n  a: http"), lines{"4:6: agents.a: expected a map, found \"http\""});
  EXPECT_EQ(problems_of("agents:\n  \"a b\": { kind: native, handler: echo }"),
            lines{"4:10: agents.a b: expected a name: a letter, then letters, digits, _, . and -; at most 64 in all"});
  EXPECT_EQ(problems_of("agents:\n  a: { kind: native }"),
            lines{"4:6: agents.a.handler: this key is missing; expected the name of a handler that is compiled in"});
  EXPECT_EQ(
      problems_of("agents:\n  a: { kind: native, handler: echo, calls: {} }"),
      lines{"4:37: agents.a.calls: this key is not known here; known keys: kind, handler, concurrency, labels, retry, breaker, limits or "
            "input_secrets"});
}

TEST(config_agents, refuses_the_name_of_the_agent_that_each_node_has) {
  EXPECT_EQ(problems_of("agents:\n  fairlead.operations: { kind: native, handler: echo }\n"),
            lines{"4:24: agents.fairlead.operations: this is the name of an agent that each node has already; give it another name"});
}

TEST(config_agents, refuses_wrong_values_of_an_http_agent) {
  EXPECT_EQ(
      problems_of(R"(agents:
  a:
    kind: http
    base_url: ftp://x
    concurrency: 0
    connect_timeout: 1
    max_response: 1GiB
    headers: [x]
    breaker: 5
    cals: {}
)"),
      (lines{
          "4:3: agents.a.calls: this key is missing; expected a map of calls by name",
          "6:15: agents.a.base_url: expected a URL that begins with http:// or https://, found \"ftp://x\"",
          "7:18: agents.a.concurrency: expected a whole number from 1 to 16384, found the number 0",
          "8:22: agents.a.connect_timeout: expected a duration such as 250ms, 5s, 1m30s, 2h or 7d, found the number 1",
          "9:19: agents.a.max_response: expected a size from 1 to 64MiB, found \"1GiB\"",
          "10:14: agents.a.headers: expected a map, found a list",
          "11:14: agents.a.breaker: expected off, or a map with failure_percent, slow, slow_percent, window, at_least, open and canaries, "
          "found the number 5",
          "12:5: agents.a.cals: this key is not known here; did you mean calls?"}));
  EXPECT_EQ(problems_of("agents:\n  a: { kind: http, calls: {} }"), lines{"4:27: agents.a.calls: an agent needs at least one call"});
}

TEST(config_agents, refuses_calls_without_one_address) {
  EXPECT_EQ(problems_of(with_call("      { method: GET }")),
            lines{"5:5: agents.payment.calls.charge: the call has neither path nor url; add path: /… or url: http://…"});
  EXPECT_EQ(
      problems_of(with_call("      { path: /a, url: http://b/c }")),
      lines{"6:24: agents.payment.calls.charge.url: both path and url are given; keep one: path is appended to base_url, url is absolute"});
  EXPECT_EQ(problems_of(with_call("      { path: charges }")),
            lines{"6:15: agents.payment.calls.charge.path: expected a path that begins with /, found \"charges\""});
  EXPECT_EQ(problems_of(with_call("      { url: /charges }")),
            lines{"6:14: agents.payment.calls.charge.url: expected a URL that begins with http:// or https://, found \"/charges\""});
  EXPECT_EQ(problems_of("agents:\n  a: { kind: http, calls: { c: { path: /x } } }"),
            lines{"4:40: agents.a.calls.c.path: a path needs the agent's base_url; add base_url to the agent, or give the call a url"});
}

TEST(config_agents, refuses_wrong_values_of_a_call) {
  EXPECT_EQ(problems_of(with_call("      { path: /x, method: FETCH }")),
            lines{"6:27: agents.payment.calls.charge.method: expected GET, HEAD, POST, PUT, PATCH or DELETE, found \"FETCH\""});
  EXPECT_EQ(
      problems_of(with_call("      { path: /x,\n statuses: { transient: [503, 6xx, 599-500, often], sucess: 200 } }")),
      (lines{"7:31: agents.payment.calls.charge.statuses.transient[1]: expected a status such as 503, 5xx or 500-599, found \"6xx\"",
             "7:36: agents.payment.calls.charge.statuses.transient[2]: expected a status such as 503, 5xx or 500-599, found \"599-500\"",
             "7:45: agents.payment.calls.charge.statuses.transient[3]: expected a status such as 503, 5xx or 500-599, found \"often\"",
             "7:53: agents.payment.calls.charge.statuses.sucess: this key is not known here; did you mean success?"}));
  EXPECT_EQ(problems_of(with_call("      { path: /x, pth: /y }")),
            lines{"6:19: agents.payment.calls.charge.pth: this key is not known here; did you mean path?"});
}

TEST(config_agents, shows_what_the_agent_itself_refuses_at_the_key_that_brought_it_in) {
  struct bad_case {
    const char* call;
    const char* where;
    int column;
  };
  const std::vector<bad_case> cases{
      {"      { path: \"/a b\" }", "agents.payment.calls.charge.path", 15},
      {"      { path: \"/{open\" }", "agents.payment.calls.charge.path", 15},
      {"      { path: /x, headers: { Idempotency-Key: x } }", "agents.payment.calls.charge.headers", 28},
      {"      { path: /x, body: { a: \"${ .steps.a }\" } }", "agents.payment.calls.charge.body", 25},
      {"      { path: /x, body: { a: \"${ .input.a + 1 }\" } }", "agents.payment.calls.charge.body", 25},
      {"      { path: /x, output: \"${ .input.a }\" }", "agents.payment.calls.charge.output", 27},
  };
  for (const auto& c : cases) {
    const auto problems = parsed(with_call(c.call)).problems;
    ASSERT_EQ(problems.size(), 1U) << c.call;
    EXPECT_EQ(problems[0].where, c.where);
    EXPECT_EQ(problems[0].line, 6) << c.call;
    EXPECT_EQ(problems[0].column, c.column) << c.call;
  }
}

TEST(config_agents, shows_a_bad_header_of_the_agent_once) {
  const auto problems =
      parsed("agents:\n  a: { kind: http, base_url: \"http://x\",\n headers: { \"a b\": c }, calls: { c: { path: /x }, d: { path: /y } } }")
          .problems;
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].where, "agents.a.headers");
  EXPECT_EQ(problems[0].line, 5);
}

TEST(config_agents, gives_a_catalog_for_workflows) {
  const auto catalog = catalog_of(parsed(with_call("      { path: /charges }") + "\n  echo: { kind: native, handler: echo }").config);
  ASSERT_EQ(catalog.size(), 2U);
  EXPECT_EQ(catalog.at("payment"), std::set<std::string>{"charge"});
  EXPECT_FALSE(catalog.at("echo").has_value());
}

}  // namespace
}  // namespace fairlead::app
