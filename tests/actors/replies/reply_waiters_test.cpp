#include "actors/replies/waiters.hpp"

#include <gtest/gtest.h>

#include "tests/actors/replies/reply_world.hpp"

namespace fairlead::replies_testing {
namespace {

class reply_waiters_test : public ::testing::Test {
 protected:
  static v1::RepliesRequest request(const std::string& client, std::uint64_t acknowledged = 0, std::int64_t wait_ms = 0,
                                    std::uint32_t page = 0) {
    v1::RepliesRequest out;
    out.set_client(client);
    out.set_acknowledged(acknowledged);
    out.set_wait_ms(wait_ms);
    out.set_page_size(page);
    return out;
  }
  /// `task/sequence`, or the error's sentence, or `waits`.
  std::vector<std::string> ask(const v1::RepliesRequest& what, std::uint64_t ticket = 1) { return shown(shell.ask(what, ticket)); }
  static std::vector<std::string> shown(const std::optional<v1::RepliesReply>& reply) {
    if (!reply) return {"waits"};
    if (reply->has_error()) return {reply->error().sentence()};
    std::vector<std::string> out;
    for (const auto& event : reply->events()) out.push_back(event.task_id() + "/" + std::to_string(event.sequence()));
    return out;
  }

  store::memory_store store;
  manual_clock time;
  reply_process one{store, time};
  reply_waiters shell{{&time, &store, &one.outbox, [this](courier_rows rows) { one.waiting.push_back(std::move(rows)); }}};
};

using texts = std::vector<std::string>;

TEST_F(reply_waiters_test, give_a_client_its_own_events_in_order_and_again_until_they_are_acknowledged) {
  one.put(client_address("a"), "t1", 1, 2);
  one.put(client_address("b"), "t2", 1, 1);
  EXPECT_EQ(ask(request("a")), (texts{"t1/1", "t1/2"}));
  EXPECT_EQ(ask(request("a")), (texts{"t1/1", "t1/2"}));
  EXPECT_EQ(ask(request("a", 1)), (texts{"t1/2"}));
  EXPECT_EQ(ask(request("a")), (texts{"t1/2"})) << "what is acknowledged is gone before its erasure is durable";
  one.commit_all();
  EXPECT_EQ(one.rows(), 2u);
  one.expect_counted();
}

TEST_F(reply_waiters_test, do_not_send_the_address_along) {
  one.put(client_address("a"), "t1", 1, 1);
  const auto reply = shell.ask(request("a"), 1);
  ASSERT_TRUE(reply);
  ASSERT_EQ(reply->events_size(), 1);
  EXPECT_FALSE(reply->events(0).has_to());
  EXPECT_EQ(reply->events(0).position(), 1u);
}

TEST_F(reply_waiters_test, an_acknowledgement_erases_the_rows_of_that_client_alone) {
  one.put(client_address("a"), "t1", 1, 1);
  one.put(client_address("b"), "t2", 1, 1);
  one.put(client_address("a"), "t1", 2, 2);
  ask(request("a", 3));
  one.commit_all();
  EXPECT_EQ(ask(request("b")), (texts{"t2/1"}));
  EXPECT_EQ(ask(request("a")), texts{});
  one.expect_counted();
}

TEST_F(reply_waiters_test, an_acknowledgement_that_is_repeated_counts_once) {
  one.put(client_address("a"), "t1", 1, 2);
  ask(request("a", 2));
  ask(request("a", 2));
  one.commit_all();
  ask(request("a", 2));
  one.commit_all();
  EXPECT_EQ(one.rows(), 0u);
  one.expect_counted();
}

TEST_F(reply_waiters_test, cut_what_there_is_into_pages) {
  one.put(client_address("a"), "t1", 1, 1'200);
  EXPECT_EQ(ask(request("a")).size(), 100u);
  EXPECT_EQ(ask(request("a", 0, 0, 7)).size(), 7u);
  EXPECT_EQ(ask(request("a", 0, 0, 5'000)).size(), 1'000u);
}

TEST_F(reply_waiters_test, wait_for_the_first_event_and_no_longer_than_told) {
  EXPECT_EQ(ask(request("a", 0, 5'000), 1), (texts{"waits"}));
  EXPECT_EQ(ask(request("b", 0, 5'000), 2), (texts{"waits"}));
  EXPECT_TRUE(shell.look().empty());
  one.put(client_address("a"), "t1", 1, 1);
  auto answers = shell.look();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].first, 1u);
  EXPECT_EQ(shown(answers[0].second), (texts{"t1/1"}));
  time.now_ms += 4'999;
  EXPECT_TRUE(shell.look().empty());
  time.now_ms += 1;
  answers = shell.look();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].first, 2u);
  EXPECT_EQ(shown(answers[0].second), texts{});
  EXPECT_FALSE(shell.anyone_waits());
}

TEST_F(reply_waiters_test, wait_at_most_half_a_minute) {
  EXPECT_EQ(ask(request("a", 0, 3'600'000)), (texts{"waits"}));
  time.now_ms += 30'000;
  EXPECT_EQ(shell.look().size(), 1u);
}

TEST_F(reply_waiters_test, do_not_wait_longer_because_the_clock_was_set_back) {
  EXPECT_EQ(ask(request("a", 0, 30'000)), (texts{"waits"}));
  time.now_ms -= 3'600'000;
  EXPECT_EQ(shell.look().size(), 1u);
}

TEST_F(reply_waiters_test, refuse_to_keep_more_than_a_thousand_waiting) {
  for (std::uint64_t i = 1; i <= reply_waiters::most_waiting; ++i) ASSERT_EQ(ask(request("a", 0, 1'000), i), (texts{"waits"}));
  const auto reply = shell.ask(request("b", 0, 1'000), 5'000);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->error().code(), v1::ERROR_CODE_OVERLOADED);
  EXPECT_EQ(ask(request("b", 0, 0), 5'001), texts{}) << "who does not wait is served";
}

TEST_F(reply_waiters_test, refuse_a_name_that_is_none_and_a_position_that_never_was) {
  EXPECT_EQ(ask(request("")), (texts{"The client's name is empty"}));
  EXPECT_EQ(ask(request("a b")), (texts{"The client's name is not valid"}));
  one.put(client_address("a"), "t1", 1, 1);
  const auto reply = shell.ask(request("a", 2), 1);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->error().code(), v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_EQ(reply->error().sentence(), "Position 2 was acknowledged, but no event has a position that high");
  EXPECT_TRUE(one.waiting.empty());
}

}  // namespace
}  // namespace fairlead::replies_testing
