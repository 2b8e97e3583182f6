#include "app/config/changes.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "tests/app/problems.hpp"

namespace fairlead::app {
namespace {

using names = std::vector<std::string>;

node_config read(const std::string& more) {
  auto file = parse_node_config("n.yaml", "node: { name: n }\nstore: { path: data }\n" + more);
  EXPECT_EQ(shown(file.problems), lines{}) << more;
  return file.config;
}

config_changes between(const std::string& before, const std::string& after) { return changes_of(read(before), read(after)); }

TEST(config_changes, tells_added_changed_and_removed_agents_apart) {
  const auto what =
      between("agents:\n  a: { kind: native, handler: echo }\n  b: { kind: native, handler: echo }\n  c: { kind: native, handler: echo }\n",
              "agents:\n  d: { kind: native, handler: echo }\n  b: { kind: native, handler: echo, concurrency: 2 }\n  c: { handler: echo, "
              "kind: native }\n");
  EXPECT_EQ(what.added, names{"d"});
  EXPECT_EQ(what.changed, names{"b"}) << "the order of keys and of agents means nothing";
  EXPECT_EQ(what.removed, names{"a"});
  EXPECT_EQ(what.applied, names{});
  EXPECT_EQ(what.kept, names{});
}

TEST(config_changes, takes_an_agent_whose_name_has_dots_as_one) {
  const auto what =
      between("agents: { a.b: { kind: native, handler: echo } }\n", "agents: { a.b: { kind: native, handler: echo, concurrency: 2 } }\n");
  EXPECT_EQ(what.changed, names{"a.b"});
}

TEST(config_changes, names_the_keys_that_count_at_once_and_those_that_wait_for_a_restart) {
  const auto what = between("limits: { running_tasks: 5 }\nlog: { format: json }\n",
                            "log: { level: debug, format: json }\nretention: { keep: 7d }\nlimits: { running_tasks: 6 }\n"
                            "callback_url: https://h\n");
  EXPECT_EQ(what.applied, names{"log.level"});
  EXPECT_TRUE(what.log_level);
  EXPECT_EQ(what.kept, (names{"callback_url", "limits.running_tasks", "retention.keep"}));
}

std::string with_certificates(const std::string& san, const std::string& authorities = "ca.pem") {
  return "api: { tls: { certificate: a.pem, key: a-key.pem, client_ca: " + authorities +
         " }, listen: 127.0.0.1:7190 }\naccess: { certificates: [{ san: '" + san + "', roles: [viewer] }] }\n";
}

TEST(config_changes, takes_the_certificates_of_clients_at_once_if_the_same_authorities_vouch_for_them) {
  const auto what = between(with_certificates("cn:ann"), with_certificates("cn:ben"));
  EXPECT_EQ(what.applied, names{"access.certificates"});
  EXPECT_TRUE(what.certificates);
  const auto others = between(with_certificates("cn:ann"), with_certificates("cn:ben", "other.pem"));
  EXPECT_EQ(others.kept, (names{"access.certificates", "api.tls.client_ca"}));
  EXPECT_FALSE(others.certificates);
}

TEST(config_changes, never_begins_or_ends_to_ask_for_certificates_without_a_restart) {
  for (const auto& [before, after] : {std::pair{with_certificates("cn:ann"), std::string{"api: {}\n"}},
                                      std::pair{std::string{"api: {}\n"}, with_certificates("cn:ann")}}) {
    const auto what = between(before, after);
    EXPECT_EQ(what.applied, names{});
    EXPECT_FALSE(what.certificates);
  }
}

TEST(config_changes, gives_every_agent_a_changed_secret) {
  const auto agent = std::string{"agents: { a: { kind: native, handler: echo }, b: { kind: native, handler: echo } }\n"};
  const auto what = between("secrets: { K: { environment: K } }\n" + agent, "secrets: { K: { environment: L } }\n" + agent);
  EXPECT_EQ(what.changed, (names{"a", "b"}));
  EXPECT_EQ(what.applied, names{"secrets.K.environment"});
  EXPECT_TRUE(what.secrets);
}

TEST(config_changes, leaves_the_agents_of_a_node_without_the_role_alone) {
  const auto what = between("roles: [shard]\n", "roles: [shard]\nagents: { a: { kind: native, handler: echo } }\n");
  EXPECT_EQ(what.added, names{});
}

TEST(config_changes, finds_nothing_in_the_same_file_written_otherwise) {
  const auto what = between("log: { level: info, file: x.log }\n# a comment\n", "log:\n  file: x.log\n  level: info\n");
  EXPECT_TRUE(what.applied.empty() && what.kept.empty());
}

}  // namespace
}  // namespace fairlead::app
