#include "app/bulk/action.hpp"

#include <gtest/gtest.h>

namespace fairlead::app::bulk {
namespace {

action read(std::string_view json) {
  std::string pointer;
  auto out = read_action(json, {}, pointer);
  if (out) return *out;
  ADD_FAILURE() << out.failure().sentence;
  return {};
}

std::string refusal(std::string_view json) {
  std::string pointer;
  const auto out = read_action(json, {}, pointer);
  return out ? "accepted" : pointer + ": " + out.failure().sentence;
}

constexpr const char* retry_parked = R"({"verb": "retry", "reason": "mended", "filter": {"parked": true, "workflow": "order"}})";

TEST(action_on_many, says_which_tasks_are_meant) {
  const auto one = read(
      R"({"verb": "cancel", "rate": 50, "filter": {"state": ["pending", "running"], "labels": {"shop": "north"}, "older_than": "2h"}})");
  EXPECT_EQ(one.what.verb(), v1::OPERATOR_VERB_CANCEL);
  EXPECT_EQ(one.rate, 50U);
  EXPECT_EQ(one.which.states_size(), 2);
  EXPECT_EQ(one.which.labels(0).value(), "north");
  EXPECT_EQ(one.which.older_than_ms(), 7'200'000);
  EXPECT_EQ(read(R"({"verb": "pause", "ids": ["a", "b"]})").ids.size(), 2U);
  EXPECT_EQ(read(R"({"verb": "pause", "ids": ["b", "a", "b", "b"]})").ids, (std::vector<std::string>{"b", "a"}));
  const auto other = read(
      R"({"verb": "pause", "filter": {"reason": "card_declined", "job": "nightly", "id_prefix": "n", "agent": "bank", "ended_until": "2026-11-24T00:00:00Z"}})");
  EXPECT_EQ(other.which.fault_code(), "card_declined");
  EXPECT_EQ(other.which.job(), "nightly");
  EXPECT_EQ(other.which.id_prefix(), "n");
  EXPECT_EQ(other.which.agent(), "bank");
  EXPECT_EQ(other.which.ended_until_unix_ms(), 1'795'478'400'000);
  EXPECT_EQ(read(R"({"verb": "retry", "filter": {"parent": "order-7/ship~1"}})").which.parent(), "order-7/ship~1");
  EXPECT_TRUE(read(R"({"verb": "cancel", "filter": {"top_level": true, "workflow": "order"}})").which.top_level());
}

TEST(action_on_many, is_refused_with_the_field_at_fault) {
  EXPECT_EQ(refusal(R"({"verb": "cancel"})"), "/filter: The body has neither 'filter' nor 'ids'.");
  EXPECT_EQ(refusal(R"({"verb": "cancel", "filter": {}})"), "/filter: Field 'filter' has no condition.");
  EXPECT_EQ(refusal(R"({"verb": "cancel", "filter": {"parked": false}})"), "/filter: Field 'filter' has no condition.");
  EXPECT_EQ(refusal(R"({"verb": "cancel", "filter": {"parked": true}, "ids": ["a"]})"), "/filter: The body has both 'filter' and 'ids'.");
  EXPECT_EQ(refusal(R"({"verb": "cancel", "filter": {"state": ["lost"]}})"), "/filter/state/0: There is no state 'lost'.");
  EXPECT_EQ(refusal(R"({"verb": "cancel", "filter": {"stat": ["running"]}})"), "/filter/stat: Unknown field 'stat' of 'filter'");
  EXPECT_EQ(refusal(R"({"verb": "cancel", "filter": {"parked": true, "job": ""}})"), "/filter/job: Field 'job' of 'filter' is empty");
  EXPECT_EQ(refusal(R"({"verb": "cancel", "filter": {"top_level": true}})"), "/filter: Field 'filter' has no condition but 'top_level'.");
  EXPECT_EQ(refusal(R"({"verb": "cancel", "filter": {"top_level": false}})"), "/filter: Field 'filter' has no condition.");
  EXPECT_EQ(refusal(R"({"verb": "retry", "filter": {"top_level": true, "parent": "order-7"}})"),
            "/filter/parent: Field 'parent' of 'filter' and 'top_level' are both given, and no child is without a parent.");
  EXPECT_EQ(refusal(R"({"verb": "retry", "filter": {"parent": "a b"}})"), "/filter/parent: Field 'parent' of 'filter' is not a task id.");
  EXPECT_EQ(refusal(R"({"verb": "cancel", "filter": []})"), "/filter: Field 'filter' must be an object, found an array");
  EXPECT_EQ(refusal(R"({"verb": "explode", "filter": {"parked": true}})").substr(0, 34), "/verb: There is no verb 'explode'.");
  EXPECT_EQ(refusal(R"({"verb": "skip", "filter": {"parked": true}})"), "/step: No step is given.");
  EXPECT_EQ(refusal(R"({"verb": "cancel", "filter": {"parked": true}, "rate": 0})"), "/rate: Field 'rate' is not between 1 and 5000.");
  EXPECT_EQ(refusal(R"({"verb": "retry", "step": "a", "input": {}, "filter": {"parked": true}})"),
            "/input: Field 'input' is only for an action on one task.");
}

TEST(action_on_many, is_the_same_after_its_way_through_a_task) {
  for (const char* json :
       {retry_parked,
        R"({"verb": "settle_completed", "step": "ship", "output": {"n": 12345678901234567890}, "reason": "seen", "ids": ["a/1"]})",
        R"({"verb": "settle_never_happened", "step": "ship", "reason": "seen", "filter": {"archived": true}})",
        R"({"verb": "terminate", "now": true, "filter": {"younger_than": "1d"}})"}) {
    auto one = read(json);
    one.what.set_who("ann");
    one.as_of_unix_ms = 1'795'507'200'000;
    one.count = 812;
    const auto back = action_of_input(input_of(one));
    ASSERT_TRUE(back.ok()) << back.failure().sentence;
    EXPECT_EQ(input_of(*back), input_of(one));
    EXPECT_EQ(back->what.SerializeAsString(), one.what.SerializeAsString());
    EXPECT_EQ(back->which.SerializeAsString(), one.which.SerializeAsString());
    EXPECT_EQ(back->count, 812U);
  }
}

class a_confirmation : public testing::Test {
 protected:
  a_confirmation() : asked_(read(retry_parked)) {
    asked_.what.set_who("ann");
    asked_.as_of_unix_ms = 1'795'507'200'000;
    asked_.count = 3;
    text_ = confirmation_of(asked_);
  }

  std::string answer(std::string_view json, const std::string& who, std::int64_t later_ms = 60'000) {
    auto again = read(json);
    again.what.set_who(who);
    const auto taken = take_confirmation(text_, asked_.as_of_unix_ms + later_ms, again);
    return taken.ok() ? std::to_string(again.count) + " tasks" : taken.failure().sentence;
  }

  action asked_;
  std::string text_;
};

TEST_F(a_confirmation, is_good_for_the_action_that_it_was_given_for) {
  EXPECT_EQ(answer(retry_parked, "ann"), "3 tasks");
  // White space in the filter changes nothing.
  EXPECT_EQ(answer(R"({"verb":"retry","filter":{ "parked":true,  "workflow":"order" },"reason":"mended"})", "ann"), "3 tasks");
}

TEST_F(a_confirmation, is_bad_for_every_other_one) {
  const auto* const wrong = "The confirmation is not one of this action.";
  const auto given_for = [](const std::string& what) {
    return "The confirmation is not one of this action: it was given for " + what + ".";
  };
  EXPECT_EQ(answer(retry_parked, "bob"), given_for("another client"));
  EXPECT_EQ(answer(R"({"verb": "retry", "reason": "mended", "filter": {"parked": true}})", "ann"), given_for("another filter"));
  EXPECT_EQ(answer(R"({"verb": "retry", "reason": "mended", "ids": ["a"]})", "ann"), given_for("other ids"));
  EXPECT_EQ(answer(R"({"verb": "undo", "reason": "mended", "filter": {"parked": true, "workflow": "order"}})", "ann"),
            given_for("another verb, step, output, now or version"));
  EXPECT_EQ(answer(R"({"verb": "retry", "rate": 4000, "filter": {"parked": true, "workflow": "order"}})", "ann"),
            given_for("another reason and another rate"));
  text_ = "9000" + text_.substr(1);
  EXPECT_EQ(answer(retry_parked, "ann"), wrong);
  for (const char* text : {"", ".", "3.1795507200000", "3..", "x.y.z"}) {
    text_ = text;
    EXPECT_EQ(answer(retry_parked, "ann"), wrong) << text;
  }
}

TEST_F(a_confirmation, is_good_for_an_hour) {
  EXPECT_EQ(answer(retry_parked, "ann", 3'600'000), "3 tasks");
  EXPECT_EQ(answer(retry_parked, "ann", 3'600'001), "The confirmation is older than an hour.");
}

TEST_F(a_confirmation, names_one_operation_however_often_it_comes) {
  auto again = read(retry_parked);
  again.what.set_who("ann");
  const auto input = take_confirmation(text_, asked_.as_of_unix_ms, again);
  ASSERT_TRUE(input.ok());
  EXPECT_EQ(*input, input_of(again));
  EXPECT_EQ(id_of(input_of(again)), id_of(input_of(asked_)));
  EXPECT_TRUE(is_operation(id_of(input_of(again))));
  again.as_of_unix_ms += 1;
  EXPECT_NE(id_of(input_of(again)), id_of(input_of(asked_)));
}

TEST(the_workflow_of_operations, is_valid) {
  const auto made = workflow();
  EXPECT_EQ(made.definition().name(), workflow_name);
  ASSERT_EQ(made.definition().steps_size(), 1);
  EXPECT_EQ(made.definition().steps(0).name(), step_name);
  EXPECT_EQ(made.definition().steps(0).agent(), agent_name);
}

}  // namespace
}  // namespace fairlead::app::bulk
