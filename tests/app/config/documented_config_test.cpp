// The defaults that docs/configuration.md names are those that a node file without these keys has.

#include <gtest/gtest.h>

#include "actors/agent_host/tries.hpp"
#include "actors/core/registry/breaker.hpp"
#include "messages/time.hpp"
#include "tests/app/config/node_file.hpp"
#include "tests/app/documented.hpp"

namespace fairlead::app {
namespace {

using texts_by_key = std::map<std::string, std::string>;

std::string size_text(std::uint64_t bytes) {
  const char* unit = "";
  for (const auto* next : {"KiB", "MiB", "GiB"}) {
    if (bytes % 1024 != 0) break;
    bytes /= 1024;
    unit = next;
  }
  return std::to_string(bytes) + unit;
}
std::string number_text(std::uint64_t value) { return std::to_string(value); }
std::string bool_text(bool value) { return value ? "true" : "false"; }

/// Every literal default of the table is what the program has.
void expect_documented(const std::string& page, const std::string& first_cell, const texts_by_key& effective, int which = 0) {
  const auto documented = documented_defaults(page, first_cell, which);
  for (const auto& [key, value] : documented) {
    const auto is = effective.find(key);
    ASSERT_NE(is, effective.end()) << page << ": nothing shows the default of " << key;
    std::int64_t ms = 0, documented_ms = 0;
    const auto same_time = parse_duration(is->second, ms) && parse_duration(value, documented_ms) && ms == documented_ms;
    EXPECT_TRUE(same_time || is->second == value) << page << ": " << key << " is " << is->second << ", and not " << value;
  }
  for (const auto& [key, value] : effective)
    EXPECT_EQ(documented.count(key), 1u) << page << " has no default of " << key << ", which is " << value;
}

template <class Agent>
const Agent& only_agent(const config_file& file) {
  return std::get<Agent>(file.config.agents.at(0));
}

TEST(documented_config, of_the_node) {
  const auto file = parsed("");
  const auto& c = file.config;
  EXPECT_EQ(c.data_path, c.store_path);
  expect_documented("configuration.md", "Key",
                    {{"node.listen", c.listen.host + ":" + std::to_string(c.listen.port)},
                     {"node.trusted_network", bool_text(c.trusted_network)},
                     {"node.cluster", c.cluster},
                     {"node.data", "store.path"},
                     {"roles", c.shard_role && c.agent_role ? "[shard, agent]" : ""},
                     {"shards.count", number_text(c.shard_count)},
                     {"shards.here", c.shards_here == std::vector<std::uint32_t>{0} ? "[0]" : ""},
                     {"shards.election_timeout", format_duration(c.election_ms)},
                     {"shards.heartbeat", format_duration(c.heartbeat_ms)},
                     {"store.max_size", size_text(c.store_max_bytes)},
                     {"journal.path", c.journal_path == c.store_path + "/journal" ? "STORE.PATH/journal" : ""},
                     {"journal.segment_size", size_text(c.journal_segment_bytes)},
                     {"journal.max_size", size_text(c.journal_max_bytes)},
                     {"limits.running_tasks", number_text(c.running_tasks)},
                     {"limits.pending_tasks", number_text(c.pending_tasks)},
                     {"limits.input_bytes", size_text(c.input_bytes)},
                     {"api.connections_per_address", number_text(api_config{}.connections_per_address)},
                     {"access.audit_max_size", size_text(c.access.audit_max_bytes)},
                     {"limits.uncommitted_bytes", size_text(c.uncommitted_bytes)},
                     {"cron.in_flight", number_text(c.cron_in_flight)},
                     {"cron.starts_per_second", number_text(c.cron_starts_per_second)},
                     {"supervisor.scan_period", format_duration(c.scan_period_ms)},
                     {"retention.archive_after", format_duration(c.archive_after_ms)},
                     {"retention.keep", format_duration(c.keep_ms)},
                     {"undo_brake.share", number_text(c.undo_brake_share_percent) + "%"},
                     {"undo_brake.window", format_duration(c.undo_brake_window_ms)},
                     {"undo_brake.at_least", number_text(c.undo_brake_at_least)},
                     {"replies.give_up_after", format_duration(c.reply_give_up_after_ms)},
                     {"alerts.step_failing_after", format_duration(c.step_failing_after_ms)},
                     {"alerts.agent_absent_after", format_duration(c.agent_absent_after_ms)},
                     {"alerts.replica_behind_after", format_duration(c.replica_behind_after_ms)},
                     {"shutdown_timeout", format_duration(c.shutdown_timeout_ms)},
                     {"expressions.time_limit", format_duration(c.expression_time_limit_ms)},
                     {"expressions.memory", size_text(c.expression_memory_bytes)},
                     {"log.level", c.log.level == note_level::info ? "info" : ""},
                     {"log.format", c.log.json ? "json" : "text"}});
}

TEST(documented_config, of_certificates_of_clients) {
  const auto file =
      parsed("api: { tls: { certificate: c, key: k, client_ca: a } }\naccess: { certificates: [{ san: \"cn:ben\", roles: [viewer] }] }");
  ASSERT_EQ(shown(file.problems), lines{});
  const auto& one = file.config.access.certificates.at(0);
  expect_documented("configuration.md", "Key of an item of `access.certificates`",
                    {{"name", one.name == one.san ? "san" : ""},
                     {"namespaces", one.namespaces == std::vector<std::string>{"default"} ? "[default]" : ""}});
}

TEST(documented_config, of_http_agents) {
  const auto file = parsed(
      "agents: { a: { kind: http, base_url: \"https://h\", tls: {}, calls: { c: { path: /p, idempotency: {}, lookup: { path: /l } } } } }");
  ASSERT_EQ(shown(file.problems), lines{});
  const auto& agent = only_agent<agents::http_agent_config>(file);
  texts_by_key of_agent{{"concurrency", number_text(agent.concurrency)},
                        {"connect_timeout", format_duration(agent.connect_timeout_ms)},
                        {"connection_age", format_duration(agent.connection_age_ms)},
                        {"max_response", size_text(agent.max_response_bytes)},
                        {"redirects", number_text(agent.redirects)}};
  expect_documented("agents.md", "Key of the agent", of_agent);
  of_agent["compression"] = bool_text(agent.compression);
  of_agent["tls.min_version"] = agent.tls.least == agents::http_tls::version::tls_1_2 ? "1.2" : "1.3";
  expect_documented("configuration.md", "Key under `agents.NAME`", of_agent);
  const auto& call = agent.calls.at("c");
  expect_documented("configuration.md", "Key under `calls.NAME`",
                    {{"method", call.method},
                     {"idempotency.header", call.idempotency.header},
                     {"idempotency.replays_errors", bool_text(call.idempotency.replays_errors)},
                     {"lookup.method", call.lookup->method}});
}

TEST(documented_config, of_exec_agents) {
  const auto file = parsed("agents: { a: { kind: exec, calls: { c: { command: [/bin/true] } } } }");
  ASSERT_EQ(shown(file.problems), lines{});
  const auto& agent = only_agent<agents::exec_agent_config>(file);
  const texts_by_key of_agent{{"concurrency", number_text(agent.concurrency)},
                              {"directory", agent.directory},
                              {"max_output", size_text(agent.max_output_bytes)},
                              {"stop_grace", format_duration(agent.stop_grace_ms)}};
  expect_documented("configuration.md", "Key under `agents.NAME`, of kind exec", of_agent);
  expect_documented("agents.md", "Key of the agent", of_agent, 1);
  const auto& call = agent.calls.at("c");
  expect_documented("configuration.md", "Key under `calls.NAME`, of kind exec",
                    {{"input", call.input == agents::exec_input::json ? "json" : ""},
                     {"output", call.output == agents::exec_output::json ? "json" : ""}});
}

TEST(documented_config, of_alert_targets) {
  const auto file = parsed("alerts: { webhooks: { w: { url: \"http://127.0.0.1:9/\" } }, commands: { c: { run: [/bin/true] } } }");
  ASSERT_EQ(shown(file.problems), lines{});
  const auto common = [](const alert_target& target) {
    return texts_by_key{{"resolved", bool_text(target.resolved)},
                        {"at_most", number_text(target.at_most)},
                        {"window", format_duration(target.window.count())}};
  };
  expect_documented("configuration.md", "Key under `alerts.webhooks.NAME`", common(file.config.alert_targets.at(0)));
  auto command = common(file.config.alert_targets.at(1));
  command["timeout"] = format_duration(file.config.alert_targets.at(1).timeout.count());
  expect_documented("configuration.md", "Key under `alerts.commands.NAME`", command);
}

/// Breaker and backoff read their defaults from zero fields where they are used, so what they do is compared.
TEST(documented_config, of_breakers_and_retries) {
  const auto documented = documented_defaults("configuration.md", "Key under `agents.NAME`, of every kind");
  std::map<std::string, std::string> written{{"retry", ""}, {"breaker", ""}};
  for (const auto& [key, value] : documented) {
    const auto dot = key.find('.');
    ASSERT_NE(dot, std::string::npos) << key;
    // `slow_percent` counts only beside `slow`, which has no default.
    (written[key.substr(0, dot)] += (written[key.substr(0, dot)].empty() ? "" : ", ") + key.substr(dot + 1)) += ": " + value;
  }
  const auto agent_with = [](const std::string& more) {
    auto file = parsed("agents: { a: { kind: exec, calls: { c: { command: [/bin/true] } }, " + more + " } }");
    EXPECT_EQ(shown(file.problems), lines{}) << more;
    return only_agent<agents::exec_agent_config>(file).settings;
  };
  const auto plain = agent_with("breaker: { slow: 1s }");
  const auto says = agent_with("retry: { " + written["retry"] + " }, breaker: { slow: 1s, " + written["breaker"] + " }");
  EXPECT_EQ(documented.at("retry.tries"), number_text(plain.retry.tries));
  EXPECT_EQ(plain.retry.tries, says.retry.tries);
  const auto pauses = [](agents::retry_policy policy) {
    policy.tries = 12;
    const moment end{duration{10'000'000}};
    attempt_tries tries{policy, {7, 1, 1}, end};
    v1::Fault fault;
    fault.set_kind(v1::FAULT_KIND_TRANSIENT);
    std::vector<std::int64_t> out;
    moment now{duration{1'000'000}};
    for (auto next = std::optional{now}; next; next = tries.next(fault, now)) {
      out.push_back((*next - now).count());
      now = *next;
      tries.begin(now);
      tries.finish(1, now);
    }
    return out;
  };
  EXPECT_EQ(pauses(plain.retry), pauses(says.retry));
  EXPECT_EQ(pauses(plain.retry).size(), 12u);

  const moment start{duration{1'700'000'000'000}};
  core::breaker one{start}, other{start};
  one.set_policy(plain.breaker, start);
  other.set_policy(says.breaker, start);
  std::uint32_t luck = 17;
  std::uint64_t openings = 0;
  for (int i = 0; i < 20'000; ++i) {
    luck = luck * 1'664'525U + 1'013'904'223U;
    const auto now = start + duration{i * 250LL};
    one.advance(now);
    other.advance(now);
    ASSERT_EQ(one.state(), other.state()) << i;
    if (!one.admits()) continue;
    // Good and bad minutes, close to the limits.
    const auto bad = (luck >> 16U) % 100 < (i / 400 % 2 == 0 ? 30U : 55U);
    const auto slow = (luck >> 8U) % 100 < (i / 900 % 2 == 0 ? 40U : 85U);
    core::slot_outcome how;
    how.how = bad ? core::slot_end::failed : core::slot_end::succeeded;
    how.busy_ms = slow ? 1'500 : 20;
    const auto mine = one.admit(), its = other.admit();
    if (one.ended(mine, how, now) && one.state() == v1::BREAKER_STATE_OPEN) ++openings;
    other.ended(its, how, now);
    ASSERT_EQ(one.state(), other.state()) << i;
  }
  EXPECT_GT(openings, 10u);
}

TEST(documented_config, of_native_agents) {
  const auto file = parsed("agents: { a: { kind: native, handler: echo } }");
  ASSERT_EQ(shown(file.problems), lines{});
  EXPECT_EQ(only_agent<native_agent_section>(file).concurrency, 64u);
  EXPECT_EQ(only_agent<native_agent_section>(file).settings.retry.tries, 1u);
}

}  // namespace
}  // namespace fairlead::app
