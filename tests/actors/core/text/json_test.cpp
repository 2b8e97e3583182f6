#include "actors/core/text/json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

namespace fairlead::core {
namespace {

TEST(check_json, accepts_what_rfc_8259_accepts) {
  for (const auto* text : {"0", " -0 ", "-1.5e+10", "1E9", "\"\"", "\"\\u00e9\\ud83d\\ude00\"", "null", "[]", "{}", "[1,[2,{\"a\":[]}]]",
                           "\t{\"a\" : 1 , \"a\":2}\r\n", "\"\xF0\x9F\x98\x80\"", "1e400", "\"\x7f\""}) {
    EXPECT_TRUE(check_json(text).ok()) << text;
  }
}

/// As the declaration says it, byte by byte.
const char* skip_plain_slowly(const char* p, const char* end) {
  while (p < end && *p != '"' && *p != '\\' && static_cast<unsigned char>(*p) >= 0x20 && static_cast<unsigned char>(*p) < 0x80) ++p;
  return p;
}

TEST(skip_plain, stops_at_each_byte_that_is_not_plain_wherever_it_stands_and_whatever_follows_it) {
  for (int c = 0; c < 256; ++c)
    for (int next = 0; next < 256; next += 5)
      for (std::size_t at = 0; at < 19; ++at) {
        std::string text(20, 'a');
        text[at] = static_cast<char>(c);
        text[at + 1] = static_cast<char>(next);
        const auto* const end = text.data() + text.size();
        ASSERT_EQ(skip_plain(text.data(), end) - text.data(), skip_plain_slowly(text.data(), end) - text.data())
            << c << " " << next << " " << at;
      }
}

TEST(check_json, names_the_byte_at_which_a_text_goes_wrong) {
  struct row {
    std::string text;
    int byte;
    const char* part;
  } rows[] = {
      {"", 1, "ends where a value"},
      {"{", 2, "a key in quotes"},
      {"[1,]", 4, "expected a value"},
      {"{\"a\":1,}", 8, "a key in quotes"},
      {"{\"a\" 1}", 6, "`:`"},
      {"[1 2]", 4, "`,` or `]`"},
      {"{\"a\":1]", 7, "`,` or `}`"},
      {"01", 2, "needless zero"},
      {"1.", 3, "a digit"},
      {"-", 2, "a digit"},
      {"+1", 1, "expected a value"},
      {".5", 1, "expected a value"},
      {"1e", 3, "a digit"},
      {"tru", 1, "expected a value"},
      {"nullx", 5, "more text after"},
      {"1 2", 3, "more text after"},
      {"\"a", 3, "the end of a string"},
      {"\"a\nb\"", 3, "control character"},
      {"\"\\x\"", 3, "no such escape"},
      {"\"\\u12g4\"", 6, "a hex digit"},
      {"\"\\ud800\"", 8, "surrogate"},
      {"\"\\ude00\"", 8, "surrogate"},
      {"\"\xff\"", 2, "not UTF-8"},
      {"\"\xc0\x80\"", 2, "not UTF-8"},
      {"\"\xed\xa0\x80\"", 2, "not UTF-8"},
      {"\"\xe2\x82\"", 2, "not UTF-8"},
      {"NaN", 1, "expected a value"},
      {"\xEF\xBB\xBF{}", 1, "expected a value"},
      {std::string("1\0", 2), 2, "more text after"},
      {"'a'", 1, "expected a value"},
  };
  for (const auto& row : rows) {
    const auto said = check_json(row.text);
    ASSERT_FALSE(said.ok()) << row.text;
    EXPECT_EQ(said.failure().code, v1::ERROR_CODE_INVALID_ARGUMENT);
    EXPECT_EQ(said.failure().sentence.rfind("not valid JSON at byte " + std::to_string(row.byte) + ": ", 0), 0U)
        << row.text << ": " << said.failure().sentence;
    EXPECT_NE(said.failure().sentence.find(row.part), std::string::npos) << said.failure().sentence;
  }
}

TEST(check_json, allows_64_levels_and_no_more) {
  EXPECT_TRUE(check_json(std::string(64, '[') + std::string(64, ']')).ok());
  const auto said = check_json(std::string(65, '[') + std::string(65, ']'));
  ASSERT_FALSE(said.ok());
  EXPECT_EQ(said.failure().sentence, "nested more than 64 levels deep at byte 65");
}

/// Whether another parser takes a text; it keeps nothing of it.
struct other_parser final : nlohmann::json_sax<nlohmann::json> {
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& why) override {
    beyond_doubles = why.id == 406;
    return false;
  }
  bool beyond_doubles = false;  // a number that JSON allows, and this parser does not
};

TEST(check_json, agrees_with_another_parser_on_damaged_texts) {
  const std::string sound =
      R"({"id": 10248, "name": "Köln \u00e9\ud83d\ude00 \"x\"", "list": [1.5e3, -0, true, false, null, {"": []}], "z": {"y": "\\"}})";
  const std::string alphabet = "{}[]\",:0123-+.eE\\u truefalsn\n\x01\x80\xc3\xe2\xf0\xff";
  std::mt19937 random(20240611);
  int accepted = 0;
  for (int round = 0; round < 200000; ++round) {
    auto text = sound;
    const auto changes = 1 + random() % 3;
    for (unsigned i = 0; i < changes; ++i) {
      const auto at = random() % text.size();
      switch (random() % 3) {
        case 0: text[at] = alphabet[random() % alphabet.size()]; break;
        case 1: text.erase(at, 1 + random() % 4); break;
        default: text.insert(at, 1, alphabet[random() % alphabet.size()]);
      }
      if (text.empty()) break;
    }
    other_parser other;
    const bool theirs = nlohmann::json::sax_parse(text, &other);
    const bool ours = check_json(text).ok();
    accepted += ours;
    ASSERT_TRUE(other.beyond_doubles || ours == theirs) << text;
    ASSERT_TRUE(!ours || check_json(minify_json(text)).ok()) << text;
  }
  EXPECT_GT(accepted, 10000);
}

TEST(minify_json, leaves_strings_and_numbers_alone) {
  EXPECT_EQ(minify_json(" { \"a b\" : [ 1.0 , \"x \\\" y\" ] ,\n\t\"c\" : null } "), R"({"a b":[1.0,"x \" y"],"c":null})");
}

TEST(jq_numbers, are_kept_or_known_to_change) {
  for (const auto* kept : {"0", "-0", "1", "1.0", "123456789012345", "9007199254740992", "-9007199254740992", "0.1", "0.30000000000000004",
                           "1e20", "1e308", "5e-324", "0e999999999999", "0.000", "1.10e1"}) {
    EXPECT_TRUE(jq_keeps_number(kept)) << kept;
  }
  for (const auto* changed : {"9007199254740993", "-9007199254740993", "12345678901234567890", "100000000000000000000", "1e400", "-1e400",
                              "1e-400", "0.12345678901234567890", "3.14159265358979323846", "1e99999999999999999999"}) {
    EXPECT_FALSE(jq_keeps_number(changed)) << changed;
  }
}

TEST(strings, are_decoded_and_written_again) {
  EXPECT_EQ(decode_json_string(R"("a\"\\\/\b\f\n\r\t\u0041\u00e9\u20ac\ud83d\ude00")"), "a\"\\/\b\f\n\r\tAé€😀");
  EXPECT_EQ(decode_json_string(R"("\ud83d x")"), "\xEF\xBF\xBD x");
  std::string out;
  append_json_string(out, "a\"\\\b\f\n\r\t\x01é");
  EXPECT_EQ(out, "\"a\\\"\\\\\\b\\f\\n\\r\\t\\u0001é\"");
}

}  // namespace
}  // namespace fairlead::core
