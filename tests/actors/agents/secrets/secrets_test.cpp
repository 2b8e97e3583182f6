#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "actors/agents/attempt_results.hpp"
#include "actors/agents/secrets/file.hpp"
#include "actors/agents/secrets/memory.hpp"
#include "actors/agents/secrets/vault.hpp"
#include "actors/core/expression/expression.hpp"
#include "actors/core/text/json.hpp"

namespace fairlead::agents {
namespace {

const std::string token = "tok/en+\"s3cr\\et\"\n=&%\xC3\xA9~!";

class secrets_test : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "secrets-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text, mode_t mode = 0600) const {
    const auto path = folder_ + "/" + name;
    std::ofstream{path, std::ios::binary | std::ios::trunc} << text;
    ::chmod(path.c_str(), mode);
    return path;
  }

  std::string folder_;
};

std::unique_ptr<secret_vault> vault_of(const std::vector<std::pair<std::string, std::string>>& values) {
  auto out = std::make_unique<secret_vault>();
  for (const auto& [name, value] : values) {
    const auto added = out->add_value(name, value);
    EXPECT_TRUE(added.ok()) << added.failure().sentence;
  }
  return out;
}

std::string encoded(const std::string& text, const char* format, const std::string& kept = "") {
  std::string out;
  for (const auto c : text) {
    std::array<char, 16> one{};
    std::snprintf(one.data(), one.size(), format, static_cast<unsigned char>(c));
    out += kept.find(c) != std::string::npos ? std::string(1, c) : std::string{one.data()};
  }
  return out;
}

std::string base64(const std::string& text, bool url = false) {
  const std::string alphabet = std::string{"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"} + (url ? "-_" : "+/");
  std::string out;
  for (std::size_t at = 0; at < text.size(); at += 3) {
    unsigned bits = 0;
    for (std::size_t i = 0; i < 3; ++i) bits = bits << 8U | (at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i) out += at + i > text.size() ? '=' : alphabet[bits >> (18 - 6 * i) & 63U];
  }
  return out;
}

TEST(secrets_references, are_found_by_name_once_each_in_order) {
  EXPECT_TRUE(secrets::mentioned("Bearer $secret{A}"));
  EXPECT_FALSE(secrets::mentioned("$secret A, $ecret{A}"));
  const auto names = secrets::names_in("$secret{B.x-1}, $secret{A_2}, $secret{B.x-1}$");
  ASSERT_TRUE(names.ok());
  EXPECT_EQ(*names, (std::vector<std::string>{"B.x-1", "A_2"}));
  EXPECT_EQ(secrets::names_in("nothing")->size(), 0U);
}

TEST(secrets_references, that_are_none_are_refused_at_their_place) {
  const auto open = secrets::names_in("ab $secret{A");
  ASSERT_FALSE(open.ok());
  EXPECT_NE(open.failure().sentence.find("at character 4 is not closed"), std::string::npos) << open.failure().sentence;
  for (const auto* text : {"$secret{}", "$secret{a b}", "$secret{$secret{A}}", "$secret{\xC3\xA9}"})
    EXPECT_NE(secrets::names_in(text).failure().sentence.find("at character 1 has no name"), std::string::npos) << text;
  EXPECT_TRUE(secrets::names_in("$secret{" + std::string(64, 'n') + "}").ok());
  EXPECT_FALSE(secrets::names_in("$secret{" + std::string(65, 'n') + "}").ok());
}

TEST(secrets_resolve, puts_values_in_and_looks_at_no_value_for_references) {
  const auto vault = vault_of({{"A", token}, {"B", "$secret{A}"}});
  EXPECT_EQ(*vault->resolve("x $secret{A}$secret{B} y"), "x " + token + "$secret{A} y");
  EXPECT_EQ(*vault->resolve("plain"), "plain");
  EXPECT_EQ(*vault->resolve(""), "");
  const auto unknown = vault->resolve("$secret{A} $secret{C}");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.failure().code, v1::ERROR_CODE_NOT_FOUND);
  EXPECT_NE(unknown.failure().sentence.find("secret C"), std::string::npos);
  EXPECT_EQ(unknown.failure().sentence.find("s3cr"), std::string::npos);
  EXPECT_EQ(vault->resolve("$secret{A").failure().code, v1::ERROR_CODE_INVALID_ARGUMENT);
}

TEST(secrets_resolve, escapes_values_in_json_and_leaves_keys_and_spelling_alone) {
  const auto vault = vault_of({{"A", token}, {"B", "four"}});
  const auto out =
      vault->resolve_json(R"( { "$secret{B}" : "Bearer $secret{B}", "n": 1.0e+2, "l": ["\u0041", "\u0024secret{B}"] } )", {"B"});
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(*out, R"( { "$secret{B}" : "Bearer four", "n": 1.0e+2, "l": ["\u0041", "four"] } )");
  const auto escaped = vault->resolve_json(R"(["$secret{A}"])", {"A", "B"});
  ASSERT_TRUE(escaped.ok());
  EXPECT_EQ(*escaped, "[\"tok/en+\\\"s3cr\\\\et\\\"\\n=&%\xC3\xA9~!\"]");
  EXPECT_TRUE(core::check_json(*escaped).ok());
}

TEST(secrets_resolve, gives_json_only_what_the_agent_allows_and_only_text) {
  const auto vault = vault_of({{"A", "aaaa"}, {"B", "bbbb"}, {"RAW", "\xFF\xFE\x80\x81"}});
  const auto refused = vault->resolve_json(R"({"a":"$secret{A}","b":"$secret{B}"})", {"A"});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.failure().code, v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_NE(refused.failure().sentence.find("secret B"), std::string::npos);
  EXPECT_EQ(vault->resolve_json(R"("$secret{NO}")", {"NO"}).failure().code, v1::ERROR_CODE_NOT_FOUND);
  EXPECT_EQ(vault->resolve_json(R"("$secret{RAW}")", {"RAW"}).failure().code, v1::ERROR_CODE_INVALID_ARGUMENT);
}

TEST(secrets_redact, replaces_a_value_in_every_usual_encoding) {
  const auto vault = vault_of({{"T", token}, {"BLANK", "two words"}});
  const std::vector<std::string> spelled{
      token,
      "tok/en+\\\"s3cr\\\\et\\\"\\n=&%\xC3\xA9~!",                    // JSON
      "tok\\/en+\\u0022s3cr\\\\et\\u0022\\n=\\u0026%\\u00E9~!",       // JSON in ASCII
      "tok\\\\/en+\\\\\\\"s3cr\\\\\\\\et\\\\\\\"\\\\n=&%\xC3\xA9~!",  // JSON in JSON
      encoded(token, "%%%02X"),
      encoded(token, "%%%02x", "token3cr~!"),
      encoded(encoded(token, "%%%02X"), "%%%02X", "0123456789"),  // twice
      encoded(token, "%02x"),
      encoded(token, "%02X"),
      encoded(token, "&#%u;", "token3cr").replace(encoded(token, "&#%u;", "token3cr").find("&#195;&#169;"), 12, "&#xE9;"),
      base64(token),
      base64(token, true),
      encoded(base64(token), "%%%02X", "0123456789"),
  };
  for (const auto& one : spelled) {
    const auto out = vault->redact("<" + one + ">");
    EXPECT_EQ(out.substr(0, 11), "<[secret T]") << one << " became " << out;
    EXPECT_LE(out.size(), 14U) << one << " became " << out;
  }
  EXPECT_EQ(vault->redact("a two+words b two%20words"), "a [secret BLANK] b [secret BLANK]");
}

TEST(secrets_redact, looks_into_json_in_json_in_json) {
  const auto vault = vault_of({{"T", token}});
  std::string text = token;
  for (int nested = 0; nested < 4; ++nested) {
    std::string spelled;
    core::append_json_string(spelled, text);
    text = spelled;
    const auto out = vault->redact("[" + text + "]");
    EXPECT_NE(out.find("[secret T]"), std::string::npos) << out;
    EXPECT_EQ(out.find("s3cr"), std::string::npos) << out;
    EXPECT_TRUE(core::check_json(out).ok()) << out;
  }
}

TEST(secrets_redact, finds_base64_at_each_place_and_over_line_breaks) {
  const auto vault = vault_of({{"T", "a-long-secret-value-that-is-broken-over-lines-by-those-who-write-mail"}});
  const std::string value = "a-long-secret-value-that-is-broken-over-lines-by-those-who-write-mail";
  for (const auto* before : {"", "u", "u:", "user:", "other:", "others:"}) {
    for (const auto* after : {"", "!", "!!", "!!!"}) {
      for (const auto url : {false, true}) {
        const auto out = vault->redact(base64(before + value + after, url));
        EXPECT_NE(out.find("[secret T]"), std::string::npos) << before << after;
        EXPECT_LE(out.size(), 30U) << before << after << " became " << out;
      }
    }
  }
  auto lines = base64("user:" + value);
  lines.insert(40, "\r\n");
  EXPECT_NE(vault->redact(lines).find("[secret T]"), std::string::npos);
}

TEST(secrets_redact, leaves_what_is_no_secret_as_it_is) {
  const auto vault = vault_of({{"T", "s3cret"}});
  for (const auto* text : {"", "s3c", "s3cre", R"({"a":"b\u00e9\n","c":[1,2]})", "100% of a+b &amp; c\r\n\\"})
    EXPECT_EQ(vault->redact(text), text);
  EXPECT_EQ(secret_vault{}.redact("anything"), "anything");
}

TEST(secrets_redact, finds_what_a_fault_shows_of_a_value) {
  const std::string key = "-----BEGIN KEY-----\nMIIEv\tQ\xC3\xA9IBADAN/Bg+k=\n-----END KEY-----";
  const auto vault = vault_of({{"T", key}, {"SHORT", "\xC3\xA9\xC3\xA9\xC3\xA9"}});
  EXPECT_EQ(vault->redact("401: " + printable(key, 200) + "."), "401: [secret T].");
  EXPECT_EQ(vault->redact("401: " + printable(key, 40)), "401: [secret T]");
  EXPECT_EQ(vault->redact("_____BEGIN_KEY_____"), "_____BEGIN_KEY_____");
  EXPECT_EQ(vault->redact("-----BEGIN_KEY-----_MIIEv_Q__IBADAN_Bg_k_"), "[secret T]");
  EXPECT_EQ(vault->redact("wait ......... ____________"), "wait ......... ____________");
}

TEST(secrets_redact, hides_the_beginning_of_a_value_that_a_quotation_cuts_off) {
  const auto vault = vault_of({{"T", "abcdefgh-ijklmnop"}});
  EXPECT_EQ(vault->redact("422: token abcdefgh-ijklmn"), "422: token [secret T]");
  EXPECT_EQ(vault->redact("422: token abcdefgh"), "422: token [secret T]");
  EXPECT_EQ(vault->redact("422: token abcdefg"), "422: token abcdefg");
  EXPECT_EQ(vault->redact("422: abcdefgh-ijkl is no token"), "422: abcdefgh-ijkl is no token");
  EXPECT_EQ(vault->redact("422: %61bcdefgh-%69j"), "422: [secret T]");
}

TEST(secrets_redact, names_the_longer_of_two_values_that_begin_together) {
  const auto vault = vault_of({{"SHORT", "abcd"}, {"LONG", "abcdefgh"}});
  EXPECT_EQ(vault->redact("abcdefgh abcdx"), "[secret LONG] [secret SHORT]x");
  EXPECT_EQ(vault->redact("abcdabcd"), "[secret SHORT][secret SHORT]");
}

TEST(secrets_redact, keeps_json_json) {
  const auto vault = vault_of({{"PIN", "12345678"}, {"KEY", R"({"type":"key","id":"k1"})"}, {"ODD", "nabc"}});
  EXPECT_EQ(vault->redact(R"({"pin":12345678,"s":"12345678","f":-123456789.5})"),
            R"({"pin":"[secret PIN]","s":"[secret PIN]","f":"[secret PIN]"})");
  EXPECT_EQ(vault->redact(R"({"s":"pin 12345678"})"), R"({"s":"pin [secret PIN]"})");
  // The bytes of a value may begin in the middle of an escape.
  EXPECT_EQ(vault->redact(R"({"s":"x\nabc"})"), R"({"s":"[secret ODD]"})");
  for (const auto* text : {R"({"a":{"type":"key","id":"k1"},"b":2})", R"([{"type":"key","id":"k1"}])"}) {
    const auto out = vault->redact(text);
    EXPECT_TRUE(core::check_json(out).ok()) << out;
    EXPECT_EQ(out.find("k1"), std::string::npos) << out;
  }
  EXPECT_EQ(vault->redact(R"({"12345678":1})"), R"({"[secret PIN]":1})");
}

TEST(secrets_redact, takes_a_large_output_in_a_moment) {
  std::vector<std::pair<std::string, std::string>> values;
  for (int i = 0; i < 100; ++i) values.emplace_back("S" + std::to_string(i), "secret-value-" + std::to_string(i * 7919));
  const auto vault = vault_of(values);
  std::string text;
  while (text.size() < 1 << 20) text += R"({"item":"a\u00e9b","note":"secret-value 100% & more","n":12345},)";
  text += "secret-value-7919";
  const auto began = std::chrono::steady_clock::now();
  const auto out = vault->redact(text);
  const auto took = std::chrono::steady_clock::now() - began;
  EXPECT_NE(out.find("[secret S1]"), std::string::npos);
  // A hundred times what it takes: only a search that looks for each value on its own would be so slow.
  EXPECT_LT(took, std::chrono::seconds{3});
}

TEST_F(secrets_test, a_file_loses_one_newline_and_is_read_again_when_it_changes) {
  const auto path = write("token", "first-value\n");
  secret_vault vault;
  ASSERT_TRUE(vault.add_file("T", path).ok());
  EXPECT_EQ(*vault.resolve("$secret{T}"), "first-value");
  write("token", "other-value\r\n");  // as long as before, and perhaps within the same tick of the clock
  EXPECT_EQ(*vault.resolve("$secret{T}"), "other-value");
  std::filesystem::rename(write("next", "third\n\n"), path);
  EXPECT_EQ(*vault.resolve("$secret{T}"), "third\n");
  EXPECT_EQ(vault.redact("first-value, other-value, third\n"), "[secret T], [secret T], [secret T]");
}

TEST_F(secrets_test, a_file_that_has_settled_is_noticed_by_what_stat_says) {
  const auto path = write("token", "first-value");
  secret_file_mark mark;
  ASSERT_TRUE(read_secret_file(path, mark).ok());
  EXPECT_FALSE(mark.settled);
  mark.settled = true;
  EXPECT_FALSE(secret_file_changed(path, mark));
  write("token", "second-value");
  EXPECT_TRUE(secret_file_changed(path, mark));
  std::filesystem::remove(path);
  EXPECT_TRUE(secret_file_changed(path, mark));
}

TEST_F(secrets_test, the_last_value_stays_while_a_file_is_being_replaced_and_people_are_told_once) {
  const auto path = write("token", "first-value");
  std::vector<std::string> told;
  secret_vault vault{[&told](const std::string& sentence) { told.push_back(sentence); }};
  ASSERT_TRUE(vault.add_file("T", path).ok());
  write("token", "");
  EXPECT_EQ(*vault.resolve("$secret{T}"), "first-value");
  std::filesystem::remove(path);
  EXPECT_EQ(*vault.resolve("$secret{T}"), "first-value");
  ASSERT_EQ(told.size(), 1U);
  EXPECT_NE(told[0].find("secret T: the file " + path + " is empty"), std::string::npos) << told[0];
  write("token", "second-value");
  EXPECT_EQ(*vault.resolve("$secret{T}"), "second-value");
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[1], "secret T can be read again");
}

TEST_F(secrets_test, files_that_hold_no_secret_are_refused_with_a_remedy) {
  const auto refusal = [](const std::string& path) {
    secret_vault vault;
    const auto added = vault.add_file("T", path);
    return added.ok() ? std::string{"taken"} : added.failure().sentence + "; " + added.failure().remedy;
  };
  const auto open = write("open", "value", 0604);
  EXPECT_EQ(refusal(open), "the file " + open + " can be used by every user of this machine; chmod o= " + open);
  EXPECT_EQ(refusal(write("group", "value", 0640)), "taken");
  EXPECT_NE(refusal(write("empty", "\n")).find("is empty"), std::string::npos);
  EXPECT_NE(refusal(write("short", "abc\n")).find("shorter than 4 bytes"), std::string::npos);
  EXPECT_NE(refusal(write("zero", std::string("ab\0cd", 5))).find("byte with the value 0"), std::string::npos);
  EXPECT_EQ(refusal(write("most", std::string(64 * 1024, 'x') + "\n")), "taken");
  EXPECT_NE(refusal(write("long", std::string(64 * 1024 + 1, 'x'))).find("longer than 64KiB"), std::string::npos);
  EXPECT_NE(refusal(folder_ + "/none").find("cannot be read: No such file"), std::string::npos);
  EXPECT_NE(refusal(folder_).find("not a regular file"), std::string::npos);
}

TEST(secrets_memory_test, forbids_core_files_of_the_process) {
  const auto child = ::fork();
  if (child == 0) {
    if (!forbid_core_files().ok()) ::_exit(1);
    ::_exit(::prctl(PR_GET_DUMPABLE) == 0 ? 0 : 2);
  }
  int ended = 0;
  ASSERT_EQ(::waitpid(child, &ended, 0), child);
  EXPECT_TRUE(WIFEXITED(ended) && WEXITSTATUS(ended) == 0) << ended;
}

TEST(secrets_memory_test, wipes_what_a_string_held) {
  std::string text(200, 's');
  const auto* place = text.data();
  const auto size = text.size();
  wipe(text);
  EXPECT_TRUE(text.empty());
  ASSERT_EQ(text.data(), place);
  text.resize(size);  // within the capacity
  text.clear();
  EXPECT_EQ(std::string_view(place, 4).find('s'), std::string_view::npos);
}

TEST(secrets_threads, resolve_and_redact_while_a_file_changes) {
  std::string pattern = testing::TempDir() + "secrets-XXXXXX";
  const std::string folder = ::mkdtemp(pattern.data());
  const auto put = [&folder](int number) {
    const auto next = folder + "/next";
    std::ofstream{next} << "value-" << number << "-end";
    ::chmod(next.c_str(), 0600);
    std::filesystem::rename(next, folder + "/token");
  };
  put(0);
  secret_vault vault;
  ASSERT_TRUE(vault.add_file("T", folder + "/token").ok());
  std::atomic<bool> over{false};
  std::atomic<int> leaked{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 4; ++i)
    readers.emplace_back([&] {
      do {
        const auto value = vault.resolve("$secret{T}");
        if (!value.ok() || vault.redact("<" + *value + ">") != "<[secret T]>") ++leaked;
      } while (!over);
    });
  for (int number = 1; number < 200; ++number) put(number);
  over = true;
  for (auto& one : readers) one.join();
  EXPECT_EQ(leaked, 0);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace fairlead::agents
