#include <gtest/gtest.h>
#include <stdlib.h>

#include <nlohmann/json.hpp>
#include <set>

#include "actors/core/alert_words.hpp"
#include "app/cli/node/alert_text.hpp"
#include "app/cli/operator_name.hpp"
#include "app/json/node/alerts.hpp"
#include "messages/error.hpp"

namespace fairlead::app {
namespace {

v1::AlertRecord parked() {
  v1::AlertRecord out;
  out.set_number(17);
  out.set_kind(v1::ALERT_KIND_TASK_PARKED);
  out.set_state(v1::ALERT_STATE_ACKNOWLEDGED);
  out.set_task_id("order-1");
  out.set_workflow("order");
  out.set_sentence("Step charge has failed 4 times");
  out.set_remedy("fairlead task show order-1");
  out.set_raised_at_unix_ms(1'774'746'000'250);
  out.set_acknowledged_at_unix_ms(1'774'746'060'250);
  out.set_acknowledged_by("ana");
  out.set_note("on it\x1b[31m");
  return out;
}

TEST(cli_alert, tells_programs_everything_and_null_for_what_is_not) {
  const auto read = nlohmann::json::parse(alert_json(parked()));
  EXPECT_EQ(read["number"], 17);
  EXPECT_EQ(read["kind"], "task_parked");
  EXPECT_EQ(read["state"], "acknowledged");
  EXPECT_EQ(read["task"], "order-1");
  EXPECT_TRUE(read["step"].is_null());
  EXPECT_EQ(read["raised_at"], "2026-03-29T01:00:00.250Z");
  EXPECT_EQ(read["acknowledged_by"], "ana");
  EXPECT_TRUE(read["resolved_at"].is_null());
}

TEST(cli_alert, tells_people_what_and_what_to_do) {
  EXPECT_EQ(alert_text(parked()),
            "alert         17, task_parked\n"
            "state         acknowledged\n"
            "task          order-1\n"
            "workflow      order\n"
            "what          Step charge has failed 4 times.\n"
            "what to do    fairlead task show order-1\n"
            "raised        2026-03-29 01:00:00Z\n"
            "acknowledged  2026-03-29 01:01:00Z by ana\n"
            "note          on it?[31m\n");
  auto table = alert_table();
  add_alert_row(table, parked());
  EXPECT_EQ(table.text(),
            "NUMBER  STATE         KIND         RAISED                TASK     WHAT\n"
            "    17  acknowledged  task_parked  2026-03-29 01:00:00Z  order-1  Step charge has failed 4 times\n");
}

TEST(cli_alert, one_about_a_job_names_it) {
  v1::AlertRecord alert;
  alert.set_number(3);
  alert.set_kind(v1::ALERT_KIND_JOB_FAILING);
  alert.set_job("nightly");
  EXPECT_NE(alert_text(alert).find("job           nightly\n"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(alert_json(alert))["job"], "nightly");
  EXPECT_TRUE(nlohmann::json::parse(alert_json(parked()))["job"].is_null());
}

TEST(cli_alert, an_acknowledgement_tells_of_each_number) {
  v1::AlertAckRequest asked;
  asked.add_numbers(17);
  asked.add_numbers(99);
  v1::AlertAckReply reply;
  *reply.add_results()->mutable_alert() = parked();
  *reply.add_results()->mutable_error() = error{v1::ERROR_CODE_NOT_FOUND, "there is no alert 99", "look"}.to_proto();
  EXPECT_EQ(acknowledged_text(reply), "Alert 17 is acknowledged by ana since 2026-03-29 01:01:00Z.\n");
  const auto results = nlohmann::json::parse(acknowledged_json(asked, reply))["results"];
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0]["alert"]["number"], 17);
  EXPECT_EQ(results[1]["number"], 99);
  EXPECT_TRUE(results[1]["alert"].is_null());
  EXPECT_EQ(results[1]["code"], "not_found");
  EXPECT_EQ(results[1]["error"], "there is no alert 99");
}

TEST(cli_alert, every_kind_and_state_has_a_word_of_its_own) {
  std::set<std::string> words;
  for (int i = 1; i <= v1::AlertKind_MAX; ++i) words.insert(core::alert_kind_word(static_cast<v1::AlertKind>(i)));
  EXPECT_EQ(words.size(), static_cast<std::size_t>(v1::AlertKind_MAX));
  EXPECT_EQ(words.count("unknown"), 0U);
  for (int i = 1; i <= v1::AlertState_MAX; ++i) {
    const auto state = static_cast<v1::AlertState>(i);
    EXPECT_EQ(core::alert_state_from_word(core::alert_state_word(state)), state);
  }
  for (int i = 1; i <= v1::AlertKind_MAX; ++i) {
    const auto kind = static_cast<v1::AlertKind>(i);
    EXPECT_EQ(core::alert_kind_from_word(core::alert_kind_word(kind)), kind);
  }
  EXPECT_FALSE(core::alert_kind_from_word("unknown"));
  EXPECT_FALSE(core::alert_state_from_word("unknown"));
}

TEST(cli_operator_name, is_the_one_given_else_the_environment_s_else_the_user_s) {
  ::setenv("FAIRLEAD_OPERATOR", "night shift", 1);
  EXPECT_EQ(operator_name("ana"), "ana");
  EXPECT_EQ(operator_name(""), "night shift");
  ::setenv("FAIRLEAD_OPERATOR", "", 1);
  const auto own = operator_name("");
  ::unsetenv("FAIRLEAD_OPERATOR");
  EXPECT_EQ(operator_name(""), own);
  const auto at = own.find('@');
  ASSERT_NE(at, std::string::npos) << own;
  EXPECT_GT(at, 0U);
  EXPECT_LT(at + 1, own.size());
  EXPECT_EQ(operator_name(std::string(500, 'a')).size(), 128U);
  EXPECT_EQ(operator_name("a\xff"), "a\xEF\xBF\xBD") << "what is stored is UTF-8";
}

}  // namespace
}  // namespace fairlead::app
