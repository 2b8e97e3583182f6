#include "actors/core/schema/decimal.hpp"

#include <gtest/gtest.h>

namespace fairlead::core {
namespace {

std::string canonical(std::string_view number) { return decimal::read(number).text(); }

TEST(Decimal, EqualNumbersHaveOneSpelling) {
  for (const auto* zero : {"0", "-0", "0.000", "0e99", "-0.0e-5"}) EXPECT_EQ(canonical(zero), "0") << zero;
  for (const auto* three : {"3", "3.0", "30e-1", "0.3e1", "0.03E+2"}) EXPECT_EQ(canonical(three), "3") << three;
  EXPECT_EQ(canonical("1000"), "1e3");
  EXPECT_EQ(canonical("-19.990"), "-1999e-2");
  EXPECT_EQ(canonical("1e99999999999999999999"), canonical("1e1000000000000"));
}

TEST(Decimal, NumbersOfAnySizeAreComparedExactly) {
  const std::pair<const char*, const char*> rising[] = {{"9007199254740992", "9007199254740993"},
                                                        {"18446744073709551615", "18446744073709551616"},
                                                        {"-9007199254740993", "-9007199254740992"},
                                                        {"0.1", "0.10000000000000000000000001"},
                                                        {"-1e400", "1e-400"},
                                                        {"0", "1e-400"},
                                                        {"-1e-400", "0"},
                                                        {"9.99e20", "1e21"},
                                                        {"12", "123"}};
  for (const auto& [less, more] : rising) {
    EXPECT_TRUE(decimal::read(less) < decimal::read(more)) << less << " " << more;
    EXPECT_FALSE(decimal::read(more) < decimal::read(less)) << less << " " << more;
    EXPECT_FALSE(decimal::read(more) == decimal::read(less)) << less << " " << more;
  }
  EXPECT_TRUE(decimal::read("1.50") == decimal::read("15e-1"));
}

TEST(Decimal, WholeNumbers) {
  for (const auto* whole : {"0", "-7", "1e400", "1.0", "120e-1"}) EXPECT_TRUE(decimal::read(whole).is_whole()) << whole;
  for (const auto* broken : {"0.5", "1e-400", "12e-1"}) EXPECT_FALSE(decimal::read(broken).is_whole()) << broken;
}

TEST(Decimal, MultiplesAreExact) {
  const std::pair<const char*, const char*> multiples[] = {
      {"19.99", "0.01"}, {"0.3", "0.1"}, {"1000000.1", "0.1"},      {"0", "7"},      {"-21", "7"},
      {"1e400", "16"},   {"7.5", "2.5"}, {"9007199254740993", "3"}, {"1e3", "0.008"}};
  for (const auto& [number, divisor] : multiples)
    EXPECT_TRUE(decimal::read(number).is_multiple_of(decimal::read(divisor))) << number << " " << divisor;
  const std::pair<const char*, const char*> others[] = {{"19.995", "0.01"},        {"7.5", "7"},   {"5.5", "5"},
                                                        {"9007199254740993", "2"}, {"1e400", "3"}, {"1e-400", "0.5"}};
  for (const auto& [number, divisor] : others)
    EXPECT_FALSE(decimal::read(number).is_multiple_of(decimal::read(divisor))) << number << " " << divisor;
}

TEST(Decimal, CountsAreWholeAndOfAtMostFifteenDigits) {
  EXPECT_EQ(decimal::read("0").count(), 0U);
  EXPECT_EQ(decimal::read("1e3").count(), 1000U);
  EXPECT_EQ(decimal::read("999999999999999").count(), 999'999'999'999'999U);
  for (const auto* none : {"-1", "0.5", "1000000000000000", "1e400"}) EXPECT_EQ(decimal::read(none).count(), std::nullopt) << none;
}

}  // namespace
}  // namespace fairlead::core
