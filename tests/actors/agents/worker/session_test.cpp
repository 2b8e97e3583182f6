#include "tests/actors/agents/worker/worker_world.hpp"

namespace fairlead::testing {
namespace {

using worker_session_test = worker_test;
using numbers = std::vector<std::uint64_t>;

TEST_F(worker_session_test, gives_a_take_that_waits_what_is_handed_over) {
  const auto took = take(0);
  pass(2'000);
  EXPECT_FALSE(took->has_value());
  hand_over({attempt(1, 10'000), attempt(2, 10'000)});
  EXPECT_EQ(tasks(took), (numbers{1, 2}));
  EXPECT_EQ((**took)->number, 1u);
  EXPECT_EQ((**took)->waited_ms, 2'000);
  // A thousandth less: clocks run apart.
  EXPECT_EQ((**took)->attempts[0].lease_ms, 9'990);
}

TEST_F(worker_session_test, counts_a_lease_from_when_the_take_had_come_so_that_it_never_ends_late) {
  hand_over({attempt(1, 10'000)});
  pass(1'500);
  const auto came = time.now_ms;
  const auto took = take(0);
  ASSERT_EQ(tasks(took), (numbers{1}));
  EXPECT_LE(came + (**took)->waited_ms + (**took)->attempts[0].lease_ms, came - 1'500 + 10'000);
}

TEST_F(worker_session_test, ends_a_take_without_attempts_when_its_wait_is_over) {
  const auto took = take(0, 4, 5'000);
  pass(4'999);
  EXPECT_FALSE(took->has_value());
  pass(1);
  ASSERT_TRUE(took->has_value());
  EXPECT_TRUE((**took)->attempts.empty());
  EXPECT_EQ((**took)->number, 0u);
  EXPECT_EQ((**took)->waited_ms, 5'000);
}

TEST_F(worker_session_test, gives_no_more_than_was_asked_for) {
  hand_over({attempt(1), attempt(2), attempt(3)});
  const auto first = take(0, 2);
  EXPECT_EQ(tasks(first), (numbers{1, 2}));
  const auto second = take(1, 2);
  EXPECT_EQ(tasks(second), (numbers{3}));
  EXPECT_EQ((**second)->number, 2u);
}

TEST_F(worker_session_test, gives_no_more_bytes_than_an_answer_may_have) {
  std::vector<v1::Perform> all;
  for (std::uint64_t task = 1; task <= 3; ++task)
    all.push_back(attempt(task)), all.back().set_input(std::string(std::size_t{3} << 20, ' '));
  hand_over(all);
  EXPECT_EQ(tasks(take(0)), (numbers{1}));
  EXPECT_EQ(tasks(take(1)), (numbers{2}));
}

TEST_F(worker_session_test, sends_again_at_once_what_an_answer_that_got_lost_has_carried) {
  hand_over({attempt(1), attempt(2)});
  EXPECT_EQ(tasks(take(0)), (numbers{1, 2}));
  hand_over({attempt(3)});
  const auto again = take(0);
  EXPECT_EQ(tasks(again), (numbers{1, 2, 3}));
  EXPECT_EQ((**again)->number, 2u);
  EXPECT_EQ(tasks(take(2, 4, 1)), numbers{});
}

TEST_F(worker_session_test, does_not_send_again_what_the_worker_has_spoken_of) {
  hand_over({attempt(1), attempt(2)});
  EXPECT_EQ(tasks(take(0)), (numbers{1, 2}));
  beat({{ticket(2), 1, {}}});
  report({{ticket(1), agents::completed("1")}});
  EXPECT_EQ(tasks(take(0, 4, 1)), numbers{});
}

TEST_F(worker_session_test, ends_an_earlier_take_by_an_answer_that_confirms_nothing) {
  hand_over({attempt(1)});
  EXPECT_EQ(tasks(take(0)), (numbers{1}));
  const auto repeated_by_a_library = take(1);
  const auto later = take(1);
  ASSERT_TRUE(repeated_by_a_library->has_value());
  EXPECT_EQ((**repeated_by_a_library)->number, 1u);
  EXPECT_TRUE((**repeated_by_a_library)->attempts.empty());
  EXPECT_FALSE(later->has_value());
  hand_over({attempt(2)});
  EXPECT_EQ(tasks(later), (numbers{2}));
}

TEST_F(worker_session_test, refuses_a_take_that_names_an_answer_that_was_never_given) {
  const auto took = take(3);
  ASSERT_TRUE(took->has_value());
  EXPECT_EQ((**took).failure().code, v1::ERROR_CODE_INVALID_ARGUMENT);
}

TEST_F(worker_session_test, carries_nothing_to_a_client_that_has_gone) {
  take(0);
  worker->client_gone(latest_take);
  hand_over({attempt(1)});
  EXPECT_EQ(worker->held(), 0u);
  EXPECT_EQ(tasks(take(0)), (numbers{1}));
}

TEST_F(worker_session_test, gives_back_what_only_an_answer_that_was_not_sent_has_carried) {
  hand_over({attempt(1), attempt(2)});
  EXPECT_EQ(tasks(take(0, 1)), (numbers{1}));
  EXPECT_EQ(tasks(take(1, 1)), (numbers{2}));
  worker->unsent(1);
  worker->unsent(2);
  settle();
  pass(2'000);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(last().task_number(), 2u);
  EXPECT_EQ(worker->held(), 1u);
}

TEST_F(worker_session_test, gives_back_as_not_begun_what_nobody_takes_for_two_seconds) {
  hand_over({attempt(1)});
  pass(1'999);
  EXPECT_TRUE(sent.empty());
  pass(1);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_TRUE(last().not_begun());
  EXPECT_EQ(last().fault().kind(), v1::FAULT_KIND_TRANSIENT);
  EXPECT_EQ(how(report({{ticket(1), agents::completed("1")}})), session::report_result::not_held);
}

TEST_F(worker_session_test, gives_back_what_nobody_takes_before_a_short_lease_ends) {
  hand_over({attempt(1, 1'000), attempt(2, 300)});
  pass(199);
  EXPECT_TRUE(sent.empty()) << "the worker may be about to ask";
  pass(1);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(last().task_number(), 2u);
  EXPECT_TRUE(last().not_begun());
  pass(599);
  EXPECT_EQ(sent.size(), 1u);
  pass(1);
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_TRUE(last().not_begun());
}

TEST_F(worker_session_test, never_gives_back_what_an_answer_has_carried) {
  hand_over({attempt(1)});
  EXPECT_EQ(tasks(take(0)), (numbers{1}));
  take(0, 4, 1);  // its answer gets lost, too
  pass(50'000);
  EXPECT_TRUE(sent.empty());
}

TEST_F(worker_session_test, has_nothing_to_do_while_a_silent_worker_holds_attempts) {
  hand_over({attempt(1)});
  EXPECT_EQ(tasks(take(0)), (numbers{1}));
  pass(20'000);
  EXPECT_TRUE(worker->wants().silent);
  EXPECT_FALSE(worker->next_wake()) << "a moment that has passed would wake it again and again";
}

TEST_F(worker_session_test, offers_nothing_for_heartbeats) {
  hand_over({attempt(1)});
  EXPECT_EQ(tasks(take(0)), (numbers{1}));
  for (std::uint64_t i = 1; i <= 4; ++i) {
    pass(150);
    beat({{ticket(1), i, {}}});
  }
  EXPECT_EQ(worker->capacity(), 1u) << "the attempt that it holds";
}

TEST_F(worker_session_test, ends_attempts_with_their_lease) {
  hand_over({attempt(1, 5'000)});
  EXPECT_EQ(tasks(take(0)), (numbers{1}));
  pass(5'000);
  EXPECT_EQ(worker->held(), 0u);
  EXPECT_EQ(how(report({{ticket(1), agents::completed("1")}})), session::report_result::not_held);
  EXPECT_TRUE(sent.empty());
}

TEST_F(worker_session_test, refuses_a_call_that_the_worker_does_not_have) {
  auto what = attempt(1);
  what.set_call("fly");
  hand_over({what});
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(last().fault().code(), "unknown_call");
}

// ---- what it offers ----

TEST_F(worker_session_test, offers_what_is_asked_for_and_no_more_than_its_capacity) {
  EXPECT_EQ(worker->capacity(), 0u);
  take(0, 3);
  EXPECT_EQ(worker->capacity(), 3u);
  take(0, 100);
  EXPECT_EQ(worker->capacity(), 4u);
}

TEST_F(worker_session_test, goes_on_offering_between_two_takes) {
  take(0, 2, 100);
  pass(100);
  EXPECT_EQ(worker->capacity(), 2u);
  pass(150);
  take(0, 2, 100);
  pass(100);
  pass(199);
  EXPECT_EQ(worker->capacity(), 2u);
  pass(1);
  EXPECT_EQ(worker->capacity(), 0u);
}

TEST_F(worker_session_test, offers_no_more_than_it_holds_while_it_works) {
  take(0, 1);
  hand_over({attempt(1)});
  pass(10'000);
  EXPECT_EQ(worker->capacity(), 1u);
}

// ---- its end ----

TEST_F(worker_session_test, says_once_at_once_that_it_drains) {
  const auto waits = take(0);
  EXPECT_TRUE(worker->drain().ok());
  settle();
  ASSERT_TRUE(waits->has_value());
  EXPECT_TRUE((**waits)->draining);
  EXPECT_TRUE(worker->wants().drains);
  const auto next = take(0, 4, 1'000);
  EXPECT_FALSE(next->has_value());
  hand_over({attempt(1)});
  EXPECT_FALSE(next->has_value());
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_TRUE(last().not_begun());
  pass(1'000);
  EXPECT_TRUE((**next)->draining);
}

TEST_F(worker_session_test, leaves_only_with_empty_hands_unless_it_abandons_what_it_holds) {
  hand_over({attempt(1)});
  EXPECT_EQ(tasks(take(0)), (numbers{1}));
  EXPECT_EQ(worker->leave(false).failure().code, v1::ERROR_CODE_WRONG_STATE);
  EXPECT_FALSE(worker->wants().leaves);
  EXPECT_TRUE(worker->leave(true).ok());
  settle();
  EXPECT_TRUE(worker->wants().leaves);
  EXPECT_EQ(last().fault().kind(), v1::FAULT_KIND_IN_DOUBT);
  EXPECT_EQ((**take(1)).failure().code, v1::ERROR_CODE_NOT_FOUND);
}

TEST_F(worker_session_test, gives_back_what_it_has_not_carried_when_its_node_ends) {
  hand_over({attempt(1)});
  EXPECT_EQ(tasks(take(0)), (numbers{1}));
  hand_over({attempt(2)});
  worker->close();
  settle();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(last().task_number(), 2u);
  EXPECT_TRUE(last().not_begun());
  EXPECT_TRUE(worker->wants().ends);
}

TEST_F(worker_session_test, gives_nothing_back_when_it_goes_on_elsewhere) {
  hand_over({attempt(1)});
  worker->superseded();
  settle();
  EXPECT_TRUE(sent.empty());
  EXPECT_TRUE(worker->wants().ends);
}

TEST_F(worker_session_test, takes_no_more_when_it_is_silent_and_is_forgotten_after_a_minute) {
  pass(14'999);
  EXPECT_FALSE(worker->wants().drains);
  pass(1);
  EXPECT_TRUE(worker->wants().drains);
  pass(44'999);
  EXPECT_FALSE(worker->wants().leaves);
  pass(1);
  EXPECT_TRUE(worker->wants().leaves);
}

TEST_F(worker_session_test, is_not_silent_after_a_take_that_has_waited_longest) {
  take(0, 4, 60'000);
  pass(60'000);
  EXPECT_FALSE(worker->wants().leaves);
  EXPECT_FALSE(worker->wants().silent);
  EXPECT_EQ(worker->next_wake(), time.steady() + duration{200});
  pass(14'999);
  EXPECT_FALSE(worker->wants().silent);
  pass(1);
  EXPECT_TRUE(worker->wants().silent);
  pass(45'000);
  EXPECT_TRUE(worker->wants().leaves);
}

TEST_F(worker_session_test, is_not_forgotten_while_it_works) {
  hand_over({attempt(1, 300'000)});
  EXPECT_EQ(tasks(take(0)), (numbers{1}));
  pass(200'000);
  EXPECT_FALSE(worker->wants().leaves);
  EXPECT_EQ(worker->held(), 1u);
}

TEST_F(worker_session_test, wakes_for_whatever_is_due_next) {
  EXPECT_EQ(worker->next_wake(), time.steady() + duration{15'000});
  take(0, 4, 700);
  EXPECT_EQ(worker->next_wake(), time.steady() + duration{700});
  pass(700);
  EXPECT_EQ(worker->next_wake(), time.steady() + duration{200});
  hand_over({attempt(1)});
  pass(200);
  EXPECT_EQ(worker->next_wake(), time.steady() + duration{1'800});
}

// ---- moves ----

TEST_F(worker_session_test, does_not_send_what_the_worker_says_that_it_has) {
  begin(true, {ticket(1)});
  welcome(2);
  hand_over({attempt(1), attempt(2)});
  EXPECT_EQ(tasks(take(0)), (numbers{2}));
  EXPECT_EQ(worker->held(), 2u);
}

TEST_F(worker_session_test, never_gives_back_what_an_answer_of_the_former_node_may_have_carried) {
  begin(true);
  welcome(1);
  hand_over({attempt(1)});
  pass(30'000);
  EXPECT_TRUE(sent.empty());
  hand_over({attempt(2)});
  pass(2'000);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(last().task_number(), 2u);
}

TEST_F(worker_session_test, judges_no_ticket_before_its_shard_has_handed_everything_over_again) {
  begin(true);
  EXPECT_EQ((**report({{ticket(1), agents::completed("1")}})).failure().code, v1::ERROR_CODE_UNAVAILABLE);
  EXPECT_EQ((**beat({{ticket(1), 1, {}}})).failure().code, v1::ERROR_CODE_UNAVAILABLE);
  welcome(1);
  pass(3'000);
  EXPECT_EQ((**report({{ticket(1), agents::completed("1")}})).failure().code, v1::ERROR_CODE_UNAVAILABLE);
  hand_over({attempt(1)});
  const auto said = report({{ticket(1), agents::completed("1")}});
  record(1);
  EXPECT_EQ(how(said), session::report_result::accepted);
  EXPECT_EQ(how(report({{ticket(9), agents::completed("1")}})), session::report_result::not_held);
}

TEST_F(worker_session_test, holds_what_it_names_until_its_shard_has_handed_everything_over_again) {
  begin(true, {ticket(1), ticket(2)});
  EXPECT_EQ(worker->held(), 2u);
  const auto refused = worker->leave(false);
  EXPECT_EQ(refused.failure().code, v1::ERROR_CODE_WRONG_STATE);
  EXPECT_EQ(refused.failure().sentence, "The worker holds 2 attempts.");
  welcome(1);
  hand_over({attempt(1)});
  EXPECT_EQ(worker->held(), 2u) << "each counts once";
  pass(2'000);
  EXPECT_EQ(worker->held(), 1u) << "the shard knows of no other one";
  report({{ticket(1), agents::completed("1")}});
  record(1);
  EXPECT_TRUE(worker->leave(false).ok());
}

TEST_F(worker_session_test, leaves_what_it_names_and_abandons_in_doubt) {
  begin(true, {ticket(1)});
  EXPECT_TRUE(worker->leave(true).ok());
  welcome(1);
  hand_over({attempt(1)});
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(last().fault().kind(), v1::FAULT_KIND_IN_DOUBT);
  EXPECT_FALSE(last().not_begun());
}

TEST_F(worker_session_test, never_gives_back_what_an_answer_has_carried_before_the_one_that_was_not_sent) {
  hand_over({attempt(1)});
  EXPECT_EQ(tasks(take(0)), (numbers{1}));
  EXPECT_EQ(tasks(take(0)), (numbers{1})) << "the first answer may still be on its way";
  worker->unsent(2);
  settle();
  pass(2'000);
  EXPECT_TRUE(sent.empty());
  EXPECT_EQ(worker->held(), 1u);
  EXPECT_EQ(tasks(take(0)), (numbers{1})) << "it comes again all the same";
}

TEST_F(worker_session_test, refuses_nothing_that_the_worker_has_begun_when_it_had_the_call) {
  begin(true, {ticket(1)});
  welcome(1);
  auto what = attempt(1);
  what.set_call("fly");
  hand_over({what});
  EXPECT_TRUE(sent.empty());
  const auto said = report({{ticket(1), agents::completed("1")}});
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_FALSE(last().has_fault());
  record(1);
  EXPECT_EQ(how(said), session::report_result::accepted);
}

}  // namespace
}  // namespace fairlead::testing
