#include "app/access/tokens_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "app/access/token.hpp"

namespace fairlead::app {
namespace {

token_entry entry(const std::string& name) {
  const auto made = make_token();
  return {made->id, name, token_hash(made->text), {"viewer", "payloads"}, 1'764'000'000'000, "anna", 0, 0, "", "of the \"desk\": # 1"};
}

class tokens_file_test : public ::testing::Test {
 protected:
  tokens_file_test() : folder_(std::filesystem::temp_directory_path() / ("tokens-" + std::to_string(::getpid()))) {
    std::filesystem::create_directory(folder_);
  }
  ~tokens_file_test() override { std::filesystem::remove_all(folder_); }
  std::string path() const { return folder_ / "tokens.yaml"; }
  status add(const token_entry& one) {
    return change_tokens(path(), [&](std::vector<token_entry>& all) -> status {
      all.push_back(one);
      return nothing{};
    });
  }

  std::filesystem::path folder_;
};

TEST_F(tokens_file_test, is_read_as_it_was_written) {
  auto one = entry("ben");
  one.expires_unix_ms = 1'764'100'000'000;
  one.revoked_unix_ms = 1'764'050'000'000;
  one.revoked_by = "anna@host";
  const auto read = parse_tokens("f", tokens_text({one, entry("true"), entry("12")}));
  ASSERT_TRUE(read.problems.empty()) << to_text(read.problems.front());
  ASSERT_EQ(read.tokens.size(), 3U);
  const auto& same = read.tokens[0];
  EXPECT_EQ(std::tie(same.id, same.name, same.hash, same.roles, same.created_unix_ms, same.created_by, same.expires_unix_ms,
                     same.revoked_unix_ms, same.revoked_by, same.comment),
            std::tie(one.id, one.name, one.hash, one.roles, one.created_unix_ms, one.created_by, one.expires_unix_ms, one.revoked_unix_ms,
                     one.revoked_by, one.comment));
  EXPECT_EQ(read.tokens[1].name, "true") << "a name that YAML alone would take for something else";
  EXPECT_TRUE(parse_tokens("f", tokens_text({})).problems.empty());
}

TEST_F(tokens_file_test, has_namespaces_only_of_tokens_that_are_bound_to_others_than_the_default) {
  auto one = entry("ben");
  EXPECT_EQ(tokens_text({one}).find("namespaces"), std::string::npos) << "earlier releases refuse the key";
  one.namespaces = {"default", "billing"};
  const auto text = tokens_text({one, entry("ann")});
  const auto read = parse_tokens("f", text);
  ASSERT_EQ(read.tokens.size(), 2U);
  EXPECT_EQ(read.tokens[0].namespaces, one.namespaces);
  EXPECT_EQ(read.tokens[1].namespaces, std::vector<std::string>{"default"});
  for (const std::string bad : {"[]", "[\"-x\"]", "[\"Shop\"]", "\"default\""}) {
    auto wrong = text;
    const std::string list = "[\"default\",\"billing\"]";
    wrong.replace(wrong.find(list), list.size(), bad);
    EXPECT_FALSE(parse_tokens("f", wrong).problems.empty()) << bad;
  }
}

TEST_F(tokens_file_test, has_agents_only_of_tokens_that_are_bound_to_some) {
  auto one = entry("ben");
  EXPECT_EQ(tokens_text({one}).find("agents"), std::string::npos) << "earlier releases refuse the key";
  one.agents = {"payment", "shipping.eu"};
  const auto text = tokens_text({one, entry("ann")});
  const auto read = parse_tokens("f", text);
  ASSERT_TRUE(read.problems.empty()) << to_text(read.problems.front());
  ASSERT_EQ(read.tokens.size(), 2U);
  EXPECT_EQ(read.tokens[0].agents, one.agents);
  EXPECT_FALSE(read.tokens[1].agents);
  for (const std::string bad : {"[]", "[\"a b\"]", "[\"\"]", "\"payment\""}) {
    auto wrong = text;
    const std::string list = "[\"payment\",\"shipping.eu\"]";
    wrong.replace(wrong.find(list), list.size(), bad);
    const auto refused = parse_tokens("f", wrong);
    ASSERT_FALSE(refused.problems.empty()) << bad;
    EXPECT_NE(to_text(refused.problems.front()).find("f:3:"), std::string::npos) << to_text(refused.problems.front());
  }
}

TEST_F(tokens_file_test, names_what_is_wrong_with_its_line) {
  const auto good = tokens_text({entry("ben")});
  const auto with = [&](const std::string& from, const std::string& to) {
    auto text = good;
    text.replace(text.find(from), from.size(), to);
    const auto read = parse_tokens("f", text);
    return read.problems.empty() ? std::string{} : to_text(read.problems.front());
  };
  EXPECT_NE(with("viewer", "boss").find("f:3:"), std::string::npos) << with("viewer", "boss");
  EXPECT_NE(with("\"ben\"", "\"b en\""), "");
  EXPECT_NE(with("\"sha256\":\"", "\"sha256\":\"x"), "");
  EXPECT_NE(with("\"roles\":[\"viewer\",\"payloads\"]", "\"roles\":[]"), "");
  EXPECT_NE(with("\"created_at\":\"", "\"created_at\":\"x"), "");
  EXPECT_NE(with("\"comment\"", "\"coment\""), "");
  const auto row = good.substr(good.find("  - "));
  EXPECT_FALSE(parse_tokens("f", good + row).problems.empty()) << "an id that is there twice";
  EXPECT_FALSE(parse_tokens("f", "").problems.empty());
  EXPECT_FALSE(parse_tokens("f", "[]").problems.empty());
}

TEST_F(tokens_file_test, is_made_for_owner_and_group_alone) {
  ASSERT_TRUE(add(entry("ben")).ok());
  struct stat found {};
  ASSERT_EQ(::stat(path().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0640U);
  ::chmod(path().c_str(), 0600);
  ASSERT_TRUE(add(entry("ann")).ok());
  ASSERT_EQ(::stat(path().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0600U) << "a mode that somebody has chosen stays";
  ::chmod(path().c_str(), 0644);
  EXPECT_FALSE(read_tokens(path()).ok());
  EXPECT_FALSE(add(entry("eve")).ok());
}

TEST_F(tokens_file_test, stays_a_link_and_keeps_its_group) {
  ASSERT_TRUE(add(entry("ben")).ok());
  const auto link = folder_ / "link.yaml";
  std::filesystem::create_symlink("tokens.yaml", link);
  const bool is_root = ::geteuid() == 0;
  ASSERT_TRUE(!is_root || ::chown(path().c_str(), 1'500, 1'600) == 0);
  ASSERT_TRUE(change_tokens(link, [](std::vector<token_entry>& all) -> status {
                all.push_back(entry("ann"));
                return nothing{};
              }).ok());
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(read_tokens(path()).value().size(), 2U);
  struct stat found {};
  ASSERT_EQ(::stat(path().c_str(), &found), 0);
  EXPECT_TRUE(!is_root || found.st_gid == 1'600U);
}

TEST_F(tokens_file_test, loses_no_change_of_several_at_once) {
  std::vector<std::thread> all;
  for (int i = 0; i < 8; ++i)
    all.emplace_back([this, i] {
      for (int k = 0; k < 5; ++k) EXPECT_TRUE(add(entry("n" + std::to_string(i))).ok());
    });
  for (auto& one : all) one.join();
  EXPECT_EQ(read_tokens(path()).value().size(), 40U);
}

TEST_F(tokens_file_test, stays_as_it_is_when_it_is_wrong_or_a_change_is_refused) {
  std::ofstream{path()} << "tokens: [";
  ::chmod(path().c_str(), 0600);
  EXPECT_FALSE(add(entry("ben")).ok());
  EXPECT_EQ(std::filesystem::file_size(path()), 9U);
  EXPECT_FALSE(change_tokens(folder_ / "no" / "tokens.yaml", [](std::vector<token_entry>&) -> status { return nothing{}; }).ok());
  const auto refused = change_tokens(folder_ / "new.yaml", [](std::vector<token_entry>&) -> status { return invalid("no", ""); });
  EXPECT_FALSE(refused.ok());
  EXPECT_FALSE(std::filesystem::exists(folder_ / "new.yaml"));
}

}  // namespace
}  // namespace fairlead::app
