#include "tests/actors/alerts/alert_courier_world.hpp"

namespace fairlead::testing {
namespace {

TEST_F(alert_courier_test, says_everything_about_an_alert) {
  start();
  v1::AlertRecord alert;
  alert.set_number(1);
  alert.set_kind(v1::ALERT_KIND_STEP_COOLING_OFF);
  alert.set_state(v1::ALERT_STATE_OPEN);
  alert.set_task_id("order-1");
  alert.set_workflow("order");
  alert.set_step("charge");
  alert.set_sentence("It says \"no\".");
  alert.set_remedy("fairlead task show order-1");
  alert.set_raised_at_unix_ms(1'774'746'000'250);
  auto batch = shard.next();
  store::put_alert(batch, alert);
  shard.state().set_next_alert(1);
  shard.expect_committed(std::move(batch));
  look();
  ASSERT_EQ(port.out.size(), 1u);
  EXPECT_EQ(port.out[0].key, "fairlead-alert/n1/1");
  EXPECT_EQ(
      port.out[0].body,
      R"({"node":"n1","event":"raised","alert":{"number":1,"kind":"step_cooling_off","state":"open","task":"order-1","workflow":"order",)"
      R"("step":"charge","job":null,"agent":null,"sentence":"It says \"no\".","remedy":"fairlead task show order-1","raised_at":"2026-03-29T01:00:00.250Z"}})");
}

TEST_F(alert_courier_test, names_alerts_by_the_numbers_of_the_cluster) {
  from = {"n1", 1, 3};
  start();
  raise();
  raise();
  look();
  ASSERT_EQ(port.out.size(), 1u);
  EXPECT_NE(port.out[0].body.find(R"("number":2,)"), std::string::npos) << port.out[0].body;
  // Two shards of one node must not share a key, or a receiver takes the alert of one for that of the other.
  EXPECT_EQ(deliver_all(), (texts{key(2), key(5)}));
  start();
  look();
  EXPECT_TRUE(port.out.empty()) << "the cursor goes by the shard's own numbers";
  for (int i = 0; i < 40; ++i) raise();
  look();
  ASSERT_EQ(port.out.size(), 1u);
  EXPECT_EQ(port.out[0].key, "fairlead-alert/n1/8-125");
  EXPECT_NE(port.out[0].body.find(R"("first":8,"last":125,)"), std::string::npos) << port.out[0].body;
}

TEST_F(alert_courier_test, delivers_one_after_the_other_in_the_order_of_their_numbers) {
  start();
  for (int i = 0; i < 3; ++i) raise();
  look();
  ASSERT_EQ(port.out.size(), 1u) << "the next one waits for the answer to the one before";
  EXPECT_EQ(deliver_all(), (texts{key(1), key(2), key(3)}));
  EXPECT_EQ(woken, 3);
  EXPECT_EQ(deliver_all(), texts{});
}

TEST_F(alert_courier_test, goes_on_after_a_restart_where_it_was) {
  start();
  raise();
  raise();
  EXPECT_EQ(deliver_all().size(), 2u);
  start();
  raise();
  EXPECT_EQ(deliver_all(), texts{key(3)});
}

TEST_F(alert_courier_test, delivers_again_what_a_crash_kept_from_its_record) {
  start();
  raise();
  raise();
  look();
  EXPECT_EQ(port.end(ops_url), key(1));
  look();
  recorded.clear();  // the process dies between the answer and the commit
  start();
  EXPECT_EQ(deliver_all(), (texts{key(1), key(2)})) << "under the same keys, so that the receiver can tell";
}

TEST_F(alert_courier_test, says_again_what_went_with_a_scheduler) {
  start();
  raise();
  look();
  EXPECT_EQ(port.end(ops_url), key(1));
  look();
  recorded.clear();  // the Scheduler dies before it has written that
  store::testing::test_shard next{store};
  look();
  ASSERT_EQ(recorded.size(), 1u);
  auto batch = next.next();
  batch.append(recorded.front().rows);
  next.expect_committed(std::move(batch));
  recorded.clear();
  look();
  EXPECT_TRUE(recorded.empty()) << "once";
  start();
  look();
  EXPECT_TRUE(port.out.empty()) << "it was delivered long ago";
}

TEST_F(alert_courier_test, moves_no_cursor_before_the_receiver_has_answered) {
  start();
  raise();
  look();
  EXPECT_TRUE(recorded.empty());
  port.end(ops_url, away);
  look();
  EXPECT_TRUE(recorded.empty());
}

TEST_F(alert_courier_test, tries_again_for_ever_after_growing_waits) {
  start();
  raise();
  raise();
  std::vector<std::int64_t> waits;
  look();
  for (int failure = 1; failure <= 14; ++failure) {
    EXPECT_EQ(port.end(ops_url, away), key(1));
    const auto failed_at = time.now_ms;
    for (look(); !on_its_way(ops_url); look()) time.now_ms += 50;
    waits.push_back(time.now_ms - failed_at);
  }
  std::int64_t whole = 1'000;
  for (const auto wait : waits) {
    EXPECT_GE(wait, whole / 2);
    EXPECT_LE(wait, whole + 50);
    whole = std::min<std::int64_t>(whole * 2, 300'000);
  }
  EXPECT_EQ(log.notes.back().substr(0, 59), "ops has not accepted alert 1: it answered 503; next try in ");
  EXPECT_EQ(deliver_all(), (texts{key(1), key(2)}));
  raise();
  look();
  port.end(ops_url, away);
  look();
  time.now_ms += 1'000;
  EXPECT_EQ(deliver_all(), texts{key(3)}) << "a success makes the waits short again";
}

TEST_F(alert_courier_test, waits_as_long_in_every_run) {
  std::vector<std::int64_t> waits;
  for (int run = 0; run < 2; ++run) {
    start({chat()});
    if (run == 0) raise();
    look();
    port.end(chat_url, away);
    const auto failed_at = time.now_ms;
    for (look(); !on_its_way(chat_url); look()) ++time.now_ms;
    waits.push_back(time.now_ms - failed_at);
  }
  EXPECT_EQ(waits[0], waits[1]);
}

TEST_F(alert_courier_test, one_target_in_trouble_delays_no_other) {
  start({ops(), chat()});
  for (int i = 0; i < 3; ++i) raise();
  look();
  EXPECT_EQ(deliver_all(chat_url), (texts{key(1), key(2), key(3)})) << "while the first post to ops is not answered";
  port.end(ops_url, away);
  raise();
  EXPECT_EQ(deliver_all(chat_url), texts{key(4)});
  start({ops(), chat()});
  EXPECT_EQ(deliver_all(chat_url), texts{});
  EXPECT_EQ(deliver_all(ops_url), (texts{key(1), key(2), key(3), key(4)}));
}

TEST_F(alert_courier_test, has_one_digest_stand_for_a_flood) {
  start();
  for (int i = 0; i < 480; ++i) raise(v1::ALERT_STATE_OPEN, i % 4 == 0 ? v1::ALERT_KIND_WAKE_UP_LOST : v1::ALERT_KIND_TASK_PARKED);
  look();
  ASSERT_EQ(port.out.size(), 1u);
  const std::string begin = R"({"node":"n1","digest":{"count":480,"first":1,"last":480,)";
  EXPECT_EQ(port.out[0].body.substr(0, begin.size()), begin);
  EXPECT_NE(port.out[0].body.find(R"("kinds":{"task_parked":360,"wake_up_lost":120})"), std::string::npos) << port.out[0].body;
  EXPECT_EQ(deliver_all(), texts{"fairlead-alert/n1/1-480"});
  raise();
  EXPECT_EQ(deliver_all(), texts{key(481)}) << "the cursor has moved over all of them";
}

TEST_F(alert_courier_test, lets_no_more_out_within_the_window_than_the_brake_says) {
  auto target = ops();
  target.at_most = 3;
  target.window = std::chrono::seconds{10};
  start({target});
  for (int i = 0; i < 3; ++i) raise();
  EXPECT_EQ(deliver_all(), (texts{key(1), key(2), key(3)}));
  time.now_ms += 9'999;
  raise();
  raise();
  EXPECT_EQ(deliver_all(), texts{});
  time.now_ms += 1;
  EXPECT_EQ(deliver_all(), (texts{key(4), key(5)}));
  raise();
  raise();
  EXPECT_EQ(deliver_all(), texts{"fairlead-alert/n1/6-7"}) << "two wait, and there is room for one";
  raise();
  EXPECT_EQ(deliver_all(), texts{});
}

TEST_F(alert_courier_test, a_digest_that_failed_takes_in_what_came_since) {
  auto target = ops();
  target.at_most = 1;
  start({target});
  raise();
  raise();
  look();
  EXPECT_EQ(port.end(ops_url, away), "fairlead-alert/n1/1-2");
  raise();
  look();
  time.now_ms += 1'000;
  EXPECT_EQ(deliver_all(), texts{"fairlead-alert/n1/1-3"});
}

TEST_F(alert_courier_test, makes_a_digest_of_a_bounded_number) {
  start();
  for (int i = 0; i < 10'001; ++i) raise();
  EXPECT_EQ(deliver_all(), (texts{"fairlead-alert/n1/1-10000", key(10'001)}));
}

TEST_F(alert_courier_test, a_target_seen_for_the_first_time_begins_with_what_is_not_resolved) {
  raise(v1::ALERT_STATE_RESOLVED);
  raise(v1::ALERT_STATE_ACKNOWLEDGED);
  raise(v1::ALERT_STATE_RESOLVED);
  raise();
  raise(v1::ALERT_STATE_RESOLVED);
  ++time.now_ms;
  start();
  look();
  EXPECT_EQ(port.end(ops_url), key(2));
  look();
  commit();
  ++time.now_ms;
  resolve(4);
  start();
  raise();
  resolve(raise());
  EXPECT_EQ(deliver_all(), (texts{key(4), key(6), key(7), end_of(4), end_of(7)}))
      << "what was resolved later is told of, also after a restart";
}

TEST_F(alert_courier_test, a_new_target_without_a_backlog_begins_with_the_next_alert) {
  for (int i = 0; i < 3; ++i) raise(v1::ALERT_STATE_RESOLVED);
  ++time.now_ms;
  start();
  EXPECT_EQ(deliver_all(), texts{});
  raise();
  EXPECT_EQ(deliver_all(), texts{key(4)});
  start({ops(), chat()});
  EXPECT_EQ(deliver_all(chat_url), texts{key(4)}) << "each target has a cursor of its own";
  EXPECT_EQ(deliver_all(ops_url), texts{});
}

TEST_F(alert_courier_test, a_clock_that_was_set_back_silences_nobody) {
  auto target = ops();
  target.at_most = 1;
  start({target});
  raise();
  EXPECT_EQ(deliver_all(), texts{key(1)});
  raise();
  EXPECT_EQ(deliver_all(), texts{});
  time.now_ms -= 86'400'000;
  look();
  port.end(ops_url, away);
  look();
  EXPECT_FALSE(on_its_way(ops_url));
  time.now_ms -= 86'400'000;
  EXPECT_EQ(deliver_all(), texts{key(2)});
}

TEST_F(alert_courier_test, hands_a_command_the_alert_and_its_arguments) {
  alert_target pager;
  pager.name = "pager";
  pager.run = {"/usr/local/bin/page", "--urgent"};
  pager.timeout = std::chrono::seconds{3};
  start({pager});
  raise();
  look();
  ASSERT_EQ(port.out.size(), 1u);
  const auto& run = port.out[0].run;
  EXPECT_EQ(run.run, (texts{"/usr/local/bin/page", "--urgent"}));
  EXPECT_EQ(run.time_limit, std::chrono::seconds{3});
  EXPECT_EQ(run.environment, (std::vector<std::pair<std::string, std::string>>{{"FAIRLEAD_ALERT_NUMBER", "1"},
                                                                               {"FAIRLEAD_ALERT_KIND", "task_parked"},
                                                                               {"FAIRLEAD_ALERT_TASK", "order-1"},
                                                                               {"FAIRLEAD_ALERT_EVENT", "raised"}}));
  EXPECT_EQ(run.input.substr(0, 51), R"({"node":"n1","event":"raised","alert":{"number":1,")");
  EXPECT_EQ(run.input.back(), '\n');
}

TEST_F(alert_courier_test, reports_an_alert_that_cannot_be_read) {
  start();
  raise();
  store.damage(store::table::alert, store::keys::alert(store::default_namespace, 1));
  const auto looked = courier->look();
  ASSERT_FALSE(looked.ok());
  EXPECT_EQ(looked.failure().code, v1::ERROR_CODE_CORRUPT);
}

}  // namespace
}  // namespace fairlead::testing
