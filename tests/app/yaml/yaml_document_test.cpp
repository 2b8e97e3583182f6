#include "app/yaml/document.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "app/yaml/reader.hpp"
#include "tests/app/problems.hpp"

namespace fairlead::app {
namespace {

lines problems_of(const std::string& text) { return shown(parse_yaml("f.yaml", text).problems); }

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

TEST(yaml_document, reads_values_with_their_places) {
  const auto document = parse_yaml("f.yaml", "a: 1\nb:\n  - \"é\" \n  - { ü: é, y: z }\n");
  ASSERT_TRUE(document.root);
  EXPECT_TRUE(document.problems.empty());
  const auto& list = *document.root->entries.at(1).value;
  EXPECT_EQ(document.root->entries.at(1).line, 2);
  EXPECT_EQ(list.items.at(0)->text, "é");
  EXPECT_TRUE(list.items.at(0)->quoted);
  const auto& inner = *list.items.at(1);
  EXPECT_EQ(inner.line, 4);
  EXPECT_EQ(inner.column, 5);
  // Columns count characters, not bytes.
  EXPECT_EQ(inner.entries.at(1).key, "y");
  EXPECT_EQ(inner.entries.at(1).column, 13);
}

TEST(yaml_document, accepts_a_byte_order_mark_and_windows_line_ends) {
  const auto document = parse_yaml("f.yaml",
                                   "\xef\xbb\xbf"
                                   "a: 1\r\nb: two\r\n");
  ASSERT_TRUE(document.root);
  EXPECT_EQ(document.root->entries.at(1).value->text, "two");
  EXPECT_EQ(document.root->entries.at(1).line, 2);
  EXPECT_EQ(document.root->entries.at(1).column, 1);
}

TEST(yaml_document, names_the_line_of_what_is_not_yaml) {
  EXPECT_EQ(problems_of("a: 1\nb: c: d\n"), lines{"2:5: this is not YAML: illegal map value"});
  EXPECT_EQ(problems_of("a: 1\nb: [x, y\n"), lines{"3:1: this is not YAML: end of sequence flow not found"});
  EXPECT_EQ(problems_of("a: 1\n]\n"), lines{"2:1: this is not YAML: illegal flow end"});
  EXPECT_EQ(problems_of("a: @x\n"), lines{"1:4: this is not YAML: unknown token"});
  EXPECT_EQ(problems_of("a: *nobody\n"), lines{"1:4: this is not YAML: the referenced anchor is not defined"});
}

TEST(yaml_document, says_when_a_tab_indents_the_line) {
  EXPECT_EQ(problems_of("a:\n\tb: 1\n"), lines{"2:3: this is not YAML: illegal map value; the line is indented with a tab; use spaces"});
}

TEST(yaml_document, finds_a_quote_that_is_never_closed) {
  EXPECT_EQ(problems_of("a: 1\nb: \"x\nc: 3\n"), lines{"2:4: b: the quote that begins here is never closed"});
  EXPECT_EQ(problems_of("a: 'it''s\n"), lines{"1:4: a: the quote that begins here is never closed"});
  EXPECT_EQ(problems_of("a: \"ends in \\\"\n"), lines{"1:4: a: the quote that begins here is never closed"});
  EXPECT_TRUE(problems_of("a: 'it''s'\nb: \"\\\"\"\nc: |\n  \"text\n").empty());
}

TEST(yaml_document, finds_duplicate_keys_and_goes_on) {
  const auto document = parse_yaml("f.yaml", "a: 1\nb:\n  - { x: 1, y: 2, x: 3 }\na: 2\n");
  EXPECT_EQ(shown(document.problems), (lines{"3:19: b[0].x: this key is defined twice, first on line 3; remove one of them",
                                             "4:1: a: this key is defined twice, first on line 1; remove one of them"}));
  ASSERT_TRUE(document.root);
  EXPECT_EQ(document.root->entries.size(), 2U);
}

TEST(yaml_document, refuses_bytes_that_are_not_text) {
  const std::string refusal = "this line has a byte that is not UTF-8 text; save the file as UTF-8 without control characters";
  EXPECT_EQ(problems_of("a: 1\nb: caf\xe9\n"), lines{"2:7: " + refusal});
  EXPECT_EQ(problems_of("a: \xc0\x80\n"), lines{"1:4: " + refusal});
  EXPECT_EQ(problems_of("a: \xed\xa0\x80\n"), lines{"1:4: " + refusal});
  EXPECT_EQ(problems_of("a: \xf0\x9f\x98"), lines{"1:4: " + refusal});
  EXPECT_EQ(problems_of("\xff\xfe"
                        "a"),
            lines{"1:1: " + refusal});
  // yaml-cpp would take this byte for the end of the file and drop the rest.
  EXPECT_EQ(problems_of("a: 1\n\x04"
                        "b: 2\n"),
            lines{"2:1: " + refusal});
  EXPECT_EQ(problems_of(std::string{"a: \0b\n", 6}), lines{"1:4: " + refusal});
}

TEST(yaml_document, refuses_a_second_document_and_what_belongs_to_none) {
  EXPECT_EQ(problems_of("---\na: 1\n---\nb: 2\n"),
            lines{"3:1: a second document begins here; only one is allowed in a file; remove the other document"});
  EXPECT_EQ(problems_of("- a\nb\n"),
            lines{"2:1: this line does not fit to the lines above it; check the indentation and the punctuation before it"});
  EXPECT_TRUE(problems_of("---\na: 1\n...\n").empty());
}

TEST(yaml_document, refuses_an_empty_file) {
  EXPECT_EQ(problems_of(""), lines{"1:1: the file is empty"});
  EXPECT_EQ(problems_of("# only a comment\n"), lines{"1:1: the file is empty"});
}

TEST(yaml_document, refuses_keys_that_are_no_words) {
  EXPECT_EQ(problems_of("[a]: 1\n"),
            lines{"1:1: a key must be a plain word, not a list or a map; put the key in quotes if { } or [ ] is part of a text"});
  EXPECT_EQ(problems_of("a: 1\n: 1\n"), lines{"2:1: a key is empty; put a word before the colon"});
  EXPECT_EQ(problems_of("a: &x { b: 1 }\nc:\n  <<: *x\n"), lines{"3:3: c: merge keys (<<) are not supported; write the keys out"});
  EXPECT_EQ(problems_of("a: &x b\n*x : 1\n"), lines{"2:1: an alias cannot be a key"});
}

TEST(yaml_document, refuses_tags_except_those_of_plain_data) {
  EXPECT_EQ(problems_of("a: !!int \"5\"\nb: !mine x\nc: !!str 5\n"),
            (lines{"1:4: a: the tag tag:yaml.org,2002:int is not supported; leave it out",
                   "2:4: b: the tag !mine is not supported; leave it out"}));
}

TEST(yaml_document, an_alias_stands_for_what_its_anchor_names) {
  const auto document = parse_yaml("f.yaml", "a: &x [1, 2]\nb: *x\n");
  ASSERT_TRUE(document.root);
  EXPECT_EQ(document.root->entries.at(1).value->items.size(), 2U);
}

TEST(yaml_document, refuses_an_alias_inside_its_own_anchor) {
  EXPECT_EQ(problems_of("a: &x\n  - *x\n"), lines{"2:5: a[0]: this alias refers to a value that contains the alias"});
}

TEST(yaml_document, bounds_what_aliases_stand_for) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    const auto below = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + below + repeated(", " + below, 9) + "]\n";
  }
  const auto problems = problems_of(bomb);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_NE(problems[0].find("there are more than 100000 values (aliased values count at each use)"), std::string::npos) << problems[0];
  EXPECT_EQ(problems[0].substr(0, 2), "5:");
  // One long text used over and over is as large.
  const auto long_text = "a: &x \"" + std::string(100'000, 'x') + "\"\nb: [*x" + repeated(", *x", 1'000) + "]\n";
  EXPECT_EQ(problems_of(long_text).size(), 1U);
}

TEST(yaml_document, bounds_depth) {
  EXPECT_TRUE(problems_of(repeated("[", 63) + "1" + repeated("]", 63)).empty());
  EXPECT_EQ(problems_of(repeated("[", 64) + "1" + repeated("]", 64)), lines{"1:65: the values are nested more than 64 deep"});
}

TEST(yaml_document, ends_soon_whatever_a_file_repeats) {
  for (const auto* piece :
       {"[", "{", "? ", "- ", "a: ", "[{", "\"", "!", "%", "{a: [", "&a ", "- x\n", "x, ", "a", "'", "|\n", "#", "*a "}) {
    const auto begun = std::chrono::steady_clock::now();
    const auto count = static_cast<int>(1'000'000 / std::string{piece}.size());
    parse_yaml("f.yaml", repeated(piece, count));
    parse_yaml("f.yaml", "[" + repeated(piece, count));
    EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds{30}) << piece;
  }
}

class yaml_file : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "yaml_file.XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  lines problems_reading(const std::string& path) {
    std::vector<problem> problems;
    EXPECT_FALSE(read_text_file(path, problems));
    return shown(problems);
  }

  std::filesystem::path folder_;
};

TEST_F(yaml_file, says_why_a_file_cannot_be_read) {
  EXPECT_EQ(problems_reading(folder_ / "missing.yaml"), lines{"there is no such file"});
  EXPECT_EQ(problems_reading(folder_), lines{"this is a folder, not a file"});
  std::ofstream{folder_ / "large.yaml"} << std::string(max_yaml_bytes + 1, ' ');
  EXPECT_EQ(problems_reading(folder_ / "large.yaml"), lines{"the file is larger than 1 MiB"});
}

TEST_F(yaml_file, says_when_reading_fails) {
  // The first page of a process is never mapped: opening this works, reading it does not.
  EXPECT_EQ(problems_reading("/proc/self/mem"), lines{"the file cannot be read: Input/output error"});
}

TEST_F(yaml_file, reads_the_largest_file_allowed) {
  std::ofstream{folder_ / "fits.yaml"} << std::string(max_yaml_bytes, ' ');
  std::vector<problem> problems;
  const auto text = read_text_file(folder_ / "fits.yaml", problems);
  ASSERT_TRUE(text);
  EXPECT_EQ(text->size(), max_yaml_bytes);
}

}  // namespace
}  // namespace fairlead::app
