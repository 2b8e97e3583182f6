#include "app/json/submission.hpp"

#include <gtest/gtest.h>

namespace fairlead::app {
namespace {

std::string refusal(std::string_view line) {
  auto read = parse_batch_line(line);
  return read ? "accepted" : read.failure().sentence;
}

TEST(batch_line, takes_all_fields_in_any_order) {
  auto read =
      parse_batch_line(R"( {"priority": -3, "labels": {"a": "1", "b\n": "x\"y"}, "id": "order:7", "input": {"k": [1, {"z": "}"}]}} )");
  ASSERT_TRUE(read.ok()) << read.failure().sentence;
  EXPECT_EQ(read->id(), "order:7");
  EXPECT_EQ(read->priority(), -3);
  ASSERT_EQ(read->labels_size(), 2);
  EXPECT_EQ(read->labels(0).key(), "a");
  EXPECT_EQ(read->labels(1).key(), "b\n");
  EXPECT_EQ(read->labels(1).value(), "x\"y");
  EXPECT_EQ(read->input(), R"({"k": [1, {"z": "}"}]})");
}

TEST(batch_line, keeps_the_spelling_of_the_input) {
  auto read = parse_batch_line(R"({"input":{"n":12345678901234567890,"x":1e400,"y":1.10,"u":"\u00e9"}})");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->input(), R"({"n":12345678901234567890,"x":1e400,"y":1.10,"u":"\u00e9"})");
}

TEST(batch_line, needs_no_field_at_all) {
  auto read = parse_batch_line("{}");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->id(), "");
  EXPECT_EQ(read->input(), "");
}

TEST(batch_line, takes_scalars_as_input) {
  for (const char* input : {"null", "true", "7", "\"a,b}\"", "[]", "[[],{}]"}) {
    auto read = parse_batch_line(std::string{"{\"input\": "} + input + " , \"priority\":1}");
    ASSERT_TRUE(read.ok()) << input;
    EXPECT_EQ(read->input(), input);
    EXPECT_EQ(read->priority(), 1) << input;
  }
}

TEST(batch_line, names_what_is_wrong) {
  EXPECT_NE(refusal("{\"input\": }").find("not JSON"), std::string::npos);
  EXPECT_NE(refusal("[1]").find("must be a JSON object, found an array"), std::string::npos) << refusal("[1]");
  EXPECT_EQ(refusal(R"({"lables": {}})"), "Unknown field 'lables'");
  EXPECT_EQ(refusal(R"({"id": "a", "id": "b"})"), "Field 'id' is given twice");
  EXPECT_NE(refusal(R"({"id": 7})").find("'id' must be a string"), std::string::npos);
  EXPECT_EQ(refusal(R"({"id": "a b"})"), "Field 'id' is not a task id");
  EXPECT_NE(refusal(R"({"labels": ["a"]})").find("'labels' must be an object"), std::string::npos);
  EXPECT_NE(refusal(R"({"labels": {"a": 1}})").find("Label 'a' must be a string"), std::string::npos);
  EXPECT_EQ(refusal(R"({"labels": {"a": "1", "a": "2"}})"), "Label 'a' is given twice");
  EXPECT_EQ(parse_batch_line(R"({"delay": "1h30m"})")->delay_ms(), 5'400'000);
  EXPECT_EQ(parse_batch_line(R"({"start_at": "2026-11-24T09:00:00+01:00"})")->start_at_unix_ms(), 1'795'507'200'000);
  for (const char* delay : {"5", "\"soon\"", "\"0s\"", "\"-1h\""})
    EXPECT_NE(refusal(std::string{"{\"delay\": "} + delay + "}").find("'delay'"), std::string::npos) << delay;
  for (const char* at : {"5", "\"tomorrow\"", "\"2026-11-24T09:00\"", "\"2026-02-30T09:00:00Z\""})
    EXPECT_NE(refusal(std::string{"{\"start_at\": "} + at + "}").find("'start_at'"), std::string::npos) << at;
  EXPECT_NE(refusal(R"({"delay": "1h", "start_at": "2026-11-24T09:00:00Z"})").find("both given"), std::string::npos);
  for (const char* priority : {"1.5", "\"1\"", "3000000000", "null", "1e2"})
    EXPECT_NE(refusal(std::string{"{\"priority\": "} + priority + "}").find("'priority'"), std::string::npos) << priority;
}

TEST(submission, of_a_body_names_its_workflow_and_the_field_at_fault) {
  std::string pointer;
  const auto good = parse_submission(R"({"workflow": "order", "input": {"n": 12345678901234567890}})", pointer);
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(good->workflow(), "order");
  EXPECT_EQ(good->input(), R"({"n": 12345678901234567890})") << "as it came";
  const auto at = [&](std::string_view body) {
    pointer.clear();
    const auto read = parse_submission(body, pointer);
    return read ? "accepted" : pointer;
  };
  EXPECT_EQ(at("{"), "") << "the body as a whole";
  EXPECT_EQ(at("[]"), "");
  EXPECT_EQ(at(R"({"workflow": 1})"), "/workflow");
  EXPECT_EQ(at(R"({"a/b~c": 1})"), "/a~1b~0c");
  EXPECT_EQ(at(R"({"labels": {"a/b": 1}})"), "/labels/a~1b");
  EXPECT_EQ(at(R"({"reply": {"client": 1}})"), "/reply/client");
  EXPECT_EQ(at(R"({"reply": {}})"), "/reply");
  EXPECT_NE(refusal(R"({"workflow": "order"})").find("Unknown field"), std::string::npos) << "a line of a batch has none";
}

TEST(batch_line, knows_blank_lines) {
  EXPECT_TRUE(blank_line(""));
  EXPECT_TRUE(blank_line(" \t\r"));
  EXPECT_FALSE(blank_line(" {}"));
}

}  // namespace
}  // namespace fairlead::app
