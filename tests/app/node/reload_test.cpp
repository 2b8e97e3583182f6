#include "app/node/reload.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace fairlead::app {
namespace {

class reload_test : public ::testing::Test {
 protected:
  reload_test() {
    std::string name = ::testing::TempDir() + "reload-XXXXXX";
    folder = mkdtemp(name.data());
    write(agents_a);
    running = read_node_config(file()).config;
  }
  ~reload_test() override { std::filesystem::remove_all(folder); }

  std::string file() const { return folder + "/n.yaml"; }
  void write(const std::string& more) const {
    std::ofstream{file(), std::ios::trunc} << "node: { name: n }\nstore: { path: data }\n" << more;
  }
  result<reload_plan> plan() const {
    return plan_reload(running, {}, nullptr, [](const std::string&) {});
  }
  error refused() const {
    const auto out = plan();
    EXPECT_FALSE(out.ok());
    return out.ok() ? error{} : out.failure();
  }

  const std::string agents_a = "agents: { a: { kind: native, handler: echo } }\n";
  std::string folder;
  node_config running;
};

TEST_F(reload_test, makes_what_is_new_and_what_has_changed_and_nothing_else) {
  write("agents: { a: { kind: native, handler: echo }, b: { kind: native, handler: echo, concurrency: 7 } }\n");
  const auto first = plan();
  ASSERT_TRUE(first.ok());
  ASSERT_EQ(first->agents.added.size(), 1U);
  EXPECT_EQ(first->agents.added[0].backend->capacity(), 7U);
  EXPECT_TRUE(first->agents.changed.empty());
  running = first->config;
  write("agents: { b: { kind: native, handler: echo, concurrency: 8 } }\n");
  const auto second = plan();
  ASSERT_TRUE(second.ok());
  ASSERT_EQ(second->agents.changed.size(), 1U);
  EXPECT_EQ(second->agents.changed[0].backend->capacity(), 8U);
  EXPECT_EQ(second->agents.removed, std::vector<std::string>{"a"});
}

TEST_F(reload_test, refuses_the_whole_file_for_one_wrong_line_and_names_it) {
  write("agents:\n  b: { kind: native, handler: echo }\n  c: { kind: native, handler: echo, concurency: 8 }\n");
  const auto why = refused();
  EXPECT_EQ(why.code, v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_NE(why.sentence.find("n.yaml:5:"), std::string::npos) << why.sentence;
  EXPECT_NE(why.sentence.find("concurency"), std::string::npos) << why.sentence;
  EXPECT_NE(why.remedy.find("nothing was changed"), std::string::npos) << why.remedy;
}

TEST_F(reload_test, counts_the_other_problems) {
  write("limits: { running_tasks: 0 }\nlog: { level: loud }\n");
  EXPECT_NE(refused().remedy.find("1 more problem: fairlead config check " + file()), std::string::npos) << refused().remedy;
}

TEST_F(reload_test, refuses_what_only_a_running_node_can_find_wrong) {
  write("agents: { a: { kind: native, handler: nobody } }\n");
  EXPECT_NE(refused().sentence.find("agents.a.handler"), std::string::npos) << refused().sentence;
  write("agents: { a: { kind: native, handler: echo, limits: [{ call: fly, rate: 1/s }] } }\n");
  EXPECT_FALSE(plan().ok()) << "a limit for a call that the handler does not have";
  write(agents_a + "secrets: { K: { file: not-there } }\n");
  EXPECT_NE(refused().sentence.find("secrets.K.file"), std::string::npos) << refused().sentence;
  EXPECT_NE(refused().remedy.find("nothing was changed"), std::string::npos) << refused().remedy;
}

TEST_F(reload_test, refuses_a_file_that_is_not_there) {
  std::filesystem::remove(file());
  EXPECT_NE(refused().sentence.find(file()), std::string::npos);
}

TEST_F(reload_test, names_a_key_that_needs_a_restart_each_time) {
  write(agents_a + "limits: { running_tasks: 5 }\n");
  const auto first = plan();
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->changes.kept, std::vector<std::string>{"limits.running_tasks"});
  EXPECT_EQ(first->config.running_tasks, running.running_tasks) << "the former value counts";
  running = first->config;
  EXPECT_EQ(plan()->changes.kept, std::vector<std::string>{"limits.running_tasks"});
  write(agents_a);
  EXPECT_EQ(plan()->changes.kept, std::vector<std::string>{}) << "the file says again what counts";
}

TEST_F(reload_test, takes_the_certificates_of_clients) {
  const auto named = [](const std::string& san) {
    return "api: { tls: { certificate: a.pem, key: a-key.pem, client_ca: ca.pem }, listen: 127.0.0.1:7190 }\naccess: { certificates: [{ "
           "san: '" +
           san + "', roles: [viewer] }] }\n";
  };
  write(agents_a + named("cn:ann"));
  running = read_node_config(file()).config;
  write(agents_a + named("cn:ben"));
  const auto out = plan();
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(out->changes.applied, std::vector<std::string>{"access.certificates"});
  ASSERT_EQ(out->config.access.certificates.size(), 1U);
  EXPECT_EQ(out->config.access.certificates[0].san, "cn:ben");
  running = out->config;
  EXPECT_EQ(plan()->changes.applied, std::vector<std::string>{});
}

TEST_F(reload_test, says_in_one_line_what_it_took) {
  write("agents: { b: { kind: native, handler: echo } }\nlog: { level: debug }\nretention: { keep: 7d }\n");
  EXPECT_EQ(to_text(to_proto("n.yaml", plan()->changes)),
            "n.yaml was read again; agents added b; agents removed a; keys applied log.level; keys that need a restart retention.keep");
  EXPECT_EQ(to_text(to_proto("n.yaml", {})), "n.yaml was read again; nothing has changed");
}

}  // namespace
}  // namespace fairlead::app
