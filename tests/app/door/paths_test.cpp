#include "app/door/paths.hpp"

#include <gtest/gtest.h>

#include "app/door/target.hpp"

namespace fairlead::app::door {
namespace {

const std::vector<path_pattern> table{
    {"GET", "/v1/tasks"}, {"POST", "/v1/tasks"}, {"GET", "/v1/tasks/{id}"}, {"PUT", "/v1/tasks/{id}"}, {"POST", "/v1/tasks:batch"}};

/// What is found: the number of the row and the parts, the code of a problem, or the answer's Allow.
std::string found(std::string_view method, std::string_view path) {
  const auto out = find_path(table, method, path);
  if (const auto* const refused = std::get_if<problem>(&out)) return refused->code;
  if (const auto* const done = std::get_if<answer>(&out)) return std::to_string(done->status) + " " + done->more.at(0).second;
  auto text = std::to_string(std::get<path_match>(out).index);
  for (const auto& part : std::get<path_match>(out).parts) text += " " + part;
  return text;
}

TEST(paths, are_found_by_their_segments_and_the_method) {
  EXPECT_EQ(found("GET", "/v1/tasks"), "0");
  EXPECT_EQ(found("HEAD", "/v1/tasks"), "0");
  EXPECT_EQ(found("POST", "/v1/tasks"), "1");
  EXPECT_EQ(found("GET", "/v1/tasks/a"), "2 a");
  EXPECT_EQ(found("PUT", "/v1/tasks/a"), "3 a");
  EXPECT_EQ(found("POST", "/v1/tasks:batch"), "4");
}

TEST(paths, a_part_is_decoded_once_and_never_split) {
  EXPECT_EQ(found("GET", "/v1/tasks/orders%2F7%3Aa"), "2 orders/7:a");
  EXPECT_EQ(found("GET", "/v1/tasks/a%252Fb"), "2 a%2Fb");
  EXPECT_EQ(found("GET", "/v1/tasks/a/b"), "not_found");
  EXPECT_EQ(found("GET", "/v1/tasks/a%2"), "invalid_argument");
  EXPECT_EQ(found("GET", "/v1/tasks/a%00"), "invalid_argument");
  EXPECT_EQ(found("GET", "/v1/tasks/%C3%A9"), "2 \u00e9");
  EXPECT_EQ(found("GET", "/v1/tasks/%C3"), "invalid_argument") << "no UTF-8";
}

TEST(paths, others_are_not_there) {
  for (const auto* const path : {"", "/", "//", "/v1", "/v1/tasks/", "/v1/Tasks", "v1/tasks", "*", "/v1//tasks", "/v1/../v1/tasks"})
    EXPECT_EQ(found("GET", path), "not_found") << path;
}

TEST(paths, say_which_methods_they_have) {
  EXPECT_EQ(found("DELETE", "/v1/tasks"), "method_not_allowed");
  EXPECT_EQ(found("OPTIONS", "/v1/tasks"), "204 GET, HEAD, POST, OPTIONS");
  EXPECT_EQ(std::get<problem>(find_path(table, "PATCH", "/v1/tasks/a")).more, (headers{{"Allow", "GET, HEAD, PUT, OPTIONS"}}));
  EXPECT_EQ(found("BREW", "/v1/tasks"), "not_implemented");
  EXPECT_EQ(found("get", "/v1/tasks"), "not_implemented");
}

TEST(targets, may_name_a_host) {
  request one{{"GET", "HTTP/1.1", "http://127.0.0.1:7190/v1/tasks?a=http://x/", {}}, {}, {}};
  EXPECT_EQ(authority_of(one.head), "127.0.0.1:7190");
  EXPECT_EQ(one.path(), "/v1/tasks");
  EXPECT_EQ(one.query(), "a=http://x/");
  one.head.target = "http://127.0.0.1:7190?a=1";
  EXPECT_EQ(authority_of(one.head), "127.0.0.1:7190");
  EXPECT_EQ(one.path(), "");
  one.head.target = "/v1/tasks?a=http://x/";
  EXPECT_EQ(authority_of(one.head), std::nullopt);
  EXPECT_EQ(one.path(), "/v1/tasks");
}

TEST(queries, are_decoded_as_forms_are) {
  EXPECT_EQ(parse_query("a=1&b=x+y&b=%2B&c&=d&&"), (parameters{{"a", "1"}, {"b", "x y"}, {"b", "+"}, {"c", ""}, {"", "d"}}));
  EXPECT_EQ(parse_query(""), parameters{});
  EXPECT_EQ(parse_query("a=%zz"), std::nullopt);
  EXPECT_EQ(parse_query("a=%0"), std::nullopt);
  EXPECT_EQ(parse_query("a=%FF"), std::nullopt);
}

TEST(queries, what_is_encoded_is_decoded_to_the_same) {
  std::string all = "\u00e9\u20ac\U0001F600";
  for (int c = 1; c < 128; ++c) all += static_cast<char>(c);
  EXPECT_EQ(decode_percent(encode_percent(all)), all);
  EXPECT_EQ(parse_query("a=" + encode_percent(all)), (parameters{{"a", all}}));
}

}  // namespace
}  // namespace fairlead::app::door
