#include "app/door/places.hpp"

#include <gtest/gtest.h>

namespace fairlead::app::door {
namespace {

TEST(connection_places, an_address_has_its_share_and_others_have_theirs) {
  connection_places all{1'000, 2};
  all.came("192.0.2.1");
  EXPECT_TRUE(all.may_come("192.0.2.1", false));
  all.came("192.0.2.1");
  EXPECT_FALSE(all.may_come("192.0.2.1", false));
  EXPECT_TRUE(all.may_come("192.0.2.2", false));
  all.went("192.0.2.1");
  EXPECT_TRUE(all.may_come("192.0.2.1", false));
}

TEST(connection_places, the_last_ones_are_for_this_machine_whose_programs_have_one_address) {
  connection_places all{100, 10};
  for (std::size_t i = 0; i < 100 - connection_places::kept_for_loopback; ++i) {
    EXPECT_TRUE(all.may_come("127.0.0.1", true));
    all.came("127.0.0.1");
  }
  EXPECT_FALSE(all.may_come("192.0.2.1", false));
  for (std::size_t i = 0; i < connection_places::kept_for_loopback; ++i) {
    EXPECT_TRUE(all.may_come("127.0.0.1", true));
    all.came("127.0.0.1");
  }
  EXPECT_FALSE(all.may_come("127.0.0.1", true));
}

}  // namespace
}  // namespace fairlead::app::door
