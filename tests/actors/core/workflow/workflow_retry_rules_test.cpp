#include "actors/core/workflow/retry_rules.hpp"

#include <gtest/gtest.h>

#include "actors/core/task/record.hpp"

namespace fairlead::core {
namespace {

v1::StepDefinition with_rules(const std::vector<std::vector<std::string>>& rules) {
  v1::StepDefinition out;
  out.set_name("a");
  for (const auto& codes : rules) {
    auto& rule = *out.add_retry();
    for (const auto& code : codes) rule.add_on(code);
  }
  return out;
}

TEST(retry_rules, the_first_that_names_the_code_counts) {
  const auto step = with_rules({{"http_502", "busy"}, {"http_5*"}, {"*"}});
  EXPECT_EQ(rule_for(step, "http_502"), 0);
  EXPECT_EQ(rule_for(step, "busy"), 0);
  EXPECT_EQ(rule_for(step, "http_503"), 1);
  EXPECT_EQ(rule_for(step, "http_5"), 1);
  EXPECT_EQ(rule_for(step, "http_4"), 2);
  EXPECT_EQ(rule_for(step, "Busy"), 2) << "letters are as they are written";
  EXPECT_EQ(rule_for(step, ""), 2);
  EXPECT_EQ(rule_for(with_rules({{"http_502"}}), "http_50"), -1);
  EXPECT_EQ(rule_for(with_rules({}), "http_502"), -1);
}

TEST(retry_rules, what_the_scheduler_finds_is_named_by_none) {
  for (const auto code :
       {key_expired_code, restored_code, restored_key_code, restored_next_code, out_of_rounds_code, input_type_code, output_type_code,
        callback_awaited_code, callback_missed_code, unmet_join_code, item_failed_code, std::string_view{"signal_timeout"}}) {
    const std::string text{code};
    EXPECT_EQ(rule_for(with_rules({{"*"}}), text), -1) << text;
    const auto found = check_retry_rules(with_rules({{text}}));
    ASSERT_EQ(found.size(), 1U) << text;
    EXPECT_EQ(found[0].field, "retry[0].on");
  }
  for (const auto* code : {"lease_expired", "heartbeat_missed", "agent_lost", "callback_failed", "output_too_large", "timeout"}) {
    EXPECT_EQ(rule_for(with_rules({{code}}), code), 0) << code;
    EXPECT_TRUE(check_retry_rules(with_rules({{code}})).empty()) << code;
  }
}

TEST(retry_rules, a_code_that_an_earlier_rule_names_has_no_effect) {
  const auto hidden = [](const std::vector<std::vector<std::string>>& rules) { return check_retry_rules(with_rules(rules)).size(); };
  EXPECT_EQ(hidden({{"a"}, {"a"}}), 1U);
  EXPECT_EQ(hidden({{"a*"}, {"ab"}}), 1U);
  EXPECT_EQ(hidden({{"a*"}, {"ab*", "b"}}), 1U);
  EXPECT_EQ(hidden({{"*"}, {"b*"}}), 1U);
  EXPECT_EQ(hidden({{"ab"}, {"a*"}}), 0U);
  EXPECT_EQ(hidden({{"ab", "a*"}}), 0U) << "in one rule it says the same";
  EXPECT_EQ(hidden({{"a*"}, {"a"}}), 1U) << "* stands for nothing, too";
}

}  // namespace
}  // namespace fairlead::core
