#include "app/door/range.hpp"

#include <gtest/gtest.h>

namespace fairlead::app::door {
namespace {

constexpr std::size_t body_bytes = 1'000;

/// `FIRST+BYTES`, `whole` or `beyond`.
std::string found(const headers& sent, std::size_t bytes = body_bytes) {
  const auto out = part_of({"GET", "HTTP/1.1", "/", sent}, bytes);
  if (const auto* const part = std::get_if<body_part>(&out)) return std::to_string(part->first) + "+" + std::to_string(part->bytes);
  return std::holds_alternative<whole_body>(out) ? "whole" : "beyond";
}

TEST(ranges, name_one_part_of_the_body) {
  const std::pair<const char*, const char*> table[] = {
      {"bytes=0-0", "0+1"},
      {"bytes=0-499", "0+500"},
      {"bytes=500-999", "500+500"},
      {"bytes=999-999", "999+1"},
      {"bytes=10-", "10+990"},
      {"bytes=0-", "0+1000"},
      {"bytes=-1", "999+1"},
      {"bytes=-500", "500+500"},
      {"bytes=007-008", "7+2"},
      {"Bytes=1-2", "1+2"},
      {"bytes= 1-2 ", "1+2"},
      // What lies behind the end is left out.
      {"bytes=990-2000", "990+10"},
      {"bytes=1-99999999999999999999999999", "1+999"},
      {"bytes=-2000", "0+1000"},
      {"bytes=-99999999999999999999999999", "0+1000"},
  };
  for (const auto& [header, part] : table) EXPECT_EQ(found({{"Range", header}}), part) << header;
}

TEST(ranges, may_begin_behind_the_end) {
  for (const auto* const header : {"bytes=1000-", "bytes=1000-1000", "bytes=99999999999999999999999999-", "bytes=-0"})
    EXPECT_EQ(found({{"Range", header}}), "beyond") << header;
  for (const auto* const header : {"bytes=0-", "bytes=-1"})
    EXPECT_EQ(found({{"Range", header}}, 0), "beyond") << header << " of an empty body";
}

TEST(ranges, that_are_several_or_of_another_unit_or_malformed_are_ignored) {
  for (const auto* const header :
       {"",           "bytes",      "bytes=",     "bytes=-",    "bytes=5",   "bytes=2-1",  "bytes=0-1,4-5", "bytes=0-1,",
        "bytes=a-b",  "bytes=1-b",  "bytes=+1-2", "bytes=1-+2", "bytes=--1", "bytes=1--2", "bytes=1-2-3",   "bytes=0x1-2",
        "bytes=1 -2", "bytes=1- 2", "bytes =1-2", "items=0-1",  "0-1",       "byte=0-1",   "bytes=1.0-2"})
    EXPECT_EQ(found({{"Range", header}}), "whole") << header;
}

TEST(ranges, are_ignored_where_there_is_none_or_more_than_one_header_or_a_condition) {
  EXPECT_EQ(found({}), "whole");
  EXPECT_EQ(found({{"range", "bytes=1-2"}}), "1+2");
  EXPECT_EQ(found({{"Range", "bytes=1-2"}, {"Range", "bytes=1-2"}}), "whole");
  EXPECT_EQ(found({{"Range", "bytes=1-2"}, {"If-Range", "\"4-0123456789abcdef\""}}), "whole");
}

}  // namespace
}  // namespace fairlead::app::door
