// What the applier of a follower does with archives: nobody there has an archiver.

#include <gtest/gtest.h>

#include "store/rows/deletion_rows.hpp"
#include "tests/store/journaled/archive_world.hpp"

namespace fairlead::store::testing {
namespace {

/// A replica whose log is driven as consensus does it, by one who takes everything for committed.
class driven final : public store {
 public:
  explicit driven(journaled_store& it) : it_(it) { it_.take_log(); }
  status commit(const std::vector<batch>& group) override {
    auto payloads = it_.payloads_of(group, it_.sequence(), it_.epoch());
    if (!payloads) return payloads.failure();
    for (auto& one : *payloads)
      if (auto done = enter(record_type::batch, std::move(one)); !done) return done;
    return nothing{};
  }
  result<std::uint64_t> raise_epoch() override {
    if (auto done = enter(record_type::epoch, nullptr); !done) return done.failure();
    return it_.epoch();
  }
  std::unique_ptr<snapshot> read() const override { return it_.read(); }
  usage get_usage() const override { return it_.get_usage(); }

 private:
  status enter(record_type type, std::shared_ptr<const std::string> payload) {
    const log_record next{type, it_.written_index() + 1, 1, it_.read_time(), std::move(payload)};
    if (auto written = it_.write({next}); !written) return written;
    return it_.show(next);
  }
  journaled_store& it_;
};

struct archive_replica : ::testing::Test {
  archive_replica() {
    disk.reboot();
    stores = std::move(
        journaled_stores::open(std::make_unique<lent_disk>(disk), {{0, "in memory", &below, &archives, true}}, small_journal()).value());
    log.emplace(stores->at(0));
    shard.emplace(*log);
    shard->deploy_order();
  }
  void finish_and_move(std::uint64_t number) {
    shard->create(running_order(number, "o-" + std::to_string(number)));
    shard->change(number, [](v1::TaskRecord& task) { complete(task, 3'000); });
    auto one = shard->next();
    put_move(one, **load_task(*log->read(), number), {archive_day_number, 0});
    move_to_archive(shard->state(), v1::TASK_STATE_COMPLETED, 1);
    shard->expect_committed(std::move(one));
  }
  void erase_copies_of(std::uint64_t number) {
    auto said = shard->next();
    put_deletion(said, number);
    shard->expect_committed(std::move(said));
    auto done = shard->next();
    erase_deletion(done, number);
    shard->expect_committed(std::move(done));
  }
  bool archived(std::uint64_t number) { return archives.load(archive_day_number, task_number(number))->has_value(); }

  memory_store below;
  memory_archive archives;
  memory_disk disk;
  std::unique_ptr<journaled_stores> stores;
  std::optional<driven> log;
  std::optional<test_shard> shard;
};

TEST_F(archive_replica, has_no_copy_of_a_deleted_task_once_the_leader_has_none) {
  finish_and_move(1);
  finish_and_move(2);
  ASSERT_TRUE(stores->at(0).apply_all().ok());
  ASSERT_TRUE(archived(1));
  erase_copies_of(1);
  ASSERT_TRUE(stores->at(0).apply_all().ok());
  EXPECT_FALSE(archived(1));
  EXPECT_TRUE(archived(2));
}

TEST_F(archive_replica, that_is_far_behind_makes_and_erases_the_copy_in_one_go) {
  finish_and_move(1);
  erase_copies_of(1);
  ASSERT_TRUE(stores->at(0).apply_all().ok());
  EXPECT_FALSE(archived(1));
}

}  // namespace
}  // namespace fairlead::store::testing
