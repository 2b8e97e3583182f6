#include "store/lmdb/archive.hpp"

#include "store/check/check.hpp"
#include "store/lmdb/store.hpp"
#include "store/memory/memory_store.hpp"
#include "tests/store/archive_fixture.hpp"

namespace fairlead::store {
namespace {

using namespace testing;

struct archives : ::testing::Test {
  temporary_directory here;
  memory_store it;
  test_shard shard{it};
  archive old{here / "archive"};
  static constexpr std::int64_t day = 20'000;  // 2024-10-04

  void SetUp() override { shard.deploy_order(); }

  void move_one(std::uint64_t number, std::int64_t to, std::uint32_t keep_days = 0) {
    auto one = shard.next();
    ASSERT_TRUE(move_to(old, {number}, *it.read(), to, one, keep_days).ok());
    commit_removal(std::move(one), 1);
  }

  void finished_order(std::uint64_t number) {
    auto order = running_order(number, "o-" + std::to_string(number));
    auto* label = order.add_labels();
    label->set_key("shop");
    label->set_value("berlin");
    order.set_next_slot(2);
    order.mutable_input()->clear_json();
    order.mutable_input()->set_slot(1);
    order.mutable_input()->set_size(7);
    for (int i = 0; i < 40; ++i) add_event(order, v1::EVENT_KIND_STEP_RETRIED, i);
    shard.create(order);
    auto one = shard.next();
    put_payload(one, number, 1, R"([1,2,3])");
    shard.expect_committed(std::move(one));
    shard.change(number, [](v1::TaskRecord& task) { complete(task, 3'000); });
  }

  void commit_removal(batch one, std::uint64_t tasks) {
    shard.state().set_completed(shard.state().completed() - tasks);
    shard.state().set_archived(shard.state().archived() + tasks);
    shard.expect_committed(std::move(one));
  }

  void expect_sound() {
    const auto report = check(*it.read());
    EXPECT_TRUE(report.clean()) << report.findings.front();
  }
};

TEST_F(archives, name_their_days) {
  EXPECT_EQ(format_day(day), "2024-10-04");
  EXPECT_EQ(parse_day("2024-10-04"), day);
  EXPECT_EQ(day_of(day * 86'400'000 + 86'399'999), day);
  for (const char* text : {"2024-13-01", "2024-02-30", "2024-1-01", "x", "2024-10-04x", "", "-024-10-04"})
    EXPECT_EQ(parse_day(text), std::nullopt) << text;
}

TEST_F(archives, take_a_finished_task_out_of_the_store_whole) {
  finished_order(1);
  finished_order(2);
  auto one = shard.next();
  ASSERT_TRUE(move_to(old, {1}, *it.read(), day, one).ok());
  commit_removal(std::move(one), 1);

  const auto now = it.read();
  EXPECT_FALSE(load_task(*now, 1)->has_value());
  for (auto where : {table::task, table::by_workflow, table::by_label, table::finished, table::payload}) {
    EXPECT_EQ(now->count(where), 1u) << table_name(where);
  }
  const auto tombstone = **find_task(*now, "o-1");
  EXPECT_EQ(tombstone.archived_day(), day);
  EXPECT_EQ(tombstone.final_state(), v1::TASK_STATE_COMPLETED);
  EXPECT_EQ(tombstone.content_hash(), content_hash("o-1"));
  expect_sound();

  const auto archived = old.load(day, task_number(1));
  ASSERT_TRUE(archived.ok() && archived->has_value());
  EXPECT_EQ((*archived)->id(), "o-1");
  EXPECT_EQ((*archived)->recent_size(), 43);
  EXPECT_EQ((*archived)->input().json(), "[1,2,3]");
}

TEST_F(archives, a_crash_between_copy_and_removal_loses_nothing_and_the_next_move_ends_it) {
  finished_order(1);
  auto never_committed = shard.next();
  ASSERT_TRUE(move_to(old, {1}, *it.read(), day, never_committed).ok());
  EXPECT_TRUE(load_task(*it.read(), 1)->has_value());

  test_shard after_restart(it);
  auto one = after_restart.next();
  ASSERT_TRUE(move_to(old, {1}, *it.read(), day, one).ok());
  after_restart.state().set_completed(0);
  after_restart.state().set_archived(1);
  after_restart.expect_committed(std::move(one));
  EXPECT_FALSE(load_task(*it.read(), 1)->has_value());
  EXPECT_TRUE(old.load(day, task_number(1))->has_value());
  expect_sound();
}

TEST_F(archives, pass_over_a_task_that_has_gone_already) {
  finished_order(1);
  batch told;
  put_move(told, **load_task(*it.read(), 1), {day, 0});
  const auto state = with(*it.read(), told);
  batch gone;
  ASSERT_TRUE(old.carry_out(*state, gone).ok());
  batch again;
  ASSERT_TRUE(old.carry_out(*with(*state, gone), again).ok());
  EXPECT_TRUE(again.empty()) << "the row went with the task";
  batch of_nobody;
  erase_move(of_nobody, 1);
  batch erasures;
  auto rest = gone;
  rest.append(told);
  ASSERT_TRUE(old.carry_out(*with(*it.read(), rest), erasures).ok());
  EXPECT_EQ(erasures.bytes(), of_nobody.bytes()) << "a row without its task goes, and copies nothing";
}

TEST_F(archives, copy_large_tasks_by_and_by_so_that_little_is_in_memory) {
  for (std::uint64_t number = 1; number <= 3; ++number) {
    finished_order(number);
    auto rows = shard.next();
    for (std::uint32_t slot = 1; slot <= 5; ++slot) put_payload(rows, number, slot, '"' + std::string(1 << 20, 'x') + '"');
    shard.expect_committed(std::move(rows));
  }
  batch one;
  ASSERT_TRUE(move_to(old, {1, 2, 3}, *it.read(), day, one).ok());
  for (std::uint64_t number = 1; number <= 3; ++number) EXPECT_TRUE(old.load(day, task_number(number))->has_value());
}

TEST_F(archives, erase_every_copy_of_a_deleted_task_and_no_other) {
  finished_order(1);
  finished_order(2);
  batch never_committed;
  ASSERT_TRUE(move_to(old, {1}, *it.read(), day, never_committed).ok());
  auto one = shard.next();
  ASSERT_TRUE(move_to(old, {1, 2}, *it.read(), day + 1, one, 90).ok());
  commit_removal(std::move(one), 2);
  ASSERT_TRUE(old.erase({1, 7}).ok());
  EXPECT_FALSE(old.load(day, task_number(1))->has_value());
  EXPECT_FALSE(old.load(day + 1, task_number(1), 90)->has_value());
  EXPECT_TRUE(old.load(day + 1, task_number(2), 90)->has_value());
  ASSERT_TRUE(old.visit({day + 1, 90},
                        [](const snapshot& in) {
                          for (const auto where : {table::task, table::payload}) EXPECT_EQ(in.count(where), 1u) << table_name(where);
                        })
                  .ok());
  EXPECT_TRUE(old.erase({1}).ok()) << "a second time there is nothing to do";
}

TEST_F(archives, refuse_a_task_that_lives) {
  shard.create(running_order(1, "o-1"));
  batch one;
  const auto refused = move_to(old, {1}, *it.read(), day, one);
  ASSERT_FALSE(refused.ok());
  EXPECT_TRUE(old.days()->empty());
}

TEST_F(archives, drop_whole_days) {
  for (std::uint64_t number : {1, 2, 3}) {
    finished_order(number);
    auto one = shard.next();
    ASSERT_TRUE(move_to(old, {number}, *it.read(), day + static_cast<std::int64_t>(number), one).ok());
    commit_removal(std::move(one), 1);
  }
  EXPECT_EQ(*old.days(), (std::vector<std::int64_t>{day + 1, day + 2, day + 3}));
  ASSERT_TRUE(old.drop_before(day + 3).ok());
  EXPECT_EQ(*old.days(), (std::vector<std::int64_t>{day + 3}));
  EXPECT_FALSE(old.load(day + 1, task_number(1))->has_value());
  EXPECT_TRUE(old.load(day + 3, task_number(3))->has_value());
  EXPECT_FALSE(std::filesystem::exists(here / "archive/2024-10-05"));
  EXPECT_TRUE((*find_task(*it.read(), "o-1"))->archived_day() == day + 1) << "the id outlives its archive";
}

TEST_F(archives, keep_tasks_of_another_retention_in_a_place_of_their_own) {
  for (std::uint64_t number : {1, 2, 3}) finished_order(number);
  move_one(1, day);
  move_one(2, day, 90);
  move_one(3, day, 7);
  EXPECT_TRUE(std::filesystem::exists(here / "archive/2024-10-04/data.mdb"));
  EXPECT_TRUE(std::filesystem::exists(here / "archive/keep-90d/2024-10-04/data.mdb"));
  EXPECT_EQ(*old.classes(), (std::vector<std::uint32_t>{7, 90}));
  EXPECT_EQ(*old.days(), (std::vector<std::int64_t>{day}));
  EXPECT_EQ(*old.days(90), (std::vector<std::int64_t>{day}));
  EXPECT_EQ((*find_task(*it.read(), "o-1"))->archive_keep_days(), 0u);
  EXPECT_EQ((*find_task(*it.read(), "o-2"))->archive_keep_days(), 90u);
  EXPECT_EQ((**old.load(day, task_number(2), 90)).id(), "o-2");
  EXPECT_FALSE(old.load(day, task_number(2))->has_value());
  EXPECT_FALSE(old.load(day, task_number(1), 90)->has_value());
  expect_sound();
}

TEST_F(archives, drop_days_of_one_retention_only) {
  for (std::uint64_t number : {1, 2, 3}) finished_order(number);
  move_one(1, day);
  move_one(2, day, 90);
  move_one(3, day + 1, 90);
  ASSERT_TRUE(old.drop_before(day + 1, 90).ok());
  EXPECT_EQ(*old.days(90), (std::vector<std::int64_t>{day + 1}));
  EXPECT_EQ(*old.days(), (std::vector<std::int64_t>{day}));
  ASSERT_TRUE(old.drop_before(day + 1).ok());
  EXPECT_TRUE(old.days()->empty());
  EXPECT_TRUE(old.load(day + 1, task_number(3), 90)->has_value());
}

TEST_F(archives, take_no_other_directory_for_a_retention) {
  for (const char* name :
       {"keep-0d", "keep-d", "keep-07d", "keep-7", "keep-7dd", "keep--7d", "keep-99999999999d", "7d", "keep-", "2024-10-04"})
    std::filesystem::create_directories(here / ("archive/" + std::string(name)));
  EXPECT_TRUE(old.classes()->empty());
  std::filesystem::create_directories(here / "archive/keep-7d");
  EXPECT_EQ(*old.classes(), (std::vector<std::uint32_t>{7}));
}

TEST_F(archives, are_empty_where_there_is_no_directory_yet) {
  EXPECT_TRUE(old.days()->empty());
  EXPECT_FALSE(old.load(day, task_number(1))->has_value());
  EXPECT_TRUE(old.drop_before(day).ok());
  EXPECT_TRUE(old.classes()->empty());
  EXPECT_TRUE(old.days(90)->empty());
  EXPECT_TRUE(old.drop_before(day, 90).ok());
}

}  // namespace
}  // namespace fairlead::store
