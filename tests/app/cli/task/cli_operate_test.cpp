#include "app/cli/task/operate.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace fairlead::app {
namespace {

operate_options given(const std::string& verb, std::vector<std::string> words) {
  operate_options out;
  out.verb = verb;
  out.words = std::move(words);
  out.by = "ana";
  return out;
}

operate_options settled(std::vector<std::string> words) {
  auto out = given("settle", std::move(words));
  out.reason = "the bank says so";
  return out;
}

/// The sentence it is refused with; empty when it is not.
std::string refusal(const operate_options& options) {
  const auto read = read_operation(options);
  if (read) return "";
  EXPECT_EQ(read.failure().code, v1::ERROR_CODE_INVALID_ARGUMENT) << read.failure().sentence;
  return read.failure().sentence;
}

TEST(operate, one_task_and_a_step_with_another_input) {
  auto options = given("retry", {"o-1", "charge"});
  options.input = R"({"amount_cents": 12345678901234567890})";
  options.reason = "typo";
  const auto read = read_operation(options);
  ASSERT_TRUE(read.ok()) << read.failure().sentence;
  EXPECT_EQ(read->id, "o-1");
  EXPECT_FALSE(read->which);
  EXPECT_EQ(read->action.verb(), v1::OPERATOR_VERB_RETRY);
  EXPECT_EQ(read->action.step(), "charge");
  EXPECT_EQ(read->action.json(), *options.input) << "byte for byte";
  EXPECT_EQ(read->action.reason(), "typo");
  EXPECT_EQ(read->action.who(), "ana");
}

TEST(operate, without_an_input_there_is_none_in_the_request) {
  const auto read = read_operation(given("retry", {"o-1"}));
  ASSERT_TRUE(read.ok());
  EXPECT_FALSE(read->action.has_json()) << "an empty one would be an edited input";
  EXPECT_EQ(read->action.step(), "");
}

TEST(operate, an_input_that_is_not_json_is_refused_with_the_place) {
  auto options = given("retry", {"o-1", "charge"});
  options.input = R"({"a": 1,})";
  const auto said = refusal(options);
  EXPECT_NE(said.find("The input is not JSON"), std::string::npos) << said;
  EXPECT_NE(said.find_first_of("0123456789"), std::string::npos) << said;
  options.input = "";
  EXPECT_EQ(refusal(options), "The input is empty");
  options.input = "@/no/such/file.json";
  EXPECT_EQ(refusal(options), "The file /no/such/file.json cannot be read");
}

TEST(operate, an_input_wants_a_step) {
  auto options = given("retry", {"o-1"});
  options.input = "1";
  EXPECT_NE(refusal(options).find("--input needs a step"), std::string::npos);
}

TEST(operate, a_settlement_says_how_it_turned_out_and_why) {
  auto options = settled({"o-1", "charge"});
  EXPECT_EQ(refusal(options), "The outcome of the step is missing");
  options.completed = "null";
  options.never_happened = true;
  EXPECT_EQ(refusal(options), "--completed and --never-happened cannot be combined");
  options.never_happened = false;
  const auto completed = read_operation(options);
  ASSERT_TRUE(completed.ok());
  EXPECT_EQ(completed->action.verb(), v1::OPERATOR_VERB_SETTLE_COMPLETED);
  EXPECT_EQ(completed->action.json(), "null");
  options.completed.reset();
  options.never_happened = true;
  EXPECT_EQ(read_operation(options)->action.verb(), v1::OPERATOR_VERB_SETTLE_NEVER_HAPPENED);
  options.reason = " \t";
  EXPECT_NE(refusal(options).find("needs a reason"), std::string::npos);
}

TEST(operate, a_settlement_without_a_step_gives_the_output_of_the_task) {
  auto options = settled({"o-1"});
  EXPECT_EQ(refusal(options), "The outcome of the step is missing");
  options.output = R"({"n": 12345678901234567890})";
  const auto read = read_operation(options);
  ASSERT_TRUE(read.ok()) << read.failure().sentence;
  EXPECT_EQ(read->id, "o-1");
  EXPECT_EQ(read->action.verb(), v1::OPERATOR_VERB_SETTLE_COMPLETED);
  EXPECT_EQ(read->action.step(), "");
  EXPECT_EQ(read->action.json(), *options.output);
  options.words.push_back("charge");
  EXPECT_EQ(refusal(options), "--output gives the output of the task, and step 'charge' is given");
  options.words.pop_back();
  options.completed = "1";
  EXPECT_EQ(refusal(options), "--output is about the task, and cannot be combined with --completed and --never-happened");
  options.output.reset();
  EXPECT_EQ(refusal(options), "No step is given");
  options.completed.reset();
  options.never_happened = true;
  EXPECT_EQ(refusal(options), "No step is given");
  options.never_happened = false;
  options.output = "1";
  options.words.clear();
  options.filter.parked = true;
  EXPECT_EQ(refusal(options), "") << "many tasks may get the same output";
  options.reason = "";
  EXPECT_NE(refusal(options).find("needs a reason"), std::string::npos);
}

TEST(operate, skip_wants_a_step_and_a_reason) {
  auto options = given("skip", {"o-1"});
  EXPECT_EQ(refusal(options), "No step is given");
  options.words.push_back("charge");
  EXPECT_NE(refusal(options).find("needs a reason"), std::string::npos);
  options.reason = "not needed today";
  EXPECT_EQ(refusal(options), "");
  options.reason = std::string(1'001, 'x');
  EXPECT_NE(refusal(options).find("longer than 1000 bytes"), std::string::npos) << "it must not be cut behind the operator's back";
}

TEST(operate, neither_a_task_nor_a_filter_is_no_way_to_mean_everything) {
  EXPECT_EQ(refusal(given("cancel", {})), "No task is given");
  EXPECT_NE(refusal(given("cancel", {""})), "");
  EXPECT_NE(refusal(given("cancel", {"a b"})).find("'a b'"), std::string::npos);
  auto options = given("cancel", {});
  options.filter.workflow = "";
  EXPECT_EQ(refusal(options), "--workflow is empty") << "a script's variable that is not set";
  options.filter.workflow.reset();
  options.filter.older_than = "";
  EXPECT_NE(refusal(options).find("--older-than"), std::string::npos);
}

TEST(operate, a_task_and_a_filter_together_are_refused) {
  for (const auto* verb : {"retry", "undo", "cancel", "pause", "resume"}) {
    auto options = given(verb, {"o-1"});
    options.filter.parked = true;
    EXPECT_EQ(refusal(options), "Both 'o-1' and a filter are given") << verb;
  }
  auto options = given("skip", {"o-1", "charge"});
  options.reason = "x";
  options.filter.states = {"running"};
  EXPECT_EQ(refusal(options), "Both 'o-1' and a filter are given");
}

TEST(operate, with_a_filter_the_word_is_the_step) {
  auto options = settled({"charge"});
  options.never_happened = true;
  options.filter.parked = true;
  options.filter.workflow = "order";
  options.filter.labels = {"shop=north"};
  options.filter.states = {"running", "undoing"};
  options.filter.older_than = "2h";
  options.filter.younger_than = "7d";
  const auto read = read_operation(options);
  ASSERT_TRUE(read.ok()) << read.failure().sentence;
  EXPECT_EQ(read->action.step(), "charge");
  EXPECT_EQ(read->id, "");
  ASSERT_TRUE(read->which);
  EXPECT_TRUE(read->which->parked_only());
  EXPECT_EQ(read->which->workflow(), "order");
  EXPECT_EQ(read->which->labels(0).value(), "north");
  EXPECT_EQ(read->which->states_size(), 2);
  EXPECT_EQ(read->which->older_than_ms(), 7'200'000);
  EXPECT_EQ(read->which->younger_than_ms(), 604'800'000);
}

TEST(operate, a_filter_that_cannot_be_read_is_refused) {
  auto options = given("cancel", {});
  options.filter.states = {"finished"};
  EXPECT_NE(refusal(options).find("'finished'"), std::string::npos);
  options = given("cancel", {});
  options.filter.labels = {"nothing"};
  EXPECT_NE(refusal(options).find("'nothing'"), std::string::npos);
  options = given("cancel", {});
  options.filter.younger_than = "0s";
  EXPECT_NE(refusal(options).find("--younger-than"), std::string::npos) << "it would mean any age";
}

TEST(operate, an_edited_input_is_for_one_task) {
  auto options = given("retry", {});
  options.filter.parked = true;
  options.input = "{}";
  EXPECT_NE(refusal(options).find("--input needs a step"), std::string::npos);
}

v1::OperateResult answer(const std::string& id, error_code code = v1::ERROR_CODE_OK, const std::string& sentence = "") {
  v1::OperateResult out;
  out.set_id(id);
  if (code != v1::ERROR_CODE_OK) *out.mutable_error() = error{code, sentence, ""}.to_proto();
  return out;
}

TEST(operate_tally, refusals_with_one_reason_are_counted_together_with_an_example) {
  operate_tally tally{5};
  tally.add(answer("a"));
  tally.add(answer("b", v1::ERROR_CODE_WRONG_STATE, "task b is completed"));
  tally.add(answer("c-7", v1::ERROR_CODE_WRONG_STATE, "task c-7 is completed"));
  tally.add(answer("d", v1::ERROR_CODE_NOT_FOUND, "there is no task d"));
  tally.add(answer("a2"));
  EXPECT_FALSE(tally.all_done());
  EXPECT_EQ(tally.text(),
            "Done for 2 of 5 tasks, refused for 3.\n\n"
            "TASKS  FOR EXAMPLE  REFUSED BECAUSE\n"
            "    1  d            there is no task d\n"
            "    2  b            task b is completed\n");
  const auto json = nlohmann::json::parse(tally.json("cancel"));
  EXPECT_EQ(json["count"], 5);
  EXPECT_EQ(json["done"], 2);
  EXPECT_EQ(json["refused"], 3);
  EXPECT_EQ(json["unknown"], 0);
  EXPECT_EQ(json["refusals"].size(), 3U);
  EXPECT_EQ(json["refusals"][0]["code"], "wrong_state");
}

TEST(operate_tally, an_id_inside_another_word_is_no_id) {
  operate_tally tally{2};
  tally.add(answer("a", v1::ERROR_CODE_WRONG_STATE, "task a has a pivot that has happened"));
  tally.add(answer("as", v1::ERROR_CODE_WRONG_STATE, "task as has a pivot that has happened"));
  EXPECT_EQ(nlohmann::json::parse(tally.json("undo"))["refusals"][1]["error"], "task as has a pivot that has happened");
  EXPECT_NE(tally.text().find("has a pivot that has happened"), std::string::npos);
}

TEST(operate_tally, children_that_were_left_to_their_parents_do_not_count) {
  operate_tally tally{1, 3};
  tally.add(answer("a"));
  EXPECT_TRUE(tally.all_done());
  const auto said = nlohmann::json::parse(tally.json("cancel"));
  EXPECT_EQ(said["count"], 1);
  EXPECT_EQ(said["left_to_parents"], 3);
}

TEST(operate_tally, what_was_not_answered_is_not_done) {
  operate_tally tally{3};
  tally.add(answer("a"));
  EXPECT_EQ(tally.text(), "Done for 1 of 3 tasks, outcome unknown for 2.\n");
  EXPECT_FALSE(tally.all_done());
  tally.add(answer("b"));
  tally.add(answer("c"));
  EXPECT_TRUE(tally.all_done());
}

}  // namespace
}  // namespace fairlead::app
