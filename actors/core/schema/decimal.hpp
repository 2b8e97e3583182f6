#pragma once
// JSON numbers by their exact value, whatever their size.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fairlead::core {

class decimal {
 public:
  /// Of a divisor; larger numbers can be compared, but not divided by.
  static constexpr std::size_t most_divisor_digits = 15;

  /// `number` is spelled as JSON spells numbers. Exponents beyond a trillion count as a trillion.
  static decimal read(std::string_view number);

  bool is_positive() const { return !negative_ && !digits_.empty(); }
  /// 3, 3.0 and 30e-1 are whole.
  bool is_whole() const { return exponent_ >= 0; }
  /// `divisor` is positive and fits a divisor.
  bool is_multiple_of(const decimal& divisor) const;
  bool fits_divisor() const { return digits_.size() <= most_divisor_digits; }

  /// nullopt: it is no whole number of at most 15 digits.
  std::optional<std::uint64_t> count() const;

  /// The same text for equal numbers. It is valid JSON.
  std::string text() const;

  friend std::strong_ordering operator<=>(const decimal& left, const decimal& right);
  friend bool operator==(const decimal&, const decimal&) = default;

 private:
  // ±DIGITS times ten to the exponent, without zeros at either end of the digits. Zero has no digits and the exponent 0.
  bool negative_ = false;
  std::string digits_;
  std::int64_t exponent_ = 0;
};

}  // namespace fairlead::core
