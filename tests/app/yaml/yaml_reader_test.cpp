#include "app/yaml/reader.hpp"

#include <gtest/gtest.h>

#include "app/yaml/places.hpp"
#include "tests/app/problems.hpp"

namespace fairlead::app {
namespace {

struct json_case {
  std::string yaml;
  std::string json;
};

TEST(yaml_reader, turns_yaml_into_json_by_the_core_schema) {
  const std::vector<json_case> cases{
      {"null", "null"},
      {"~", "null"},
      {"Null", "null"},
      {"true", "true"},
      {"False", "false"},
      {"TRUE", "true"},
      {"yes", "\"yes\""},
      {"off", "\"off\""},
      {"no", "\"no\""},
      {"0", "0"},
      {"-0", "-0"},
      {"9007199254740993", "9007199254740993"},
      {"123456789012345678901234567890", "123456789012345678901234567890"},
      {"1.10", "1.10"},
      {"1e400", "1e400"},
      {"-1.5E+3", "-1.5E+3"},
      {"1.2.3", "\"1.2.3\""},
      {"1e", "\"1e\""},
      {"2026-01-01", "\"2026-01-01\""},
      {"12:30", "\"12:30\""},
      {"1_000", "\"1_000\""},
      {"\"5\"", "\"5\""},
      {"'true'", "\"true\""},
      {"!!str 5", "\"5\""},
      {"|\n  7\n", "\"7\\n\""},
      {"${ .input.items[0] }", "\"${ .input.items[0] }\""},
      {"\"tab\\there \\u00e9 \\\\ \\\"\"", "\"tab\\there é \\\\ \\\"\""},
      {"[]", "[]"},
      {"{}", "{}"},
      {"{ b: [1, { c: ~ }], a: x }", R"({"b":[1,{"c":null}],"a":"x"})"},
      {"{ 1: a, true: b, \"q\\\"\": c }", R"({"1":"a","true":"b","q\"":"c"})"},
  };
  for (const auto& c : cases) {
    auto document = parse_yaml("f.yaml", c.yaml);
    ASSERT_TRUE(document.root) << c.yaml;
    const auto json = yaml_node::root(document).json();
    ASSERT_TRUE(json) << c.yaml << ": " << testing::PrintToString(shown(document.problems));
    EXPECT_EQ(*json, c.json) << c.yaml;
  }
}

TEST(yaml_reader, refuses_numbers_that_json_cannot_spell) {
  for (const auto* number : {"007", "+5", "0x1F", "0o17", ".5", "5.", "-.5", ".inf", "-.Inf", ".nan", "1.e3", "-01"}) {
    auto document = parse_yaml("f.yaml", std::string{"a:\n  b: ["} + number + "]\n");
    EXPECT_FALSE(yaml_node::root(document).json()) << number;
    EXPECT_EQ(shown(document.problems),
              lines{std::string{"2:7: a.b[0]: "} + number +
                    " is a number that JSON cannot represent; put it in quotes if it is a text, or write it with decimal digits"});
  }
}

TEST(yaml_reader, refuses_a_null_that_nobody_wrote) {
  auto document = parse_yaml("f.yaml", "a: null\nb:\nc: {d: , e: ~}\nf: nullify\n");
  EXPECT_FALSE(yaml_node::root(document).json());
  EXPECT_EQ(shown(document.problems), (lines{"2:1: b: the value is empty; write null for the value null",
                                             "3:5: c.d: the value is empty; write null for the value null"}));
}

class typed : public testing::Test {
 protected:
  // The value of `v` in a document that has nothing else.
  yaml_node value(const std::string& text) {
    document_ = parse_yaml("f.yaml", "v: " + text + "\n");
    return yaml_node::root(document_).entries().at(0).second;
  }
  std::string problem_text() const { return document_.problems.size() == 1 ? shown(document_.problems)[0] : "(not one problem)"; }

  yaml_document document_;
};

TEST_F(typed, reads_text) {
  EXPECT_EQ(value("hello").text(), "hello");
  EXPECT_EQ(value("\"5\"").text(), "5");
  EXPECT_EQ(value("yes").text(), "yes");
  EXPECT_FALSE(value("5").text());
  EXPECT_EQ(problem_text(), "1:4: v: expected text, found the number 5");
  EXPECT_FALSE(value("true").text());
  EXPECT_EQ(problem_text(), "1:4: v: expected text, found the truth value true");
  EXPECT_FALSE(value("[a]").text());
  EXPECT_EQ(problem_text(), "1:4: v: expected text, found a list");
  EXPECT_FALSE(value("{a: b}").text());
  EXPECT_EQ(problem_text(), "1:4: v: expected text, found a map");
  EXPECT_FALSE(value("").text());
  EXPECT_EQ(problem_text(), "1:1: v: expected text, found nothing");
  EXPECT_FALSE(value("~").text());
  EXPECT_EQ(problem_text(), "1:4: v: expected text, found null");
  EXPECT_FALSE(value("''").text());
  EXPECT_EQ(problem_text(), "1:4: v: the text is empty");
}

TEST_F(typed, reads_truth_values) {
  EXPECT_EQ(value("true").boolean(), true);
  EXPECT_EQ(value("False").boolean(), false);
  EXPECT_FALSE(value("yes").boolean());
  EXPECT_EQ(problem_text(), "1:4: v: expected true or false, found \"yes\"");
  EXPECT_FALSE(value("\"true\"").boolean());
}

TEST_F(typed, reads_whole_numbers_in_a_range) {
  EXPECT_EQ(value("1").integer(1, 1000), 1);
  EXPECT_EQ(value("-5").integer(-5, 0), -5);
  for (const auto* wrong : {"0", "1001", "1.5", "99999999999999999999", "1e2", "010"}) {
    EXPECT_FALSE(value(wrong).integer(1, 1000)) << wrong;
    EXPECT_EQ(problem_text(), std::string{"1:4: v: expected a whole number from 1 to 1000, found the number "} + wrong);
  }
  EXPECT_FALSE(value("many").integer(1, 1000));
  EXPECT_EQ(problem_text(), "1:4: v: expected a whole number from 1 to 1000, found \"many\"");
}

TEST_F(typed, reads_numbers_in_a_range) {
  EXPECT_EQ(value("1.5").number(1, 100), 1.5);
  EXPECT_EQ(value("2").number(1, 100), 2.0);
  for (const auto* wrong : {"0.5", "101", ".nan", "1e999"}) {
    EXPECT_FALSE(value(wrong).number(1, 100)) << wrong;
    EXPECT_EQ(problem_text(), std::string{"1:4: v: expected a number from 1 to 100, found the number "} + wrong);
  }
}

TEST_F(typed, reads_durations) {
  EXPECT_EQ(value("1m30s").duration_ms(1, 1'000'000), 90'000);
  EXPECT_EQ(value("1.5s").duration_ms(1, 1'000'000), 1'500);
  for (const auto* wrong : {"5", "5 s", "fast", "-1s", "1y"}) {
    EXPECT_FALSE(value(wrong).duration_ms(1, 1'000'000)) << wrong;
    EXPECT_EQ(problem_text().substr(0, 67), "1:4: v: expected a duration such as 250ms, 5s, 1m30s, 2h or 7d, fou") << wrong;
  }
  EXPECT_FALSE(value("2h").duration_ms(1, 3'600'000));
  EXPECT_EQ(problem_text(), "1:4: v: expected a duration from 1ms to 1h, found \"2h\"");
  EXPECT_FALSE(value("9999d").duration_ms(1, std::int64_t{3660} * 86'400'000));
  EXPECT_EQ(problem_text(), "1:4: v: expected a duration from 1ms to 3660d, found \"9999d\"");
}

TEST_F(typed, reads_sizes) {
  EXPECT_EQ(value("4096").size_bytes(1, 1U << 20U), 4096U);
  EXPECT_EQ(value("256KiB").size_bytes(1, 1U << 20U), 262'144U);
  EXPECT_EQ(value("1MiB").size_bytes(1, 1U << 20U), 1'048'576U);
  EXPECT_EQ(value("16GiB").size_bytes(1, std::uint64_t{1} << 40U), std::uint64_t{16} << 30U);
  for (const auto* wrong : {"1MB", "1.5GiB", "-1", "KiB", "99999999999TiB", "1 KiB"}) {
    EXPECT_FALSE(value(wrong).size_bytes(1, 1U << 20U)) << wrong;
    EXPECT_EQ(problem_text().substr(0, 68), "1:4: v: expected a size such as 4096, 256KiB, 64MiB or 16GiB, found ") << wrong;
  }
  EXPECT_FALSE(value("2MiB").size_bytes(1024, 1U << 20U));
  EXPECT_EQ(problem_text(), "1:4: v: expected a size from 1KiB to 1MiB, found \"2MiB\"");
}

TEST_F(typed, reads_one_word_of_several) {
  EXPECT_EQ(value("park").word({"undo", "park"}), 1U);
  EXPECT_FALSE(value("prak").word({"undo", "park"}));
  EXPECT_EQ(problem_text(), "1:4: v: expected undo or park, found \"prak\"; did you mean park?");
  EXPECT_FALSE(value("[park]").word({"undo", "park"}));
  EXPECT_EQ(problem_text(), "1:4: v: expected undo or park, found a list");
}

TEST_F(typed, shows_long_text_short_and_whole_characters) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "é";
  EXPECT_FALSE(value(text).boolean());
  EXPECT_EQ(problem_text(), "1:4: v: expected true or false, found \"" + text.substr(0, 60) + "…\"");
}

TEST(yaml_reader, names_unknown_keys_and_the_one_that_was_meant) {
  auto document = parse_yaml("f.yaml", "timeout: 5s\ntimeuot: 5s\nwhen: x\nsomething: 1\n");
  yaml_section section{yaml_node::root(document)};
  std::int64_t ms = 0;
  EXPECT_TRUE(section.duration_ms("timeout", ms, 1, 10'000));
  section.find("attempts");
  section.find("attempts");
  section.not_yet({"when"});
  section.finish();
  EXPECT_EQ(shown(document.problems),
            (lines{"2:1: timeuot: this key is not known here; did you mean timeout?", "3:1: when: this key is not supported yet",
                   "4:1: something: this key is not known here; known keys: timeout or attempts"}));
}

TEST(yaml_reader, refuses_a_known_key_at_its_place_also_if_it_was_read) {
  auto document = parse_yaml("f.yaml", "wait: 5s\nagent: x\n");
  yaml_section section{yaml_node::root(document)};
  section.find("wait");
  section.find("agent");
  section.refuse("agent", "wait and agent exclude one another", "make two steps of it");
  section.refuse("call", "wait and call exclude one another", "");
  section.finish();
  EXPECT_EQ(shown(document.problems), lines{"2:1: agent: wait and agent exclude one another; make two steps of it"});
}

TEST(yaml_reader, of_very_many_problems_the_last_one_only_says_that_there_are_more) {
  std::string text = "[07";
  for (int i = 1; i < 2'000; ++i) text += ", 07";
  auto document = parse_yaml("f.yaml", text + "]\n");
  EXPECT_FALSE(yaml_node::root(document).json());
  ASSERT_EQ(document.problems.size(), max_yaml_problems + 1);
  EXPECT_EQ(document.problems[999].where, "[999]");
  EXPECT_EQ(document.problems.back().sentence, "there are more problems than are listed");
  EXPECT_EQ(document.more_problems, 999U);
}

TEST(yaml_places, knows_what_is_below_a_key_that_it_was_told) {
  auto document = parse_yaml("f.yaml", "a:\n  b: [1, { c.d: 2 }]\n  e:\n    f: 3\n");
  ASSERT_TRUE(document.root);
  const auto root = yaml_node::root(document);
  yaml_places places;
  places.add("", root);
  places.add("a", root.entries()[0].second);
  const std::vector<std::pair<std::string, std::pair<int, int>>> cases{{"a", {1, 1}},        {"a.b[1]", {2, 10}}, {"a.b[1].c.d", {2, 17}},
                                                                       {"a.e", {3, 3}},      {"a.e.f", {4, 8}},   {"a.b[9]", {2, 6}},
                                                                       {"a.x[0].y", {1, 1}}, {"q", {1, 1}}};
  for (const auto& [where, place] : cases) EXPECT_EQ(places.of(where), place) << where;
}

}  // namespace
}  // namespace fairlead::app
