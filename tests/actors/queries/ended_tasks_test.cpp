#include "actors/queries/ended_tasks.hpp"

#include <gtest/gtest.h>

#include "actors/queries/task_rows.hpp"
#include "store/memory/memory_archive.hpp"
#include "store/memory/memory_store.hpp"
#include "store/rows/archive_rows.hpp"
#include "tests/store/archive_fixture.hpp"

namespace fairlead::testing {
namespace {

namespace fixture = store::testing;
using texts = std::vector<std::string>;

constexpr std::int64_t day_ms = 86'400'000;

class ended_tasks_test : public ::testing::Test {
 protected:
  ended_tasks_test() { shard.deploy_order(); }

  void ended(std::uint64_t number, std::int64_t at_unix_ms, v1::TaskState state = v1::TASK_STATE_COMPLETED) {
    shard.create(fixture::running_order(number, "t" + std::to_string(number)));
    shard.change(number, [&](v1::TaskRecord& task) {
      fixture::complete(task, at_unix_ms);
      task.set_state(state);
    });
  }
  void archive(std::uint64_t number, std::int64_t day, std::uint32_t keep_days = 0) {
    auto batch = shard.next();
    ASSERT_TRUE(store::testing::move_to(archives, {number}, *store.read(), day, batch, keep_days).ok());
    shard.expect_committed(std::move(batch));
  }
  v1::TaskListReply list(const v1::TaskListRequest& what) {
    return list_ended_tasks(what, *store.read(), archives, from_unix_ms(10 * day_ms));
  }
  /// All pages.
  texts all(v1::TaskListRequest what, std::uint32_t page = 2) {
    texts out;
    what.set_page_size(page);
    for (int pages = 0; pages < 50; ++pages) {
      const auto reply = list(what);
      EXPECT_EQ(reply.error().code(), v1::ERROR_CODE_OK) << reply.error().sentence();
      for (const auto& one : reply.items()) out.push_back(one.id() + (one.archived() ? " archived" : ""));
      if (reply.cursor().empty()) return out;
      what.set_cursor(reply.cursor());
    }
    ADD_FAILURE() << "it does not end";
    return out;
  }
  static v1::TaskListRequest since(std::int64_t unix_ms) {
    v1::TaskListRequest out;
    out.set_ended_since_unix_ms(unix_ms);
    return out;
  }
  static v1::TaskListRequest day(std::int64_t number) {
    auto out = since(number * day_ms);
    out.set_ended_until_unix_ms((number + 1) * day_ms);
    return out;
  }
  static v1::TaskListRequest archived() {
    v1::TaskListRequest out;
    out.set_archived(true);
    return out;
  }

  store::memory_store store;
  store::memory_archive archives;
  fixture::test_shard shard{store};
};

TEST_F(ended_tasks_test, merges_the_ends_of_all_states_by_time) {
  ended(1, 5'000);
  ended(2, 8'000, v1::TASK_STATE_UNDONE);
  ended(3, 7'000, v1::TASK_STATE_FAILED);
  ended(4, 6'000);
  ended(5, 1'000);
  shard.create(fixture::running_order(6, "t6"));
  for (const std::uint32_t page : {1, 2, 3, 100}) EXPECT_EQ(all(since(5'000), page), (texts{"t2", "t3", "t4", "t1"})) << page;
  auto undone = since(1);
  undone.add_states(v1::TASK_STATE_UNDONE);
  EXPECT_EQ(all(undone), texts{"t2"});
}

TEST_F(ended_tasks_test, filters_by_job_id_and_agent_in_the_store_and_the_archives) {
  for (std::uint64_t i = 1; i <= 4; ++i) {
    auto task = fixture::running_order(i, "t" + std::to_string(i));
    if (i == 1 || i == 4) task.mutable_launch()->set_job("nightly");
    shard.create(task);
    shard.change(i, [i](v1::TaskRecord& one) { fixture::complete(one, static_cast<std::int64_t>(i) * day_ms); });
  }
  archive(1, 1);
  archive(2, 2);
  auto what = since(1);
  what.set_job("nightly");
  EXPECT_EQ(all(what), (texts{"t4", "t1 archived"}));
  what.set_id_prefix("t1");
  EXPECT_EQ(all(what), texts{"t1 archived"});
  EXPECT_EQ(list(what).by(), "ended");
  auto by_agent = since(1);
  by_agent.set_agent("nobody");
  EXPECT_EQ(all(by_agent), texts{});
  by_agent.set_agent(fixture::order_definition().steps(0).agent());
  EXPECT_EQ(all(by_agent).size(), 4u);
}

TEST_F(ended_tasks_test, goes_on_with_the_archives_latest_day_first) {
  for (std::uint64_t i = 1; i <= 6; ++i) ended(i, static_cast<std::int64_t>(i) * day_ms);
  archive(1, 1);
  archive(2, 2, 90);
  archive(3, 2);
  archive(4, 4);
  for (const std::uint32_t page : {1, 2, 3, 100}) {
    EXPECT_EQ(all(since(1), page), (texts{"t6", "t5", "t4 archived", "t2 archived", "t3 archived", "t1 archived"})) << page;
    EXPECT_EQ(all(archived(), page), (texts{"t4 archived", "t2 archived", "t3 archived", "t1 archived"})) << page;
    EXPECT_EQ(all(since(3 * day_ms), page), (texts{"t6", "t5", "t4 archived", "t3 archived"})) << page;
  }
}

TEST_F(ended_tasks_test, finds_tasks_whose_archive_has_an_earlier_day_than_their_end) {
  ended(1, 6 * day_ms);
  ended(2, 6 * day_ms + 1);
  ended(3, 2 * day_ms);
  archive(1, 3);
  archive(2, 4);
  archive(3, 2);
  for (const std::uint32_t page : {1, 2}) EXPECT_EQ(all(since(6 * day_ms), page), (texts{"t2 archived", "t1 archived"}));
}

TEST_F(ended_tasks_test, leaves_out_copies_of_moves_that_were_never_committed) {
  ended(1, 1'000);
  store::batch lost;
  ASSERT_TRUE(store::testing::move_to(archives, {1}, *store.read(), 1, lost).ok());
  EXPECT_EQ(all(archived()), texts{});
  EXPECT_EQ(all(since(1)), texts{"t1"});
  archive(1, 3);
  EXPECT_EQ(all(archived()), texts{"t1 archived"}) << "and not that of the first day";
}

TEST_F(ended_tasks_test, passes_over_an_archive_that_is_not_there_any_more) {
  for (std::uint64_t i = 1; i <= 2; ++i) ended(i, static_cast<std::int64_t>(i) * day_ms);
  archive(1, 1);
  archive(2, 2);
  class dropping final : public store::archive {
   public:
    explicit dropping(store::memory_archive& of) : archive("memory"), of_(of) {}
    result<std::vector<std::int64_t>> days(std::uint32_t keep_days) const override { return of_.days(keep_days); }
    result<std::vector<std::uint32_t>> classes() const override { return of_.classes(); }
    status visit(const store::archive_day& which, const std::function<void(const store::snapshot&)>& look) override {
      if (which.day == 2) return error{v1::ERROR_CODE_NOT_FOUND, "there is no store", ""};
      return of_.visit(which, look);
    }

   private:
    store::memory_archive& of_;
  } gone{archives};
  const auto reply = list_ended_tasks(archived(), *store.read(), gone, from_unix_ms(10 * day_ms));
  EXPECT_EQ(reply.error().code(), v1::ERROR_CODE_OK) << reply.error().sentence();
  ASSERT_EQ(reply.items_size(), 1);
  EXPECT_EQ(reply.items(0).id(), "t1");
}

TEST_F(ended_tasks_test, never_gives_more_than_a_page) {
  for (std::uint64_t i = 1; i <= 4; ++i) ended(i, static_cast<std::int64_t>(i) * day_ms);
  archive(1, 1);
  archive(2, 2);
  auto what = since(1);
  what.set_page_size(2);
  EXPECT_EQ(list(what).items_size(), 2);
}

TEST_F(ended_tasks_test, says_how_many_it_has_looked_at_in_the_store_and_in_the_archives) {
  for (std::uint64_t i = 1; i <= 4; ++i) ended(i, static_cast<std::int64_t>(i) * day_ms);
  archive(1, 1);
  archive(2, 2);
  auto what = since(1);
  EXPECT_EQ(list(what).looked_at(), 4u);
  what.set_workflow("another");
  EXPECT_EQ(list(what).looked_at(), 4u) << "for nothing";
  what.set_page_size(1);
  what.clear_workflow();
  EXPECT_EQ(list(what).looked_at(), 1u);
}

TEST_F(ended_tasks_test, has_those_of_one_day_from_the_store_and_from_the_archives) {
  // Some a second before the day and behind it, too.
  ended(1, 5 * day_ms - 1);
  ended(2, 5 * day_ms);
  ended(3, 6 * day_ms - 1);
  ended(4, 6 * day_ms);
  for (const std::uint32_t page : {1, 2, 100}) EXPECT_EQ(all(day(5), page), (texts{"t3", "t2"})) << page;
  archive(2, 5);
  for (const std::uint32_t page : {1, 2, 100}) EXPECT_EQ(all(day(5), page), (texts{"t3", "t2 archived"})) << page;
  for (const auto number : {1, 3, 4}) archive(static_cast<std::uint64_t>(number), number == 1 ? 4 : number == 3 ? 5 : 6);
  for (const std::uint32_t page : {1, 2, 100}) EXPECT_EQ(all(day(5), page), (texts{"t3 archived", "t2 archived"})) << page;
  EXPECT_EQ(all(day(7)), texts{});
}

TEST_F(ended_tasks_test, finds_tasks_of_a_day_whose_archives_have_other_days) {
  for (std::uint64_t i = 1; i <= 6; ++i) ended(i, 6 * day_ms + static_cast<std::int64_t>(i));
  archive(1, 3);
  archive(2, 5);
  archive(3, 6);
  archive(4, 6, 90);
  archive(5, 7);
  archive(6, 9);
  const texts wanted{"t4 archived", "t3 archived", "t2 archived", "t1 archived", "t5 archived", "t6 archived"};
  for (const std::uint32_t page : {1, 2, 3, 100}) EXPECT_EQ(all(day(6), page), wanted) << page;
}

TEST_F(ended_tasks_test, reads_no_more_for_a_day_among_thousands_than_for_one_among_few) {
  constexpr std::uint64_t days = 300;
  for (std::uint64_t i = 1; i <= days; ++i) {
    ended(i, static_cast<std::int64_t>(i) * day_ms);
    archive(i, static_cast<std::int64_t>(i));
  }
  for (const std::int64_t wanted : {2, 150, 299}) {
    const auto reply = list(day(wanted));
    ASSERT_EQ(reply.items_size(), 1) << wanted;
    EXPECT_EQ(reply.items(0).id(), "t" + std::to_string(wanted));
    EXPECT_EQ(reply.looked_at(), 3u) << "its own, the one before and the one behind";
    EXPECT_EQ(reply.cursor(), "");
  }
  // Most archives have nothing that is asked for: a page opens only so many of them.
  auto what = archived();
  what.set_workflow("another");
  auto reply = list(what);
  EXPECT_EQ(reply.looked_at(), static_cast<std::uint64_t>(archives_a_page));
  ASSERT_NE(reply.cursor(), "");
  what.set_cursor(reply.cursor());
  reply = list(what);
  EXPECT_EQ(reply.looked_at(), days - archives_a_page);
  EXPECT_EQ(reply.cursor(), "");
}

TEST_F(ended_tasks_test, says_from_which_day_on_archives_are_kept) {
  EXPECT_EQ(list(day(2)).kept_from_unix_ms(), 0);
  auto batch = shard.next();
  store::put_drop(batch, 0, 4);
  shard.expect_committed(std::move(batch));
  EXPECT_EQ(list(day(2)).kept_from_unix_ms(), 4 * day_ms);
}

TEST_F(ended_tasks_test, has_no_cursor_of_the_archives_in_common_with_lists_without_a_bound) {
  for (std::uint64_t i = 1; i <= 3; ++i) {
    ended(i, 2 * day_ms + static_cast<std::int64_t>(i));
    archive(i, 2);
  }
  auto bounded = day(2), open = archived();
  bounded.set_page_size(1);
  open.set_page_size(1);
  const auto of_bounded = list(bounded).cursor(), of_open = list(open).cursor();
  ASSERT_NE(of_bounded, "");
  ASSERT_NE(of_open, "");
  bounded.set_cursor(of_open);
  open.set_cursor(of_bounded);
  EXPECT_EQ(list(bounded).error().code(), v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_EQ(list(open).error().code(), v1::ERROR_CODE_INVALID_ARGUMENT);
}

TEST_F(ended_tasks_test, filters_as_every_list_does) {
  ended(1, 1'000);
  ended(2, 2'000, v1::TASK_STATE_UNDONE);
  archive(1, 1);
  archive(2, 1);
  auto what = archived();
  what.add_states(v1::TASK_STATE_UNDONE);
  EXPECT_EQ(all(what), texts{"t2 archived"});
  what.set_workflow("another");
  EXPECT_EQ(all(what), texts{});
}

TEST_F(ended_tasks_test, gives_each_item_its_place_where_lists_of_shards_are_merged) {
  for (std::uint64_t i = 1; i <= 3; ++i) ended(i, static_cast<std::int64_t>(i) * day_ms);
  archive(1, 1);
  auto what = since(1);
  what.set_shard(0);
  for (const auto* expected : {"t3", "t2", "t1"}) {
    const auto reply = list(what);
    ASSERT_GT(reply.items_size(), 0) << expected;
    EXPECT_EQ(reply.items(0).id(), expected);
    what.set_cursor(reply.items(0).cursor());
  }
  EXPECT_EQ(list(what).items_size(), 0);
}

TEST_F(ended_tasks_test, refuses_cursors_of_other_lists) {
  ended(1, 1'000);
  auto what = archived();
  for (const auto* cursor : {"xyz", "ff", "7f", "7f010000"}) {
    what.set_cursor(cursor);
    EXPECT_EQ(list(what).error().code(), v1::ERROR_CODE_INVALID_ARGUMENT) << cursor;
  }
  auto first = since(1);
  ended(2, 2'000);
  first.set_page_size(1);
  what.set_cursor(list(first).cursor());
  ASSERT_FALSE(what.cursor().empty());
  EXPECT_EQ(list(what).error().code(), v1::ERROR_CODE_INVALID_ARGUMENT) << "a place in the store is none in the archives";
}

}  // namespace
}  // namespace fairlead::testing
