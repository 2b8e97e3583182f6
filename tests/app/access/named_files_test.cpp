#include "app/access/named_files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "app/access/tokens_file.hpp"
#include "tests/app/problems.hpp"

namespace fairlead::app {
namespace {

class named_files_test : public ::testing::Test {
 protected:
  named_files_test() : folder_(std::filesystem::temp_directory_path() / ("named-files-" + std::to_string(::getpid()))) {
    std::filesystem::create_directory(folder_);
  }
  ~named_files_test() override { std::filesystem::remove_all(folder_); }

  std::string at(const std::string& name) const { return folder_ / name; }
  node_config read(const std::string& more) const {
    auto file = parse_node_config("n.yaml", "node: { name: n }\nstore: { path: data }\n" + more);
    EXPECT_EQ(shown(file.problems), lines{}) << more;
    return file.config;
  }
  node_config with_tokens() const { return read("api: {}\naccess: { tokens_file: " + at("tokens.yaml") + " }\n"); }

  std::filesystem::path folder_;
};

TEST_F(named_files_test, a_missing_file_of_tokens_is_named_with_the_command_that_makes_it) {
  const auto problems = check_access_files(with_tokens());
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].line, 4);
  EXPECT_EQ(problems[0].where, "access.tokens_file");
  EXPECT_NE(problems[0].sentence.find("cannot be read: No such file or directory"), std::string::npos) << problems[0].sentence;
  EXPECT_EQ(problems[0].remedy, "make a token: fairlead token create NAME --role ROLE --file " + at("tokens.yaml"));
}

TEST_F(named_files_test, a_file_of_tokens_is_sound_unless_everybody_can_read_it) {
  ASSERT_TRUE(change_tokens(at("tokens.yaml"), [](std::vector<token_entry>&) -> status { return nothing{}; }).ok());
  EXPECT_EQ(shown(check_access_files(with_tokens())), lines{});
  EXPECT_TRUE(sound_access_files(with_tokens()).ok());
  ASSERT_EQ(::chmod(at("tokens.yaml").c_str(), 0644), 0);
  const auto sound = sound_access_files(with_tokens());
  ASSERT_FALSE(sound.ok());
  EXPECT_EQ(sound.failure().code, v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_NE(sound.failure().sentence.find("n.yaml:4:"), std::string::npos) << sound.failure().sentence;
  EXPECT_EQ(sound.failure().remedy, "chmod o= " + at("tokens.yaml"));
}

TEST_F(named_files_test, each_file_of_tls_that_cannot_be_used_is_named) {
  std::ofstream{at("ca.pem")} << "nothing";
  const auto problems = check_access_files(
      read("api:\n  tls:\n    certificate: " + at("a.pem") + "\n    key: " + at("a-key.pem") + "\n    client_ca: " + at("ca.pem") +
           "\n  listen: 127.0.0.1:7190\naccess: { certificates: [{ san: 'cn:ben', roles: [viewer] }] }\n"));
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0].where, "api.tls.certificate");
  EXPECT_EQ(problems[0].line, 5);
  EXPECT_EQ(problems[1].where, "api.tls.client_ca");
  EXPECT_EQ(problems[1].line, 7);
}

TEST_F(named_files_test, a_node_without_an_api_uses_none_of_them) {
  EXPECT_EQ(shown(check_access_files(read("access: { tokens_file: nothing.yaml }\n"))), lines{});
}

}  // namespace
}  // namespace fairlead::app
