#include "actors/replies/courier.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "actors/replies/message.hpp"
#include "tests/actors/replies/reply_world.hpp"

namespace fairlead::replies_testing {
namespace {

const std::string hook = "http://one/hook";
const std::string other = "http://two/hook";

/// `task/sequence` of what a post carries, in its order.
std::vector<std::string> carried(const std::string& body) {
  std::vector<std::string> out;
  if (body.empty()) return out;
  const auto json = nlohmann::json::parse(body);
  for (const auto& event : json.at("events"))
    out.push_back(event.at("task").get<std::string>() + "/" + std::to_string(event.at("sequence").get<int>()));
  return out;
}

using texts = std::vector<std::string>;

class reply_courier_test : public ::testing::Test {
 protected:
  /// Ends this process where it stands, what it has not committed included, and starts another over the same store.
  void restart(duration give_up_after = std::chrono::hours{24}) {
    one.reset();
    one = std::make_unique<reply_process>(store, time, give_up_after);
  }
  void pass(duration by) { time.now_ms += by.count(); }

  store::memory_store store;
  manual_clock time;
  std::unique_ptr<reply_process> one = std::make_unique<reply_process>(store, time);
};

TEST_F(reply_courier_test, does_nothing_but_look_while_there_is_nothing) {
  EXPECT_EQ(one->look(), reply_courier::idle_pause);
  EXPECT_TRUE(one->posts.open.empty());
  EXPECT_TRUE(one->waiting.empty());
}

TEST_F(reply_courier_test, costs_next_to_nothing_while_there_is_nothing) {
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < 1'000; ++i) one->look();
  // A hundred times what it takes, so that a busy machine does not matter.
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::milliseconds{1'000});
}

TEST_F(reply_courier_test, posts_all_that_is_known_of_an_event) {
  auto batch = one->shard.next();
  v1::StatusEvent step;
  step.set_task_id("t\"1");
  step.set_sequence(7);
  step.set_at_unix_ms(1'700'000'000'250);
  step.set_kind(v1::STATUS_KIND_STEP);
  step.set_step("charge");
  step.set_step_state(v1::STEP_STATE_COMPLETED);
  step.set_state(v1::TASK_STATE_RUNNING);
  put_status(batch, one->shard.state(), webhook_address(hook), step);
  v1::StatusEvent parked;
  parked.set_task_id("t\"1");
  parked.set_sequence(8);
  parked.set_kind(v1::STATUS_KIND_PARKED);
  parked.set_state(v1::TASK_STATE_RUNNING);
  parked.set_reason("ship failed");
  put_status(batch, one->shard.state(), webhook_address(hook), parked);
  one->shard.expect_committed(std::move(batch));
  one->look();
  const auto body = nlohmann::json::parse(one->posts.succeed(hook));
  EXPECT_EQ(body.at("node"), "one");
  EXPECT_EQ(body.at("events").at(0), nlohmann::json::parse(R"({"task":"t\"1","sequence":7,"at":"2023-11-14T22:13:20.250Z","kind":"step",
    "state":"running","step":"charge","step_state":"completed","reason":null,"output":null})"));
  EXPECT_EQ(body.at("events").at(1).at("kind"), "parked");
  EXPECT_EQ(body.at("events").at(1).at("reason"), "ship failed");
  EXPECT_TRUE(body.at("events").at(1).at("step").is_null());
}

TEST(status_event, says_the_output_of_a_completed_task_as_it_is) {
  v1::StatusEvent event;
  event.set_task_id("t1");
  event.set_kind(v1::STATUS_KIND_COMPLETED);
  event.set_state(v1::TASK_STATE_COMPLETED);
  EXPECT_TRUE(event_json(event).ends_with(R"("reason":null,"output":null})")) << event_json(event);
  event.set_output(R"({"sum":12345678901234567890})");
  EXPECT_TRUE(event_json(event).ends_with(R"("reason":null,"output":{"sum":12345678901234567890}})")) << event_json(event);
}

TEST_F(reply_courier_test, erases_what_has_arrived_and_counts_it) {
  one->put(webhook_address(hook), "t1", 1, 3);
  EXPECT_EQ(one->look(), reply_courier::busy_pause);
  EXPECT_EQ(one->rows(), 3u);
  EXPECT_EQ(carried(one->posts.succeed(hook)), (texts{"t1/1", "t1/2", "t1/3"}));
  EXPECT_EQ(one->woken, 1);
  one->look();
  one->commit_all();
  EXPECT_EQ(one->rows(), 0u);
  one->expect_counted();
  EXPECT_EQ(one->look(), reply_courier::idle_pause);
  EXPECT_EQ(one->posts.begun[hook], 1);
}

TEST_F(reply_courier_test, posts_a_hundred_at_a_time_in_order_and_one_post_at_a_time) {
  one->put(webhook_address(hook), "t1", 1, 250);
  one->look();
  one->look();
  EXPECT_EQ(one->posts.begun[hook], 1);
  const auto first = carried(one->posts.succeed(hook));
  ASSERT_EQ(first.size(), 100u);
  EXPECT_EQ(first.back(), "t1/100");
  one->look();
  // The erasure of the first hundred is not durable yet; they are not sent again all the same.
  const auto second = carried(one->posts.succeed(hook));
  ASSERT_EQ(second.size(), 100u);
  EXPECT_EQ(second.front(), "t1/101");
  one->look();
  EXPECT_EQ(carried(one->posts.succeed(hook)).size(), 50u);
  one->look();
  one->commit_all();
  EXPECT_EQ(one->rows(), 0u);
  one->expect_counted();
}

TEST_F(reply_courier_test, posts_again_after_a_crash_between_post_and_commit_and_keeps_the_order) {
  one->put(webhook_address(hook), "t1", 1, 150);
  one->look();
  one->posts.succeed(hook);
  one->look();
  ASSERT_FALSE(one->waiting.empty());
  restart();
  EXPECT_EQ(one->rows(), 150u);
  one->look();
  const auto again = carried(one->posts.succeed(hook));
  ASSERT_EQ(again.size(), 100u);
  EXPECT_EQ(again.front(), "t1/1");
  one->look();
  EXPECT_EQ(carried(one->posts.succeed(hook)).front(), "t1/101");
  one->look();
  one->commit_all();
  EXPECT_EQ(one->rows(), 0u);
  one->expect_counted();
}

TEST_F(reply_courier_test, a_receiver_that_fails_or_hangs_delays_no_other) {
  one->put(webhook_address(hook), "t1", 1, 1);
  one->put(webhook_address(other), "t2", 1, 1);
  one->look();
  ASSERT_TRUE(one->posts.posting(hook));
  EXPECT_EQ(carried(one->posts.succeed(other)), (texts{"t2/1"}));
  one->put(webhook_address(other), "t2", 2, 2);
  one->look();
  EXPECT_EQ(carried(one->posts.succeed(other)), (texts{"t2/2"}));
  one->posts.fail(hook);
  one->put(webhook_address(other), "t2", 3, 3);
  one->look();
  EXPECT_FALSE(one->posts.posting(hook));
  EXPECT_EQ(carried(one->posts.succeed(other)), (texts{"t2/3"}));
}

TEST_F(reply_courier_test, tries_again_after_a_second_and_twice_as_long_each_time_up_to_five_minutes) {
  one->put(webhook_address(hook), "t1", 1, 1);
  one->look();
  for (const int seconds : {1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300}) {
    ASSERT_FALSE(one->posts.fail(hook).empty());
    one->look();
    one->commit_all();
    pass(std::chrono::seconds{seconds} - duration{1});
    one->look();
    EXPECT_FALSE(one->posts.posting(hook)) << seconds;
    pass(duration{1});
    one->look();
    EXPECT_TRUE(one->posts.posting(hook)) << seconds;
  }
  EXPECT_EQ(one->failing_rows(), 1u);
  EXPECT_EQ(carried(one->posts.succeed(hook)), (texts{"t1/1"}));
  one->look();
  one->commit_all();
  EXPECT_EQ(one->failing_rows(), 0u);
  EXPECT_EQ(one->rows(), 0u);
  // And it begins at a second again.
  one->put(webhook_address(hook), "t1", 2, 2);
  one->look();
  one->posts.fail(hook);
  one->look();
  pass(std::chrono::seconds{1});
  one->look();
  EXPECT_TRUE(one->posts.posting(hook));
}

TEST_F(reply_courier_test, knows_after_a_restart_how_it_went_with_a_receiver) {
  one->put(webhook_address(hook), "t1", 1, 1);
  one->look();
  for (int i = 0; i < 3; ++i) {
    one->posts.fail(hook, "it answered 500");
    one->look();
    one->commit_all();
    if (i < 2) pass(std::chrono::minutes{5});
    one->look();
  }
  restart();
  one->look();
  EXPECT_FALSE(one->posts.posting(hook)) << "the backoff of 4 s is not over";
  v1::StatusReply status;
  add_failing_receivers(*store.read(), status);
  ASSERT_EQ(status.replies_failing_size(), 1);
  EXPECT_EQ(status.replies_failing(0).address().webhook(), hook);
  EXPECT_EQ(status.replies_failing(0).failures(), 3u);
  EXPECT_EQ(status.replies_failing(0).last_failure(), "it answered 500");
  EXPECT_EQ(status.replies_failing(0).failing_since_unix_ms(), start_ms);
  pass(std::chrono::seconds{4});
  one->look();
  EXPECT_TRUE(one->posts.posting(hook));
}

TEST_F(reply_courier_test, says_again_how_it_goes_with_a_receiver_when_that_went_with_a_scheduler) {
  one->put(webhook_address(hook), "t", 1, 1);
  one->look();
  one->posts.fail(hook);
  one->look();
  one->replace_scheduler();
  one->look();
  one->commit_all();
  EXPECT_EQ(one->failing_rows(), 1u);
  pass(reply_courier::longest_backoff);
  one->look();
  one->posts.succeed(hook);
  one->look();
  one->replace_scheduler();
  for (int i = 0; i < 3; ++i) {
    one->look();
    one->posts.succeed(hook);
    one->commit_all();
  }
  EXPECT_EQ(one->failing_rows(), 0u) << "it would count as failing for ever";
  EXPECT_EQ(one->rows(), 0u);
}

TEST_F(reply_courier_test, gives_a_receiver_up_that_is_gone_for_long_across_restarts) {
  const std::string with_token = hook + "?token=secret";
  restart(std::chrono::minutes{10});
  one->put(webhook_address(with_token), "t1", 1, 250);
  one->put(webhook_address(other), "t2", 1, 1);
  one->look();
  one->posts.fail(with_token, "it answered 503");
  one->look();
  one->commit_all();
  pass(std::chrono::minutes{6});
  restart(std::chrono::minutes{10});
  one->look();
  ASSERT_FALSE(one->posts.fail(with_token, "it answered 503").empty());
  one->look();
  one->commit_all();
  ASSERT_TRUE(one->alerts.empty());
  // The ten minutes in which the node was away do not count.
  pass(std::chrono::minutes{4});
  one->look();
  one->commit_all();
  ASSERT_TRUE(one->alerts.empty());
  ASSERT_FALSE(one->posts.fail(with_token, "it answered 503").empty());
  one->look();
  one->commit_all();
  pass(std::chrono::minutes{6});
  // Retention time follows with the first look.
  one->retention_reads(time.now_ms);
  one->look();
  one->commit_all();
  ASSERT_EQ(one->alerts.size(), 1u);
  EXPECT_EQ(one->alerts[0].kind(), v1::ALERT_KIND_RECEIVER_GIVEN_UP);
  EXPECT_EQ(one->alerts[0].sentence(),
            "250 status events for webhook http://one/hook?... were dropped: it has not accepted any since 2023-11-14T22:13:20.000Z (it "
            "answered 503)");
  EXPECT_FALSE(one->alerts[0].remedy().empty());
  EXPECT_EQ(one->rows(), 1u) << "the other's stays";
  EXPECT_EQ(one->failing_rows(), 0u);
  one->expect_counted();
  // What comes later is tried anew, and one failure is not the end of it.
  one->look();
  one->put(webhook_address(with_token), "t1", 251, 251);
  one->look();
  EXPECT_EQ(carried(one->posts.fail(with_token)), (texts{"t1/251"}));
  one->look();
  one->commit_all();
  one->look();
  one->commit_all();
  EXPECT_EQ(one->alerts.size(), 1u);
}

TEST_F(reply_courier_test, drops_much_in_several_batches_and_raises_one_alert) {
  restart(std::chrono::minutes{1});
  one->put(client_address("shop"), "t1", 1, 2 * reply_outbox::rows_at_once);
  pass(std::chrono::minutes{1});
  for (int i = 0; i < 4; ++i) {
    one->look();
    for (const auto& rows : one->waiting) EXPECT_LE(rows.rows.size(), reply_outbox::rows_at_once + 1);
    one->commit_all();
  }
  EXPECT_EQ(one->rows(), 0u);
  one->expect_counted();
  ASSERT_EQ(one->alerts.size(), 1u);
  EXPECT_EQ(one->alerts[0].sentence().rfind("20000 status events for client shop were dropped: it has not claimed any since ", 0), 0u)
      << one->alerts[0].sentence();
}

TEST_F(reply_courier_test, leaves_the_events_of_clients_to_them_until_the_oldest_is_too_old) {
  restart(std::chrono::minutes{1});
  one->put(client_address("shop"), "t1", 1, 1);
  EXPECT_EQ(one->look(), reply_courier::idle_pause);
  pass(std::chrono::seconds{59});
  one->put(client_address("shop"), "t1", 2, 2);
  EXPECT_EQ(one->look(), reply_courier::idle_pause);
  EXPECT_TRUE(one->waiting.empty());
  // The client takes the oldest; the next one is young.
  auto rows = one->outbox.take(store::reply_address_hash(client_address("shop")), 1);
  ASSERT_TRUE(rows.ok());
  one->waiting.push_back(std::move(*rows));
  pass(std::chrono::seconds{1});
  one->look();
  one->commit_all();
  EXPECT_TRUE(one->alerts.empty());
  EXPECT_EQ(one->rows(), 1u);
  EXPECT_TRUE(one->posts.open.empty());
}

TEST_F(reply_courier_test, drops_nothing_for_a_clock_that_is_a_day_ahead_for_one_look) {
  one->put(client_address("shop"), "t1", 1, 3);
  one->put(webhook_address(hook), "t2", 1, 1);
  one->look();
  one->posts.fail(hook);
  one->look();
  one->commit_all();
  one->keeps_time = false;
  pass(std::chrono::hours{25});
  one->look();
  one->look();
  pass(-std::chrono::hours{25});
  one->look();
  one->commit_all();
  EXPECT_EQ(one->rows(), 4u);
  EXPECT_TRUE(one->alerts.empty());
}

TEST_F(reply_courier_test, drops_nothing_that_came_before_retention_time_had_begun) {
  const auto right_ms = time.now_ms;
  time.now_ms = 600'000;
  restart();
  one->keeps_time = false;
  pass(std::chrono::minutes{1});
  one->put(client_address("shop"), "t1", 1, 3);
  one->look();
  time.now_ms = right_ms;
  one->retention_reads(right_ms);
  one->look();
  one->look();
  one->commit_all();
  EXPECT_EQ(one->rows(), 3u);
  // They have their day all the same.
  one->keeps_time = true;
  pass(std::chrono::hours{25});
  for (int i = 0; i < 3; ++i) {
    one->look();
    one->commit_all();
  }
  EXPECT_EQ(one->rows(), 0u);
}

TEST_F(reply_courier_test, drops_nothing_that_came_while_the_clock_read_1970_when_that_is_put_right) {
  one->put(client_address("else"), "t0", 1, 1);
  one->look();
  one->keeps_time = false;
  const auto right_ms = time.now_ms;
  time.now_ms = 600'000;
  one->put(client_address("shop"), "t1", 1, 2);
  one->look();
  time.now_ms = right_ms;
  one->look();
  one->commit_all();
  EXPECT_EQ(one->rows(), 3u);
  // Nor by the next process, which has not seen them come.
  restart();
  one->look();
  one->look();
  one->commit_all();
  EXPECT_EQ(one->rows(), 3u);
  // They have their day all the same.
  one->keeps_time = true;
  pass(std::chrono::hours{25});
  for (int i = 0; i < 3; ++i) {
    one->look();
    one->commit_all();
  }
  EXPECT_EQ(one->rows(), 0u);
}

TEST_F(reply_courier_test, gives_up_a_receiver_although_the_node_restarts_every_five_minutes) {
  restart(std::chrono::minutes{30});
  one->put(client_address("shop"), "t1", 1, 1);
  int lives = 0;
  for (; one->rows() > 0 && lives < 20; ++lives) {
    for (int minute = 0; minute < 5; ++minute) {
      one->look();
      one->commit_all();
      pass(std::chrono::minutes{1});
    }
    restart(std::chrono::minutes{30});
  }
  EXPECT_LE(lives, 10) << "with the time between two lives, which is not counted";
}

TEST_F(reply_courier_test, tries_a_receiver_that_has_failed_although_the_clock_has_been_set_back) {
  one->put(webhook_address(hook), "t1", 1, 1);
  one->look();
  one->posts.fail(hook);
  pass(-std::chrono::hours{2} - std::chrono::seconds{1});
  one->look();
  EXPECT_FALSE(one->posts.posting(hook)) << "it failed just now";
  pass(std::chrono::seconds{1});
  one->look();
  EXPECT_TRUE(one->posts.posting(hook));
  one->posts.fail(hook);
  one->look();
  one->commit_all();
  pass(-std::chrono::hours{2});
  restart();
  one->look();
  EXPECT_TRUE(one->posts.posting(hook)) << "also over a restart";
}

TEST_F(reply_courier_test, serves_many_receivers_a_part_at_a_time_and_forgets_none) {
  for (int i = 0; i < 600; ++i) one->put(webhook_address("http://h/" + std::to_string(i)), "t" + std::to_string(i), 1, 1);
  std::size_t delivered = 0;
  for (int round = 0; round < 20 && one->rows() > 0; ++round) {
    EXPECT_EQ(one->look(), reply_courier::busy_pause);
    EXPECT_LE(one->posts.open.size(), 256u);
    while (!one->posts.open.empty()) {
      one->posts.succeed(one->posts.open.front().what.url);
      ++delivered;
    }
    one->look();
    one->commit_all();
  }
  while (!one->posts.open.empty()) {
    one->posts.succeed(one->posts.open.front().what.url);
    ++delivered;
  }
  one->look();
  one->commit_all();
  EXPECT_EQ(one->rows(), 0u);
  EXPECT_EQ(delivered, 600u);
  one->expect_counted();
}

}  // namespace
}  // namespace fairlead::replies_testing
