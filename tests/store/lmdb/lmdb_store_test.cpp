#include "store/lmdb/store.hpp"

#include <lmdb.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <filesystem>

#include <fstream>
#include <thread>

#include "store/failpoint.hpp"
#include "store/meta_rows.hpp"
#include "tests/store/job_fixture.hpp"
#include "tests/store/lmdb/lmdb_fixture.hpp"

namespace fairlead::store {
namespace {

using namespace testing;

TEST_F(lmdb, keeps_everything_over_a_close_and_an_opening) {
  std::uint64_t epoch = 0;
  {
    auto it = open();
    epoch = *it->raise_epoch();
    auto one = with_row(1, epoch, "a", "kept");
    v1::ShardState counters;
    counters.set_running(2);
    one.shard_state = counters.SerializeAsString();
    ASSERT_TRUE(it->commit({one}).ok());
    EXPECT_EQ(it->sequence(), 1u);
    EXPECT_EQ(it->commits(), 1u);
  }
  auto it = open();
  EXPECT_EQ(value_of(*it, table::task, "a"), "kept");
  const auto progress = it->read()->get_progress();
  EXPECT_EQ(progress.sequence, 1u);
  EXPECT_EQ(progress.shard.running(), 2u);
  EXPECT_EQ(*it->raise_epoch(), epoch + 1);
  EXPECT_EQ(it->read()->get_progress().shard.running(), 2u);
  EXPECT_TRUE(it->commit({with_row(2, epoch + 1, "b", "next")}).ok());
}

TEST_F(lmdb, is_one_shard_of_one_cluster_for_ever) {
  EXPECT_EQ(*open()->claim_shard(1, 4, "first"), "first");
  EXPECT_EQ(*open()->claim_shard(1, 4, "second"), "first");
  const auto another = open()->claim_shard(2, 4, "third");
  ASSERT_FALSE(another.ok());
  EXPECT_TRUE(says(another.failure(), "is shard 1 of 4")) << another.failure().sentence;
  const auto of_more = open()->claim_shard(1, 5, "third");
  ASSERT_FALSE(of_more.ok());
  EXPECT_EQ(of_more.failure().code, v1::ERROR_CODE_INVALID_ARGUMENT);
}

TEST_F(lmdb, that_held_tasks_before_there_were_shards_is_the_only_one) {
  {
    const auto it = open();
    batch one;
    one.epoch = *it->raise_epoch();
    one.sequence = 1;
    one.put(table::task_id, keys::task_id(default_namespace, "t1"), "a tombstone");
    ASSERT_TRUE(it->commit({one}).ok());
  }
  EXPECT_FALSE(open()->claim_shard(0, 2, "id").ok());
  EXPECT_EQ(*open()->claim_shard(0, 1, "id"), "id");
}

TEST_F(lmdb, with_a_damaged_identity_is_refused) {
  EXPECT_TRUE(open()->claim_shard(0, 1, "id").ok());
  plant(table::meta, keys::meta(meta::shard_row), "nonsense");
  const auto claimed = open()->claim_shard(0, 1, "id");
  ASSERT_FALSE(claimed.ok());
  EXPECT_EQ(claimed.failure().code, v1::ERROR_CODE_CORRUPT);
}

TEST_F(lmdb, a_store_of_the_first_release_opens_and_gets_the_tables_that_came_later) {
  const auto alert = keys::alert(1, 1), later = keys::alert(1, 2);
  {
    auto it = open();
    auto one = with_row(1, *it->raise_epoch(), "a", "kept");
    one.put(table::alert, alert, "gone with its table");
    ASSERT_TRUE(it->commit({one}).ok());
  }
  drop_later_tables();
  {
    auto read_only = lmdb_store::open({path, std::uint64_t{1} << 30, true});
    ASSERT_TRUE(read_only.ok()) << read_only.failure().sentence;
    EXPECT_EQ(value_of(**read_only, table::task, "a"), "kept");
    EXPECT_EQ(value_of(**read_only, table::alert, alert), std::nullopt);
    const auto now = (*read_only)->read();
    for (int i = first_release_table_count; i < table_count; ++i) {
      const auto where = static_cast<table>(i);
      EXPECT_EQ(now->count(where), 0u) << table_name(where);
      const auto nothing = [](auto&&...) { return ADD_FAILURE(), true; };
      EXPECT_TRUE(now->scan(where, {}, {}, nothing).ok());
      EXPECT_TRUE(now->scan_reverse(where, {}, {}, nothing).ok());
      EXPECT_TRUE(now->scan_all(where, nothing).ok());
    }
  }
  auto it = open();
  EXPECT_EQ(value_of(*it, table::task, "a"), "kept");
  auto two = with_row(2, *it->raise_epoch(), "b", "new");
  two.put(table::alert, later, "new");
  ASSERT_TRUE(it->commit({two}).ok());
  EXPECT_EQ(value_of(*it, table::alert, later), "new");
  it.reset();
  EXPECT_EQ(value_of(*open(), table::alert, later), "new");
}

TEST_F(lmdb, a_store_of_the_last_release_before_jobs_keeps_its_services_and_gets_the_tables_of_jobs) {
  const auto service = keys::service(1, "payment");
  {
    auto it = open();
    auto one = with_row(1, *it->raise_epoch(), "a", "kept");
    one.put(table::service, service, "kept");
    ASSERT_TRUE(it->commit({one}).ok());
  }
  drop_tables(static_cast<int>(table::job), table_count);
  {
    auto read_only = lmdb_store::open({path, std::uint64_t{1} << 30, true});
    ASSERT_TRUE(read_only.ok()) << read_only.failure().sentence;
    const auto now = (*read_only)->read();
    EXPECT_FALSE(load_job(*now, "nightly")->has_value());
    EXPECT_TRUE(for_each_job(*now, "", [](auto&&) { return ADD_FAILURE(), true; }).ok());
    EXPECT_EQ(now->count(table::launch_ready), 0u);
  }
  const auto job = minutely_job("nightly");
  {
    auto it = open();
    batch two;
    two.epoch = *it->raise_epoch();
    two.sequence = 2;
    put_job(two, {}, job);
    put_launch(two, ended_launch("nightly", 60'000, v1::LAUNCH_STATE_COMPLETED));
    ASSERT_TRUE(it->commit({two}).ok());
  }
  auto it = open();
  EXPECT_EQ(value_of(*it, table::service, service), "kept");
  EXPECT_EQ(value_of(*it, table::job, keys::job(1, "nightly")), job.SerializeAsString());
  EXPECT_TRUE(value_of(*it, table::launch, keys::launch(1, "nightly", 60'000)).has_value());
  EXPECT_EQ(it->read()->count(table::job_due), 1u);
}

TEST_F(lmdb, a_file_that_was_half_made_is_made_anew) {
  std::filesystem::create_directories(path);
  // A power cut has lost the first page, which LMDB wrote without a sync.
  std::ofstream(path + "/data.mdb.part", std::ios::binary) << std::string(4'096, '\0') << std::string(4'096, 'x');
  EXPECT_EQ(refusal().code, v1::ERROR_CODE_OK);
  EXPECT_FALSE(std::filesystem::exists(path + "/data.mdb.part"));
}

TEST_F(lmdb, a_store_that_lacks_a_table_of_the_first_release_is_damaged) {
  open();
  drop_tables(static_cast<int>(table::due), first_release_table_count);
  const auto refused = refusal();
  EXPECT_EQ(refused.code, v1::ERROR_CODE_CORRUPT);
  EXPECT_TRUE(says(refused, "lacks the table due")) << refused.sentence;
}

TEST_F(lmdb, a_second_opening_in_the_same_process_is_refused) {
  auto it = open();
  const auto refused = refusal();
  EXPECT_EQ(refused.code, v1::ERROR_CODE_STORE_IN_USE);
  EXPECT_TRUE(says(refused, "this process")) << refused.sentence;
  EXPECT_EQ(refusal({path, 1 << 30, true}).code, v1::ERROR_CODE_STORE_IN_USE) << "reading only";
}

TEST_F(lmdb, a_second_process_is_refused_and_told_who_holds_the_store) {
  auto it = open();
  int fds[2];
  ASSERT_EQ(::pipe(fds), 0);
  const auto child = ::fork();
  if (child == 0) {
    auto second = lmdb_store::open({path, 1 << 30, false});
    const auto answer = second.ok() ? "opened" : std::string(code_word(second.failure().code)) + " " + second.failure().sentence;
    (void)!::write(fds[1], answer.data(), answer.size());
    ::_exit(0);
  }
  ::close(fds[1]);
  char answer[512] = {};
  ASSERT_GT(::read(fds[0], answer, sizeof answer - 1), 0);
  ::close(fds[0]);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(std::string(answer), "store_in_use The directory " + path + " is in use by process " + std::to_string(::getpid()) + ".");
}

TEST_F(lmdb, a_lock_file_left_by_a_dead_process_does_no_harm) {
  open();
  std::ofstream(path + "/lock") << "999999\n";
  EXPECT_NE(open(), nullptr);
}

TEST_F(lmdb, a_newer_schema_is_refused_by_both_versions_names) {
  open();
  batch one;
  one.put(table::meta, keys::meta(meta::schema_row), meta::encode_u32(7));
  one.for_each([&](const operation& op) { plant(op.where, op.key, op.value); });
  const auto refused = refusal();
  EXPECT_EQ(refused.code, v1::ERROR_CODE_STORE_NEWER);
  EXPECT_TRUE(says(refused, "schema version 7") && says(refused, "up to 1")) << refused.sentence;
}

TEST_F(lmdb, a_damaged_progress_row_is_refused_by_name) {
  open();
  plant(table::meta, keys::meta(meta::progress_row), "nonsense");
  const auto refused = refusal();
  EXPECT_EQ(refused.code, v1::ERROR_CODE_CORRUPT);
  EXPECT_TRUE(says(refused, "meta progress")) << refused.sentence;
}

TEST_F(lmdb, a_directory_is_made_only_where_its_parent_exists) {
  EXPECT_NE(open(), nullptr);
  const auto refused = refusal({here / "no/such", 1 << 30, false});
  EXPECT_EQ(refused.code, v1::ERROR_CODE_NOT_FOUND);
  EXPECT_EQ(refused.remedy, "Create it (mkdir -p " + here / "no" + ") or correct the path.");
  EXPECT_EQ(refusal({here / "no/such/", 1 << 30, false}).remedy, refused.remedy);
}

TEST_F(lmdb, a_file_in_the_place_of_the_directory_is_refused) {
  std::ofstream(path) << "text";
  EXPECT_TRUE(says(refusal(), "is not a directory"));
}

TEST_F(lmdb, reading_only_never_makes_a_store) {
  EXPECT_EQ(refusal({path, 1 << 30, true}).code, v1::ERROR_CODE_NOT_FOUND);
  EXPECT_FALSE(std::filesystem::exists(path));
  std::filesystem::create_directory(path);
  EXPECT_EQ(refusal({path, 1 << 30, true}).code, v1::ERROR_CODE_NOT_FOUND);
}

TEST_F(lmdb, reading_only_shows_what_is_there) {
  {
    auto it = open();
    ASSERT_TRUE(it->commit({with_row(1, *it->raise_epoch(), "a", "seen")}).ok());
  }
  auto opened = lmdb_store::open({path, 1 << 30, true});
  ASSERT_TRUE(opened.ok()) << opened.failure().sentence;
  EXPECT_EQ(value_of(**opened, table::task, "a"), "seen");
  EXPECT_FALSE((*opened)->commit({with_row(2, 1, "b", "x")}).ok());
}

TEST_F(lmdb, reading_where_there_is_no_store_leaves_nothing_behind) {
  std::filesystem::create_directory(path);
  EXPECT_EQ(refusal({path, std::uint64_t{1} << 30, true}).code, v1::ERROR_CODE_NOT_FOUND);
  EXPECT_TRUE(std::filesystem::is_empty(path));
}

TEST_F(lmdb, a_read_only_directory_is_refused_with_a_remedy) {
  std::filesystem::create_directory(path);
  ::chmod(here.path().c_str(), 0755);
  ::chmod(path.c_str(), 0555);
  int fds[2];
  ASSERT_EQ(::pipe(fds), 0);
  const auto child = ::fork();
  if (child == 0) {
    if (::getuid() == 0 && ::setuid(65'534) != 0) ::_exit(1);  // root may write anywhere
    auto opened = lmdb_store::open({path, 1 << 30, false});
    const auto answer =
        opened.ok() ? "opened"
                    : std::string(code_word(opened.failure().code)) + "|" + opened.failure().sentence + "|" + opened.failure().remedy;
    (void)!::write(fds[1], answer.data(), answer.size());
    ::_exit(0);
  }
  ::close(fds[1]);
  char answer[512] = {};
  ASSERT_GT(::read(fds[0], answer, sizeof answer - 1), 0);
  ::close(fds[0]);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(std::string(answer),
            "disk|The directory " + path +
                " cannot be written: Permission denied.|Give this user write permission there, or use another directory.");
}

TEST_F(lmdb, a_file_that_is_no_lmdb_file_is_refused) {
  std::filesystem::create_directory(path);
  std::ofstream(path + "/data.mdb") << std::string(100'000, 'x');
  const auto refused = refusal();
  EXPECT_EQ(refused.code, v1::ERROR_CODE_CORRUPT);
  EXPECT_TRUE(says(refused, "data.mdb")) << refused.sentence;
}

TEST_F(lmdb, overwritten_meta_pages_are_refused) {
  {
    auto it = open();
    ASSERT_TRUE(it->commit({with_row(1, *it->raise_epoch(), "a", "x")}).ok());
  }
  std::fstream file(path + "/data.mdb", std::ios::in | std::ios::out | std::ios::binary);
  file << std::string(8'192, '\x5a');
  file.close();
  EXPECT_EQ(refusal().code, v1::ERROR_CODE_CORRUPT);
}

TEST_F(lmdb, a_file_cut_short_is_refused_instead_of_crashing_at_the_first_read) {
  {
    auto it = open();
    auto one = with_row(1, *it->raise_epoch(), "a", std::string(1 << 20, 'x'));
    ASSERT_TRUE(it->commit({one}).ok());
  }
  const auto whole = std::filesystem::file_size(path + "/data.mdb");
  for (auto kept : {whole - 4'096, whole / 2, std::uintmax_t{16'384}}) {
    std::filesystem::resize_file(path + "/data.mdb", kept);
    const auto refused = refusal();
    EXPECT_EQ(refused.code, v1::ERROR_CODE_CORRUPT) << kept;
    EXPECT_EQ(refusal().code, v1::ERROR_CODE_CORRUPT) << "the second opening finds the same";
    EXPECT_EQ(std::filesystem::file_size(path + "/data.mdb"), kept);
  }
}

TEST_F(lmdb, after_a_disk_error_nothing_is_written_any_more) {
  auto it = open();
  const auto epoch = *it->raise_epoch();
  for (const char* name : {"store.before_txn", "store.mid_txn", "store.before_commit", "store.after_commit"}) {
    it.reset();
    it = open();
    const auto own = *it->raise_epoch();
    const auto sequence = it->sequence();
    ASSERT_TRUE(set_failpoints(std::string(name) + "=error@1").ok());
    const auto failed = it->commit({with_row(sequence + 1, own, name, "x")});
    ASSERT_FALSE(failed.ok()) << name;
    EXPECT_EQ(failed.failure().code, v1::ERROR_CODE_DISK);
    EXPECT_TRUE(says(failed.failure(), name));
    ASSERT_TRUE(set_failpoints("").ok());
    for (std::uint64_t next : {sequence + 1, sequence + 2}) EXPECT_FALSE(it->commit({with_row(next, own, name, "x")}).ok()) << name;
    EXPECT_FALSE(it->raise_epoch().ok());
    EXPECT_FALSE(it->begin_restore(1).ok());
    // Only a commit that had happened is there; it was not acknowledged, which a client must reckon with.
    EXPECT_EQ(value_of(*it, table::task, name).has_value(), name == std::string("store.after_commit"));
  }
  EXPECT_GT(epoch, 0u);
}

TEST_F(lmdb, snapshots_are_taken_from_many_threads_beside_commits) {
  auto it = open();
  const auto epoch = *it->raise_epoch();
  std::atomic<bool> stop{false};
  std::atomic<int> torn{0}, reads{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 4; ++i) {
    readers.emplace_back([&] {
      while (!stop) {
        const auto now = it->read();
        const auto a = now->get(table::task, "a"), b = now->get(table::due, "b");
        if (!a.ok() || !b.ok() || a->has_value() != b->has_value() || (a->has_value() && **a != **b)) ++torn;
        ++reads;
      }
    });
  }
  for (std::uint64_t sequence = 1; sequence <= 200 || reads < 1'000; ++sequence) {
    auto one = with_row(sequence, epoch, "a", std::to_string(sequence));
    one.put(table::due, "b", std::to_string(sequence));
    ASSERT_TRUE(it->commit({one}).ok());
  }
  stop = true;
  for (auto& one : readers) one.join();
  EXPECT_EQ(torn, 0);
}

TEST_F(lmdb, a_snapshot_may_outlive_its_store) {
  auto it = open();
  ASSERT_TRUE(it->commit({with_row(1, *it->raise_epoch(), "a", "x")}).ok());
  auto now = it->read();
  it.reset();
  EXPECT_EQ(**now->get(table::task, "a"), "x");
  EXPECT_EQ(refusal().code, v1::ERROR_CODE_STORE_IN_USE) << "the environment is open as long as anyone reads";
  now.reset();
  EXPECT_NE(open(), nullptr);
}

TEST_F(lmdb, a_value_changed_on_the_disk_is_named) {
  {
    auto it = open();
    ASSERT_TRUE(it->commit({with_row(1, *it->raise_epoch(), keys::task(1, 42), "a value that can be found in the file")}).ok());
  }
  std::fstream file(path + "/data.mdb", std::ios::in | std::ios::out | std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  int changed = 0;
  for (auto at = bytes.find("can be found"); at != std::string::npos; at = bytes.find("can be found", at + 1), ++changed) {
    file.seekp(static_cast<std::streamoff>(at));
    file << "C";
  }
  file.close();
  ASSERT_GE(changed, 1);
  auto it = open();
  std::vector<std::string> told;
  it->on_damage([&](const error& why) { told.push_back(why.sentence); });
  const auto now = it->read();
  ASSERT_TRUE(now->get(table::task, keys::task(1, 41)).ok());
  EXPECT_TRUE(told.empty());
  const auto damaged = now->get(table::task, keys::task(1, 42));
  ASSERT_FALSE(damaged.ok());
  EXPECT_EQ(damaged.failure().code, v1::ERROR_CODE_CORRUPT);
  EXPECT_TRUE(says(damaged.failure(), "task 42")) << damaged.failure().sentence;
  const auto none = [](std::string_view, std::string_view) { return true; };
  EXPECT_FALSE(now->scan(table::task, {}, {}, none).ok());
  EXPECT_FALSE(now->scan_reverse(table::task, {}, {}, none).ok());
  EXPECT_EQ(told, std::vector<std::string>(3, damaged.failure().sentence));
}

}  // namespace
}  // namespace fairlead::store
