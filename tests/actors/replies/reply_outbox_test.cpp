#include "actors/replies/outbox.hpp"

#include <gtest/gtest.h>

#include "store/keys.hpp"
#include "tests/actors/replies/reply_world.hpp"

namespace fairlead::replies_testing {
namespace {

std::string refusal(const v1::ReplyAddress& address) {
  const auto problem = check_reply_address(address);
  if (!problem) return "fine";
  EXPECT_EQ(problem->code, v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_FALSE(problem->remedy.empty());
  return problem->sentence;
}

TEST(reply_address_test, is_exactly_one_of_client_and_webhook) {
  EXPECT_EQ(refusal(client_address("shop")), "fine");
  EXPECT_EQ(refusal(webhook_address("http://host/hook")), "fine");
  EXPECT_EQ(refusal({}), "The reply address names neither a client nor a webhook");
  auto both = client_address("shop");
  both.set_webhook("http://host/hook");
  EXPECT_EQ(refusal(both), "The reply address names both a client and a webhook");
  v1::ReplyAddress only_steps;
  only_steps.set_steps(true);
  EXPECT_NE(refusal(only_steps), "fine");
}

TEST(reply_address_test, has_a_name_or_url_that_is_one) {
  EXPECT_EQ(refusal(client_address("Shop.1_a:b@c/d-e")), "fine");
  EXPECT_EQ(refusal(client_address(std::string(128, 'x'))), "fine");
  for (const std::string& name : {std::string(129, 'x'), std::string{"a b"}, std::string{"caf\xc3\xa9"}, std::string{"a\nb"},
                                  std::string{"a\0b", 3}, std::string{"a*"}, std::string{"a,b"}})
    EXPECT_EQ(refusal(client_address(name)), "The client name of the reply address is not valid") << name;
  EXPECT_EQ(refusal(webhook_address("ftp://host/")), "The webhook URL does not begin with http:// or https://");
}

class reply_outbox_test : public ::testing::Test {
 protected:
  std::vector<std::uint64_t> positions(const std::string& client, std::uint64_t after = 0, std::size_t limit = 100) {
    std::vector<std::uint64_t> out;
    const auto events = read_outbox(*store.read(), store::reply_address_hash(client_address(client)), after, limit);
    EXPECT_TRUE(events.ok());
    for (const auto& event : *events) out.push_back(event.position());
    return out;
  }
  std::uint64_t take(const std::string& client, std::uint64_t position) {
    auto rows = one.outbox.take(store::reply_address_hash(client_address(client)), position);
    EXPECT_TRUE(rows.ok());
    const auto count = rows->delivered_events;
    if (!rows->rows.empty()) one.waiting.push_back(std::move(*rows));
    return count;
  }

  store::memory_store store;
  manual_clock time;
  reply_process one{store, time};
};

using numbers = std::vector<std::uint64_t>;

TEST_F(reply_outbox_test, gives_each_event_the_next_position_of_the_shard_and_keeps_receivers_apart) {
  one.put(client_address("a"), "t1", 1, 2);
  one.put(client_address("b"), "t2", 1, 1);
  one.put(client_address("a"), "t3", 1, 1);
  EXPECT_EQ(positions("a"), (numbers{1, 2, 4}));
  EXPECT_EQ(positions("b"), (numbers{3}));
  EXPECT_EQ(positions("a", 1), (numbers{2, 4}));
  EXPECT_EQ(positions("a", 0, 2), (numbers{1, 2}));
  EXPECT_EQ(positions("a", ~std::uint64_t{0}), numbers{});
  EXPECT_EQ(one.shard_state().next_position(), 4u);
  EXPECT_EQ(one.shard_state().outbox_events(), 4u);
}

TEST_F(reply_outbox_test, stores_whom_an_event_is_for_in_the_row_itself) {
  auto to = webhook_address("http://host/hook");
  to.set_steps(true);
  one.put(to, "t1", 1, 1);
  const auto events = read_outbox(*store.read(), store::reply_address_hash(to), 0, 10);
  ASSERT_TRUE(events.ok());
  ASSERT_EQ(events->size(), 1u);
  EXPECT_EQ((*events)[0].to().webhook(), "http://host/hook");
  EXPECT_EQ((*events)[0].task_id(), "t1");
}

TEST_F(reply_outbox_test, takes_each_event_once_though_its_erasure_is_not_durable_yet) {
  one.put(client_address("a"), "t1", 1, 3);
  EXPECT_EQ(take("a", 2), 2u);
  EXPECT_EQ(take("a", 2), 0u);
  EXPECT_EQ(take("a", 3), 1u);
  EXPECT_EQ(take("a", 3), 0u);
  one.commit_all();
  EXPECT_EQ(one.rows(), 0u);
  one.expect_counted();
}

TEST_F(reply_outbox_test, forgets_what_is_erased_durably_and_nothing_before) {
  const auto address = store::reply_address_hash(client_address("a"));
  one.put(client_address("a"), "t1", 1, 3);
  take("a", 2);
  ASSERT_TRUE(one.outbox.settle().ok());
  EXPECT_EQ(one.outbox.taken(address), 2u);
  one.commit_all();
  ASSERT_TRUE(one.outbox.settle().ok());
  EXPECT_EQ(one.outbox.taken(address), 0u);
  EXPECT_EQ(positions("a"), (numbers{3}));
}

TEST_F(reply_outbox_test, takes_no_more_than_fits_a_batch_at_a_time) {
  one.put(client_address("a"), "t1", 1, reply_outbox::rows_at_once + 5);
  EXPECT_EQ(take("a", ~std::uint64_t{0}), reply_outbox::rows_at_once);
  EXPECT_EQ(take("a", ~std::uint64_t{0}), 5u);
  one.commit_all();
  EXPECT_EQ(one.rows(), 0u);
  one.expect_counted();
}

TEST_F(reply_outbox_test, says_so_when_a_row_is_damaged) {
  one.put(client_address("a"), "t1", 1, 1);
  const auto address = store::reply_address_hash(client_address("a"));
  ASSERT_TRUE(store.damage(store::table::outbox, store::keys::outbox(store::default_namespace, address, 1)));
  const auto events = read_outbox(*store.read(), address, 0, 10);
  ASSERT_FALSE(events.ok());
  EXPECT_EQ(events.failure().code, v1::ERROR_CODE_CORRUPT);
}

}  // namespace
}  // namespace fairlead::replies_testing
