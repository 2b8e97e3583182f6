#include <gtest/gtest.h>

#include "app/config/config.hpp"
#include "tests/app/agents_of.hpp"
#include "tests/app/problems.hpp"

namespace fairlead::app {
namespace {

const std::string exec_head = "node: { name: n }\nstore: { path: data }\nsecrets: { TOKEN: { environment: X } }\n";

config_file exec_file(const std::string& more) { return parse_node_config("n.yaml", exec_head + more + "\n"); }

// One exec agent; `more` stands on line 5, and `call` on line 6.
std::string backup_with(const std::string& more, const std::string& call) {
  return "agents: { backup: { kind: exec,\n " + more + " calls: { dump: {\n " + call + " } } } }";
}

TEST(config_exec, reads_an_exec_agent) {
  const auto file = exec_file(R"(agents:
  backup:
    kind: exec
    concurrency: 8
    user: nobody
    group: 7
    directory: /srv/backup
    environment: { COLOR: blue, LEVEL: 5, TOKEN: "$secret{TOKEN}" }
    process: { memory: 512MiB, cpu: 60s, files: 256, processes: 64, file_size: 1GiB }
    max_output: 2MiB
    stop_grace: 5s
    calls:
      dump:
        command: [/usr/local/bin/dump, --to, "{target}", 7]
        input: none
        output: lines
        exit_codes: { transient: [75, 80-90], permanent: 1, in_doubt: [], success: [0, 2] }
        idempotency: { valid_for: 24h }
        lookup: { command: [/usr/local/bin/find-dump], exit_codes: { done: [0, 1], never_happened: 3, unknown: [4] } }
      list: { command: [/bin/ls] }
)");
  EXPECT_EQ(shown(file.problems), lines{});
  ASSERT_EQ(agents_of<agents::exec_agent_config>(file.config).size(), 1U);
  const auto agent = agents_of<agents::exec_agent_config>(file.config)[0];
  EXPECT_EQ(agent.name, "backup");
  EXPECT_EQ(agent.concurrency, 8U);
  EXPECT_EQ(agent.user, "nobody");
  EXPECT_EQ(agent.group, "7");
  EXPECT_EQ(agent.directory, "/srv/backup");
  EXPECT_EQ(agent.environment,
            (std::vector<std::pair<std::string, std::string>>{{"COLOR", "blue"}, {"LEVEL", "5"}, {"TOKEN", "$secret{TOKEN}"}}));
  EXPECT_EQ(agent.process.memory_bytes, 512U << 20);
  EXPECT_EQ(agent.process.cpu_seconds, 60U);
  EXPECT_EQ(agent.process.files, 256U);
  EXPECT_EQ(agent.process.processes, 64U);
  EXPECT_EQ(agent.process.file_bytes, 1U << 30);
  EXPECT_EQ(agent.max_output_bytes, 2U << 20);
  EXPECT_EQ(agent.stop_grace_ms, 5'000);
  EXPECT_EQ(agent.settings.retry.tries, 3U);
  const auto& dump = agent.calls.at("dump");
  EXPECT_EQ(dump.command, (std::vector<std::string>{"/usr/local/bin/dump", "--to", "{target}", "7"}));
  EXPECT_EQ(dump.input, agents::exec_input::none);
  EXPECT_EQ(dump.output, agents::exec_output::lines);
  ASSERT_EQ(dump.exit_codes.transient.size(), 2U);
  EXPECT_EQ(dump.exit_codes.transient[1].first, 80);
  EXPECT_EQ(dump.exit_codes.transient[1].last, 90);
  EXPECT_EQ(dump.exit_codes.permanent.at(0).first, 1);
  EXPECT_EQ(dump.key_valid_for_ms, 86'400'000);
  ASSERT_TRUE(dump.lookup.has_value());
  EXPECT_EQ(dump.lookup->command, std::vector<std::string>{"/usr/local/bin/find-dump"});
  EXPECT_EQ(dump.lookup->never_happened.at(0).first, 3);
  const auto& list = agent.calls.at("list");
  EXPECT_EQ(list.input, agents::exec_input::json);
  EXPECT_EQ(list.output, agents::exec_output::json);
  EXPECT_FALSE(list.lookup.has_value());
}

TEST(config_exec, names_every_problem_with_its_place) {
  struct bad {
    std::string more, call, where;
    int line;
  };
  const std::string good = "command: [/bin/true]";
  const std::string dump = "agents.backup.calls.dump";
  const std::vector<bad> cases = {
      {"concurrency: 0,", good, "agents.backup.concurrency", 5},
      {"directory: here,", good, "agents.backup.directory", 5},
      {"group: 5,", good, "agents.backup.group", 5},
      {"environment: { FAIRLEAD_KEY: x },", good, "agents.backup.environment.FAIRLEAD_KEY", 5},
      {"environment: { A: \"$secret{NONE}\" },", good, "agents.backup.environment.A", 5},
      {"process: { cpu: 1500ms },", good, "agents.backup.process.cpu", 5},
      {"process: { files: 3 },", good, "agents.backup.process.files", 5},
      {"process: { memory: 5 },", good, "agents.backup.process.memory", 5},
      {"shell: yes,", good, "agents.backup.shell", 5},
      {"", "input: json", dump + ".command", 5},
      {"", "command: []", dump + ".command", 6},
      {"", "command: dump", dump + ".command", 6},
      {"", "command: [dump]", dump + ".command", 6},
      {"", "command: [/bin/dump, \"{x\"]", dump + ".command", 6},
      {"", good + ", output: xml", dump + ".output", 6},
      {"", good + ", exit_codes: { transient: [256] }", dump + ".exit_codes.transient[0]", 6},
      {"", good + ", exit_codes: { maybe: [1] }", dump + ".exit_codes.maybe", 6},
      {"", good + ", exit_codes: { success: [signals] }", dump + ".exit_codes.success[0]", 6},
      {"", good + ", exit_codes: { transient: signals, permanent: [1, signals] }", dump + ".exit_codes", 6},
      {"", good + ", lookup: { exit_codes: { done: [0] } }", dump + ".lookup.command", 6},
      {"", good + ", timeout: 5s", dump + ".timeout", 6},
  };
  for (const auto& c : cases) {
    const auto problems = exec_file(backup_with(c.more, c.call)).problems;
    ASSERT_EQ(problems.size(), 1U) << c.more << c.call << (problems.empty() ? "" : to_text(problems.back()));
    EXPECT_EQ(problems[0].where, c.where) << c.more << c.call;
    EXPECT_EQ(problems[0].line, c.line) << to_text(problems[0]);
    EXPECT_GT(problems[0].column, 0);
  }
}

TEST(config_exec, refuses_a_secret_among_the_arguments) {
  const auto problems = exec_file(backup_with("", "command: [/bin/true, \"$secret{TOKEN}\"]")).problems;
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].sentence, "the command holds a $secret, and everybody on the machine can read the arguments of a command");
}

TEST(config_exec, only_the_check_asks_what_the_machine_has) {
  const auto file = exec_file(
      backup_with("user: nobody-of-this-name, directory: /nowhere,", "command: [/nowhere/dump], lookup: { command: [/etc/passwd] }"));
  EXPECT_EQ(shown(file.problems), lines{}) << "a node starts without them";
  const auto missing = check_exec_needs(file.config);
  ASSERT_EQ(missing.size(), 4U);
  EXPECT_EQ(missing[0].sentence, "this machine has no user 'nobody-of-this-name'");
  EXPECT_EQ(missing[1].sentence, "there is no directory /nowhere on this machine");
  EXPECT_EQ(missing[2].sentence, "there is no program /nowhere/dump on this machine");
  EXPECT_EQ(missing[3].sentence, "/etc/passwd is not an executable program");
  EXPECT_EQ(missing[3].where, "agents.backup.calls.dump.lookup.command");
  EXPECT_EQ(missing[0].line, 5);
  EXPECT_EQ(missing[3].line, 6);
  EXPECT_TRUE(check_exec_needs(exec_file(backup_with("directory: /tmp,", "command: [/bin/true]")).config).empty());
}

TEST(config_exec, its_calls_stand_in_the_catalog) {
  const auto config = exec_file(backup_with("", "command: [/bin/true], lookup: { command: [/bin/true] }")).config;
  EXPECT_EQ(catalog_of(config).at("backup"), std::set<std::string>{"dump"});
  EXPECT_TRUE(lookups_of(config)("backup", "dump"));
  EXPECT_FALSE(lookups_of(config)("backup", "other"));
}

}  // namespace
}  // namespace fairlead::app
