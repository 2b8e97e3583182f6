#include "app/config/config.hpp"

#include <gtest/gtest.h>

#include "tests/app/agents_of.hpp"
#include "tests/app/problems.hpp"

namespace fairlead::app {
namespace {

lines problems_in(const std::string& text) { return shown(parse_node_config("config/n.yaml", text).problems); }

// A sound file whose lines from the third on are `more`.
std::string with_lines(const std::string& more) { return "node: { name: n }\nstore: { path: data }\n" + more + "\n"; }

TEST(config, reads_every_key) {
  const auto file = parse_node_config("/etc/fairlead/n.yaml", R"(
node: { name: single, listen: "[::1]:7200", trusted_network: true }
roles: [agent, shard]
store: { path: ../data/single, max_size: 32GiB }
limits: { running_tasks: 1, pending_tasks: 2, input_bytes: 3KiB, uncommitted_bytes: 4MiB }
cron: { in_flight: 77, starts_per_second: 88 }
supervisor: { scan_period: 5s }
retention: { archive_after: 6h, keep: 7d }
shutdown_timeout: 8s
expressions: { time_limit: 900ms, memory: 128MiB }
log: { level: warning, format: json, file: logs/n.log }
agents:
  echo: { kind: native, handler: echo, concurrency: 5 }
caf: { scheduler: { max-threads: 2 } }
)");
  EXPECT_EQ(shown(file.problems), lines{});
  const auto& c = file.config;
  EXPECT_EQ(c.name, "single");
  EXPECT_EQ(c.listen.host, "::1");
  EXPECT_EQ(c.listen.port, 7200);
  EXPECT_TRUE(c.trusted_network);
  EXPECT_TRUE(c.shard_role && c.agent_role);
  EXPECT_EQ(c.store_path, "/etc/data/single");
  EXPECT_EQ(c.store_max_bytes, std::uint64_t{32} << 30U);
  EXPECT_EQ(c.running_tasks, 1U);
  EXPECT_EQ(c.pending_tasks, 2U);
  EXPECT_EQ(c.input_bytes, 3'072U);
  EXPECT_EQ(c.uncommitted_bytes, 4U << 20U);
  EXPECT_EQ(c.cron_in_flight, 77U);
  EXPECT_EQ(c.cron_starts_per_second, 88U);
  EXPECT_EQ(c.scan_period_ms, 5'000);
  EXPECT_EQ(c.archive_after_ms, 21'600'000);
  EXPECT_EQ(c.keep_ms, 604'800'000);
  EXPECT_EQ(c.shutdown_timeout_ms, 8'000);
  EXPECT_EQ(c.expression_time_limit_ms, 900);
  EXPECT_EQ(c.expression_memory_bytes, 128U << 20U);
  EXPECT_EQ(c.log.level, note_level::warning);
  EXPECT_TRUE(c.log.json);
  EXPECT_EQ(c.log.file, "/etc/fairlead/logs/n.log");
  ASSERT_EQ(agents_of<native_agent_section>(c).size(), 1U);
  EXPECT_EQ(agents_of<native_agent_section>(c)[0].name, "echo");
  EXPECT_EQ(agents_of<native_agent_section>(c)[0].handler, "echo");
  EXPECT_EQ(agents_of<native_agent_section>(c)[0].concurrency, 5U);
  EXPECT_EQ(agents_of<native_agent_section>(c)[0].line, 13);
  EXPECT_EQ(c.caf, (std::vector<std::pair<std::string, std::string>>{{"scheduler.max-threads", "2"}}));
}

TEST(config, has_the_defaults_that_the_documentation_promises) {
  const auto file = parse_node_config("n.yaml", with_lines(""));
  EXPECT_EQ(shown(file.problems), lines{});
  const auto& c = file.config;
  EXPECT_EQ(c.listen.host, "127.0.0.1");
  EXPECT_EQ(c.listen.port, 7100);
  EXPECT_FALSE(c.trusted_network);
  EXPECT_TRUE(c.shard_role && c.agent_role);
  EXPECT_EQ(c.store_path, "data");
  EXPECT_EQ(c.store_max_bytes, std::uint64_t{16} << 30U);
  EXPECT_EQ(c.running_tasks, 10'000U);
  EXPECT_EQ(c.pending_tasks, 1'000'000U);
  EXPECT_EQ(c.input_bytes, 262'144U);
  EXPECT_EQ(c.uncommitted_bytes, 64U << 20U);
  EXPECT_EQ(c.cron_in_flight, 10'000U);
  EXPECT_EQ(c.cron_starts_per_second, 0U);
  EXPECT_EQ(c.scan_period_ms, 1'000);
  EXPECT_EQ(c.archive_after_ms, 3'600'000);
  EXPECT_EQ(c.keep_ms, 2'592'000'000);
  EXPECT_EQ(c.shutdown_timeout_ms, 5'000);
  EXPECT_EQ(c.expression_time_limit_ms, 1'000);
  EXPECT_EQ(c.expression_memory_bytes, 512U << 20U);
  EXPECT_EQ(c.log.level, note_level::info);
  EXPECT_FALSE(c.log.json);
  EXPECT_EQ(c.log.file, "");
}

TEST(config, paths_begin_at_the_file_s_own_folder) {
  const auto store = [](const char* file, const char* path) {
    return parse_node_config(file, std::string{"node: { name: n }\nstore: { path: "} + path + " }\n").config.store_path;
  };
  EXPECT_EQ(store("n.yaml", "data"), "data");
  EXPECT_EQ(store("config/n.yaml", "../data"), "data");
  EXPECT_EQ(store("/etc/fairlead/n.yaml", "data/../store"), "/etc/fairlead/store");
  EXPECT_EQ(store("config/n.yaml", "/var/lib/fairlead"), "/var/lib/fairlead");
}

TEST(config, says_what_is_missing) {
  EXPECT_EQ(problems_in("log: { level: info }\n"),
            (lines{"1:1: node: this key is missing; expected a map with the node's name",
                   "1:1: store: this key is missing; the role shard needs a map with the path of the store"}));
  EXPECT_EQ(problems_in("node: {}\nstore: {}\n"), (lines{"1:7: node.name: this key is missing; expected the node's name",
                                                         "2:8: store.path: this key is missing; expected the folder of the store"}));
  EXPECT_EQ(problems_in("node: { name: n }\nroles: [agent]\n"),
            lines{"1:7: node.data: this key is missing; a node without a store needs a folder for its identity"});
}

TEST(config, a_port_that_others_reach_needs_to_be_wanted_by_name) {
  const std::string refusal =
      "this address can be reached from other machines, and the port trusts everybody who can reach it; listen on 127.0.0.1, or add "
      "trusted_network: true if only trusted machines are in the network";
  for (const auto* address : {"0.0.0.0:7100", "10.1.2.3:7100", "\"[::]:7100\"", "node.example:7100"}) {
    const auto text = std::string{"node:\n  name: n\n  listen: "} + address + "\nstore: { path: d }\n";
    EXPECT_EQ(problems_in(text), lines{"3:11: node.listen: " + refusal});
    EXPECT_EQ(problems_in("node:\n  trusted_network: true\n  name: n\n  listen: " + std::string{address} + "\nstore: { path: d }\n"),
              lines{});
  }
  for (const auto* address : {"127.0.0.1:7100", "127.9.9.9:0", "\"[::1]:7100\"", "localhost:7100"})
    EXPECT_EQ(problems_in(std::string{"node: { name: n, listen: "} + address + " }\nstore: { path: d }\n"), lines{}) << address;
}

TEST(config, refuses_what_is_no_address) {
  for (const auto* address : {"7100x", "127.0.0.1", "127.0.0.1:", "127.0.0.1:70000", ":7100", "127.0.0:7100", "127.0.0.256:7100",
                              "[::1:7100", "::1:7100", "a b:1"}) {
    EXPECT_EQ(problems_in("node:\n  name: n\n  listen: \"" + std::string{address} + "\"\nstore: { path: d }\n"),
              lines{"3:11: node.listen: expected HOST:PORT, such as 127.0.0.1:7100, found \"" + std::string{address} + "\""});
  }
}

TEST(config, refuses_roles_that_make_no_node) {
  EXPECT_EQ(problems_in(with_lines("roles: []")), lines{"3:8: roles: a node needs at least one role; list shard, agent or both"});
  EXPECT_EQ(problems_in(with_lines("roles: [shard, shrad,\n  shard]")),
            (lines{"3:16: roles[1]: expected shard or agent, found \"shrad\"; did you mean shard?",
                   "4:3: roles[2]: this role is listed twice; remove one of them"}));
  EXPECT_EQ(problems_in(with_lines("roles: shard")), lines{"3:8: roles: expected a list, found \"shard\""});
}

TEST(config, names_line_key_and_expectation_of_every_wrong_value) {
  struct bad_case {
    std::string text;
    std::string problem;
  };
  const std::vector<bad_case> cases{
      {"limits: { running_tasks: 0 }", "3:26: limits.running_tasks: expected a whole number from 1 to 1000000, found the number 0"},
      {"limits: { pending_tasks: many }", "3:26: limits.pending_tasks: expected a whole number from 1 to 100000000, found \"many\""},
      {"limits: { input_bytes: 1MiB }", "3:24: limits.input_bytes: expected a size from 1 to 256KiB, found \"1MiB\""},
      {"limits: { uncommitted_bytes: 1KB }",
       "3:30: limits.uncommitted_bytes: expected a size such as 4096, 256KiB, 64MiB or 16GiB, found \"1KB\""},
      {"limits: 5", "3:9: limits: expected a map, found the number 5"},
      {"cron: { in_flight: -1 }", "3:20: cron.in_flight: expected a whole number from 0 to 100000000, found the number -1"},
      {"cron: { starts_per_second: 1000001 }",
       "3:28: cron.starts_per_second: expected a whole number from 0 to 1000000, found the number 1000001"},
      {"cron: { in_fligth: 1 }", "3:9: cron.in_fligth: this key is not known here; did you mean in_flight?"},
      {"supervisor: { scan_period: 1 }",
       "3:28: supervisor.scan_period: expected a duration such as 250ms, 5s, 1m30s, 2h or 7d, found the number 1"},
      {"supervisor: { scan_period: 1ms }", "3:28: supervisor.scan_period: expected a duration from 10ms to 1h, found \"1ms\""},
      {"retention: { keep: 1s }", "3:20: retention.keep: expected a duration from 1h to 3660d, found \"1s\""},
      {"shutdown_timeout: 2h", "3:19: shutdown_timeout: expected a duration from 100ms to 1h, found \"2h\""},
      {"expressions: { memory: 1MiB }", "3:24: expressions.memory: expected a size from 64MiB to 64GiB, found \"1MiB\""},
      {"log: { level: verbose }", "3:15: log.level: expected debug, info, warning or error, found \"verbose\""},
      {"log: { format: jsn }", "3:16: log.format: expected text or json, found \"jsn\"; did you mean json?"},
      {"log: { file: 5 }", "3:14: log.file: expected text, found the number 5"},
      {"log:", "3:1: log: expected a map, found nothing"},
      {"agnets: {}", "3:1: agnets: this key is not known here; did you mean agents?"},
      {"limits: { runing_tasks: 5 }", "3:11: limits.runing_tasks: this key is not known here; did you mean running_tasks?"},
      {"tls: {}", "3:1: tls: this key is not supported yet"},
      {"store: { path: x }", "3:1: store: this key is defined twice, first on line 2; remove one of them"},
      {"caf: 5", "3:6: caf: expected a map, found the number 5"},
      {"agents: [a]", "3:9: agents: expected a map, found a list"},
  };
  for (const auto& c : cases) EXPECT_EQ(problems_in(with_lines(c.text)), lines{c.problem});
  EXPECT_EQ(problems_in("node: { name: 5n, listne: x }\nstore: { path: d, max_size: 1MiB }\n"),
            (lines{"1:15: node.name: expected a letter, then letters, digits, _, . and -; at most 64 in all",
                   "1:19: node.listne: this key is not known here; did you mean listen?",
                   "2:29: store.max_size: expected a size from 16MiB to 16TiB, found \"1MiB\""}));
}

TEST(config, shows_all_problems_of_a_file_at_once) {
  EXPECT_EQ(problems_in("node: { name: n }\nroles: [x]\nlog: { level: x }\nsupervisor: { scan_period: x }\n").size(), 3U);
}

TEST(config, says_when_the_file_is_missing_or_no_yaml) {
  EXPECT_EQ(shown(read_node_config("no/such/n.yaml").problems), lines{"there is no such file"});
  EXPECT_EQ(problems_in("node: { name: n\nstore: 1\n"), lines{"2:6: this is not YAML: end of map flow not found"});
  EXPECT_EQ(problems_in("just text\n"), lines{"1:1: expected a map, found \"just text\""});
}

}  // namespace
}  // namespace fairlead::app
