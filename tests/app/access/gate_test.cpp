#include "app/access/gate.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "app/access/token.hpp"
#include "app/access/tokens_file.hpp"

namespace fairlead::app {
namespace {

constexpr std::int64_t now_ms = 1'764'000'000'000;

class gate_clock final : public clock {
 public:
  moment now() const override { return from_unix_ms(now_ms); }
};

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
    auto made = gate::open(
        config_, [this](const std::string& sentence) { warned_.push_back(sentence); }, time_);
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
  gate_clock time_;
  std::vector<std::string> warned_;  // before the first second is over
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
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(asked("Bearer x").starts_with("unauthenticated"));
  EXPECT_TRUE(asked("Bearer x").starts_with("overloaded"));
  const auto said = gate_->admit("Bearer x", {"10.0.0.1", {}}, from_unix_ms(now_ms));
  EXPECT_EQ(std::get<door::problem>(said).retry_after_s, 60U);
  EXPECT_TRUE(asked({}).starts_with("unauthenticated")) << "a request without a token is no guess";
  for (int i = 0; i < 100; ++i) asked({});
  EXPECT_TRUE(asked({}).starts_with("overloaded"));
  EXPECT_EQ(asked("Bearer " + ben), "token ben") << "the right one is not held back";
  EXPECT_TRUE(asked("Bearer x", {"10.0.0.2", {}}).starts_with("unauthenticated")) << "nor is another address";
  EXPECT_TRUE(asked("Bearer x", {"10.0.0.1", {}}, now_ms + 60'000).starts_with("unauthenticated")) << "a minute later";
}

TEST_F(gate_test, knows_without_a_count_who_has_made_noise) {
  add("ben", {"viewer"});
  open();
  const auto now = from_unix_ms(now_ms);
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(gate_->has_made_noise("a", now)) << i;
    EXPECT_FALSE(gate_->is_noise("a", now)) << i;
  }
  EXPECT_TRUE(gate_->has_made_noise("a", now));
  EXPECT_FALSE(gate_->has_made_noise("b", now));
  EXPECT_FALSE(gate_->has_made_noise("a", from_unix_ms(now_ms + 60'000))) << "a minute later";
}

TEST_F(gate_test, knows_users_of_the_machine_on_a_socket) {
  config_ = {"", {{"nobody", 65'534, {"viewer"}}}};
  open();
  EXPECT_EQ(asked({}, {"", 0}), "user root");
  EXPECT_TRUE(asked({}, {"", ::geteuid()}).starts_with("user "));
  EXPECT_EQ(asked({}, {"", 65'534}), "user nobody");
  EXPECT_TRUE(asked({}, {"", 65'000}).starts_with("forbidden The user with the uid 65000 may not"));
}

/// Of a client at 10.0.0.1.
door::peer shows(door::client_certificate what) {
  return {"10.0.0.1", {}, std::make_shared<const door::client_certificate>(std::move(what))};
}
constexpr std::int64_t far_ms = now_ms + 86'400'000;

TEST_F(gate_test, knows_a_client_by_a_name_of_its_certificate) {
  config_ = {"", {}, {{"spiffe://example.org/pay", "pay", {"client"}, {"billing"}}, {"cn:ben", "cn:ben", {"viewer"}, {"default"}}}};
  open();
  EXPECT_EQ(asked({}, shows({"", {"dns:n1.example.org", "spiffe://example.org/pay"}, far_ms})), "certificate pay");
  EXPECT_EQ(asked({}, shows({"", {"cn:ben", "spiffe://example.org/pay"}, far_ms})), "certificate pay") << "the first row counts";
  EXPECT_EQ(asked({}, shows({"", {"cn:ben"}, far_ms})), "certificate cn:ben");
  const auto said = gate_->admit({}, shows({"", {"spiffe://example.org/pay"}, far_ms}), from_unix_ms(now_ms));
  const auto& who = std::get<principal>(said);
  EXPECT_EQ(who.roles, std::vector<std::string>{"client"});
  EXPECT_EQ(who.rights, rights_of({"client"}));
  EXPECT_EQ(who.expires_unix_ms, far_ms);
  EXPECT_TRUE(who.may_use("billing"));
  EXPECT_FALSE(who.may_use("default"));
  EXPECT_TRUE(gate_->knows({}, shows({"", {"cn:ben"}, far_ms}), from_unix_ms(now_ms)));
  EXPECT_FALSE(gate_->knows({}, shows({"", {"cn:eve"}, far_ms}), from_unix_ms(now_ms)));
}

TEST_F(gate_test, says_why_it_does_not_take_a_certificate) {
  config_ = {"", {}, {{"cn:ben", "ben", {"viewer"}, {"default"}}}};
  open();
  EXPECT_EQ(asked({}), "unauthenticated The connection has no client certificate.");
  EXPECT_EQ(asked({}, shows({"The certificate is not one for clients.", {}, far_ms})),
            "unauthenticated The certificate is not one for clients.");
  EXPECT_TRUE(asked({}, shows({"", {"cn:ben"}, now_ms})).starts_with("unauthenticated The client certificate has expired at 2025-11-24T"));
  EXPECT_EQ(asked({}, shows({"", {"cn:eve", "dns:x"}, far_ms})),
            "unauthenticated The client certificate is not one that this node knows; its names are cn:eve, dns:x.");
  EXPECT_EQ(asked({}, shows({"", {}, far_ms})), "unauthenticated The client certificate has no name.");
  EXPECT_EQ(asked("Bearer x", shows({"", {"cn:ben"}, far_ms})),
            "unauthenticated This node knows no tokens: it asks for a client certificate.");
}

TEST_F(gate_test, lets_a_token_decide_alone) {
  const auto ann = add("ann", {"operator"});
  config_.certificates = {{"cn:ben", "ben", {"viewer"}, {"default"}}};
  open();
  const auto ben = shows({"", {"cn:ben"}, far_ms}), bad = shows({"The client certificate is damaged.", {}, 0});
  EXPECT_EQ(asked({}, ben), "certificate ben");
  EXPECT_EQ(asked("Bearer " + ann, ben), "token ann");
  EXPECT_EQ(asked("Bearer " + ann, bad), "token ann");
  EXPECT_EQ(asked("Bearer " + make_token()->text, ben), "unauthenticated The token is not known here.");
  EXPECT_EQ(asked({}), "unauthenticated The request has no token, and the connection no client certificate.");
}

TEST_F(gate_test, binds_tokens_to_namespaces) {
  const auto of = [&](const std::string& token) {
    return std::get<principal>(gate_->admit("Bearer " + token, {"10.0.0.1", {}}, from_unix_ms(now_ms)));
  };
  const auto ann = add("ann", {"viewer"}), bill = add("bill", {"viewer"});
  ASSERT_TRUE(change_tokens(config_.tokens_file, [](std::vector<token_entry>& all) -> status {
                all.back().namespaces = {"billing", "shop"};
                return nothing{};
              }).ok());
  open();
  EXPECT_TRUE(of(ann).may_use("default"));
  EXPECT_FALSE(of(ann).may_use("billing"));
  EXPECT_FALSE(of(bill).may_use("default"));
  EXPECT_TRUE(of(bill).may_use("billing") && of(bill).may_use("shop"));
  config_ = {};
  open();
  EXPECT_TRUE(std::get<principal>(gate_->admit({}, {"127.0.0.1", {}}, from_unix_ms(now_ms))).may_use("billing"))
      << "nobody is bound where nobody is asked";
}

TEST_F(gate_test, binds_tokens_to_agents) {
  const auto of = [&](const std::string& token) {
    return std::get<principal>(gate_->admit("Bearer " + token, {"10.0.0.1", {}}, from_unix_ms(now_ms)));
  };
  const auto ann = add("ann", {"agent"}), bill = add("bill", {"agent"});
  ASSERT_TRUE(change_tokens(config_.tokens_file, [](std::vector<token_entry>& all) -> status {
                all.back().agents = {"payment", "shipping"};
                return nothing{};
              }).ok());
  open();
  EXPECT_TRUE(of(ann).has(right::work));
  EXPECT_TRUE(of(ann).may_work_for("payment"));
  EXPECT_TRUE(of(bill).may_work_for("payment") && of(bill).may_work_for("shipping"));
  EXPECT_FALSE(of(bill).may_work_for("mail"));
  EXPECT_FALSE(of(bill).has(right::vouch) || of(bill).has(right::look));
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

TEST_F(gate_test, knows_other_certificates_with_the_next_request) {
  config_ = {"", {}, {{"cn:ben", "ben", {"viewer"}, {"default"}}}};
  open();
  EXPECT_EQ(asked({}, shows({"", {"cn:ben"}, far_ms})), "certificate ben");
  gate_->take({{"cn:ann", "ann", {"viewer"}, {"default"}}});
  EXPECT_EQ(asked({}, shows({"", {"cn:ann"}, far_ms})), "certificate ann");
  EXPECT_TRUE(asked({}, shows({"", {"cn:ben"}, far_ms})).starts_with("unauthenticated")) << "the former row is gone";
  gate_->take({});
  EXPECT_TRUE(asked({}).starts_with("unauthenticated")) << "a gate that asks never opens to everybody";
}

TEST_F(gate_test, warns_of_tokens_that_expire_soon_unless_they_were_made_for_less) {
  constexpr std::int64_t day_ms = 86'400'000;
  const auto made = [&](const std::string& name, std::int64_t age_ms, std::int64_t left_ms, std::int64_t revoked = 0) {
    add(name, {"viewer"}, now_ms + left_ms, revoked);
    EXPECT_TRUE(change_tokens(config_.tokens_file, [&](std::vector<token_entry>& all) -> status {
                  all.back().created_unix_ms = now_ms - age_ms;
                  return nothing{};
                }).ok());
  };
  made("old", 90 * day_ms, day_ms / 2);
  made("later", 90 * day_ms, 8 * day_ms);
  made("brief", 0, day_ms / 2);
  made("over", 90 * day_ms, -day_ms);
  made("gone", 90 * day_ms, day_ms, now_ms - 1);
  open();
  ASSERT_EQ(warned_.size(), 1U);
  EXPECT_NE(warned_[0].find(" of old expires at "), std::string::npos) << warned_[0];
  EXPECT_NE(warned_[0].find("not used here"), std::string::npos) << warned_[0];
}

TEST_F(gate_test, says_when_the_last_token_of_a_name_expires) {
  add("ben", {"viewer"}, now_ms + 1'000);
  add("ben", {"viewer"}, now_ms + 2'000);
  add("ana", {"viewer"}, now_ms + 1'000);
  add("ana", {"viewer"});
  add("gone", {"viewer"}, now_ms + 1'000, now_ms - 1);
  open();
  EXPECT_EQ(gate_->token_ends(), (std::map<std::string, std::int64_t>{{"ben", now_ms + 2'000}}));
}

TEST_F(gate_test, knows_the_id_of_a_token_and_when_it_was_used_before) {
  const auto header = "Bearer " + add("ben", {"viewer"});
  open();
  const auto ask = [&](std::int64_t at_ms) { return std::get<principal>(gate_->admit(header, {"10.0.0.1", {}}, from_unix_ms(at_ms))); };
  EXPECT_EQ(ask(now_ms).last_used_unix_ms, 0);
  EXPECT_EQ(ask(now_ms + 5).last_used_unix_ms, now_ms);
  EXPECT_EQ("fl_" + ask(now_ms).token + "_", header.substr(7, 16));
}

TEST_F(gate_test, lets_go_on_only_whoever_would_be_admitted_as_before) {
  const auto header = "Bearer " + add("ben", {"viewer"}, now_ms + 1'000);
  open();
  const door::peer from{"10.0.0.1", {}};
  const auto ben = std::get<principal>(gate_->admit(header, from, from_unix_ms(now_ms)));
  EXPECT_TRUE(gate_->still_admits(ben, header, from, from_unix_ms(now_ms + 999)));
  EXPECT_FALSE(gate_->still_admits(ben, header, from, from_unix_ms(now_ms + 1'000))) << "it has expired";
  auto other = ben;
  other.rights = right_set::all();
  EXPECT_FALSE(gate_->still_admits(other, header, from, from_unix_ms(now_ms))) << "its rights were others";
}

TEST_F(gate_test, does_not_open_without_a_sound_file) {
  EXPECT_FALSE(gate::open(
                   config_, [](const std::string&) {}, time_)
                   .ok())
      << "there is none";
  add("ben", {"viewer"});
  std::filesystem::permissions(config_.tokens_file, std::filesystem::perms{0644});
  EXPECT_FALSE(gate::open(
                   config_, [](const std::string&) {}, time_)
                   .ok())
      << "everybody may read it";
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
