// A journal on a disk in memory: what was acknowledged is found again after a crash at any operation, and nothing else is.

#include "store/journal/journal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

#include "actors/core/cluster/routing.hpp"
#include "tests/store/journal/checks.hpp"

namespace fairlead::store {
namespace {

using namespace testing;

TEST(journal, gives_back_what_was_appended_in_order) {
  journal_world world;
  ASSERT_TRUE(world.open().ok());
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(world.append(static_cast<std::uint16_t>(i % 3), world.payload(10 + 100 * i)).ok());
  ASSERT_TRUE(world.append(1, {}).ok());
  world.disk.reboot();
  ASSERT_TRUE(world.open().ok());
  EXPECT_EQ(world.found, world.acknowledged);
  EXPECT_TRUE(world.recovered.damages.empty());
  EXPECT_FALSE(world.recovered.closed);
}

TEST(journal, says_after_a_clean_end_that_it_was_closed) {
  journal_world world;
  ASSERT_TRUE(world.open().ok());
  ASSERT_TRUE(world.append(0, "one").ok());
  ASSERT_TRUE(world.it->close().ok());
  ASSERT_TRUE(world.open().ok());
  EXPECT_TRUE(world.recovered.closed);
  EXPECT_EQ(world.found, world.acknowledged);
}

TEST(journal, seals_its_end_once) {
  journal_world world;
  ASSERT_TRUE(world.open().ok());
  ASSERT_TRUE(world.append(0, "one").ok());
  const auto before = world.it->get_usage().groups;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(world.it->seal().ok());
  EXPECT_EQ(world.it->get_usage().groups, before + 1);
}

TEST(journal, takes_segments_of_another_size_and_uses_only_its_own_again) {
  journal_world world;
  for (int round = 0; round < 6; ++round) {
    world.segment_bytes = round % 2 == 0 ? small_segment : 4 * small_segment;
    ASSERT_TRUE(world.open().ok());
    ASSERT_EQ(world.found_above(), world.owed());
    for (int i = 0; i < 60; ++i) {
      ASSERT_TRUE(world.append(0, world.payload(world.pick(world.it->max_append_bytes() - record_header_bytes))).ok());
      ASSERT_TRUE(world.it->stage(2).ok());
      if (i % 4 == 0) world.apply(0, world.last_index[0] - 1);
    }
    world.disk.reboot();
  }
}

TEST(journal, goes_on_over_many_segments_and_uses_their_files_again) {
  journal_world world;
  ASSERT_TRUE(world.open().ok());
  for (int i = 0; i < 2'000; ++i) {
    ASSERT_TRUE(world.append(static_cast<std::uint16_t>(i % 2), world.payload(1'000)).ok());
    ASSERT_TRUE(world.it->stage().ok());
    if (i % 50 != 49) continue;
    for (const auto shard : {0, 1}) world.apply(static_cast<std::uint16_t>(shard), world.last_index[static_cast<std::uint16_t>(shard)] - 5);
    if (i % 500 == 499) {
      world.disk.reboot();
      ASSERT_TRUE(world.open().ok());
      EXPECT_EQ(world.found_above(), world.owed());
    }
  }
  const auto files = world.disk.list();
  EXPECT_LE(files->size(), 8u) << "2 MB in segments of 64 KiB are more than 30";
  EXPECT_GE(world.recovered.last_segment, 30u);
}

TEST(journal, waits_for_room_while_entries_are_not_applied) {
  journal_world world;
  ASSERT_TRUE(world.open().ok());
  std::atomic<int> appended{0};
  std::thread writer([&] {
    for (int i = 0; i < 400; ++i) {
      if (!world.append(0, std::string(3'000, 'x')).ok()) return;
      ++appended;
    }
  });
  // Eight segments of 64 KiB hold fewer than 170 entries of a block each, so the writer stops until some are applied.
  int last = -1;
  for (int quiet = 0; quiet < 20;) {
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
    quiet = appended == last ? quiet + 1 : 0;
    last = appended;
  }
  EXPECT_LT(last, 170);
  EXPECT_GE(last, 60);
  while (appended < 400) {
    world.it->applied(0, static_cast<std::uint64_t>(appended));
    std::this_thread::yield();
  }
  writer.join();
  EXPECT_LE(world.disk.list()->size(), 9u);
}

TEST(journal, says_which_shard_keeps_its_oldest_file) {
  journal_world world;
  ASSERT_TRUE(world.open().ok());
  EXPECT_FALSE(world.it->get_usage().kept_by);
  ASSERT_TRUE(world.append(1, world.payload(1'000)).ok());
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(world.append(0, world.payload(1'000)).ok());
    ASSERT_TRUE(world.it->stage().ok());
    world.apply(0, world.last_index[0]);
  }
  const auto stuck = world.it->get_usage();
  EXPECT_GE(stuck.segments, 3U);
  EXPECT_EQ(stuck.most_segments, 8U);
  EXPECT_EQ(stuck.kept_by, 1);
  world.apply(1, world.last_index[1]);
  EXPECT_FALSE(world.it->get_usage().kept_by);
}

TEST(journal, goes_on_with_its_own_files_on_a_full_disk) {
  journal_world world;
  ASSERT_TRUE(world.open().ok());
  ASSERT_TRUE(world.it->stage().ok());
  world.disk.fill();
  for (int i = 0; i < 1'000; ++i) {
    ASSERT_TRUE(world.append(0, world.payload(1'000)).ok());
    if (i >= 5) world.apply(0, world.last_index[0] - 5);  // a file that is full still has what is not applied
    ASSERT_TRUE(world.it->stage().ok());
  }
  ASSERT_TRUE(world.it->stage(9).ok());
  EXPECT_TRUE(world.it->get_usage().crowded);
  EXPECT_LE(world.disk.list()->size(), 4u) << "nothing is left of files that could not be made";
  world.disk.reboot();
  ASSERT_TRUE(world.open().ok());
  EXPECT_EQ(world.found_above(), world.owed());
}

/// A disk on which a file is made as slowly as it is allowed to be: until somebody is in haste.
class slow_disk final : public lent_disk {
 public:
  using lent_disk::lent_disk;
  status create(const std::string& name, std::uint64_t bytes, const std::function<making_pace()>& pace) override {
    ++begun;
    if (!eventually([&] { return pace() == making_pace::at_once; })) return error{v1::ERROR_CODE_INTERNAL, "Nobody was in haste.", {}};
    return lent_disk::create(name, bytes, pace);
  }
  std::atomic<int> begun{0};
};

TEST(journal, hurries_a_file_that_is_being_made_when_a_commit_needs_it) {
  journal_world world;
  slow_disk disk(world.disk);
  auto opened = journal::open(disk, std::nullopt, {}, world.options());
  ASSERT_TRUE(opened.ok());
  world.it = std::move(*opened);
  std::thread housekeeping([&] { EXPECT_TRUE(world.it->stage(2).ok()); });
  ASSERT_TRUE(eventually([&] { return disk.begun == 2; })) << "the first file was that of the opening";
  // Nothing is applied, so the second segment needs two files.
  for (int i = 0; i < 30; ++i) EXPECT_TRUE(world.append(0, std::string(3'000, 'x')).ok());
  housekeeping.join();
}

TEST(journal, gives_up_a_file_that_is_being_made_when_the_node_ends) {
  struct unhurried final : lent_disk {
    using lent_disk::lent_disk;
    status create(const std::string& name, std::uint64_t bytes, const std::function<making_pace()>& pace) override {
      if (++begun > 1 && eventually([&] { return pace() == making_pace::stop; })) return not_completed(name);
      return lent_disk::create(name, bytes, pace);
    }
    std::atomic<int> begun{0};
  };
  journal_world world;
  unhurried disk(world.disk);
  world.it = std::move(journal::open(disk, std::nullopt, {}, world.options()).value());
  std::thread housekeeping([&] { EXPECT_TRUE(world.it->stage(2).ok()); });
  ASSERT_TRUE(eventually([&] { return disk.begun == 2; })) << "the first file was that of the opening";
  world.it->end_staging();
  housekeeping.join();
  EXPECT_EQ(world.it->get_usage().staged, 0u);
  EXPECT_TRUE(world.append(0, "a commit goes on").ok());
  EXPECT_TRUE(world.it->close().ok());
}

/// A disk whose writes wait until they are let through.
class gated_disk final : public lent_disk {
 public:
  using lent_disk::lent_disk;
  result<std::unique_ptr<block_file>> open(const std::string& name) override {
    auto file = lent_disk::open(name);
    if (!file) return file;
    return std::unique_ptr<block_file>(std::make_unique<gated_file>(*this, std::move(*file)));
  }
  void let_through(int writes) {
    const std::lock_guard lock(guard_);
    allowed_ = writes;
    moved_.notify_all();
  }
  std::atomic<int> at_the_gate{0};

 private:
  struct gated_file final : block_file {
    gated_file(gated_disk& disk, std::unique_ptr<block_file> own) : of(disk), file(std::move(own)) {}
    std::uint64_t size() const override { return file->size(); }
    status write(std::uint64_t offset, const char* data, std::size_t bytes) override {
      std::unique_lock lock(of.guard_);
      ++of.at_the_gate;
      of.moved_.wait(lock, [this] { return of.allowed_ > 0; });
      --of.allowed_;
      --of.at_the_gate;
      return file->write(offset, data, bytes);
    }
    status read(std::uint64_t offset, char* data, std::size_t bytes) const override { return file->read(offset, data, bytes); }
    status settle(std::uint64_t end) override { return file->settle(end); }
    gated_disk& of;
    std::unique_ptr<block_file> file;
  };
  std::mutex guard_;
  std::condition_variable moved_;
  int allowed_ = 1'000;
};

TEST(journal, that_must_not_go_on_lets_nobody_go_whose_records_are_being_written) {
  journal_world world;
  gated_disk disk(world.disk);
  auto opened = journal::open(disk, std::nullopt, {}, world.options());
  ASSERT_TRUE(opened.ok());
  auto& it = **opened;
  const auto append = [&it](std::uint16_t shard) {
    return std::async(std::launch::async, [&it, shard] {
      journal_record one;
      one.shard = shard;
      one.index = 1;
      one.payload = "some bytes";
      return it.append({one}).ok();
    });
  };
  disk.let_through(0);
  auto first = append(0);
  ASSERT_TRUE(eventually([&] { return disk.at_the_gate == 1; }));
  // These two wait, and one of them then writes for both.
  auto second = append(1), third = append(2);
  ASSERT_TRUE(eventually([&] { return it.waiting() == 2; }));
  disk.let_through(1);
  ASSERT_TRUE(first.get());
  ASSERT_TRUE(eventually([&] { return disk.at_the_gate == 1; }));
  it.fail({v1::ERROR_CODE_STORE_FULL, "The tables are full.", {}});
  const auto soon = std::chrono::milliseconds{100};
  EXPECT_EQ(second.wait_for(soon), std::future_status::timeout);
  EXPECT_EQ(third.wait_for(soon), std::future_status::timeout);
  disk.let_through(1);
  second.get();
  third.get();
}

TEST(journal, proves_the_last_group_only_where_it_waits_for_nobody) {
  journal_world world;
  ASSERT_TRUE(world.open().ok());
  ASSERT_TRUE(world.it->stage().ok());
  world.disk.fill();
  ASSERT_TRUE(world.it->stage(9).ok());
  // 14 blocks behind the header and the first group: the segment is full, and the only file left would be the last.
  for (int i = 0; i < 14; ++i) ASSERT_TRUE(world.append(0, std::string(3'000, 'x')).ok());
  const auto groups = world.it->get_usage().groups;
  EXPECT_TRUE(world.it->seal().ok());
  EXPECT_EQ(world.it->get_usage().groups, groups);
}

TEST(journal, without_room_to_note_its_end_says_so_and_waits_for_nobody) {
  journal_world world;
  ASSERT_TRUE(world.open().ok());
  world.disk.fill();
  ASSERT_TRUE(world.it->stage(9).ok());
  for (int i = 0; i < 14; ++i) ASSERT_TRUE(world.append(0, std::string(3'000, 'x')).ok());
  const auto closed = world.it->close();
  ASSERT_FALSE(closed.ok());
  EXPECT_EQ(closed.failure().code, v1::ERROR_CODE_STORE_FULL);
  world.disk.reboot();
  world.disk.fill(false);
  ASSERT_TRUE(world.open().ok());
  EXPECT_EQ(world.found_above(), world.owed());
}

TEST(journal, has_room_for_a_checkpoint_of_the_largest_cluster_beside_the_largest_group) {
  journal_world world;
  world.segment_bytes = std::uint64_t{64} << 20;
  std::vector<shard_position> all;
  for (std::uint32_t shard = 0; shard < core::max_shards; ++shard) all.push_back({static_cast<std::uint16_t>(shard), 0, 0});
  world.it = std::move(journal::open(world.disk, std::nullopt, all, world.options()).value());
  const std::string largest(world.it->max_append_bytes() - record_header_bytes, 'x');
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(world.append(0, largest).ok());
}

TEST(journal, waits_on_a_full_disk_until_there_is_room_or_something_is_applied) {
  for (const bool by_room : {true, false}) {
    journal_world world;
    ASSERT_TRUE(world.open().ok());
    ASSERT_TRUE(world.it->stage().ok());
    world.disk.fill();
    ASSERT_TRUE(world.it->stage(9).ok());
    std::atomic<int> appended{0};
    std::thread writer([&] {
      while (appended < 40 && world.append(0, std::string(3'000, 'x')).ok()) ++appended;
    });
    ASSERT_TRUE(eventually([&] { return world.it->get_usage().waits; }));
    EXPECT_LT(appended, 31) << "two files of 64 KiB are full, and the staged one would be the last";
    const auto help = [&] {
      if (by_room) {
        world.disk.fill(false);
      } else {
        world.it->applied(0, static_cast<std::uint64_t>(appended));
      }
      EXPECT_TRUE(world.it->stage().ok());
      return appended == 40;
    };
    if (!eventually(help)) world.it->fail({v1::ERROR_CODE_INTERNAL, "The writer still waits.", {}});
    writer.join();
    EXPECT_EQ(appended, 40);
  }
}

TEST(journal, that_must_not_go_on_wakes_who_waits_for_room) {
  journal_world world;
  ASSERT_TRUE(world.open().ok());
  status last = nothing{};
  std::thread writer([&] {
    while ((last = world.append(0, std::string(3'000, 'x'))).ok()) {
    }
  });
  ASSERT_TRUE(eventually([&] { return world.it->get_usage().waits; }));
  world.it->fail({v1::ERROR_CODE_STORE_FULL, "The tables are full.", {}});
  writer.join();
  EXPECT_EQ(last.failure().code, v1::ERROR_CODE_STORE_FULL);
  EXPECT_FALSE(world.append(0, "x").ok());
}

TEST(journal, refuses_an_append_that_cannot_fit) {
  journal_world world;
  ASSERT_TRUE(world.open().ok());
  const auto refused = world.append(0, std::string(small_segment / 4, 'x'));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.failure().code, v1::ERROR_CODE_INTERNAL);
  EXPECT_TRUE(world.append(0, std::string(world.it->max_append_bytes() - record_header_bytes, 'x')).ok());
  EXPECT_TRUE(world.append(0, "and it goes on").ok());
  ASSERT_TRUE(world.open().ok());
  EXPECT_EQ(world.found, world.acknowledged);
}

TEST(journal, writes_for_all_that_wait_at_once) {
  journal_world world;
  ASSERT_TRUE(world.open().ok());
  std::vector<std::thread> shards;
  for (std::uint16_t shard = 0; shard < 4; ++shard) {
    shards.emplace_back([&, shard] {
      for (std::uint64_t index = 1; index <= 20; ++index) {
        journal_record one;
        one.shard = shard;
        one.index = index;
        one.payload = "some bytes";
        ASSERT_TRUE(world.it->append({one}).ok());
        world.it->applied(shard, index - 1);
      }
    });
  }
  for (auto& one : shards) one.join();
  std::map<std::uint16_t, std::uint64_t> last;
  ASSERT_TRUE(recover_journal(world.disk, world.expected, [&](const journal_record& one, std::uint64_t) -> status {
                if (is_entry(one.type)) last[one.shard] = one.index;
                return nothing{};
              }).ok());
  for (std::uint16_t shard = 0; shard < 4; ++shard) EXPECT_EQ(last[shard], 20u);
}

TEST(journal, writes_nothing_more_after_a_failed_write) { fail_a_write(); }

TEST(journal, keeps_what_was_acknowledged_through_a_crash_at_any_operation) {
  for (std::uint64_t at = 1; at <= 90; ++at) {
    for (std::uint64_t seed = 1; seed <= 12 && !HasFailure(); ++seed) crash_and_look(1'000 * at + seed, at);
  }
}

}  // namespace
}  // namespace fairlead::store
