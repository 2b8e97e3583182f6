#include "app/config/secrets.hpp"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "app/config/config.hpp"
#include "tests/app/config/node_file.hpp"

extern char** environ;

namespace fairlead::app {
namespace {

/// An agent whose header is `value`.
std::string agent_with_header(const std::string& value) {
  return "agents: { pay: { kind: http, base_url: \"http://127.0.0.1:1\", headers: { Authorization: \"" + value +
         "\" }, calls: { charge: { path: /c } } } }";
}

class config_secrets : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "config-secrets-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  void TearDown() override {
    std::filesystem::remove_all(folder_);
    ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);  // make_secrets forbids core files, which other tests may want
  }

  void write(const std::string& name, const std::string& text, mode_t mode = 0600) const {
    std::ofstream{folder_ + "/" + name} << text;
    ::chmod((folder_ + "/" + name).c_str(), mode);
  }

  config_file in_folder(const std::string& more) const { return parsed(more, folder_ + "/node.yaml"); }

  std::string folder_;
};

TEST_F(config_secrets, come_from_files_beside_the_node_file_and_from_the_environment) {
  const auto file = parsed("secrets:\n  A: { file: keys/a }\n  B: { file: /run/b }\n  C-1.x: { environment: TOKEN_C }", "etc/n.yaml");
  EXPECT_EQ(shown(file.problems), lines{});
  const auto& secrets = file.config.secrets;
  ASSERT_EQ(secrets.size(), 3U);
  EXPECT_EQ(secrets[0].name, "A");
  EXPECT_EQ(secrets[0].path, "etc/keys/a");
  EXPECT_EQ(secrets[1].path, "/run/b");
  EXPECT_EQ(secrets[2].name, "C-1.x");
  EXPECT_EQ(secrets[2].path, "");
  EXPECT_EQ(secrets[2].environment, "TOKEN_C");
  EXPECT_TRUE(parsed("").config.secrets.empty());
}

TEST_F(config_secrets, sections_that_say_nothing_sensible_are_refused_at_their_place) {
  EXPECT_EQ(problems_of("secrets: { A: { file: /a, environment: A } }"),
            lines{"3:40: secrets.A.environment: both file and environment are given; keep one of them"});
  EXPECT_EQ(
      problems_of("secrets: { A: {} }"),
      lines{"3:15: secrets.A: the secret has neither file nor environment; write { file: /run/secrets/NAME } or { environment: NAME }"});
  EXPECT_EQ(
      problems_of("secrets: { A: { flie: /a } }"),
      (lines{"3:15: secrets.A: the secret has neither file nor environment; write { file: /run/secrets/NAME } or { environment: NAME }",
             "3:17: secrets.A.flie: this key is not known here; did you mean file?"}));
  EXPECT_EQ(problems_of("secrets: { \"a b\": { file: /a } }"),
            lines{"3:19: secrets.a b: expected a name of letters, digits, _, . and -; at most 64 in all"});
  EXPECT_EQ(problems_of("secrets: { A: { environment: \"A=b\" } }"),
            lines{"3:30: secrets.A.environment: expected the name of an environment variable, without ="});
  EXPECT_EQ(problems_of("secrets: { A: { file: [/a] } }"), lines{"3:23: secrets.A.file: expected the path of a file"});
}

TEST_F(config_secrets, no_problem_shows_a_secret_that_was_written_into_the_file) {
  for (const auto* more : {"secrets: hunter2-hunter2", "secrets: { A: hunter2-hunter2 }", "secrets: [hunter2-hunter2]",
                           "secrets: { A: [hunter2-hunter2] }", "secrets: { A: { file: { x: hunter2-hunter2 } } }",
                           "secrets: { A: { value: hunter2-hunter2 } }", "secrets: { A: { environment: \"x=hunter2-hunter2\" } }"}) {
    const auto problems = problems_of(more);
    EXPECT_FALSE(problems.empty()) << more;
    for (const auto& one : problems) EXPECT_EQ(one.find("hunter2"), std::string::npos) << one;
  }
}

TEST_F(config_secrets, a_reference_names_a_secret_of_the_file) {
  EXPECT_EQ(problems_of("secrets: { TOKEN: { file: /a } }\n" + agent_with_header("Bearer $secret{TOKEN}")), lines{});
  const auto missing = problems_of("secrets: { TOKEN: { file: /a } }\n" + agent_with_header("Bearer $secret{TOKNE}"));
  ASSERT_EQ(missing.size(), 1U);
  EXPECT_EQ(missing[0], "4:88: agents.pay.headers.Authorization: there is no secret TOKNE; did you mean TOKEN?");
  const auto none = problems_of(agent_with_header("$secret{A}"));
  ASSERT_EQ(none.size(), 1U);
  EXPECT_NE(none[0].find("there is no secret A; declare it: secrets: { A: { file: /run/secrets/A } }"), std::string::npos) << none[0];
  const auto open = problems_of(agent_with_header("Bearer $secret{A"));
  ASSERT_FALSE(open.empty());  // the agent may say so too
  EXPECT_NE(open[0].find("the reference to a secret at character 8 is not closed; write $secret{NAME}"), std::string::npos) << open[0];
}

TEST_F(config_secrets, what_inputs_may_name_is_declared_too) {
  const std::string agents = "\nagents: { e: { kind: native, handler: echo, input_secrets: [TOKEN, OTHER] } }";
  EXPECT_EQ(problems_of("secrets: { TOKEN: { file: /a }, OTHER: { environment: O } }" + agents), lines{});
  const auto missing = problems_of("secrets: { TOKEN: { file: /a } }" + agents);
  ASSERT_EQ(missing.size(), 1U);
  EXPECT_NE(missing[0].find("4:68: agents.e.input_secrets[1]: there is no secret OTHER"), std::string::npos) << missing[0];
}

TEST_F(config_secrets, a_reference_where_nothing_puts_a_value_in_is_refused) {
  const auto alert = problems_of("secrets: { A: { file: /a } }\nalerts: { webhooks: { ops: { url: \"http://h/$secret{A}\" } } }");
  ASSERT_FALSE(alert.empty());
  EXPECT_NE(alert.back().find("references to secrets are only allowed under agents"), std::string::npos) << alert.back();
  const auto key = problems_of(
      "secrets: { A: { file: /a } }\nagents: { p: { kind: http, base_url: \"http://h\", headers: { \"$secret{A}\": x }, calls: { c: { "
      "path: / } } } }");
  ASSERT_FALSE(key.empty());
  EXPECT_NE(key.back().find("a key contains a reference to a secret"), std::string::npos) << key.back();
}

TEST_F(config_secrets, values_are_checked_with_their_place_and_without_taking_them) {
  write("good", "value\n");
  write("open", "value\n", 0644);
  ::setenv("FAIRLEAD_TEST_SHORT", "abc", 1);
  const auto file = in_folder(
      "secrets:\n  A: { file: good }\n  B: { file: none }\n  C: { file: open }\n  D: { environment: FAIRLEAD_TEST_UNSET }\n"
      "  E: { environment: FAIRLEAD_TEST_SHORT }");
  EXPECT_EQ(shown(file.problems), lines{});
  const auto found = shown(check_secret_values(file.config));
  ASSERT_EQ(found.size(), 4U);
  EXPECT_NE(found[0].find("5:14: secrets.B.file: the file " + folder_ + "/none cannot be read: No such file"), std::string::npos)
      << found[0];
  EXPECT_EQ(found[1],
            "6:14: secrets.C.file: the file " + folder_ + "/open can be used by every user of this machine; chmod o= " + folder_ + "/open");
  EXPECT_EQ(found[2],
            "7:21: secrets.D.environment: the variable FAIRLEAD_TEST_UNSET is not set; start the node with this variable, or use a file");
  EXPECT_NE(found[3].find("8:21: secrets.E.environment: the secret is shorter than 4 bytes"), std::string::npos) << found[3];
  EXPECT_STREQ(::getenv("FAIRLEAD_TEST_SHORT"), "abc");

  const auto made = make_secrets(file.config);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.failure().code, v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_NE(made.failure().sentence.find(folder_ + "/node.yaml:5:14: secrets.B.file: "), std::string::npos) << made.failure().sentence;
  EXPECT_NE(made.failure().remedy.find("names all 4 problems"), std::string::npos) << made.failure().remedy;
  ::unsetenv("FAIRLEAD_TEST_SHORT");
}

TEST_F(config_secrets, a_variable_is_gone_once_it_has_been_taken_and_still_known_to_a_second_node) {
  ::setenv("FAIRLEAD_TEST_TOKEN", "value-of-the-environment", 1);
  const auto* before = ::getenv("FAIRLEAD_TEST_TOKEN");
  const auto file = parsed("secrets: { A: { environment: FAIRLEAD_TEST_TOKEN } }");
  for (int start = 0; start < 2; ++start) {
    EXPECT_EQ(shown(check_secret_values(file.config)), lines{});
    const auto made = make_secrets(file.config);
    ASSERT_TRUE(made.ok()) << made.failure().sentence;
    EXPECT_EQ(*(*made)->resolve("$secret{A}"), "value-of-the-environment");
    EXPECT_EQ(::getenv("FAIRLEAD_TEST_TOKEN"), nullptr);
  }
  EXPECT_STRNE(before, "value-of-the-environment");
  for (char** one = environ; *one != nullptr; ++one) EXPECT_EQ(std::string{*one}.find("value-of-the-environment"), std::string::npos);
}

TEST_F(config_secrets, core_files_are_forbidden_where_there_are_secrets_and_only_there) {
  const auto none = make_secrets(parsed("").config);
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(*none, nullptr);
  EXPECT_EQ(::prctl(PR_GET_DUMPABLE), 1);
  write("good", "value\n");
  EXPECT_TRUE(make_secrets(in_folder("secrets: { A: { file: good } }").config).ok());
  EXPECT_EQ(::prctl(PR_GET_DUMPABLE), 0);
}

}  // namespace
}  // namespace fairlead::app
