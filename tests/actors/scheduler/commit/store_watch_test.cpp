#include "actors/scheduler/commit/store_watch.hpp"

#include <gtest/gtest.h>

#include "store/memory/memory_store.hpp"
#include "tests/actors/scheduler/scheduler_world.hpp"

namespace fairlead::testing {
namespace {

constexpr std::uint64_t max_bytes = 1'000'000;

class store_watch_test : public ::testing::Test, public commit_port {
 protected:
  store_watch_test() {
    store.resize(max_bytes);
    EXPECT_TRUE(batches.open(*store.raise_epoch()).ok());
  }
  void commit(store::batch) override {}

  bool alerted() { return batches.counts().full_alert() != 0; }

  store::memory_store store;
  manual_clock time;
  recorder out;
  quiet_observer log;
  v1::Lineage lineage;
  core::planted_faults faults;
  alert_book alerts;
  commit_pipeline batches{{&time, &store, this, &out, &log}, 0, lineage, faults};
  store_watch room{batches, alerts, log, 90};
};

TEST_F(store_watch_test, inputs_of_running_tasks_are_reserved_twice_over) {
  room.runs(1, 1'000);
  room.runs(2, 500);
  EXPECT_EQ(room.reserved_bytes(), 3'000u);
  room.runs(2, 500);
  EXPECT_EQ(room.reserved_bytes(), 3'000u) << "each counts once";
  room.runs_no_more(3, 700);
  EXPECT_EQ(room.reserved_bytes(), 3'000u) << "what never counted gives back no room of others";
  room.runs_no_more(1, 1'000);
  EXPECT_EQ(room.reserved_bytes(), 1'000u);
  room.runs_no_more(2, 5'000);
  EXPECT_EQ(room.reserved_bytes(), 0u) << "it never falls below nothing";
}

TEST_F(store_watch_test, the_alert_comes_once_and_goes_when_there_is_room_with_some_to_spare) {
  EXPECT_FALSE(room.full());
  EXPECT_TRUE(room.look().ok());
  EXPECT_FALSE(alerted());

  room.runs(1, 10'000);
  room.runs(2, 20'000);
  room.runs(3, 100'000);
  room.runs(4, 330'000);
  EXPECT_TRUE(room.full());
  EXPECT_TRUE(room.look().ok());
  EXPECT_TRUE(alerted());
  const auto first = batches.counts().full_alert();
  room.tell();
  EXPECT_EQ(batches.counts().full_alert(), first);
  EXPECT_EQ(log.notes.size(), 1u);

  room.runs_no_more(2, 20'000);
  EXPECT_FALSE(room.full());
  EXPECT_TRUE(room.look().ok());
  EXPECT_TRUE(alerted()) << "88 % is too near to 90 %";
  room.runs_no_more(3, 100'000);
  EXPECT_TRUE(room.look().ok());
  EXPECT_FALSE(alerted());
}

TEST_F(store_watch_test, whoever_is_refused_hears_what_is_used_and_what_helps) {
  room.runs(1, 460'000);
  const auto why = room.refusal();
  EXPECT_EQ(why.code, v1::ERROR_CODE_STORE_FULL);
  EXPECT_NE(why.sentence.find("reserved"), std::string::npos) << why.sentence;
  EXPECT_NE(why.remedy.find("store.max_size"), std::string::npos) << why.remedy;
}

}  // namespace
}  // namespace fairlead::testing
