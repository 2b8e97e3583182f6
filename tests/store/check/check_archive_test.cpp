// What a check finds in archives, and what is no finding there.

#include <lmdb.h>

#include <filesystem>
#include <fstream>

#include "store/lmdb/archive.hpp"
#include "tests/store/archive_fixture.hpp"
#include "tests/store/check/check_fixture.hpp"

namespace fairlead::store {
namespace {

using namespace testing;

/// Beside the tasks of the store: 10 and 11 in the archive of a day, 12 in that of the same day that is kept for 90 days.
struct checked_archives : checked_store {
  temporary_directory here;
  archive old{here / "archive"};
  static constexpr std::int64_t day = 20'000;  // 2024-10-04

  void SetUp() override {
    checked_store::SetUp();
    for (std::uint64_t number : {10, 11, 12}) {
      finished(number);
      move(number, number == 12 ? 90 : 0);
    }
  }

  void finished(std::uint64_t number) {
    auto order = running_order(number, "o-" + std::to_string(number));
    order.set_next_slot(2);
    order.mutable_input()->clear_json();
    order.mutable_input()->set_slot(1);
    order.mutable_input()->set_size(7);
    for (int i = 0; i < 40; ++i) add_event(order, v1::EVENT_KIND_STEP_RETRIED, i);
    shard.create(order);
    plant([&](batch& one) { put_payload(one, number, 1, R"([1,2,3])"); });
    shard.change(number, [](v1::TaskRecord& task) { complete(task, 3'000); });
  }

  void move(std::uint64_t number, std::uint32_t keep_days) {
    plant([&](batch& one) {
      ASSERT_TRUE(move_to(old, {number}, *it.read(), day, one, keep_days).ok());
      shard.state().set_completed(shard.state().completed() - 1);
      shard.state().set_archived(shard.state().archived() + 1);
    });
  }

  /// Changes an archive behind its back.
  template <class Write>
  void plant_in(const std::string& name, Write&& write) {
    auto opened = env::open({here / ("archive/" + name), std::uint64_t{1} << 30, false});
    ASSERT_TRUE(opened.ok());
    auto txn = (*opened)->write();
    batch one;
    write(one);
    const std::vector<batch> group{one};
    group_operations gathered;
    gathered.gather(group);
    ASSERT_TRUE(txn->apply(gathered).ok());
    ASSERT_TRUE(txn->commit().ok());
  }

  check_report whole() { return check(*it.read(), {}, 100, &old); }

  void expect_in_archive(const std::string& words) {
    const auto all = whole().findings;
    bool found = false;
    std::string listed;
    for (const auto& one : all) {
      found = found || one.find(words) != std::string::npos;
      listed += "\n  " + one;
    }
    EXPECT_TRUE(found) << "wanted: " << words << "; found:" << listed;
  }
};

TEST_F(checked_archives, are_found_sound) {
  const auto found = whole();
  EXPECT_TRUE(found.clean()) << found.findings.front();
  EXPECT_EQ(found.archived_tasks, 3u);
  EXPECT_GT(found.values, report().values);
}

TEST_F(checked_archives, a_task_that_its_archive_lacks) {
  plant_in("2024-10-04", [](batch& one) {
    one.erase(table::task, keys::task(1, 11));
    one.erase(table::history, keys::history(1, 11, 1));
    one.erase(table::payload, keys::payload(1, 11, 1));
  });
  const auto found = whole();
  ASSERT_EQ(found.findings.size(), 1u);
  EXPECT_EQ(found.findings.front(), "Table task_id, key task_id `o-11`: the task is not in archive 2024-10-04.");
}

TEST_F(checked_archives, rows_that_do_not_parse_or_stand_wrongly) {
  plant_in("keep-90d/2024-10-04", [](batch& one) { one.put(table::task, keys::task(1, 12), "\xff"); });
  expect_in_archive("Archive keep-90d/2024-10-04: Table task, key 12: the row does not parse");
  plant_in("2024-10-04", [](batch& one) {
    one.put(table::task, keys::task(1, 10), running_order(10, "o-10").SerializeAsString());
    one.erase(table::payload, keys::payload(1, 11, 1));
    one.put(table::history, keys::history(1, 77, 1), "");
  });
  expect_in_archive("Archive 2024-10-04: Table task, key 10: task `o-10` is archived but not finished");
  expect_in_archive("Archive 2024-10-04: Table task, key task 10: the store says that it ended in another state");
  expect_in_archive("Archive 2024-10-04: Table task, key 11: task `o-11` lacks its payload slot 1 of task 11");
  expect_in_archive("Archive 2024-10-04: Table history, key history chunk 1 of task 77: there is no such task");
}

TEST_F(checked_archives, a_gap_in_a_history) {
  plant_in("2024-10-04", [](batch& one) { one.erase(table::history, keys::history(1, 10, 1)); });
  expect_in_archive("Archive 2024-10-04: Table task, key 10: task `o-10` has a gap in its history");
}

TEST_F(checked_archives, a_damaged_value) {
  auto opened = env::open({here / "archive/2024-10-04", std::uint64_t{1} << 30, false});
  auto txn = (*opened)->write();
  ASSERT_TRUE(txn->put(table::task, keys::task(1, 10), "no checksum").ok());
  ASSERT_TRUE(txn->commit().ok());
  opened = error{};
  expect_in_archive("Archive 2024-10-04: Table task, key task 10: the value is damaged (checksum)");
}

TEST_F(checked_archives, a_task_that_the_store_does_not_know) {
  plant([](batch& one) {
    one.erase(table::task_id, keys::task_id(1, "o-10"));
    v1::TaskTombstone other;
    other.set_number(500);
    other.set_archived_day(1);
    other.set_final_state(v1::TASK_STATE_COMPLETED);
    one.put(table::task_id, keys::task_id(1, "o-11"), other.SerializeAsString());
  });
  expect_in_archive("Archive 2024-10-04: Table task, key task 10: the store does not know it as task `o-10`");
  expect_in_archive("Archive 2024-10-04: Table task, key task 11: the store does not know it as task `o-11`");
}

TEST_F(checked_archives, a_day_of_which_nothing_was_written_before_the_node_ended_is_no_finding) {
  const auto day_of = [this](const char* name) {
    const auto path = here / (std::string{"archive/"} + name);
    std::filesystem::create_directories(path);
    return path;
  };
  day_of("2024-10-05");
  std::ofstream{day_of("2024-10-06") + "/lock"} << "77\n";
  std::ofstream{day_of("keep-90d/2024-10-07") + "/data.mdb"};
  MDB_env* raw = nullptr;
  ASSERT_EQ(mdb_env_create(&raw), 0);
  ASSERT_EQ(mdb_env_open(raw, day_of("2024-10-08").c_str(), 0, 0640), 0);
  mdb_env_close(raw);
  const auto found = whole();
  EXPECT_TRUE(found.clean()) << found.findings.front();
}

TEST_F(checked_archives, an_empty_day_that_should_hold_tasks) {
  std::filesystem::remove(here / "archive/2024-10-04/data.mdb");
  expect_in_archive("Archive 2024-10-04 cannot be read: There is no store in");
}

TEST_F(checked_archives, a_file_that_is_no_archive) {
  std::filesystem::resize_file(here / "archive/2024-10-04/data.mdb", 100);
  expect_in_archive("Archive 2024-10-04 cannot be read");
}

TEST_F(checked_archives, copies_that_a_crash_left_and_days_that_were_let_go_of_are_no_findings) {
  finished(13);
  batch never_committed;
  ASSERT_TRUE(move_to(old, {13}, *it.read(), day, never_committed).ok());
  EXPECT_TRUE(whole().clean());
  move(13, 90);  // copied once more, to another place
  EXPECT_TRUE(whole().clean());
  ASSERT_TRUE(old.drop_before(day + 1).ok());
  const auto found = whole();
  EXPECT_TRUE(found.clean()) << found.findings.front();
  EXPECT_EQ(found.archived_tasks, 2u);
}

}  // namespace
}  // namespace fairlead::store
