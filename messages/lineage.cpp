#include "messages/lineage.hpp"

#include <algorithm>
#include <cstdio>

#include "messages/time.hpp"

namespace fairlead {

bool is_set(const v1::Lineage& which) { return which.made_unix_ms() != 0 || which.bits() != 0; }

namespace {

/// Of the random bits of a lineage; releases up to 0.1.0 make all of them at random.
constexpr std::uint64_t restored_mark = 0xffff;

/// `earlier` in relation to `later`, as their moments say.
lineage_order order_of(const v1::Lineage& earlier, const v1::Lineage& later) {
  if (!earlier.several() || is_restored(later)) return lineage_order::earlier;
  return later.several() ? lineage_order::conflict : lineage_order::later;
}

lineage_order turned(lineage_order which) {
  if (which == lineage_order::earlier) return lineage_order::later;
  return which == lineage_order::later ? lineage_order::earlier : which;
}

}  // namespace

bool is_restored(const v1::Lineage& which) { return (which.bits() & restored_mark) == restored_mark; }

lineage_order compare(const v1::Lineage& one, const v1::Lineage& other) {
  if (!is_set(one) || !is_set(other)) return lineage_order::same;
  if (one.made_unix_ms() == other.made_unix_ms() && one.bits() == other.bits()) return lineage_order::same;
  if (one.made_unix_ms() == other.made_unix_ms()) return lineage_order::conflict;
  return one.made_unix_ms() < other.made_unix_ms() ? order_of(one, other) : turned(order_of(other, one));
}

v1::Lineage next_lineage(const v1::Lineage& former, std::int64_t now_unix_ms, std::uint64_t bits) {
  v1::Lineage out;
  out.set_made_unix_ms(std::max(now_unix_ms, former.made_unix_ms() + 1));
  out.set_bits(bits | restored_mark);
  return out;
}

v1::Lineage first_lineage(std::int64_t now_unix_ms, std::uint64_t bits) {
  v1::Lineage out;
  out.set_made_unix_ms(now_unix_ms);
  out.set_bits(bits & ~std::uint64_t{1});
  return out;
}

std::string to_text(const v1::Lineage& which) {
  char bits[17] = {};
  std::snprintf(bits, sizeof bits, "%016llx", static_cast<unsigned long long>(which.bits()));
  return "of " + format_utc(which.made_unix_ms()) + " (" + bits + ")";
}

}  // namespace fairlead
