#include "tests/actors/agent_host/agent_host_world.hpp"

namespace fairlead::testing {
namespace {

class agent_heartbeats_test : public agent_host_test {
 protected:
  v1::Perform beating(std::uint64_t task, std::int64_t heartbeat_ms = 9'000, std::int64_t lease_ms = 60'000) const {
    auto out = attempt(task, 1, lease_ms);
    out.set_heartbeat_ms(heartbeat_ms);
    out.set_heartbeat_by_unix_ms(time.now_ms + heartbeat_ms);
    return out;
  }

  static agents::attempt_key key(std::uint64_t task) { return {task, 0, v1::DIRECTION_PERFORM, 1}; }

  void tell(std::uint64_t task, agents::attempt_progress what) {
    backend.sink(key(task), std::move(what));
    host().progressed(key(task));
    host().flush();
  }

  void confirm(std::uint64_t task, std::uint64_t sequence, bool held = true) {
    v1::HeartbeatAckBatch batch;
    auto* ack = batch.add_items();
    ack->set_task_number(task);
    ack->set_attempt(1);
    ack->set_sequence(sequence);
    ack->set_held(held);
    host().acknowledged(batch);
    host().flush();
  }

  void hanging() {
    backend.hangs = true;
    restart({});
  }
};

TEST_F(agent_heartbeats_test, is_heard_of_every_third_of_the_heartbeat) {
  hand_over({beating(1)});
  pass(2'999);
  EXPECT_TRUE(out.beats.empty());
  pass(1);
  ASSERT_EQ(out.beats.size(), 1u);
  EXPECT_EQ(out.beats[0].sequence(), 1u);
  EXPECT_FALSE(out.beats[0].has_progress());
  confirm(1, 1);
  pass(3'000);
  ASSERT_EQ(out.beats.size(), 2u);
  EXPECT_EQ(out.beats[1].sequence(), 2u);
}

TEST_F(agent_heartbeats_test, holds_a_step_from_the_sending_of_the_last_heartbeat_that_is_acknowledged) {
  hand_over({beating(1)});
  pass(3'000);
  time.now_ms += 2'000;
  confirm(1, 1);  // sent at 3 s: held until 12 s, however late the answer came
  pass(6'999);
  EXPECT_TRUE(backend.stopped.empty());
  pass(1);
  ASSERT_EQ(backend.stopped.size(), 1u);
  finish(1);
  EXPECT_TRUE(out.sent.empty()) << "and says nothing of it any more";
}

TEST_F(agent_heartbeats_test, stops_when_no_heartbeat_is_acknowledged) {
  hand_over({beating(1)});
  pass(3'000);
  pass(3'000);
  pass(3'000);
  EXPECT_EQ(backend.stopped.size(), 1u);
  finish(1);
  EXPECT_TRUE(out.sent.empty());
}

TEST_F(agent_heartbeats_test, speaks_no_more_though_nobody_has_looked_at_its_lease) {
  hand_over({beating(1)});
  time.now_ms += 9'000;
  finish(1);
  EXPECT_TRUE(out.sent.empty());
}

TEST_F(agent_heartbeats_test, shortens_no_lease_by_a_late_acknowledgement) {
  hand_over({beating(1)});
  pass(3'000);
  pass(3'000);
  ASSERT_EQ(out.beats.size(), 2u);
  confirm(1, 2);  // until 15 s
  confirm(1, 1);  // says 12 s
  pass(7'000);    // 13 s
  EXPECT_TRUE(backend.stopped.empty());
  pass(2'000);
  EXPECT_EQ(backend.stopped.size(), 1u);
}

TEST_F(agent_heartbeats_test, takes_no_lease_from_an_acknowledgement_of_what_it_never_sent) {
  hand_over({beating(1)});
  confirm(1, 77);
  pass(3'000);
  confirm(1, 1);
  pass(8'999);
  EXPECT_TRUE(backend.stopped.empty()) << "what was sent counts still";
  pass(1);
  EXPECT_EQ(backend.stopped.size(), 1u);
}

TEST_F(agent_heartbeats_test, holds_nothing_beyond_complete_by) {
  hand_over({beating(1, 9'000, 10'000)});
  pass(3'000);
  confirm(1, 1);
  pass(6'999);
  EXPECT_TRUE(backend.stopped.empty());
  pass(1);
  EXPECT_EQ(backend.stopped.size(), 1u);
}

TEST_F(agent_heartbeats_test, stops_what_is_not_its_own_any_more) {
  hand_over({beating(1), attempt(2)});
  pass(3'000);
  confirm(1, 1, false);
  ASSERT_EQ(backend.stopped.size(), 1u);
  EXPECT_EQ(backend.stopped[0].task_number, 1u);
  finish(1);
  EXPECT_TRUE(out.sent.empty());
  hand_over({beating(1)}, 2);
  EXPECT_EQ(backend.started.size(), 2u) << "what was stopped is not begun again when it comes once more";
}

TEST_F(agent_heartbeats_test, begins_nothing_whose_heartbeat_is_overdue) {
  auto late = beating(1);
  late.set_heartbeat_by_unix_ms(time.now_ms);
  hand_over({late});
  EXPECT_TRUE(backend.started.empty());
}

TEST_F(agent_heartbeats_test, lets_an_attempt_that_hangs_lose_its_lease) {
  hanging();
  hand_over({beating(1)});
  pass(3'000);
  EXPECT_TRUE(out.beats.empty()) << "only what it says itself is a sign of life";
  tell(1, {});
  ASSERT_EQ(out.beats.size(), 1u);
  EXPECT_FALSE(out.beats[0].has_progress());
  confirm(1, 1);
  pass(3'000);
  pass(3'000);
  EXPECT_EQ(out.beats.size(), 1u);
  pass(3'000);
  EXPECT_EQ(backend.stopped.size(), 1u) << "nine seconds after it was heard of last";
}

TEST_F(agent_heartbeats_test, speaks_for_one_that_waits_for_its_next_try) {
  backend.hangs = true;
  agents::agent_settings settings;
  settings.retry.tries = 2;
  restart(settings);
  hand_over({beating(1)});
  auto later = agents::transient_fault("http_503", "soon");
  later.fault->set_retry_after_ms(20'000);
  finish(1, 1, later);
  for (std::uint64_t i = 1; i <= 6; ++i) {
    pass(3'000);
    ASSERT_EQ(out.beats.size(), i);
    confirm(1, i);
  }
  pass(2'000);
  EXPECT_EQ(backend.started.size(), 2u);
  EXPECT_TRUE(backend.stopped.empty());
}

TEST_F(agent_heartbeats_test, tells_the_first_progress_at_once_and_gathers_the_rest) {
  hand_over({attempt(1, 1, 60'000)});
  tell(1, {5, "loading", ""});
  ASSERT_EQ(out.beats.size(), 1u) << "also of a step without a heartbeat";
  EXPECT_TRUE(out.beats[0].has_progress());
  EXPECT_EQ(out.beats[0].percent(), 5u);
  for (std::uint32_t i = 6; i < 50; ++i) tell(1, {i, "", ""});
  tell(1, {std::nullopt, "stowing", R"({"row":9})"});
  pass(999);
  EXPECT_EQ(out.beats.size(), 1u);
  pass(1);
  ASSERT_EQ(out.beats.size(), 2u);
  EXPECT_EQ(out.beats[1].percent(), 49u);
  EXPECT_EQ(out.beats[1].note(), "stowing");
  EXPECT_EQ(out.beats[1].checkpoint(), R"({"row":9})");
  pass(10'000);
  EXPECT_EQ(out.beats.size(), 2u) << "with nothing to tell and no heartbeat it is silent";
}

TEST_F(agent_heartbeats_test, tells_again_what_may_have_been_lost) {
  hand_over({beating(1)});
  tell(1, {40, "half", ""});
  pass(3'000);
  ASSERT_EQ(out.beats.size(), 2u);
  EXPECT_EQ(out.beats[1].percent(), 40u) << "nobody has said that the first arrived";
  confirm(1, 2);
  pass(3'000);
  ASSERT_EQ(out.beats.size(), 3u);
  EXPECT_FALSE(out.beats[2].has_progress());
}

TEST_F(agent_heartbeats_test, has_one_message_under_way_however_much_an_attempt_tells) {
  hand_over({attempt(1)});
  for (std::uint32_t i = 0; i < 10'000; ++i) backend.sink(key(1), {i % 100, "row " + std::to_string(i), ""});
  EXPECT_EQ(out.told.size(), 1u);
  host().progressed(key(1));
  host().flush();
  ASSERT_EQ(out.beats.size(), 1u);
  EXPECT_EQ(out.beats[0].note(), "row 9999");
  backend.sink(key(1), {1, "", ""});
  EXPECT_EQ(out.told.size(), 2u);
}

TEST_F(agent_heartbeats_test, cuts_down_what_an_attempt_says) {
  hand_over({attempt(1), attempt(2), attempt(3)});
  tell(1, {4'000'000'000U, std::string(1'000, 'x') + "\xff", ""});
  ASSERT_EQ(out.beats.size(), 1u);
  EXPECT_EQ(out.beats[0].percent(), 100u);
  EXPECT_EQ(out.beats[0].note(), std::string(256, 'x'));
  tell(2, {50, "", "{oops"});
  tell(3, {50, "", "\"" + std::string(65'536, 'x') + "\""});
  EXPECT_EQ(out.beats.size(), 1u) << "what the next attempt could not read is not told at all";
}

TEST_F(agent_heartbeats_test, tells_the_last_checkpoint_before_the_fault_that_follows_it) {
  hand_over({attempt(1)});
  tell(1, {1, "", R"({"row":1})"});
  tell(1, {2, "", R"({"row":2})"});
  ASSERT_EQ(out.beats.size(), 1u);
  finish(1, 1, agents::transient_fault("http_503", "away"));
  ASSERT_EQ(out.beats.size(), 2u);
  EXPECT_EQ(out.beats[1].checkpoint(), R"({"row":2})");
  EXPECT_EQ(out.sent.size(), 1u);
}

TEST_F(agent_heartbeats_test, hears_nothing_of_attempts_that_it_does_not_hold) {
  tell(9, {1, "", ""});
  hand_over({attempt(1)});
  finish(1);
  tell(1, {1, "", ""});
  EXPECT_TRUE(out.beats.empty());
  confirm(9, 1, false);
  EXPECT_TRUE(backend.stopped.empty());
}

}  // namespace
}  // namespace fairlead::testing
