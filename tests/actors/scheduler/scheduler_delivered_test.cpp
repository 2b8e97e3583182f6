// Status events that were delivered, on their way off the outbox across a restart: what the shard counts is what its outbox holds.

#include "actors/replies/outbox.hpp"
#include "store/content_hash.hpp"
#include "tests/actors/scheduler/scheduler_world.hpp"

namespace fairlead::testing {
namespace {

class scheduler_delivered_test : public scheduler_fixture {
 protected:
  scheduler_delivered_test() {
    deploy(workflow_of({step("a")}));
    for (const auto* id : {"t1", "t2", "t3"}) {
      auto item = submission(id);
      item.mutable_reply()->set_client("shop");
      submit(item);
    }
    address_.set_client("shop");
  }

  courier_rows take(reply_outbox& from, std::uint64_t position) {
    auto rows = from.take(store::reply_address_hash(address_), position);
    EXPECT_TRUE(rows.ok());
    return *rows;
  }

  std::size_t held() { return store.read()->count(store::table::outbox); }
  std::uint64_t counted() { return store.read()->get_progress().shard.outbox_events(); }

  v1::ReplyAddress address_;
};

TEST_F(scheduler_delivered_test, are_taken_off_and_counted_once) {
  reply_outbox outbox{store};
  ASSERT_EQ(held(), 3U);
  node->shell.delivered(take(outbox, 2));
  node->settle();
  EXPECT_EQ(held(), 1U);
  EXPECT_EQ(counted(), 1U);
}

TEST_F(scheduler_delivered_test, rows_meant_for_the_scheduler_before_are_neither_erased_nor_counted_again) {
  reply_outbox outbox{store};
  const auto late = take(outbox, 2);
  restart();
  // The courier sees that they still stand there, and takes them once more.
  node->shell.delivered(take(outbox, 2));
  node->shell.delivered(late);
  node->settle();
  EXPECT_EQ(held(), 1U);
  EXPECT_EQ(counted(), 1U);
}

}  // namespace
}  // namespace fairlead::testing
