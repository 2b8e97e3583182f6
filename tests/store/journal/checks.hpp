#pragma once
// Checks of a journal that several tests use: as they are, and to show that they notice planted faults.

#include "tests/store/journal/journal_world.hpp"

namespace fairlead::store::testing {

/// A write that fails: nothing is written afterwards.
inline void fail_a_write() {
  journal_world world;
  ASSERT_TRUE(world.open().ok());
  ASSERT_TRUE(world.append(0, "one").ok());
  world.disk.fail_after(1);
  EXPECT_EQ(world.append(0, "two").failure().code, v1::ERROR_CODE_DISK);
  const auto before = world.disk.operations();
  EXPECT_EQ(world.append(0, "three").failure().code, v1::ERROR_CODE_DISK);
  EXPECT_EQ(world.disk.operations(), before);
}

/// A life of a journal that a crash interrupts at the n-th operation on the disk, and another one after it.
inline void crash_and_look(std::uint64_t seed, std::uint64_t at) {
  SCOPED_TRACE("seed " + std::to_string(seed) + ", operation " + std::to_string(at));
  journal_world world(seed);
  world.disk.crash_after(at);
  for (int life = 0; life < 3; ++life) {
    try {
      const auto opened = world.open();
      ASSERT_TRUE(opened.ok()) << opened.failure().sentence;
      // What was acknowledged is there; of what was not, at most the very last append.
      auto found = world.found_above();
      auto owed = world.owed();
      if (world.tried && found.size() == owed.size() + 1) {
        auto surplus = found.back();
        surplus.group = 0;
        EXPECT_EQ(surplus, *world.tried);
        world.last_index[surplus.shard] = surplus.index;
        world.acknowledged.push_back(found.back());
        owed = world.owed();
      }
      world.tried.reset();
      ASSERT_EQ(found, owed);
      for (int i = 0; i < 60; ++i) {
        ASSERT_TRUE(world.append(static_cast<std::uint16_t>(world.pick(3)), world.payload(world.pick(8'000))).ok());
        if (world.pick(4) == 0) {
          const auto shard = static_cast<std::uint16_t>(world.pick(3));
          world.apply(shard, world.last_index[shard]);
        }
        if (world.pick(3) == 0) {
          ASSERT_TRUE(world.it->stage().ok());
        }
        if (world.pick(9) == 0) {
          ASSERT_TRUE(world.it->seal().ok());
        }
        if (world.it->get_usage().segments >= 6) {
          for (const auto& [shard, index] : world.last_index) world.apply(shard, index);
        }
      }
    } catch (const disk_crash&) {
    }
    world.disk.reboot();
    world.disk.crash_after(1 + world.pick(at));
  }
}

/// Damage in the last segment, behind which only the mark in later groups says that something was acknowledged.
inline void damage_the_last_segment() {
  journal_world world;
  ASSERT_TRUE(world.open().ok());
  for (int i = 0; i < 12; ++i) ASSERT_TRUE(world.append(0, world.payload(100)).ok());
  world.applied[0] = 0;
  world.disk.rot("0000000000000001.seg", 6 * journal_block_bytes + group_header_bytes + record_header_bytes);
  const auto refused = world.open();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.failure().code, v1::ERROR_CODE_CORRUPT);
}

}  // namespace fairlead::store::testing
