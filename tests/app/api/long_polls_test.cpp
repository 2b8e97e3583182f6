#include "app/api/long_polls.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace fairlead::app::api {
namespace {

TEST(long_polls, one_client_has_a_share_and_all_together_have_a_limit) {
  const auto all = std::make_shared<long_polls>(2, 3);
  auto first = all->take("token ann");
  const auto second = all->take("token ann");
  EXPECT_TRUE(first && second);
  EXPECT_FALSE(all->take("token ann"));
  const auto third = all->take("token ben");
  EXPECT_TRUE(third);
  EXPECT_FALSE(all->take("token cat")) << "all places are taken";
  first.reset();
  EXPECT_TRUE(all->take("token cat"));
  EXPECT_TRUE(all->take("token ann"));
}

}  // namespace
}  // namespace fairlead::app::api
