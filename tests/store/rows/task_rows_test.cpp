#include "store/rows/task_rows.hpp"

#include "store/memory/memory_store.hpp"
#include "store/rows/history_rows.hpp"
#include "tests/store/fixture.hpp"

namespace fairlead::store {
namespace {

using namespace testing;

std::string operations_of(const batch& one) {
  std::string out;
  one.for_each([&](const operation& op) {
    if (!out.empty()) out += ", ";
    out += std::string(op.what == operation::kind::put ? "put " : "erase ") + keys::describe(op.where, op.key);
  });
  return out;
}

/// What storing `after` over `before` writes.
std::string written(const v1::TaskRecord* before, v1::TaskRecord& after, bool refresh_due = false) {
  batch one;
  put_task(one, before != nullptr ? index_state_of(*before) : task_index_state{}, after, refresh_due);
  return operations_of(one);
}

TEST(task_rows, a_new_running_task_is_row_id_workflow_and_due) {
  auto task = running_order(5, "o-5");
  EXPECT_EQ(written(nullptr, task), "put due 10000 of task 5, put task 5, put task_id `o-5`, put by_workflow `order` of task 5");
  EXPECT_EQ(task.due_indexed_unix_ms(), 10'000);
}

TEST(task_rows, a_new_pending_task_stands_in_pending_and_not_in_due) {
  auto task = pending_order_task(5, "o-5", 2);
  const auto order = std::to_string(pending_order(1'000, 2));
  EXPECT_EQ(written(nullptr, task),
            "put task 5, put task_id `o-5`, put by_workflow `order` of task 5, put pending " + order + " of task 5");
}

TEST(task_rows, each_label_is_one_more_entry) {
  auto task = running_order(5, "o-5");
  auto* label = task.add_labels();
  label->set_key("shop");
  label->set_value("berlin");
  EXPECT_NE(written(nullptr, task).find("put by_label `shop=berlin` of task 5"), std::string::npos);
}

TEST(task_rows, a_task_of_three_steps_costs_nine_operations_in_its_life) {
  auto task = running_order(5, "o-5");
  std::size_t operations = 0;
  std::vector<std::size_t> each;
  task_index_state before;
  const auto store_it = [&] {
    batch one;
    put_task(one, before, task);
    before = index_state_of(task);
    each.push_back(one.size());
    operations += one.size();
  };
  store_it();
  for (int step = 1; step < 3; ++step) {
    task.mutable_steps(step - 1)->set_state(v1::STEP_STATE_COMPLETED);
    task.mutable_steps(step)->set_state(v1::STEP_STATE_RUNNING);
    task.set_due_unix_ms(10'000 + 100 * step);
    add_event(task, v1::EVENT_KIND_STEP_COMPLETED, 2'000);
    add_event(task, v1::EVENT_KIND_STEP_STARTED, 2'000);
    store_it();
  }
  complete(task, 3'000);
  store_it();
  EXPECT_EQ(each, (std::vector<std::size_t>{4, 1, 1, 3}));
  EXPECT_EQ(operations, 9u);
}

TEST(task_rows, a_later_wake_up_leaves_the_due_entry_where_it_is) {
  auto task = running_order(5, "o-5");
  written(nullptr, task);
  auto later = task;
  later.set_due_unix_ms(20'000);
  EXPECT_EQ(written(&task, later), "put task 5");
  EXPECT_EQ(later.due_indexed_unix_ms(), 10'000);
}

TEST(task_rows, an_earlier_wake_up_moves_the_due_entry) {
  auto task = running_order(5, "o-5");
  written(nullptr, task);
  auto earlier = task;
  earlier.set_due_unix_ms(9'000);
  EXPECT_EQ(written(&task, earlier), "erase due 10000 of task 5, put due 9000 of task 5, put task 5");
  EXPECT_EQ(earlier.due_indexed_unix_ms(), 9'000);
}

TEST(task_rows, refresh_due_makes_a_lazy_entry_exact_and_leaves_an_exact_one) {
  auto task = running_order(5, "o-5");
  written(nullptr, task);
  auto later = task;
  later.set_due_unix_ms(20'000);
  EXPECT_EQ(written(&task, later, true), "erase due 10000 of task 5, put due 20000 of task 5, put task 5");
  auto again = later;
  EXPECT_EQ(written(&later, again, true), "put task 5");
}

TEST(task_rows, a_task_that_waits_for_its_start_is_in_the_due_index_and_not_yet_in_the_order_of_pending_tasks) {
  auto task = pending_order_task(5, "o-5");
  task.set_scheduled(true);
  task.set_start_at_unix_ms(90'000);
  task.set_due_unix_ms(90'000);
  const auto created = written(nullptr, task);
  EXPECT_NE(created.find("put due 90000 of task 5"), std::string::npos) << created;
  EXPECT_EQ(created.find("put pending"), std::string::npos) << created;
  auto released = task;
  released.clear_scheduled();
  released.set_due_unix_ms(0);
  const auto order = std::to_string(pending_order(90'000, 0));
  EXPECT_EQ(written(&task, released), "erase due 90000 of task 5, put task 5, put pending " + order + " of task 5")
      << "it waits since its start, not since its submission";
}

TEST(task_rows, starting_a_pending_task_moves_it_from_pending_to_due) {
  auto task = pending_order_task(5, "o-5");
  written(nullptr, task);
  auto started = task;
  started.set_state(v1::TASK_STATE_RUNNING);
  started.set_due_unix_ms(7'000);
  const auto order = std::to_string(pending_order(1'000, 0));
  EXPECT_EQ(written(&task, started), "put due 7000 of task 5, put task 5, erase pending " + order + " of task 5");
}

TEST(task_rows, parking_moves_a_task_from_due_to_held_and_resuming_moves_it_back) {
  auto task = running_order(5, "o-5");
  written(nullptr, task);
  auto parked = task;
  park(parked, 4'000);
  EXPECT_EQ(written(&task, parked), "erase due 10000 of task 5, put task 5, put held parked of task 5");
  EXPECT_EQ(parked.due_indexed_unix_ms(), 0);
  auto resumed = parked;
  resumed.set_parked(false);
  resumed.set_due_unix_ms(11'000);
  EXPECT_EQ(written(&parked, resumed), "put due 11000 of task 5, put task 5, erase held parked of task 5");
}

TEST(task_rows, pausing_and_parking_are_two_entries) {
  auto task = running_order(5, "o-5");
  written(nullptr, task);
  auto both = task;
  park(both, 4'000);
  both.set_paused(true);
  EXPECT_EQ(written(&task, both), "erase due 10000 of task 5, put task 5, put held parked of task 5, put held paused of task 5");
}

TEST(task_rows, a_task_that_is_undone_after_all_leaves_the_finished_index) {
  auto task = running_order(5, "o-5");
  complete(task, 3'000);
  written(nullptr, task);
  auto undoing = task;
  undoing.set_state(v1::TASK_STATE_UNDOING);
  undoing.set_finished_at_unix_ms(0);
  undoing.set_due_unix_ms(8'000);
  EXPECT_EQ(written(&task, undoing), "put due 8000 of task 5, put task 5, erase finished 3000 of task 5");
  auto undone = undoing;
  undone.set_state(v1::TASK_STATE_UNDONE);
  undone.set_due_unix_ms(0);
  undone.set_finished_at_unix_ms(9'000);
  EXPECT_EQ(written(&undoing, undone), "erase due 8000 of task 5, put task 5, put finished 9000 of task 5");
}

struct stored_tasks : ::testing::Test {
  memory_store it;
  test_shard shard{it};
};

TEST_F(stored_tasks, are_found_by_number_and_by_id) {
  shard.create(running_order(5, "o-5"));
  const auto now = it.read();
  EXPECT_EQ((*load_task(*now, 5))->id(), "o-5");
  EXPECT_EQ((*find_task(*now, "o-5"))->number(), 5u);
  EXPECT_EQ((*find_task(*now, "o-5"))->content_hash(), content_hash("o-5"));
  EXPECT_FALSE(load_task(*now, 6)->has_value());
  EXPECT_FALSE(find_task(*now, "o-6")->has_value());
}

TEST_F(stored_tasks, keep_the_time_since_which_they_are_held) {
  shard.create(running_order(5, "o-5"));
  shard.change(5, [](v1::TaskRecord& task) { park(task, 4'000); });
  EXPECT_EQ(to_hex(*value_of(it, table::held, keys::held(1, held_why::parked, 5))), "0000000000000fa0");
}

TEST_F(stored_tasks, move_events_to_chunks_and_load_them_back_in_order) {
  shard.create(running_order(5, "o-5"));
  for (std::uint64_t i = 3; i <= 100; ++i) {
    shard.change(5, [&](v1::TaskRecord& task) { add_event(task, v1::EVENT_KIND_STEP_RETRIED, static_cast<std::int64_t>(i)); });
    const auto now = it.read();
    const auto record = **load_task(*now, 5);
    EXPECT_LE(record.recent_size(), recent_events_limit);
    const auto history = *load_history(*now, record);
    ASSERT_EQ(history.size(), i);
    for (std::uint64_t j = 0; j < i; ++j) ASSERT_EQ(history[j].sequence(), j + 1);
  }
  // 33 events leave 8; 25 more make 33 again: chunks begin at 1, 26, 51 and 76.
  EXPECT_EQ(it.read()->count(table::history), 3u);
  EXPECT_TRUE(value_of(it, table::history, keys::history(1, 5, 26)).has_value());
}

TEST_F(stored_tasks, load_payloads_from_the_row_and_from_their_slot) {
  auto one = shard.next();
  put_payload(one, 5, 2, R"({"big":true})");
  shard.expect_committed(std::move(one));
  v1::Payload small, big, lost;
  small.set_json("1");
  big.set_slot(2);
  lost.set_slot(3);
  const auto now = it.read();
  EXPECT_EQ(*load_payload(*now, 5, small), "1");
  EXPECT_EQ(*load_payload(*now, 5, big), R"({"big":true})");
  const auto missing = load_payload(*now, 5, lost);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.failure().code, v1::ERROR_CODE_INCONSISTENT);
  EXPECT_NE(missing.failure().sentence.find("slot 3 of task 5"), std::string::npos);
}

TEST_F(stored_tasks, are_made_whole_with_history_and_payloads) {
  shard.create(running_order(5, "o-5"));
  shard.change(5, [](v1::TaskRecord& task) {
    for (int i = 0; i < 40; ++i) add_event(task, v1::EVENT_KIND_STEP_RETRIED, i);
    task.mutable_steps(1)->mutable_output()->set_slot(1);
    task.mutable_steps(1)->mutable_output()->set_size(3);
  });
  auto one = shard.next();
  put_payload(one, 5, 1, "[7]");
  shard.expect_committed(std::move(one));
  const auto now = it.read();
  auto record = **load_task(*now, 5);
  ASSERT_LT(record.recent_size(), 42);
  ASSERT_TRUE(load_whole(*now, record).ok());
  EXPECT_EQ(record.recent_size(), 42);
  EXPECT_EQ(record.steps(1).output().json(), "[7]");
  EXPECT_EQ(record.steps(1).output().slot(), 0u);
}

TEST_F(stored_tasks, a_damaged_row_is_named) {
  shard.create(running_order(5, "o-5"));
  ASSERT_TRUE(it.damage(table::task, keys::task(1, 5)));
  const auto damaged = load_task(*it.read(), 5);
  ASSERT_FALSE(damaged.ok());
  EXPECT_EQ(damaged.failure().code, v1::ERROR_CODE_CORRUPT);
  EXPECT_NE(damaged.failure().sentence.find("task 5"), std::string::npos);
}

}  // namespace
}  // namespace fairlead::store
