#include "app/door/problem.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <set>

namespace fairlead::app::door {
namespace {

TEST(problems, each_code_of_the_engine_has_a_status) {
  const auto* const codes = v1::ErrorCode_descriptor();
  for (int i = 0; i < codes->value_count(); ++i) {
    const auto code = static_cast<v1::ErrorCode>(codes->value(i)->number());
    if (code == v1::ERROR_CODE_OK) continue;
    const auto* const kind = find_problem_kind(code_word(code));
    ASSERT_NE(kind, nullptr) << code_word(code);
    EXPECT_GE(kind->status, 400U) << code_word(code);
  }
}

TEST(problems, each_code_is_in_the_table_once) {
  std::set<std::string_view> seen;
  unsigned last = 0;
  for (const auto& kind : problem_kinds()) {
    EXPECT_TRUE(seen.insert(kind.code).second) << kind.code;
    EXPECT_LE(last, kind.status) << kind.code;
    EXPECT_FALSE(kind.remedy.empty()) << kind.code;
    last = kind.status;
  }
}

TEST(problems, a_document_says_what_is_wrong_where_and_what_to_do) {
  const auto made = to_answer(
      {"invalid_argument", "The label is bad.", "Give another.", {{"/labels/a", "The label is bad.", "Give another."}}, {}, false}, "r-1");
  EXPECT_EQ(made.status, 400U);
  EXPECT_EQ(made.content_type, "application/problem+json");
  EXPECT_EQ(nlohmann::json::parse(made.body),
            nlohmann::json::parse(R"({"type": "/v1/problems/invalid_argument", "title": "The request is wrong",
    "status": 400, "detail": "The label is bad.", "instance": "r-1", "code": "invalid_argument", "remedy": "Give another.", "retry_after_ms": null,
    "errors": [{"pointer": "/labels/a", "sentence": "The label is bad.", "remedy": "Give another.",
                "line": null, "column": null}], "what_helps": []})"));
}

TEST(problems, a_document_names_requests_where_the_command_line_names_commands) {
  const auto made = to_answer(problem_of({v1::ERROR_CODE_NOT_FOUND, "There is no task x.", "fairlead task list shows all tasks"}), "r");
  const auto said = nlohmann::json::parse(made.body);
  EXPECT_EQ(said.at("remedy"), "GET /v1/tasks shows all tasks");
  EXPECT_EQ(said.at("what_helps"), nlohmann::json::parse(R"([{"command": "fairlead task list",
    "request": {"method": "GET", "path": "/v1/tasks", "body": null}, "effect": "lists tasks"}])"));
}

TEST(problems, a_callback_without_a_key_has_a_title_that_fits_it) {
  const auto made = to_answer(problem_of({v1::ERROR_CODE_KEY_REUSED, "This callback has come before, with other content.", ""}), "r");
  EXPECT_EQ(made.status, 422U);
  EXPECT_EQ(nlohmann::json::parse(made.body).at("title"), "The Idempotency-Key, or the callback, was used for another request");
}

TEST(problems, what_may_pass_says_when_to_try_again) {
  const auto made = to_answer(problem_of({v1::ERROR_CODE_UNAVAILABLE, "Shard 1 is not up.", ""}), "r");
  EXPECT_EQ(made.status, 503U);
  EXPECT_EQ(made.more, (headers{{"Retry-After", "1"}}));
  EXPECT_EQ(nlohmann::json::parse(made.body).at("retry_after_ms"), 1'000);
  EXPECT_EQ(to_answer(problem_of({v1::ERROR_CODE_OVERLOADED, "", ""}), "r").status, 429U);
  const auto later = to_answer({"overloaded", "Too many.", "Wait a minute.", {}, {}, false, {}, a_minute_s}, "r");
  EXPECT_EQ(later.more, (headers{{"Retry-After", "60"}}));
  EXPECT_EQ(nlohmann::json::parse(later.body).at("retry_after_ms"), 60'000);
  EXPECT_TRUE(to_answer(problem_of({v1::ERROR_CODE_STORE_FULL, "", ""}), "r").more.empty()) << "an operator has to act first";
}

}  // namespace
}  // namespace fairlead::app::door
