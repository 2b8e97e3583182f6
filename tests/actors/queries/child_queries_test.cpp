// Lists of tasks without a parent, and of the children of a task.

#include <gtest/gtest.h>

#include "actors/queries/ended_tasks.hpp"
#include "actors/queries/task_queries.hpp"
#include "actors/queries/task_rows.hpp"
#include "store/memory/memory_archive.hpp"
#include "store/memory/memory_store.hpp"
#include "tests/store/fixture.hpp"

namespace fairlead::testing {
namespace {

namespace fixture = store::testing;
using texts = std::vector<std::string>;

class child_queries_test : public ::testing::Test {
 protected:
  child_queries_test() { shard.deploy_order(); }

  static v1::TaskRecord task(std::uint64_t number, const std::string& id, const std::string& parent = "") {
    auto out = fixture::running_order(number, id);
    if (!parent.empty()) out.mutable_parent()->set_id(parent);
    return out;
  }

  /// Two orders with children of two levels, and tasks whose chosen ids look like theirs.
  void create_families() {
    shard.create(task(1, "o-1"));
    shard.create(task(2, "o-1/ship~1", "o-1"));
    shard.create(task(3, "o-1/ship~1/pack~1.1", "o-1/ship~1"));
    shard.create(task(4, "o-1/ship~1/pack~1.2", "o-1/ship~1"));
    shard.create(task(5, "o-1/by-hand"));
    shard.create(task(6, "o-10"));
    shard.create(task(7, "o-10/ship~1", "o-10"));
    shard.create(task(8, "o-1/ship~2", "o-1"));
  }

  static texts ids(const v1::TaskListReply& page) {
    texts out;
    for (const auto& one : page.items()) out.push_back(one.id());
    return out;
  }

  v1::TaskListReply list(const v1::TaskListRequest& what) const { return list_tasks(what, *store.read(), from_unix_ms(10'000)); }

  static v1::TaskListRequest children_of(const std::string& id) {
    v1::TaskListRequest out;
    out.set_parent(id);
    return out;
  }
  static v1::TaskListRequest top_level() {
    v1::TaskListRequest out;
    out.set_top_level(true);
    return out;
  }

  store::memory_store store;
  store::memory_archive archives;
  fixture::test_shard shard{store};
};

TEST_F(child_queries_test, tasks_without_a_parent_are_listed_newest_first) {
  create_families();
  auto page = list(top_level());
  EXPECT_EQ(ids(page), (texts{"o-10", "o-1/by-hand", "o-1"})) << "a chosen id with a slash makes no child";
  EXPECT_EQ(page.by(), "all");
  EXPECT_EQ(page.looked_at(), 8u);
  auto of_workflow = top_level();
  of_workflow.set_workflow("order");
  page = list(of_workflow);
  EXPECT_EQ(ids(page), (texts{"o-10", "o-1/by-hand", "o-1"}));
  EXPECT_EQ(page.by(), "workflow");
  auto by_prefix = top_level();
  by_prefix.set_id_prefix("o-1/");
  EXPECT_EQ(ids(list(by_prefix)), (texts{"o-1/by-hand"}));
}

TEST_F(child_queries_test, children_are_found_by_the_id_of_their_parent_the_last_id_first) {
  create_families();
  const auto page = list(children_of("o-1"));
  EXPECT_EQ(ids(page), (texts{"o-1/ship~2", "o-1/ship~1"})) << "not their children, and no task whose id looks like one";
  EXPECT_EQ(page.by(), "parent");
  EXPECT_EQ(page.looked_at(), 5u) << "no task of another order";
  EXPECT_TRUE(lists_by_id(children_of("o-1")));
  EXPECT_FALSE(lists_by_end(children_of("o-1")));
  EXPECT_EQ(ids(list(children_of("o-1/ship~1"))), (texts{"o-1/ship~1/pack~1.2", "o-1/ship~1/pack~1.1"}));
  EXPECT_EQ(ids(list(children_of("o-1/ship~2"))), texts{});
  EXPECT_EQ(ids(list(children_of("nobody"))), texts{});
}

TEST_F(child_queries_test, other_conditions_narrow_the_children_and_do_not_lead) {
  create_families();
  auto labelled = task(9, "o-1/ship~3", "o-1");
  labelled.add_labels()->set_key("shop");
  labelled.mutable_labels(0)->set_value("berlin");
  shard.create(labelled);
  shard.change(2, [](v1::TaskRecord& one) { fixture::complete(one, 5'000); });
  shard.change(8, [](v1::TaskRecord& one) { fixture::park(one, 5'000); });
  const auto found = [this](auto&& change) {
    auto what = children_of("o-1");
    change(what);
    const auto page = list(what);
    EXPECT_EQ(page.by(), "parent");
    EXPECT_TRUE(lists_by_id(what)) << "gateways merge by what leads";
    return ids(page);
  };
  EXPECT_EQ(found([](auto& w) { w.add_states(v1::TASK_STATE_COMPLETED); }), (texts{"o-1/ship~1"}));
  EXPECT_EQ(found([](auto& w) { w.set_parked_only(true); }), (texts{"o-1/ship~2"}));
  EXPECT_EQ(found([](auto& w) { w.set_workflow("other"); }), texts{});
  EXPECT_EQ(found([](auto& w) { w.set_id_prefix("o-1/ship~3"); }), (texts{"o-1/ship~3"}));
  EXPECT_EQ(found([](auto& w) {
              auto* label = w.add_labels();
              label->set_key("shop");
              label->set_value("berlin");
            }),
            (texts{"o-1/ship~3"}));
}

TEST_F(child_queries_test, a_list_of_children_goes_on_by_pages) {
  create_families();
  auto what = children_of("o-1");
  what.set_page_size(1);
  texts seen;
  do {
    const auto page = list(what);
    ASSERT_EQ(page.error().code(), v1::ERROR_CODE_OK) << page.error().sentence();
    for (const auto& id : ids(page)) seen.push_back(id);
    what.set_cursor(page.cursor());
    ASSERT_LE(seen.size(), 2u);
  } while (!what.cursor().empty());
  EXPECT_EQ(seen, (texts{"o-1/ship~2", "o-1/ship~1"}));
  what.set_cursor(list(what).cursor());
  ASSERT_NE(what.cursor(), "");
  what.set_parent("o-10");
  EXPECT_EQ(list(what).error().code(), v1::ERROR_CODE_INVALID_ARGUMENT) << "a cursor of the children of another task";
}

TEST_F(child_queries_test, no_page_reads_more_than_its_part_of_what_lies_below_the_children) {
  constexpr std::uint64_t below = task_rows_a_page + 10;
  shard.create(task(1, "p"));
  shard.create(task(2, "p/a~1", "p"));
  auto batch = shard.next();
  for (std::uint64_t i = 1; i <= below; ++i) {
    auto one = task(2 + i, "p/a~1/b~1." + std::to_string(i), "p/a~1");
    store::put_task(batch, {}, one);
  }
  shard.expect_committed(std::move(batch));
  auto what = children_of("p");
  auto page = list(what);
  EXPECT_EQ(ids(page), texts{});
  EXPECT_EQ(page.looked_at(), task_rows_a_page);
  ASSERT_NE(page.cursor(), "");
  what.set_cursor(page.cursor());
  page = list(what);
  EXPECT_EQ(ids(page), (texts{"p/a~1"}));
  EXPECT_EQ(page.looked_at(), 11u);
  EXPECT_EQ(page.cursor(), "");
}

TEST_F(child_queries_test, ended_tasks_are_told_from_their_children_too) {
  create_families();
  for (const std::uint64_t number : {1, 2, 3, 4, 6})
    shard.change(number, [number](v1::TaskRecord& one) { fixture::complete(one, static_cast<std::int64_t>(number) * 1'000); });
  const auto ended = [this](v1::TaskListRequest what) {
    what.set_ended_since_unix_ms(1);
    const auto page = list_ended_tasks(what, *store.read(), archives, from_unix_ms(10'000));
    EXPECT_EQ(page.by(), "ended");
    EXPECT_FALSE(lists_by_id(what));
    EXPECT_TRUE(lists_by_end(what));
    return ids(page);
  };
  EXPECT_EQ(ended(top_level()), (texts{"o-10", "o-1"}));
  EXPECT_EQ(ended(children_of("o-1/ship~1")), (texts{"o-1/ship~1/pack~1.2", "o-1/ship~1/pack~1.1"}));
}

}  // namespace
}  // namespace fairlead::testing
