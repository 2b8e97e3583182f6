#include "app/access/gate.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "app/access/token.hpp"
#include "app/access/tokens_file.hpp"

namespace fairlead::app {
namespace {

constexpr std::int64_t now_ms = 1'764'000'000'000;

class gate_test : public ::testing::Test {
 protected:
  gate_test() : folder_(std::filesystem::temp_directory_path() / ("gate-" + std::to_string(::getpid()))) {
    std::filesystem::create_directory(folder_);
    config_.tokens_file = folder_ / "tokens.yaml";
  }
  ~gate_test() override { std::filesystem::remove_all(folder_); }

  std::string add(const std::string& name, std::vector<std::string> roles, std::int64_t expires = 0, std::int64_t revoked = 0) {
    const auto made = make_token();
    EXPECT_TRUE(change_tokens(config_.tokens_file, [&](std::vector<token_entry>& all) -> status {
                  all.push_back({made->id, name, token_hash(made->text), std::move(roles), now_ms, "anna", expires, revoked, "", ""});
                  return nothing{};
                }).ok());
    return made->text;
  }
  void open() {
    auto made = gate::open(config_, [](const std::string&) {});
    ASSERT_TRUE(made.ok()) << made.failure().sentence;
    gate_ = std::move(*made);
  }
  /// `kind name`, or `code sentence`.
  std::string asked(std::optional<std::string> header, door::peer from = {"10.0.0.1", {}}, std::int64_t at_ms = now_ms) {
    const auto said = gate_->admit(header ? std::optional<std::string_view>{*header} : std::nullopt, from, from_unix_ms(at_ms));
    if (const auto* const who = std::get_if<principal>(&said)) return who->kind + " " + who->name;
    return std::get<door::problem>(said).code + " " + std::get<door::problem>(said).sentence;
  }

  std::filesystem::path folder_;
  access_config config_;
  std::unique_ptr<gate> gate_;
};

TEST_F(gate_test, is_open_on_loopback_where_nobody_is_asked) {
  config_ = {};
  open();
  EXPECT_EQ(asked({}), "loopback loopback");
  EXPECT_EQ(asked("Bearer whatever"), "loopback loopback");
}

TEST_F(gate_test, knows_a_token_by_its_text_alone) {
  const auto ben = add("ben", {"operator"});
  open();
  EXPECT_EQ(asked("Bearer " + ben), "token ben");
  EXPECT_EQ(asked("bearer   " + ben), "token ben") << "schemes are compared without regard to case";
  EXPECT_EQ(asked({}), "unauthenticated The request has no token.");
  EXPECT_EQ(asked("Basic " + ben), "unauthenticated The header Authorization has another scheme than Bearer.");
  EXPECT_EQ(asked("Bearer " + ben.substr(1)), "unauthenticated This is no token: it is cut off, or a character is wrong.");
  EXPECT_EQ(asked("Bearer"), "unauthenticated The header Authorization has another scheme than Bearer.");
  EXPECT_EQ(asked("Bearer " + make_token()->text), "unauthenticated The token is not known here.");
}

TEST_F(gate_test, does_not_say_of_a_wrong_secret_that_its_id_is_known) {
  const auto ben = add("ben", {"viewer"});
  // A sound checksum under a known id takes the whole of another token: hashes decide.
  ASSERT_TRUE(change_tokens(config_.tokens_file, [&](std::vector<token_entry>& all) -> status {
                all.front().hash = token_hash("another");
                return nothing{};
              }).ok());
  open();
  EXPECT_EQ(asked("Bearer " + ben), "unauthenticated The token is not known here.");
}

TEST_F(gate_test, refuses_what_has_ended_or_was_revoked) {
  const auto brief = add("brief", {"viewer"}, now_ms + 1'000), gone = add("gone", {"viewer"}, 0, now_ms - 1);
  open();
  EXPECT_EQ(asked("Bearer " + brief, {"10.0.0.1", {}}, now_ms + 999), "token brief");
  EXPECT_NE(asked("Bearer " + brief, {"10.0.0.1", {}}, now_ms + 1'000).find("has expired at 2025-11-24T16:00:01"), std::string::npos);
  EXPECT_NE(asked("Bearer " + gone).find("was revoked"), std::string::npos);
}

TEST_F(gate_test, says_less_to_an_address_that_sends_many_requests_without_a_right_token) {
  const auto ben = add("ben", {"viewer"});
  open();
  for (int i = 0; i < 100; ++i)
    EXPECT_TRUE(asked(i % 2 == 0 ? std::optional<std::string>{"Bearer x"} : std::nullopt).starts_with("unauthenticated"));
  EXPECT_TRUE(asked("Bearer x").starts_with("overloaded"));
  EXPECT_EQ(asked("Bearer " + ben), "token ben") << "the right one is not held back";
  EXPECT_TRUE(asked("Bearer x", {"10.0.0.2", {}}).starts_with("unauthenticated")) << "nor is another address";
  EXPECT_TRUE(asked("Bearer x", {"10.0.0.1", {}}, now_ms + 60'000).starts_with("unauthenticated")) << "a minute later";
}

TEST_F(gate_test, knows_users_of_the_machine_on_a_socket) {
  config_ = {"", {{"nobody", 65'534, {"viewer"}}}};
  open();
  EXPECT_EQ(asked({}, {"", 0}), "user root");
  EXPECT_TRUE(asked({}, {"", ::geteuid()}).starts_with("user "));
  EXPECT_EQ(asked({}, {"", 65'534}), "user nobody");
  EXPECT_TRUE(asked({}, {"", 65'000}).starts_with("forbidden The user with the uid 65000 may not"));
}

TEST_F(gate_test, says_before_a_body_whether_it_knows_who_sends_it) {
  const auto ben = add("ben", {"viewer"});
  open();
  const auto now = from_unix_ms(now_ms);
  EXPECT_TRUE(gate_->knows("Bearer " + ben, {"10.0.0.1", {}}, now));
  EXPECT_FALSE(gate_->knows("Bearer x", {"10.0.0.1", {}}, now));
  EXPECT_FALSE(gate_->knows({}, {"10.0.0.1", {}}, now));
  EXPECT_TRUE(gate_->knows({}, {"", 0}, now));
  EXPECT_FALSE(gate_->knows({}, {"", 65'000}, now));
  config_ = {};
  open();
  EXPECT_TRUE(gate_->knows({}, {"127.0.0.1", {}}, now));
}

TEST_F(gate_test, does_not_open_without_a_sound_file) {
  EXPECT_FALSE(gate::open(config_, [](const std::string&) {}).ok()) << "there is none";
  add("ben", {"viewer"});
  std::filesystem::permissions(config_.tokens_file, std::filesystem::perms{0644});
  EXPECT_FALSE(gate::open(config_, [](const std::string&) {}).ok()) << "everybody may read it";
}

TEST(roles, give_rights_together) {
  EXPECT_EQ(rights_of({"client"}), (right_set{right::submit, right::see_own_tasks}));
  EXPECT_TRUE(rights_of({"viewer", "payloads"}).has(right::payloads));
  EXPECT_FALSE(rights_of({"operator"}).has(right::deploy));
  EXPECT_EQ(rights_of({"admin"}), right_set::all());
  EXPECT_EQ(rights_of({"nothing"}), right_set{});
  for (const auto& one : right_words()) EXPECT_TRUE(right_set::all().has(one.one)) << one.word;
}

}  // namespace
}  // namespace fairlead::app
