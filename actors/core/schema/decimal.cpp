#include "actors/core/schema/decimal.hpp"

#include <algorithm>

namespace fairlead::core {

namespace {

constexpr std::int64_t most_exponent = 1'000'000'000'000;
// A divisor is less than 2^50. After so many factors of ten, no further one changes whether it divides the number.
constexpr std::int64_t most_factors = 50;

std::int64_t read_exponent(std::string_view text) {
  const bool negative = !text.empty() && text.front() == '-';
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  std::int64_t out = 0;
  for (const char c : text) out = std::min(out * 10 + (c - '0'), most_exponent);
  return negative ? -out : out;
}

}  // namespace

decimal decimal::read(std::string_view number) {
  decimal out;
  if (!number.empty() && number.front() == '-') {
    out.negative_ = true;
    number.remove_prefix(1);
  }
  const auto mark = std::min(number.find_first_of("eE"), number.size());
  if (mark < number.size()) out.exponent_ = read_exponent(number.substr(mark + 1));
  bool fraction = false;
  for (const char c : number.substr(0, mark)) {
    if (c == '.') {
      fraction = true;
      continue;
    }
    if (fraction) --out.exponent_;
    if (c != '0' || !out.digits_.empty()) out.digits_ += c;
  }
  while (!out.digits_.empty() && out.digits_.back() == '0') {
    out.digits_.pop_back();
    ++out.exponent_;
  }
  if (out.digits_.empty()) return {};
  return out;
}

bool decimal::is_multiple_of(const decimal& divisor) const {
  if (digits_.empty()) return true;
  const auto shift = exponent_ - divisor.exponent_;
  // The last digit is not zero, so no power of ten divides the digits.
  if (shift < 0) return false;
  std::uint64_t modulus = 0;
  for (const char c : divisor.digits_) modulus = modulus * 10 + static_cast<std::uint64_t>(c - '0');
  std::uint64_t rest = 0;
  for (const char c : digits_) rest = (rest * 10 + static_cast<std::uint64_t>(c - '0')) % modulus;
  for (std::int64_t i = 0; i < std::min(shift, most_factors) && rest != 0; ++i) rest = rest * 10 % modulus;
  return rest == 0;
}

std::optional<std::uint64_t> decimal::count() const {
  constexpr std::int64_t most_places = 15;
  if (negative_ || !is_whole() || static_cast<std::int64_t>(digits_.size()) + exponent_ > most_places) return std::nullopt;
  std::uint64_t out = 0;
  for (const char c : digits_) out = out * 10 + static_cast<std::uint64_t>(c - '0');
  for (std::int64_t i = 0; i < exponent_; ++i) out *= 10;
  return out;
}

std::string decimal::text() const {
  if (digits_.empty()) return "0";
  return (negative_ ? "-" : "") + digits_ + (exponent_ == 0 ? "" : "e" + std::to_string(exponent_));
}

std::strong_ordering operator<=>(const decimal& left, const decimal& right) {
  const auto sign = [](const decimal& of) { return of.digits_.empty() ? 0 : of.negative_ ? -1 : 1; };
  if (sign(left) != sign(right)) return sign(left) <=> sign(right);
  const auto& large = left.negative_ ? right : left;
  const auto& small = left.negative_ ? left : right;
  const auto power = [](const decimal& of) { return static_cast<std::int64_t>(of.digits_.size()) + of.exponent_; };
  if (power(large) != power(small)) return power(large) <=> power(small);
  return large.digits_ <=> small.digits_;
}

}  // namespace fairlead::core
