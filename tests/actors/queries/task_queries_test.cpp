#include "actors/queries/task_queries.hpp"
#include "actors/queries/workflow_queries.hpp"

#include <gtest/gtest.h>

#include "actors/queries/task_rows.hpp"
#include "store/memory/memory_store.hpp"
#include "store/rows/deletion_rows.hpp"
#include "tests/store/archive_fixture.hpp"

namespace fairlead::testing {
namespace {

namespace fixture = store::testing;

class task_queries_test : public ::testing::Test {
 protected:
  task_queries_test() : archives(folder / "archive") { shard.deploy_order(); }

  v1::TaskRecord order(std::uint64_t number) const { return fixture::running_order(number, "t" + std::to_string(number)); }

  std::vector<std::string> ids(const v1::TaskListReply& reply) const {
    std::vector<std::string> out;
    for (const auto& one : reply.items()) out.push_back(one.id());
    return out;
  }

  v1::TaskListReply list(const v1::TaskListRequest& what) const { return list_tasks(what, *store.read(), from_unix_ms(10'000)); }

  fixture::temporary_directory folder;
  store::memory_store store;
  store::archive archives;
  fixture::test_shard shard{store};
};

using texts = std::vector<std::string>;

TEST_F(task_queries_test, lists_tasks_newest_first_and_by_page) {
  for (std::uint64_t i = 1; i <= 5; ++i) shard.create(order(i));
  v1::TaskListRequest what;
  what.set_page_size(2);
  auto page = list(what);
  EXPECT_EQ(ids(page), (texts{"t5", "t4"}));
  what.set_cursor(page.cursor());
  page = list(what);
  EXPECT_EQ(ids(page), (texts{"t3", "t2"}));
  what.set_cursor(page.cursor());
  page = list(what);
  EXPECT_EQ(ids(page), (texts{"t1"}));
  EXPECT_EQ(page.cursor(), "");
}

TEST_F(task_queries_test, goes_on_where_it_was_while_new_tasks_arrive) {
  for (std::uint64_t i = 1; i <= 3; ++i) shard.create(order(i));
  v1::TaskListRequest what;
  what.set_page_size(2);
  const auto first = list(what);
  shard.create(order(4));
  what.set_cursor(first.cursor());
  EXPECT_EQ(ids(list(what)), (texts{"t1"}));
}

TEST_F(task_queries_test, says_how_many_it_has_looked_at) {
  for (std::uint64_t i = 1; i <= 5; ++i) shard.create(order(i));
  v1::TaskListRequest what;
  what.set_page_size(2);
  EXPECT_EQ(list(what).looked_at(), 2u);
  what.set_page_size(10);
  EXPECT_EQ(list(what).looked_at(), 5u);
  what.add_states(v1::TASK_STATE_PENDING);
  EXPECT_EQ(list(what).looked_at(), 5u) << "for nothing";
}

TEST_F(task_queries_test, comes_to_one_task_among_many_by_pages_of_which_none_reads_more_than_its_part) {
  constexpr std::uint64_t tasks = 2 * task_rows_a_page + 10;
  auto batch = shard.next();
  for (std::uint64_t i = 2; i <= tasks; ++i) {
    auto task = order(i);
    store::put_task(batch, {}, task);
  }
  shard.expect_committed(std::move(batch));
  shard.create(fixture::pending_order_task(1, "t1"));
  v1::TaskListRequest what;
  what.add_states(v1::TASK_STATE_PENDING);
  std::uint64_t looked_at = 0;
  int pages = 0;
  texts found;
  do {
    const auto page = list(what);
    ASSERT_EQ(page.error().code(), v1::ERROR_CODE_OK);
    ASSERT_LE(page.looked_at(), task_rows_a_page);
    looked_at += page.looked_at();
    for (const auto& one : ids(page)) found.push_back(one);
    what.set_cursor(page.cursor());
    ASSERT_LE(++pages, 3);
  } while (!what.cursor().empty());
  EXPECT_EQ(pages, 3);
  EXPECT_EQ(found, texts{"t1"});
  EXPECT_EQ(looked_at, tasks) << "no task is read twice, and none is left out";
}

TEST_F(task_queries_test, refuses_a_cursor_of_another_list) {
  shard.create(order(1));
  for (const auto* cursor : {"xyz", "abc", "ff", "00000002", "FFFF"}) {
    v1::TaskListRequest what;
    what.set_cursor(cursor);
    what.set_workflow("order");
    EXPECT_EQ(list(what).error().code(), v1::ERROR_CODE_INVALID_ARGUMENT) << cursor;
  }
}

TEST_F(task_queries_test, refuses_the_cursor_of_a_list_with_other_filters) {
  for (std::uint64_t i = 1; i <= 3; ++i) shard.create(order(i));
  v1::TaskListRequest by_workflow;
  by_workflow.set_workflow("order");
  by_workflow.set_page_size(1);
  v1::TaskListRequest all;
  all.set_cursor(list(by_workflow).cursor());
  ASSERT_FALSE(all.cursor().empty());
  EXPECT_EQ(list(all).error().code(), v1::ERROR_CODE_INVALID_ARGUMENT);
}

TEST_F(task_queries_test, filters_by_state_hold_workflow_label_and_age) {
  auto other = order(1);
  other.set_workflow("other");
  shard.create(other);
  auto labelled = order(2);
  auto* label = labelled.add_labels();
  label->set_key("shop");
  label->set_value("berlin");
  label = labelled.add_labels();
  label->set_key("kind");
  label->set_value("gift");
  shard.create(labelled);
  auto young = order(3);
  young.set_created_at_unix_ms(9'000);
  shard.create(young);
  shard.create(order(4));
  shard.create(order(5));
  shard.create(fixture::pending_order_task(6, "t6"));
  shard.change(4, [](v1::TaskRecord& task) { fixture::complete(task, 5'000); });
  shard.change(5, [](v1::TaskRecord& task) { fixture::park(task, 5'000); });

  const auto found = [this](auto&& change) {
    v1::TaskListRequest what;
    change(what);
    return ids(list(what));
  };
  const auto add_label = [](v1::TaskListRequest& what, const char* key, const char* value) {
    auto* one = what.add_labels();
    one->set_key(key);
    one->set_value(value);
  };
  EXPECT_EQ(found([](auto& w) { w.add_states(v1::TASK_STATE_COMPLETED); }), (texts{"t4"}));
  EXPECT_EQ(found([](auto& w) { w.add_states(v1::TASK_STATE_PENDING); }), (texts{"t6"}));
  EXPECT_EQ(found([](auto& w) {
              w.add_states(v1::TASK_STATE_COMPLETED);
              w.add_states(v1::TASK_STATE_PENDING);
            }),
            (texts{"t6", "t4"}));
  EXPECT_EQ(found([](auto& w) { w.set_parked_only(true); }), (texts{"t5"}));
  EXPECT_EQ(found([](auto& w) { w.set_workflow("other"); }), (texts{"t1"}));
  EXPECT_EQ(found([](auto& w) { w.set_workflow("nothing"); }), texts{});
  EXPECT_EQ(found([&](auto& w) { add_label(w, "shop", "berlin"); }), (texts{"t2"}));
  EXPECT_EQ(found([&](auto& w) {
              add_label(w, "shop", "berlin");
              add_label(w, "kind", "gift");
            }),
            (texts{"t2"}));
  EXPECT_EQ(found([&](auto& w) {
              add_label(w, "shop", "berlin");
              add_label(w, "kind", "none");
            }),
            texts{});
  EXPECT_EQ(found([&](auto& w) { add_label(w, "shop", "ber"); }), texts{});
  EXPECT_EQ(found([](auto& w) { w.set_younger_than_ms(5'000); }), (texts{"t3"}));
  EXPECT_EQ(found([](auto& w) {
              w.set_older_than_ms(5'000);
              w.set_workflow("order");
            }),
            (texts{"t6", "t5", "t4", "t2"}));
}

TEST_F(task_queries_test, filters_by_job_id_fault_and_agent_and_says_which_index_led) {
  shard.create(fixture::running_order(1, "nightly@2026-11-24T03:30:00Z"));
  auto launch = fixture::running_order(2, "nightly@2026-11-25T03:30:00Z");
  launch.mutable_launch()->set_job("nightly");
  shard.create(launch);
  for (std::uint64_t i = 3; i <= 6; ++i) shard.create(fixture::running_order(i, (i < 5 ? "order-" : "other-") + std::to_string(i)));
  const auto stop = [this](std::uint64_t number, v1::StepState state, const char* code) {
    shard.change(number, [&](v1::TaskRecord& task) {
      fixture::park(task, 5'000);
      task.mutable_steps(0)->set_state(state);
      task.mutable_steps(0)->mutable_fault()->set_code(code);
    });
  };
  stop(3, v1::STEP_STATE_FAILED, "card_declined");
  stop(4, v1::STEP_STATE_IN_DOUBT, "http_503");
  stop(5, v1::STEP_STATE_COMPLETED, "card_declined");

  std::string by;
  const auto found = [&](auto&& change) {
    v1::TaskListRequest what;
    change(what);
    const auto page = list(what);
    by = page.by();
    return ids(page);
  };
  EXPECT_EQ(found([](auto& w) { w.set_job("nightly"); }), (texts{"nightly@2026-11-25T03:30:00Z"})) << "and no task of a client";
  EXPECT_EQ(by, "job");
  EXPECT_EQ(found([](auto& w) { w.set_id_prefix("nightly@"); }), (texts{"nightly@2026-11-25T03:30:00Z", "nightly@2026-11-24T03:30:00Z"}));
  EXPECT_EQ(by, "id_prefix");
  EXPECT_EQ(found([](auto& w) { w.set_id_prefix("order-4"); }), (texts{"order-4"}));
  EXPECT_EQ(found([](auto& w) { w.set_id_prefix("order-44"); }), texts{});
  EXPECT_EQ(found([](auto& w) {
              w.set_id_prefix("o");
              w.set_parked_only(true);
            }),
            (texts{"other-5", "order-4", "order-3"}));
  EXPECT_EQ(by, "parked");
  EXPECT_EQ(found([](auto& w) { w.set_fault_code("card_declined"); }), (texts{"order-3"})) << "a step that has gone on is no reason";
  EXPECT_EQ(found([](auto& w) { w.set_fault_code("http_503"); }), (texts{"order-4"}));
  EXPECT_EQ(by, "parked");
  EXPECT_EQ(found([](auto& w) { w.set_agent("nobody"); }), texts{});
  EXPECT_EQ(by, "all");
  v1::WorkflowShowRequest order;
  order.set_name("order");
  const auto agent = show_workflow(order, *store.read()).workflow().definition().steps(1).agent();
  EXPECT_EQ(found([&](auto& w) {
              w.set_agent(agent);
              w.set_workflow("order");
            }).size(),
            6u);
  EXPECT_EQ(by, "workflow");
}

TEST_F(task_queries_test, goes_through_ids_by_pages_past_those_that_lead_nowhere) {
  for (std::uint64_t i = 1; i <= 5; ++i) shard.create(order(i));
  auto one = shard.next();
  v1::TaskTombstone gone;
  gone.set_number(99);
  gone.set_archived_day(19'000);
  store::put_tombstone(one, "t3x", gone);
  shard.expect_committed(std::move(one));
  v1::TaskListRequest what;
  what.set_id_prefix("t");
  what.set_page_size(2);
  texts seen;
  do {
    const auto page = list(what);
    ASSERT_EQ(page.error().code(), v1::ERROR_CODE_OK);
    for (const auto& id : ids(page)) seen.push_back(id);
    what.set_cursor(page.cursor());
  } while (!what.cursor().empty());
  EXPECT_EQ(seen, (texts{"t5", "t4", "t3", "t2", "t1"}));
}

TEST_F(task_queries_test, lists_what_was_there_at_a_moment) {
  for (std::uint64_t i = 1; i <= 6; ++i) shard.create(order(i));
  auto young = order(7);
  young.set_created_at_unix_ms(9'000);
  shard.create(young);
  shard.change(2, [](v1::TaskRecord& task) { fixture::complete(task, 5'000); });
  shard.change(3, [](v1::TaskRecord& task) { fixture::complete(task, 8'000); });
  for (const std::uint64_t number : {4, 5})
    shard.change(number, [number](v1::TaskRecord& task) {
      const auto at = number == 4 ? 5'000 : 8'000;
      fixture::park(task, at);
      fixture::add_event(task, v1::EVENT_KIND_TASK_PARKED, at);
    });
  const auto found = [this](auto&& change) {
    v1::TaskListRequest what;
    what.set_as_of_unix_ms(6'000);
    change(what);
    return ids(list(what));
  };
  EXPECT_EQ(found([](auto&) {}), (texts{"t6", "t5", "t4", "t3", "t2", "t1"}));
  EXPECT_EQ(found([](auto& w) { w.add_states(v1::TASK_STATE_COMPLETED); }), (texts{"t2"}));
  EXPECT_EQ(found([](auto& w) { w.set_parked_only(true); }), (texts{"t4"}));
  EXPECT_EQ(found([](auto& w) {
              w.add_states(v1::TASK_STATE_RUNNING);
              w.add_states(v1::TASK_STATE_COMPLETED);
            }),
            (texts{"t6", "t5", "t4", "t3", "t2", "t1"}));
  v1::TaskListRequest of_ended;
  of_ended.set_as_of_unix_ms(6'000);
  of_ended.set_ended_since_unix_ms(1);
  auto ended = order(8);
  for (const auto at : {5'000, 8'000}) {
    fixture::complete(ended, at);
    EXPECT_EQ(task_matches(of_ended, ended, from_unix_ms(10'000)), at == 5'000) << at;
  }
  // 5,000 before the moment, and not before now.
  EXPECT_EQ(found([](auto& w) { w.set_older_than_ms(5'001); }), texts{});
  EXPECT_EQ(found([](auto& w) { w.set_older_than_ms(5'000); }).size(), 6u);
}

TEST_F(task_queries_test, sums_a_task_up) {
  auto task = order(1);
  task.mutable_steps(0)->set_state(v1::STEP_STATE_COMPLETED);
  task.mutable_steps(1)->set_state(v1::STEP_STATE_SKIPPED);
  task.set_priority(3);
  shard.create(task);
  const auto reply = list({});
  ASSERT_EQ(reply.items_size(), 1);
  EXPECT_EQ(reply.items(0).steps_done(), 2u);
  EXPECT_EQ(reply.items(0).steps_total(), 3u);
  EXPECT_EQ(reply.items(0).workflow(), "order");
  EXPECT_EQ(reply.items(0).priority(), 3);
  EXPECT_EQ(reply.items(0).created_at_unix_ms(), 1'000);
}

TEST_F(task_queries_test, shows_a_task_whole) {
  auto task = order(1);
  task.mutable_steps(0)->mutable_output()->set_slot(1);
  shard.create(task);
  auto one = shard.next();
  store::put_payload(one, 1, 1, "\"big\"");
  shard.expect_committed(std::move(one));
  for (int i = 0; i < 60; ++i) shard.change(1, [](v1::TaskRecord& t) { fixture::add_event(t, v1::EVENT_KIND_STEP_STARTED, 2'000); });
  v1::TaskShowRequest what;
  what.set_id("t1");
  const auto reply = show_task(what, *store.read(), archives);
  EXPECT_EQ(reply.error().code(), v1::ERROR_CODE_OK);
  EXPECT_EQ(reply.task().steps(0).output().json(), "\"big\"");
  EXPECT_EQ(reply.task().recent_size(), 62);
  for (int i = 0; i < reply.task().recent_size(); ++i) EXPECT_EQ(reply.task().recent(i).sequence(), static_cast<std::uint64_t>(i + 1));
  EXPECT_EQ(reply.definition().name(), "order");
  EXPECT_FALSE(reply.archived());
  what.set_id("nobody");
  EXPECT_EQ(show_task(what, *store.read(), archives).error().code(), v1::ERROR_CODE_NOT_FOUND);
}

TEST_F(task_queries_test, finds_an_archived_task_and_says_when_its_record_is_gone) {
  shard.create(order(1));
  shard.change(1, [](v1::TaskRecord& task) { fixture::complete(task, 5'000); });
  auto one = shard.next();
  ASSERT_TRUE(store::testing::move_to(archives, {1}, *store.read(), 19'000, one).ok());
  shard.expect_committed(std::move(one));
  v1::TaskShowRequest what;
  what.set_id("t1");
  const auto reply = show_task(what, *store.read(), archives);
  EXPECT_EQ(reply.error().code(), v1::ERROR_CODE_OK);
  EXPECT_TRUE(reply.archived());
  EXPECT_EQ(reply.task().state(), v1::TASK_STATE_COMPLETED);
  EXPECT_TRUE(ids(list({})).empty());

  v1::StatesRequest states;
  states.add_ids("t1");
  EXPECT_EQ(states_of(states, *store.read()).items(0).state(), v1::TASK_STATE_COMPLETED);
  ASSERT_TRUE(archives.drop_before(20'000).ok());
  const auto gone = show_task(what, *store.read(), archives);
  EXPECT_EQ(gone.error().code(), v1::ERROR_CODE_NOT_FOUND);
  EXPECT_NE(gone.error().sentence().find("no longer kept"), std::string::npos);
  EXPECT_EQ(states_of(states, *store.read()).items(0).state(), v1::TASK_STATE_COMPLETED) << "the id is known for ever";
}

TEST_F(task_queries_test, does_not_show_a_deleted_task_whose_move_to_its_archive_is_not_done_on_this_node) {
  shard.create(order(1));
  shard.change(1, [](v1::TaskRecord& task) { fixture::complete(task, 5'000); });
  auto moved = shard.next();
  store::put_move(moved, **store::load_task(*store.read(), 1), {19'000, 0});
  shard.expect_committed(std::move(moved));
  v1::TaskShowRequest what;
  what.set_id("t1");
  EXPECT_EQ(show_task(what, *store.read(), archives).error().code(), v1::ERROR_CODE_OK);
  auto one = shard.next();
  auto tombstone = **store::find_task(*store.read(), "t1");
  tombstone.clear_archived_day();
  tombstone.set_deleted_at_unix_ms(6'000);
  tombstone.set_deleted_by("ann");
  store::put_tombstone(one, "t1", tombstone);
  store::put_deletion(one, 1);
  shard.expect_committed(std::move(one));
  ASSERT_TRUE((*store::load_task(*store.read(), 1)).has_value());
  const auto reply = show_task(what, *store.read(), archives);
  EXPECT_EQ(reply.error().code(), v1::ERROR_CODE_NOT_FOUND);
  EXPECT_NE(reply.error().sentence().find("ann deleted its record"), std::string::npos);
  EXPECT_FALSE(reply.has_task());
  v1::StatesRequest states;
  states.add_ids("t1");
  EXPECT_EQ(states_of(states, *store.read()).items(0).state(), v1::TASK_STATE_COMPLETED);
}

TEST_F(task_queries_test, says_why_a_task_is_or_was_undone) {
  for (std::uint64_t i = 1; i <= 3; ++i) shard.create(order(i));
  const auto back = [this](std::uint64_t number, v1::TaskState state, const char* parked) {
    shard.change(number, [&](v1::TaskRecord& task) {
      task.set_state(state);
      task.set_undo_reason("step charge failed (http_409)");
      task.set_parked_reason(parked);
    });
  };
  back(1, v1::TASK_STATE_UNDOING, "step reserve could not be undone");
  back(2, v1::TASK_STATE_UNDOING, "");
  back(3, v1::TASK_STATE_RUNNING, "");
  const auto listed = list({});
  ASSERT_EQ(listed.items_size(), 3);
  EXPECT_EQ(listed.items(0).reason(), "") << "an operator has let it go on";
  EXPECT_EQ(listed.items(1).reason(), "step charge failed (http_409)");
  EXPECT_EQ(listed.items(2).reason(), "step reserve could not be undone") << "that is what somebody has to look after";
  v1::StatesRequest what;
  what.add_ids("t2");
  EXPECT_EQ(states_of(what, *store.read()).items(0).reason(), "step charge failed (http_409)");
}

TEST_F(task_queries_test, gives_the_states_of_many_in_the_order_asked) {
  shard.create(order(1));
  shard.create(order(2));
  shard.change(2, [](v1::TaskRecord& task) {
    fixture::park(task, 5'000);
    task.set_parked_reason("for a reason");
  });
  v1::StatesRequest what;
  for (const auto* id : {"t2", "nobody", "t1"}) what.add_ids(id);
  const auto reply = states_of(what, *store.read());
  ASSERT_EQ(reply.items_size(), 3);
  EXPECT_TRUE(reply.items(0).parked());
  EXPECT_EQ(reply.items(0).reason(), "for a reason");
  EXPECT_EQ(reply.items(1).state(), v1::TASK_STATE_UNSPECIFIED);
  EXPECT_EQ(reply.items(2).state(), v1::TASK_STATE_RUNNING);
  v1::StatesRequest many;
  for (int i = 0; i < 1'001; ++i) many.add_ids("t1");
  EXPECT_EQ(states_of(many, *store.read()).error().code(), v1::ERROR_CODE_INVALID_ARGUMENT);
}

TEST_F(task_queries_test, reports_damage_instead_of_hiding_it) {
  shard.create(order(1));
  store.damage(store::table::task, store::keys::task(1, 1));
  EXPECT_EQ(list({}).error().code(), v1::ERROR_CODE_CORRUPT);
  v1::TaskShowRequest what;
  what.set_id("t1");
  EXPECT_EQ(show_task(what, *store.read(), archives).error().code(), v1::ERROR_CODE_CORRUPT);
  v1::StatesRequest states;
  states.add_ids("t1");
  EXPECT_EQ(states_of(states, *store.read()).error().code(), v1::ERROR_CODE_CORRUPT);
}

TEST_F(task_queries_test, lists_and_shows_workflows) {
  const auto all = list_workflows(*store.read());
  ASSERT_EQ(all.items_size(), 1);
  EXPECT_EQ(all.items(0).name(), "order");
  EXPECT_EQ(all.items(0).steps(), 3u);
  EXPECT_EQ(all.items(0).versions(), 1u);
  v1::WorkflowShowRequest what;
  what.set_name("order");
  EXPECT_EQ(show_workflow(what, *store.read()).workflow().definition().steps_size(), 3);
  const auto hash = all.items(0).content_hash();
  for (const std::size_t bytes : {4u, 15u, 16u}) {
    what.set_content_hash(hash.substr(0, bytes));
    EXPECT_EQ(show_workflow(what, *store.read()).workflow().content_hash(), hash) << bytes;
  }
  what.set_content_hash(hash.substr(0, 3));
  EXPECT_EQ(show_workflow(what, *store.read()).error().code(), v1::ERROR_CODE_INVALID_ARGUMENT);
  what.set_content_hash("none");
  EXPECT_EQ(show_workflow(what, *store.read()).error().code(), v1::ERROR_CODE_NOT_FOUND);
  what.clear_content_hash();
  for (const auto& name : {std::string{"nothing"}, std::string{}, std::string(1'000, 'x')}) {
    what.set_name(name);
    EXPECT_EQ(show_workflow(what, *store.read()).error().code(), v1::ERROR_CODE_NOT_FOUND);
  }
}

}  // namespace
}  // namespace fairlead::testing
