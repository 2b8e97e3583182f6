// How full a store is, and the sentence about it.

#include <gtest/gtest.h>

#include "actors/core/store_room.hpp"

namespace fairlead::core {
namespace {

constexpr std::uint64_t mib = 1 << 20;

TEST(store_room, counts_what_is_reserved_as_taken) {
  const store_room room{61 * mib / 10, 92 * mib / 10, 16 * mib, 724};
  EXPECT_EQ(room.percent(), 95U);
  EXPECT_EQ(room.sentence(), "the store is 95 % full: 6.1 MiB of 16.0 MiB are used and 9.2 MiB are reserved for 724 running tasks");
}

TEST(store_room, says_nothing_of_what_is_not_reserved) {
  EXPECT_EQ((store_room{15 * mib, 0, 16 * mib, 3}.sentence()), "the store is 93 % full: 15.0 MiB of 16.0 MiB are used");
  EXPECT_EQ((store_room{mib, mib, 16 * mib, 1}.sentence()),
            "the store is 12 % full: 1.0 MiB of 16.0 MiB are used and 1.0 MiB are reserved for 1 running task");
  EXPECT_EQ((store_room{1, 0, 0, 0}.percent()), 1U) << "a store without a size divides by nothing";
}

}  // namespace
}  // namespace fairlead::core
