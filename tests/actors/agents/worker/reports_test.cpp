#include "tests/actors/agents/worker/worker_world.hpp"

namespace fairlead::testing {
namespace {

using worker_reports_test = worker_test;
using numbers = std::vector<std::uint64_t>;

TEST_F(worker_reports_test, answers_an_outcome_once_the_shard_has_recorded_it) {
  hand_over({attempt(1)});
  take(0);
  const auto said = report({{ticket(1), agents::completed("{\"a\":1}")}});
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(last().output(), "{\"a\":1}");
  EXPECT_FALSE(said->has_value());
  record(1);
  ASSERT_TRUE(said->has_value());
  EXPECT_EQ(how(said), session::report_result::accepted);
  EXPECT_EQ(how(report({{ticket(1), agents::completed("{\"a\":1}")}})), session::report_result::repeated);
}

TEST_F(worker_reports_test, says_that_an_outcome_was_refused) {
  hand_over({attempt(1)});
  take(0);
  const auto said = report({{ticket(1), agents::completed("1")}});
  record(1, false);
  EXPECT_EQ(how(said), session::report_result::not_held);
  EXPECT_EQ(how(report({{ticket(1), agents::completed("1")}})), session::report_result::not_held);
}

TEST_F(worker_reports_test, uses_the_first_outcome_and_says_so_of_another_one) {
  hand_over({attempt(1)});
  take(0);
  const auto first = report({{ticket(1), agents::completed("1")}});
  const auto same = report({{ticket(1), agents::completed("1")}});
  const auto other = report({{ticket(1), agents::completed("2")}});
  EXPECT_EQ(sent.size(), 1u);
  record(1);
  EXPECT_EQ(how(first), session::report_result::accepted);
  EXPECT_EQ(how(same), session::report_result::accepted);
  EXPECT_EQ(how(other), session::report_result::repeated);
  EXPECT_EQ(why(other), "The attempt has ended with the outcome that was reported first. This one is another, and was not used.");
  const auto later = report({{ticket(1), agents::completed("1")},
                             {ticket(1), agents::completed("2")},
                             {ticket(1), agents::permanent_fault("no_room", "the box is full")}});
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(how(later, i), session::report_result::repeated);
  EXPECT_EQ(why(later), "");
  EXPECT_EQ(why(later, 1), why(other));
  EXPECT_EQ(why(later, 2), why(other));
  EXPECT_EQ(sent.size(), 1u);
}

TEST_F(worker_reports_test, asks_for_an_outcome_again_when_the_shard_does_not_answer) {
  hand_over({attempt(1)});
  take(0);
  const auto said = report({{ticket(1), agents::completed("1")}});
  pass(10'000);
  ASSERT_TRUE(said->has_value());
  EXPECT_EQ((**said).failure().code, v1::ERROR_CODE_UNAVAILABLE);
  const auto again = report({{ticket(1), agents::completed("1")}});
  record(1);
  EXPECT_EQ(how(again), session::report_result::accepted);
}

TEST_F(worker_reports_test, takes_no_ticket_that_it_does_not_hold) {
  hand_over({attempt(1)});
  take(0);
  auto forged = ticket(1);
  forged.back() = forged.back() == 'A' ? 'B' : 'A';
  const auto said = report({{forged, agents::completed("1")}, {"nonsense", agents::completed("1")}, {ticket(2), agents::completed("1")}});
  ASSERT_TRUE(said->has_value());
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(how(said, i), session::report_result::not_held);
    EXPECT_TRUE((**said)->at(i).never_was_held);
  }
  EXPECT_TRUE((**beat({{forged, 1, {}}}))->at(0).never_was_held);
  EXPECT_TRUE(sent.empty());
  EXPECT_EQ(worker->held(), 1u);
}

TEST_F(worker_reports_test, knows_a_ticket_that_it_holds_no_more) {
  begin(true, {ticket(1)});
  welcome(0);
  pass(2'000);
  hand_over({attempt(2, 1'000)});
  take(0);
  pass(1'000);
  const auto said = report({{ticket(1), agents::completed("1")}, {ticket(2), agents::completed("1")}});
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(how(said, i), session::report_result::not_held);
    EXPECT_FALSE((**said)->at(i).never_was_held) << i;
  }
  const auto beats_said = beat({{ticket(1), 1, {}}, {ticket(2), 1, {}}});
  for (std::size_t i = 0; i < 2; ++i) EXPECT_FALSE((**beats_said)->at(i).never_was_held) << i;
}

TEST_F(worker_reports_test, wants_a_verdict_of_a_lookup_and_of_nothing_else) {
  hand_over({attempt(1), attempt(2, 60'000, v1::DIRECTION_LOOKUP)});
  take(0);
  EXPECT_EQ((**report({{ticket(1), agents::never_happened()}})).failure().code, v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_EQ((**report({{ticket(2, v1::DIRECTION_LOOKUP), agents::completed("1")}})).failure().code, v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_TRUE(sent.empty());
  const auto said = report({{ticket(2, v1::DIRECTION_LOOKUP), agents::looked_up_done("3")}});
  EXPECT_EQ(last().verdict(), v1::LOOKUP_VERDICT_DONE);
  record(2, true, v1::DIRECTION_LOOKUP);
  EXPECT_EQ(how(said), session::report_result::accepted);
}

TEST_F(worker_reports_test, answers_a_heartbeat_once_it_is_durable_with_the_lease_that_it_gives) {
  auto what = attempt(1, 100'000);
  what.set_heartbeat_ms(10'000);
  what.set_heartbeat_by_unix_ms(time.now_ms + 10'000);
  hand_over({what});
  take(0);
  pass(4'000);
  const auto said = beat({{ticket(1), 1, {50, "half", "{\"at\":5}"}}});
  ASSERT_EQ(beats.size(), 1u);
  EXPECT_EQ(beats[0].percent(), 50u);
  EXPECT_EQ(beats[0].checkpoint(), "{\"at\":5}");
  EXPECT_FALSE(said->has_value());
  pass(1'000);
  renew(1, 1);
  ASSERT_TRUE(said->has_value());
  EXPECT_TRUE((**said)->at(0).held);
  // From when the request had come: the shard counts from the sending of the heartbeat.
  EXPECT_EQ((**said)->at(0).lease_ms, 9'990);
}

TEST_F(worker_reports_test, keeps_no_lease_without_a_heartbeat_of_the_worker) {
  auto what = attempt(1, 100'000);
  what.set_heartbeat_ms(10'000);
  what.set_heartbeat_by_unix_ms(time.now_ms + 10'000);
  hand_over({what});
  take(0);
  pass(10'000);
  EXPECT_TRUE(beats.empty());
  EXPECT_EQ(worker->held(), 0u);
}

TEST_F(worker_reports_test, sends_every_heartbeat_at_once_and_an_overtaken_one_without_its_progress) {
  auto what = attempt(1, 100'000);
  what.set_heartbeat_ms(60'000);
  what.set_heartbeat_by_unix_ms(time.now_ms + 60'000);
  hand_over({what});
  take(0);
  const auto later = beat({{ticket(1), 2, {20, "two", ""}}});
  const auto earlier = beat({{ticket(1), 1, {10, "one", ""}}});
  ASSERT_EQ(beats.size(), 2u);
  renew(1, 2);
  EXPECT_TRUE((**later)->at(0).held);
  EXPECT_TRUE((**earlier)->at(0).held);
  for (const auto& one : beats) EXPECT_NE(one.note(), "one");
}

TEST_F(worker_reports_test, numbers_heartbeats_above_those_of_the_host_before) {
  own_host = std::make_unique<agent_host>(agent_host::identity{"mailer", "mail-1", 7, {"worker", {}, nullptr}, 100}, *worker, time, *this);
  auto one = attempt(1);
  one.set_heartbeat_ms(6'000);
  one.set_heartbeat_by_unix_ms(time.now_ms + 6'000);
  hand_over({one});
  take(0);
  const auto answered = beat({{ticket(1), 1, {}}});
  ASSERT_EQ(beats.size(), 1u);
  EXPECT_EQ(beats[0].sequence(), 101u);
  renew(1, 3);
  EXPECT_FALSE(answered->has_value()) << "that was about a heartbeat of another host";
  renew(1, 101);
  EXPECT_TRUE(answered->has_value());
}

TEST_F(worker_reports_test, says_that_an_attempt_is_not_held_any_more) {
  auto what = attempt(1, 100'000);
  what.set_heartbeat_ms(10'000);
  what.set_heartbeat_by_unix_ms(time.now_ms + 10'000);
  hand_over({what});
  take(0);
  const auto said = beat({{ticket(1), 1, {}}, {"nonsense", 1, {}}});
  renew(1, 1, false);
  ASSERT_TRUE(said->has_value());
  EXPECT_FALSE((**said)->at(0).held);
  EXPECT_FALSE((**said)->at(1).held);
}

TEST_F(worker_reports_test, asks_for_a_heartbeat_again_when_the_shard_does_not_answer) {
  hand_over({attempt(1)});
  take(0);
  const auto said = beat({{ticket(1), 1, {10, "", ""}}});
  pass(5'000);
  ASSERT_TRUE(said->has_value());
  EXPECT_EQ((**said).failure().code, v1::ERROR_CODE_UNAVAILABLE);
}

TEST_F(worker_reports_test, tells_all_who_wait_when_it_ends) {
  hand_over({attempt(1), attempt(2)});
  take(0);
  const auto said = report({{ticket(1), agents::completed("1")}});
  const auto beaten = beat({{ticket(2), 1, {}}});
  const auto took = take(1);
  worker->shut_down();
  EXPECT_EQ((**said).failure().code, v1::ERROR_CODE_NOT_FOUND);
  EXPECT_EQ((**beaten).failure().code, v1::ERROR_CODE_NOT_FOUND);
  EXPECT_EQ((**took).failure().code, v1::ERROR_CODE_NOT_FOUND);
}

}  // namespace
}  // namespace fairlead::testing
