#include "actors/core/text/nearest.hpp"

#include <gtest/gtest.h>

namespace fairlead::core {
namespace {

const std::vector<std::string> words{"reserve", "release", "charge", "ship"};

TEST(nearest, finds_the_word_that_was_meant) {
  EXPECT_EQ(nearest("resrve", words), "reserve");
  EXPECT_EQ(nearest("reserev", words), "reserve");
  EXPECT_EQ(nearest("relase", words), "release");
  EXPECT_EQ(nearest("chargee", words), "charge");
  EXPECT_EQ(nearest("shpi", words), "ship");
}

TEST(nearest, finds_nothing_for_another_word) {
  EXPECT_EQ(nearest("payment", words), "");
  EXPECT_EQ(nearest("", words), "");
  EXPECT_EQ(nearest("x", {"y"}), "");
  EXPECT_EQ(nearest(std::string(65, 'x'), {std::string(64, 'x')}), "");
}

TEST(nearest, does_not_offer_the_word_itself) { EXPECT_EQ(nearest("ship", {"ship"}), ""); }

TEST(nearest, is_a_remedy_only_if_something_is_close) {
  EXPECT_EQ(did_you_mean("chrage", {"reserve", "charge"}), "did you mean charge?");
  EXPECT_EQ(did_you_mean("chrage", {"reserve", "dispatch"}), "");
}

}  // namespace
}  // namespace fairlead::core
