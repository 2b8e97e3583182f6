#include "app/json/fields.hpp"

#include <gtest/gtest.h>

namespace fairlead::app {
namespace {

struct read_fields {
  std::string name, value, pointer, sentence;
  std::uint32_t count = 0;
  std::int32_t level = 0;
  std::uint64_t number = 0;
  bool on = false;
  std::vector<std::string> words;
  std::int64_t at_unix_ms = 0, delay_ms = 0;

  bool read(std::string_view text, const std::string& where = {}) {
    pointer = where;
    const auto done = read_json_object(text, "The body",
                                       {{"name", text_into(name), true},
                                        {"value", json_into(value)},
                                        {"count", number_into(count)},
                                        {"level", number_into(level)},
                                        {"number", number_into(number)},
                                        {"on", flag_into(on)},
                                        {"words", texts_into(words, 3)},
                                        {"at", moment_into(at_unix_ms)},
                                        {"delay", duration_into(delay_ms, 1)}},
                                       pointer);
    sentence = done ? "" : done.failure().sentence;
    return done.ok();
  }
};

TEST(json_fields, are_read_by_their_names_in_any_order) {
  read_fields to;
  ASSERT_TRUE(to.read(
      R"( {"words": ["a", "b,]"], "value": {"n": 1.10}, "on": true, "count": 7, "name": "x\n", "at": "2026-11-24T09:00:00Z", "delay": "2h"} )"))
      << to.sentence;
  EXPECT_EQ(to.name, "x\n");
  EXPECT_EQ(to.value, R"({"n": 1.10})") << "as it came";
  EXPECT_EQ(to.count, 7U);
  EXPECT_TRUE(to.on);
  EXPECT_EQ(to.words, (std::vector<std::string>{"a", "b,]"}));
  EXPECT_EQ(to.at_unix_ms, 1'795'510'800'000);
  EXPECT_EQ(to.delay_ms, 7'200'000);
}

TEST(json_fields, that_are_wrong_are_pointed_to) {
  struct row {
    const char* text;
    const char* pointer;
    const char* says;
  };
  for (const auto& [text, pointer, says] : {
           row{"{", "/in", "The body is not JSON"},
           row{"[]", "/in", "The body must be a JSON object, found an array"},
           row{"{}", "/in/name", "The body has no field 'name'"},
           row{R"({"name": 1})", "/in/name", "Field 'name' must be a string, found a number"},
           row{R"({"name": "x", "name": "y"})", "/in/name", "given twice"},
           row{R"({"a/b~c": 1})", "/in/a~1b~0c", "Unknown field 'a/b~c'"},
           row{R"({"name": "x", "count": -1})", "/in/count", "whole number from 0 to 4294967295"},
           row{R"({"name": "x", "count": 4294967296})", "/in/count", "whole number from 0 to 4294967295"},
           row{R"({"name": "x", "level": 2147483648})", "/in/level", "whole number from -2147483648 to 2147483647"},
           row{R"({"name": "x", "number": -1})", "/in/number", "whole number from 0 to 18446744073709551615"},
           row{R"({"name": "x", "on": 1})", "/in/on", "true or false"},
           row{R"({"name": "x", "words": "a"})", "/in/words", "must be an array, found a string"},
           row{R"({"name": "x", "words": []})", "/in/words", "is empty"},
           row{R"({"name": "x", "words": ["a", 2]})", "/in/words/1", "must be a string, found a number"},
           row{R"({"name": "x", "words": ["a", "b", "c", "d"]})", "/in/words", "more than 3 items"},
           row{R"({"name": "x", "at": "soon"})", "/in/at", "'at'"},
           row{R"({"name": "x", "delay": "0s"})", "/in/delay", "'delay'"},
       }) {
    read_fields to;
    EXPECT_FALSE(to.read(text, "/in")) << text;
    EXPECT_EQ(to.pointer, pointer) << text;
    EXPECT_NE(to.sentence.find(says), std::string::npos) << text << ": " << to.sentence;
  }
}

TEST(json_fields, that_are_wrong_have_a_remedy_that_fits) {
  struct row {
    const char* text;
    const char* remedy;
  };
  for (const auto& [text, remedy] : {
           row{R"({"name": 1})", "Give a text in double quotes."},
           row{R"({"name": "x", "on": 1})", "Give true or false, without quotes."},
           row{R"({"name": "x", "count": "7"})", "Give a whole number, without quotes."},
           row{R"({"name": )", "Correct the JSON there."},
           row{R"({"name": "x", "name": "y"})", "Give it once."},
           row{R"({"what": 1})", "It has the fields name (required), on, count."},
           row{"{}", "It has the fields name (required), on, count."},
       }) {
    std::string name, pointer;
    bool on = false;
    std::uint32_t count = 0;
    const auto read = read_json_object(text, "The body",
                                       {{"name", text_into(name), true}, {"on", flag_into(on)}, {"count", number_into(count)}}, pointer);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.failure().remedy, remedy) << text;
  }
}

TEST(json_fields, take_an_empty_array_where_it_may_be_empty) {
  const auto take = [](std::size_t, std::string_view, std::string&) -> status { return nothing{}; };
  std::string pointer;
  EXPECT_TRUE(read_json_object(R"({"all": [ ]})", "The body", {{"all", each_into(2, take, 0)}}, pointer).ok());
  EXPECT_FALSE(read_json_object(R"({"all": [ ]})", "The body", {{"all", each_into(2, take)}}, pointer).ok());
  EXPECT_FALSE(read_json_object(R"({"all": [1, 2, 3]})", "The body", {{"all", each_into(2, take, 0)}}, pointer).ok());
}

}  // namespace
}  // namespace fairlead::app
