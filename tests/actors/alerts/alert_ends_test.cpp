// Targets hear that an alert is resolved of which they were told.

#include "tests/actors/alerts/alert_courier_world.hpp"

namespace fairlead::testing {
namespace {

class alert_ends_test : public alert_courier_test {};

TEST_F(alert_ends_test, tells_a_target_of_the_end_of_what_it_was_told) {
  start();
  raise();
  EXPECT_EQ(deliver_all(), texts{key(1)});
  EXPECT_EQ(deliver_all(), texts{}) << "it is not resolved";
  time.now_ms = 1'774'746'000'250;
  resolve(1);
  look();
  ASSERT_EQ(port.out.size(), 1u);
  EXPECT_NE(port.out[0].body.find(R"({"node":"n1","event":"resolved","alert":{"number":1,"kind":"task_parked","state":"resolved",)"),
            std::string::npos)
      << port.out[0].body;
  EXPECT_NE(port.out[0].body.find(R"("resolved_at":"2026-03-29T01:00:00.250Z"}})"), std::string::npos) << port.out[0].body;
  EXPECT_EQ(deliver_all(), texts{end_of(1)});
  EXPECT_EQ(deliver_all(), texts{}) << "once is enough";
}

TEST_F(alert_ends_test, tells_a_new_target_nothing_before_the_store_knows_the_target) {
  raise();
  make();
  look();
  look();
  EXPECT_FALSE(on_its_way(ops_url)) << "after a crash here the target would be a new one again, and would never hear of the end";
  commit();
  EXPECT_EQ(deliver_all(), texts{key(1)});
  resolve(1);
  start();
  EXPECT_EQ(deliver_all(), texts{end_of(1)});
}

TEST_F(alert_ends_test, tries_again_when_the_end_is_not_accepted) {
  start();
  raise();
  deliver_all();
  resolve(1);
  look();
  port.end(ops_url, away);
  look();
  EXPECT_FALSE(on_its_way(ops_url));
  time.now_ms += 2'000;
  EXPECT_EQ(deliver_all(), texts{end_of(1)});
}

TEST_F(alert_ends_test, knows_after_a_restart_what_a_target_was_told) {
  start();
  raise();
  raise();
  deliver_all();
  resolve(2);
  start();
  EXPECT_EQ(deliver_all(), texts{end_of(2)});
  start();
  EXPECT_EQ(deliver_all(), texts{}) << "the end was told before the restart";
  resolve(1);
  EXPECT_EQ(deliver_all(), texts{end_of(1)});
}

TEST_F(alert_ends_test, writes_what_a_lost_report_has_not_made_durable_with_the_next) {
  start();
  raise();
  raise();
  look();
  port.end(ops_url);
  look();
  recorded.clear();  // the Scheduler has crashed before it wrote them
  port.end(ops_url);
  look();
  commit();
  resolve(1);
  start();
  EXPECT_EQ(deliver_all(), texts{end_of(1)}) << "its cursor is past alert 1";
}

TEST_F(alert_ends_test, tells_the_end_after_what_is_new) {
  start();
  raise();
  deliver_all();
  resolve(1);
  raise();
  EXPECT_EQ(deliver_all(), (texts{key(2), end_of(1)}));
}

TEST_F(alert_ends_test, tells_no_end_of_what_was_in_a_digest) {
  auto target = ops();
  target.at_most = 2;
  start({target});
  for (int i = 0; i < 4; ++i) raise();
  EXPECT_EQ(deliver_all(), (texts{"fairlead-alert/n1/1-4"}));
  time.now_ms += 60'000;
  resolve(1);
  raise();
  EXPECT_EQ(deliver_all(), texts{key(5)});
}

TEST_F(alert_ends_test, counts_ends_among_what_may_go_out) {
  auto target = ops();
  target.at_most = 1;
  start({target});
  raise();
  deliver_all();
  resolve(1);
  EXPECT_EQ(deliver_all(), texts{});
  time.now_ms += 60'001;
  EXPECT_EQ(deliver_all(), texts{end_of(1)});
}

TEST_F(alert_ends_test, tells_nothing_of_ends_to_a_target_that_does_not_want_them) {
  auto target = ops();
  target.resolved = false;
  start({target});
  raise();
  deliver_all();
  resolve(1);
  EXPECT_EQ(deliver_all(), texts{});
}

TEST_F(alert_ends_test, says_to_a_command_what_has_happened) {
  alert_target pager;
  pager.name = "pager";
  pager.run = {"/usr/local/bin/page"};
  start({pager});
  raise();
  deliver_all(pager.run.front());
  resolve(1);
  look();
  ASSERT_EQ(port.out.size(), 1u);
  EXPECT_EQ(port.out[0].run.environment.back(), (std::pair<std::string, std::string>{"FAIRLEAD_ALERT_EVENT", "resolved"}));
}

}  // namespace
}  // namespace fairlead::testing
