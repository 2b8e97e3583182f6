#include "actors/alerts/book.hpp"

#include <gtest/gtest.h>

#include "store/check/check.hpp"
#include "store/memory/memory_store.hpp"
#include "store/rows/alert_rows.hpp"
#include "tests/store/fixture.hpp"

namespace fairlead {
namespace {

namespace fixture = store::testing;

/// A Scheduler's open batch: changes go to it until it is committed, and only then can be read.
class alert_book_test : public ::testing::Test {
 protected:
  alert_book::page page() { return {shard.state(), open, open.sequence, from_unix_ms(now_ms)}; }

  void commit() {
    const auto sequence = open.sequence;
    shard.expect_committed(std::exchange(open, {}));
    open = shard.next();
    book.committed_up_to(sequence);
  }

  std::uint64_t raise(const std::string& sentence = "task o-1 is parked") {
    v1::AlertRecord draft;
    draft.set_kind(v1::ALERT_KIND_TASK_PARKED);
    draft.set_task_id("o-1");
    draft.set_workflow("order");
    draft.set_step("ship");
    draft.set_sentence(sentence);
    draft.set_remedy("fairlead task show o-1");
    return book.raise(std::move(draft), page());
  }

  status resolve(std::uint64_t number) { return book.resolve(number, page(), *store.read()); }
  result<v1::AlertRecord> acknowledge(std::uint64_t number, const std::string& who, const std::string& note = {}) {
    return book.acknowledge(number, who, note, page(), *store.read());
  }
  v1::AlertRecord stored(std::uint64_t number) const {
    const auto found = store::load_alert(*store.read(), number);
    EXPECT_TRUE(found.ok() && found->has_value());
    return found->value_or(v1::AlertRecord{});
  }

  void TearDown() override {
    commit();
    const auto found = store::check(*store.read());
    EXPECT_TRUE(found.clean()) << found.findings.front();
  }

  store::memory_store store;
  fixture::test_shard shard{store};
  store::batch open{shard.next()};
  alert_book book;
  std::int64_t now_ms = 1'000;
};

TEST_F(alert_book_test, raises_open_alerts_with_growing_numbers) {
  EXPECT_EQ(raise(), 1u);
  EXPECT_EQ(raise("another"), 2u);
  EXPECT_EQ(shard.state().next_alert(), 2u);
  EXPECT_EQ(shard.state().unresolved_alerts(), 2u);
  commit();
  const auto alert = stored(1);
  EXPECT_EQ(alert.number(), 1u);
  EXPECT_EQ(alert.kind(), v1::ALERT_KIND_TASK_PARKED);
  EXPECT_EQ(alert.state(), v1::ALERT_STATE_OPEN);
  EXPECT_EQ(alert.task_id(), "o-1");
  EXPECT_EQ(alert.workflow(), "order");
  EXPECT_EQ(alert.step(), "ship");
  EXPECT_EQ(alert.sentence(), "task o-1 is parked");
  EXPECT_EQ(alert.remedy(), "fairlead task show o-1");
  EXPECT_EQ(alert.raised_at_unix_ms(), 1'000);
  EXPECT_EQ(stored(2).sentence(), "another");
}

TEST_F(alert_book_test, takes_nothing_else_of_a_draft) {
  v1::AlertRecord draft;
  draft.set_number(77);
  draft.set_kind(v1::ALERT_KIND_UNDO_BRAKE);
  draft.set_state(v1::ALERT_STATE_RESOLVED);
  draft.set_raised_at_unix_ms(5);
  draft.set_acknowledged_at_unix_ms(6);
  draft.set_acknowledged_by("someone");
  draft.set_note("long ago");
  draft.set_resolved_at_unix_ms(7);
  EXPECT_EQ(book.raise(draft, page()), 1u);
  commit();
  v1::AlertRecord expected;
  expected.set_number(1);
  expected.set_kind(v1::ALERT_KIND_UNDO_BRAKE);
  expected.set_state(v1::ALERT_STATE_OPEN);
  expected.set_raised_at_unix_ms(1'000);
  EXPECT_EQ(stored(1).SerializeAsString(), expected.SerializeAsString());
}

TEST_F(alert_book_test, restates_an_unresolved_alert_of_the_same_kind_and_step) {
  const auto number = raise("it waits for a");
  const auto restate = [&](v1::AlertKind kind, const std::string& step, const std::string& sentence) {
    v1::AlertRecord draft;
    draft.set_kind(kind);
    draft.set_step(step);
    draft.set_sentence(sentence);
    draft.set_remedy("look");
    return *book.restate(number, draft, page(), *store.read());
  };
  EXPECT_TRUE(restate(v1::ALERT_KIND_TASK_PARKED, "ship", "it waits for b"));
  EXPECT_FALSE(restate(v1::ALERT_KIND_TASK_PARKED, "charge", "another step"));
  EXPECT_FALSE(restate(v1::ALERT_KIND_TASK_TIMED_OUT, "ship", "another kind"));
  commit();
  EXPECT_EQ(stored(number).sentence(), "it waits for b");
  EXPECT_EQ(stored(number).remedy(), "look");
  EXPECT_EQ(stored(number).raised_at_unix_ms(), 1'000);
  EXPECT_TRUE(restate(v1::ALERT_KIND_TASK_PARKED, "ship", "it waits for b"));
  EXPECT_TRUE(open.empty()) << "nothing has changed, so nothing is written";
  ASSERT_TRUE(resolve(number).ok());
  EXPECT_FALSE(restate(v1::ALERT_KIND_TASK_PARKED, "ship", "too late"));
  v1::AlertRecord unknown;
  EXPECT_FALSE(*book.restate(99, unknown, page(), *store.read()));
  EXPECT_FALSE(*book.restate(0, unknown, page(), *store.read()));
}

TEST_F(alert_book_test, goes_on_counting_after_a_restart) {
  raise();
  commit();
  alert_book after_restart;
  EXPECT_EQ(after_restart.raise({}, page()), 2u);
}

TEST_F(alert_book_test, acknowledges_what_is_committed_and_what_is_not_yet) {
  raise();
  commit();
  raise();
  now_ms = 2'000;
  for (std::uint64_t number : {1, 2}) {
    const auto done = acknowledge(number, "ada", "looking at it");
    ASSERT_TRUE(done.ok()) << done.failure().sentence;
    EXPECT_EQ(done->state(), v1::ALERT_STATE_ACKNOWLEDGED);
  }
  EXPECT_EQ(shard.state().unresolved_alerts(), 2u) << "someone knows, but it is not over";
  commit();
  for (std::uint64_t number : {1, 2}) {
    const auto alert = stored(number);
    EXPECT_EQ(alert.state(), v1::ALERT_STATE_ACKNOWLEDGED);
    EXPECT_EQ(alert.acknowledged_by(), "ada");
    EXPECT_EQ(alert.note(), "looking at it");
    EXPECT_EQ(alert.acknowledged_at_unix_ms(), 2'000);
  }
}

TEST_F(alert_book_test, keeps_the_first_of_two_acknowledgements) {
  raise();
  ASSERT_TRUE(acknowledge(1, "ada", "mine").ok());
  now_ms = 2'000;
  const auto operations = open.size();
  const auto second = acknowledge(1, "bob", "mine");
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->acknowledged_by(), "ada");
  EXPECT_EQ(open.size(), operations) << "nothing is written";
  commit();
  EXPECT_EQ(acknowledge(1, "bob")->acknowledged_by(), "ada");
}

TEST_F(alert_book_test, resolves_an_alert_before_and_after_its_commit) {
  raise();
  raise();
  now_ms = 3'000;
  ASSERT_TRUE(resolve(1).ok());
  EXPECT_EQ(shard.state().unresolved_alerts(), 1u);
  commit();
  EXPECT_EQ(stored(1).state(), v1::ALERT_STATE_RESOLVED);
  EXPECT_EQ(stored(1).resolved_at_unix_ms(), 3'000);
  EXPECT_EQ(stored(2).state(), v1::ALERT_STATE_OPEN);
  ASSERT_TRUE(resolve(2).ok());
  EXPECT_EQ(shard.state().unresolved_alerts(), 0u);
  commit();
  EXPECT_EQ(stored(2).state(), v1::ALERT_STATE_RESOLVED);
}

TEST_F(alert_book_test, resolves_what_was_acknowledged_and_keeps_by_whom) {
  raise();
  commit();
  ASSERT_TRUE(acknowledge(1, "ada").ok());
  ASSERT_TRUE(resolve(1).ok()) << "in the batch of the acknowledgement";
  commit();
  EXPECT_EQ(stored(1).state(), v1::ALERT_STATE_RESOLVED);
  EXPECT_EQ(stored(1).acknowledged_by(), "ada");
}

TEST_F(alert_book_test, resolves_once_and_passes_over_what_it_does_not_know) {
  raise();
  ASSERT_TRUE(resolve(1).ok());
  now_ms = 9'000;
  const auto operations = open.size();
  ASSERT_TRUE(resolve(1).ok());
  ASSERT_TRUE(resolve(77).ok());
  ASSERT_TRUE(resolve(0).ok());
  EXPECT_EQ(open.size(), operations);
  EXPECT_EQ(shard.state().unresolved_alerts(), 0u);
  commit();
  ASSERT_TRUE(resolve(1).ok());
  EXPECT_EQ(stored(1).resolved_at_unix_ms(), 1'000);
}

TEST_F(alert_book_test, refuses_to_acknowledge_what_is_over_or_was_never_raised) {
  raise();
  ASSERT_TRUE(resolve(1).ok());
  for (bool after_commit : {false, true}) {
    const auto over = acknowledge(1, "ada");
    ASSERT_FALSE(over.ok());
    EXPECT_EQ(over.failure().code, v1::ERROR_CODE_WRONG_STATE);
    EXPECT_NE(over.failure().sentence.find("Alert 1 was resolved at 1970-01-01T00:00:01"), std::string::npos) << over.failure().sentence;
    const auto unknown = acknowledge(77, "ada");
    ASSERT_FALSE(unknown.ok());
    EXPECT_EQ(unknown.failure().code, v1::ERROR_CODE_NOT_FOUND);
    EXPECT_NE(unknown.failure().sentence.find("77"), std::string::npos);
    if (!after_commit) commit();
  }
}

TEST_F(alert_book_test, knows_what_a_later_batch_holds_while_an_earlier_one_is_committed) {
  raise();
  auto first = std::exchange(open, shard.next());
  const auto first_sequence = first.sequence;
  ASSERT_TRUE(acknowledge(1, "ada").ok());
  store::seal_counters(first, shard.state());
  ASSERT_TRUE(store.commit({first}).ok());
  book.committed_up_to(first_sequence);
  // The store still shows it as it was raised.
  EXPECT_EQ(stored(1).state(), v1::ALERT_STATE_OPEN);
  EXPECT_EQ(acknowledge(1, "bob")->acknowledged_by(), "ada");
}

TEST_F(alert_book_test, says_when_an_alert_cannot_be_read) {
  raise();
  commit();
  ASSERT_TRUE(store.damage(store::table::alert, store::keys::alert(1, 1)));
  EXPECT_EQ(resolve(1).failure().code, v1::ERROR_CODE_CORRUPT);
  EXPECT_EQ(acknowledge(1, "ada").failure().code, v1::ERROR_CODE_CORRUPT);
  EXPECT_EQ(shard.state().unresolved_alerts(), 1u);
  ASSERT_TRUE(store.damage(store::table::alert, store::keys::alert(1, 1)));
}

}  // namespace
}  // namespace fairlead
