#include <gtest/gtest.h>

#include "app/config/config.hpp"
#include "tests/app/config/node_file.hpp"

namespace fairlead::app {
namespace {

TEST(config_alerts, reads_webhooks_and_commands) {
  const auto file = parsed(R"(alerts:
  webhooks:
    ops: { url: "https://hooks.example/ops?team=a", at_most: 5, window: 30s, resolved: false }
    chat-2: { url: http://127.0.0.1:9000/ }
  commands:
    pager: { run: [/usr/local/bin/page, --urgent, 5, ""], timeout: 2s, at_most: 1, window: 1h }
)");
  EXPECT_EQ(shown(file.problems), lines{});
  const auto& targets = file.config.alert_targets;
  ASSERT_EQ(targets.size(), 3U);
  EXPECT_EQ(targets[0].name, "ops");
  EXPECT_EQ(targets[0].url, "https://hooks.example/ops?team=a");
  EXPECT_EQ(targets[0].at_most, 5U);
  EXPECT_EQ(targets[0].window, std::chrono::seconds{30});
  EXPECT_FALSE(targets[0].resolved);
  EXPECT_EQ(targets[1].name, "chat-2");
  EXPECT_TRUE(targets[1].resolved);
  EXPECT_EQ(targets[1].at_most, 20U);
  EXPECT_EQ(targets[1].window, std::chrono::minutes{1});
  EXPECT_EQ(targets[2].name, "pager");
  EXPECT_EQ(targets[2].url, "");
  EXPECT_EQ(targets[2].run, (std::vector<std::string>{"/usr/local/bin/page", "--urgent", "5", ""}));
  EXPECT_EQ(targets[2].timeout, std::chrono::seconds{2});
  EXPECT_EQ(targets[2].at_most, 1U);
  EXPECT_EQ(targets[2].window, std::chrono::hours{1});
}

TEST(config_alerts, has_no_targets_when_none_are_named) {
  EXPECT_TRUE(parsed("").config.alert_targets.empty());
  EXPECT_EQ(problems_of("alerts: {}"), lines{});
  EXPECT_EQ(parsed("alerts: { commands: { page: { run: [/bin/page] } } }").config.alert_targets.at(0).timeout, std::chrono::seconds{10});
}

TEST(config_alerts, refuses_targets_that_could_not_be_reached) {
  EXPECT_EQ(problems_of("alerts: { webhooks: { ops: {} } }"),
            lines{"3:28: alerts.webhooks.ops.url: this key is missing; expected the http or https URL to post to"});
  EXPECT_EQ(problems_of("alerts: { webhooks: { ops: { url: 5 } } }"),
            lines{"3:35: alerts.webhooks.ops.url: expected text, found the number 5"});
  const auto odd = parsed("alerts: { webhooks: { ops: { url: \"ftp://x/\" } } }").problems;
  ASSERT_EQ(odd.size(), 1U);
  EXPECT_EQ(odd[0].where, "alerts.webhooks.ops.url");
  EXPECT_EQ(odd[0].line, 3);
  EXPECT_EQ(odd[0].column, 35);
  EXPECT_EQ(problems_of("alerts: { commands: { page: {} } }"),
            lines{"3:29: alerts.commands.page.run: this key is missing; expected a list: the program's path, then its arguments"});
  EXPECT_EQ(problems_of("alerts: { commands: { page: { run: [] } } }"),
            lines{"3:36: alerts.commands.page.run: the list is empty; name the program, then its arguments: "
                  "[/usr/local/bin/page, --urgent]"});
  EXPECT_EQ(problems_of("alerts: { commands: { page: { run: \"page --urgent\" } } }"),
            lines{"3:36: alerts.commands.page.run: expected a list, found \"page --urgent\""});
  EXPECT_EQ(problems_of("alerts: { commands: { page: { run: [page] } } }"),
            lines{"3:37: alerts.commands.page.run[0]: expected the program's absolute path, such as /usr/local/bin/page, found \"page\""});
  EXPECT_EQ(problems_of("alerts: { commands: { page: { run: [/bin/page, \"a\\0b\"] } } }"),
            lines{"3:48: alerts.commands.page.run[1]: a word of a command cannot have a character with the code 0"});
}

TEST(config_alerts, refuses_names_that_are_none_or_taken) {
  EXPECT_EQ(problems_of("alerts: { webhooks: { Ops: { url: \"http://x/\" } } }"),
            lines{"3:28: alerts.webhooks.Ops: expected a name of lower-case letters, digits, _ and -; at most 64 in all"});
  EXPECT_EQ(problems_of("alerts: { webhooks: { ops: { url: \"http://x/\" } },\n  commands: { ops: { run: [/bin/x] } } }"),
            lines{"4:20: alerts.commands.ops: this name is already the name of a webhook; webhooks and commands share their names: choose "
                  "another name"});
}

TEST(config_alerts, refuses_wrong_limits_and_unknown_keys) {
  EXPECT_EQ(problems_of("alerts: { webhooks: { ops: { url: \"http://x/\", at_most: 0, window: 1ms, timeout: 1s } } }"),
            (lines{"3:57: alerts.webhooks.ops.at_most: expected a whole number from 1 to 1000, found the number 0",
                   "3:68: alerts.webhooks.ops.window: expected a duration from 1s to 1d, found \"1ms\"",
                   "3:73: alerts.webhooks.ops.timeout: this key is not known here; known keys: url, resolved, at_most or window"}));
  EXPECT_EQ(problems_of("alerts: { commands: { page: { run: [/bin/x], timeout: 1h } } }"),
            lines{"3:55: alerts.commands.page.timeout: expected a duration from 100ms to 10m, found \"1h\""});
  EXPECT_EQ(problems_of("alerts: { mails: {} }"), lines{"3:11: alerts.mails: this key is not known here; known keys: webhooks, commands, "
                                                        "agent_absent_after, step_failing_after or replica_behind_after"});
  EXPECT_EQ(problems_of("alerts: 5"), lines{"3:9: alerts: expected a map, found the number 5"});
}

TEST(config_alerts, says_how_long_steps_may_wait_for_an_agent_that_is_not_there) {
  EXPECT_EQ(parsed("").config.agent_absent_after_ms, 60'000);
  EXPECT_EQ(parsed("alerts: { agent_absent_after: 5m }").config.agent_absent_after_ms, 300'000);
  EXPECT_EQ(problems_of("alerts: { agent_absent_after: 10ms }"),
            lines{"3:31: alerts.agent_absent_after: expected a duration from 1s to 1d, found \"10ms\""});
}

TEST(config_alerts, says_how_long_another_node_of_a_shard_may_be_away) {
  EXPECT_EQ(parsed("").config.replica_behind_after_ms, 60'000);
  EXPECT_EQ(parsed("alerts: { replica_behind_after: 5m }").config.replica_behind_after_ms, 300'000);
  EXPECT_EQ(problems_of("alerts: { replica_behind_after: 10ms }"),
            lines{"3:33: alerts.replica_behind_after: expected a duration from 1s to 1d, found \"10ms\""});
}

TEST(config_undo_brake, is_on_unless_it_is_switched_off) {
  const auto plain = parsed("").config;
  EXPECT_TRUE(plain.undo_brake_on);
  EXPECT_EQ(plain.undo_brake_share_percent, 50U);
  EXPECT_EQ(plain.undo_brake_window_ms, 600'000);
  EXPECT_EQ(plain.undo_brake_at_least, 50U);
  const auto set = parsed("undo_brake: { share: 5%, window: 1h, at_least: 7 }");
  EXPECT_EQ(shown(set.problems), lines{});
  EXPECT_TRUE(set.config.undo_brake_on);
  EXPECT_EQ(set.config.undo_brake_share_percent, 5U);
  EXPECT_EQ(set.config.undo_brake_window_ms, 3'600'000);
  EXPECT_EQ(set.config.undo_brake_at_least, 7U);
  const auto off = parsed("undo_brake: off");
  EXPECT_EQ(shown(off.problems), lines{});
  EXPECT_FALSE(off.config.undo_brake_on);
}

TEST(config_undo_brake, refuses_what_is_no_share) {
  for (const auto* share : {"0%", "100%", "50 %", "half", "%", "-5%", "5.5%"})
    EXPECT_EQ(problems_of(std::string{"undo_brake: { share: \""} + share + "\" }"),
              lines{std::string{"3:22: undo_brake.share: expected a share from 1% to 99%, such as 50%, found \""} + share + "\""});
  EXPECT_EQ(problems_of("undo_brake: { share: 50 }"),
            lines{"3:22: undo_brake.share: expected a share from 1% to 99%, such as 50%, found the number 50"});
  EXPECT_EQ(problems_of("undo_brake: on"), lines{"3:13: undo_brake: expected off, or a map with share, window and at_least, found \"on\""});
  EXPECT_EQ(problems_of("undo_brake: { at_least: 0, window: x, shre: 1% }"),
            (lines{"3:25: undo_brake.at_least: expected a whole number from 1 to 1000000, found the number 0",
                   "3:36: undo_brake.window: expected a duration such as 250ms, 5s, 1m30s, 2h or 7d, found \"x\"",
                   "3:39: undo_brake.shre: this key is not known here; did you mean share?"}));
}

}  // namespace
}  // namespace fairlead::app
