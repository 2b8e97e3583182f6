#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "app/certificates/files.hpp"
#include "app/cli/certificate/facts.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/parse.hpp"
#include "tests/app/certificates/openssl_reader.hpp"

namespace fairlead::app {
namespace {

namespace fs = std::filesystem;

struct heard final : command_output {
  bool say(const std::string& text) override {
    said += text;
    return true;
  }
  void complain(const std::string& text) override { complaints += text; }
  std::string said;
  std::string complaints;
};

struct cli_certificate : ::testing::Test {
  cli_certificate() {
    std::string name = (fs::temp_directory_path() / "cli_certificate.XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    ca_ = folder_ + "/ca";
  }
  ~cli_certificate() override { fs::remove_all(folder_); }

  /// The exit code of `certificate WORDS`.
  int run(std::vector<std::string> words) {
    CLI::App app;
    app.require_subcommand(1);
    cli_context context;
    add_certificate_commands(app, context);
    words.insert(words.begin(), "certificate");
    output_ = {};
    const speak_to here{output_};
    return run_words(app, context, words, "fairlead ", " --help");
  }
  int issue(std::vector<std::string> words) {
    words.insert(words.begin(), {"issue", "--ca", ca_, "--out", folder_});
    return run(std::move(words));
  }
  std::vector<std::string> files() const {
    std::vector<std::string> out;
    for (const auto& one : fs::recursive_directory_iterator{folder_})
      if (one.is_regular_file()) out.push_back(fs::relative(one.path(), folder_).string());
    std::sort(out.begin(), out.end());
    return out;
  }
  named_pem read(const std::string& name) const { return read_pem_file(folder_ + "/" + name).value(); }

  std::string folder_;
  std::string ca_;
  heard output_;
};

using texts = std::vector<std::string>;

TEST_F(cli_certificate, makes_an_authority_and_certificates_that_its_certificate_proves) {
  ASSERT_EQ(run({"create-ca", "--out", ca_, "--name", "Orders"}), exit_ok) << output_.complaints;
  ASSERT_EQ(issue({"n1.example.org", "10.0.0.1", "n1.example.org"}), exit_ok) << output_.complaints;
  EXPECT_EQ(files(), (texts{"ca/ca-key.pem", "ca/ca.pem", "n1.example.org-key.pem", "n1.example.org.pem"}));
  const auto made = read("n1.example.org.pem");
  EXPECT_EQ(read_certificates(made)->front().names, (texts{"n1.example.org", "10.0.0.1"}));
  EXPECT_TRUE(check_chain(made, read("ca/ca.pem"), system_clock{}.now()).ok());
  EXPECT_TRUE(check_key_belongs(made, read("n1.example.org-key.pem")).ok());
}

TEST_F(cli_certificate, refuses_bad_input_and_writes_nothing) {
  ASSERT_EQ(run({"create-ca", "--out", ca_}), exit_ok);
  const auto before = files();
  const std::vector<std::pair<texts, int>> refused = {
      {{}, exit_usage},
      {{"n_1"}, exit_usage},
      {{"n1", "--days", "0"}, exit_usage},
      {{"n1", "--days", "36501"}, exit_usage},
      {{"n1", "--days", "x"}, exit_usage},
      {{"n1", "--days", "3651"}, exit_usage},
      {{"ca", "--out", ca_, "--force"}, exit_usage},
      {{"ca-key", "--out", ca_, "--force"}, exit_usage},
      {{"n1", "--out", folder_ + "/no/such"}, exit_disk},
      {{"n1", "--out", ca_ + "/ca.pem"}, exit_disk},
  };
  for (const auto& [words, code] : refused) {
    auto line = words;
    const bool elsewhere = std::find(line.begin(), line.end(), "--out") != line.end();
    line.insert(line.begin(), {"issue", "--ca", ca_});
    if (!elsewhere) line.insert(line.end(), {"--out", folder_});
    EXPECT_EQ(run(line), code) << output_.complaints;
    EXPECT_NE(output_.complaints.find("fairlead: "), std::string::npos);
    EXPECT_EQ(output_.said, "");
    EXPECT_EQ(files(), before) << output_.complaints;
  }
  EXPECT_EQ(run({"issue", "n1", "--ca", folder_, "--out", folder_}), exit_not_found);
  EXPECT_EQ(run({"create-ca", "--out", ca_}), exit_conflict);
  EXPECT_EQ(run({"create-ca", "--out", folder_, "--name", ""}), exit_usage);
  EXPECT_EQ(run({"show", ca_ + "/ca-key.pem"}), exit_usage);
  EXPECT_EQ(run({"show", ca_ + "/none"}), exit_not_found);
  EXPECT_EQ(run({"renew", ca_ + "/ca.pem", "--ca", ca_}), exit_usage);
  EXPECT_EQ(files(), before);
}

TEST_F(cli_certificate, replaces_a_file_only_by_force) {
  ASSERT_EQ(run({"create-ca", "--out", ca_}), exit_ok);
  ASSERT_EQ(issue({"n1"}), exit_ok);
  const auto before = read("n1.pem").text;
  EXPECT_EQ(issue({"n1"}), exit_conflict);
  EXPECT_EQ(read("n1.pem").text, before);
  EXPECT_EQ(issue({"n1", "--force"}), exit_ok);
  EXPECT_NE(read("n1.pem").text, before);
}

TEST_F(cli_certificate, renews_in_place_with_the_same_key_or_a_new_one) {
  ASSERT_EQ(run({"create-ca", "--out", ca_}), exit_ok);
  ASSERT_EQ(issue({"n1", "--client"}), exit_ok);
  const auto before = read("n1.pem");
  const auto key = read("n1-key.pem");
  ASSERT_EQ(run({"renew", before.path, "--ca", ca_, "--days", "30"}), exit_ok) << output_.complaints;
  EXPECT_NE(read("n1.pem").text, before.text);
  EXPECT_EQ(read("n1-key.pem").text, key.text);
  EXPECT_EQ(read_certificates(read("n1.pem"))->front().uses, texts{"client"});
  ASSERT_EQ(run({"renew", before.path, "--ca", ca_, "--new-key"}), exit_ok);
  EXPECT_NE(read("n1-key.pem").text, key.text);
  EXPECT_TRUE(check_key_belongs(read("n1.pem"), read("n1-key.pem")).ok());
  fs::remove(key.path);
  EXPECT_EQ(run({"renew", before.path, "--ca", ca_}), exit_not_found);
  std::ofstream{key.path} << read("ca/ca-key.pem").text;
  EXPECT_EQ(run({"renew", before.path, "--ca", ca_}), exit_usage);
}

TEST_F(cli_certificate, shows_every_certificate_of_a_file) {
  ASSERT_EQ(run({"create-ca", "--out", ca_, "--name", "Orders"}), exit_ok);
  ASSERT_EQ(issue({"n1"}), exit_ok);
  EXPECT_EQ(run({"show", folder_ + "/n1.pem", "--json"}), exit_ok);
  const auto shown = nlohmann::json::parse(output_.said);
  ASSERT_EQ(shown["certificates"].size(), 2U);
  EXPECT_EQ(shown["certificates"][0]["names"][0], "n1");
  EXPECT_EQ(shown["certificates"][0]["days_left"], 364);
  EXPECT_EQ(shown["certificates"][0]["valid"], true);
  EXPECT_EQ(shown["certificates"][1]["authority"], true);
}

TEST_F(cli_certificate, shows_one_that_has_expired_and_ends_with_1) {
  const auto path = folder_ + "/old.pem";
  std::ofstream{path} << make_authority("Old", 1, from_unix_ms(1'577'836'800'000))->certificate;
  EXPECT_EQ(run({"show", path}), exit_failed);
  EXPECT_NE(output_.said.find("valid until  2020-01-02T00:00:00Z (expired)\n"), std::string::npos) << output_.said;
  EXPECT_NE(output_.complaints.find("The certificate in the file " + path + " expired at 2020-01-02T00:00:00Z"), std::string::npos);
}

TEST(cli_certificate_facts, count_whole_days_that_are_left) {
  certificate_facts facts;
  facts.not_before = noon;
  facts.not_after = noon + std::chrono::days{2};
  EXPECT_EQ(days_left(facts, noon), 2);
  EXPECT_EQ(days_left(facts, noon + duration{1}), 1);
  EXPECT_EQ(days_left(facts, noon + std::chrono::days{2}), 0);
  EXPECT_EQ(days_left(facts, noon + std::chrono::days{2} + duration{1}), -1);
  EXPECT_NE(facts_text(facts, noon + duration{1}).find("(1 day left)"), std::string::npos);
  EXPECT_NE(facts_text(facts, noon - duration{1}).find("(not valid yet)"), std::string::npos);
}

}  // namespace
}  // namespace fairlead::app
