#pragma once
// A shard behind a journal, with archives, for the tests of what its applier does with tasks that move.

#include <gtest/gtest.h>

#include "store/check/check.hpp"
#include "store/memory/memory_archive.hpp"
#include "store/rows/archive_rows.hpp"
#include "tests/store/journaled/checks.hpp"

namespace fairlead::store::testing {

constexpr std::int64_t archive_day_number = 20'000;

struct archive_world {
  memory_store below;
  memory_archive archives;
  memory_disk disk;
  std::unique_ptr<journaled_stores> stores;
  std::optional<test_shard> shard;

  void begin() {
    open();
    shard->deploy_order();
  }
  void open() {
    stores.reset();
    disk.reboot();
    stores = std::move(
        journaled_stores::open(std::make_unique<lent_disk>(disk), {{0, "in memory", &below, &archives}}, small_journal()).value());
    ASSERT_TRUE(stores->log().stage(4).ok()) << "with few files a start applies everything first";
    shard.emplace(it());
  }
  journaled_store& it() { return stores->at(0); }

  void finished(std::uint64_t number) {
    shard->create(running_order(number, "o-" + std::to_string(number)));
    shard->change(number, [](v1::TaskRecord& task) { complete(task, 3'000); });
  }
  void move(std::uint64_t number, std::uint32_t keep_days = 0) {
    auto one = shard->next();
    put_move(one, **load_task(*it().read(), number), {archive_day_number, keep_days});
    move_to_archive(shard->state(), v1::TASK_STATE_COMPLETED, 1);
    shard->expect_committed(std::move(one));
  }
  bool in_store(std::uint64_t number) { return load_task(*it().read(), number)->has_value(); }
  bool archived(std::uint64_t number, std::uint32_t keep_days = 0) {
    return archives.load(archive_day_number, task_number(number), keep_days)->has_value();
  }
  void expect_sound() {
    for (const auto& view : {it().read(), it().read_settled()}) {
      if (view->get_progress().sequence == 0) continue;
      const auto report = check(*view, {}, 100, &archives);
      EXPECT_TRUE(report.clean()) << report.findings.front();
    }
  }
};

}  // namespace fairlead::store::testing
