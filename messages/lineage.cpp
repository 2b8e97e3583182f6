#include "messages/lineage.hpp"

#include <algorithm>
#include <cstdio>

#include "messages/time.hpp"

namespace fairlead {

bool is_set(const v1::Lineage& which) { return which.made_unix_ms() != 0 || which.bits() != 0; }

lineage_order compare(const v1::Lineage& one, const v1::Lineage& other) {
  if (!is_set(one) || !is_set(other)) return lineage_order::same;
  if (one.made_unix_ms() != other.made_unix_ms())
    return one.made_unix_ms() < other.made_unix_ms() ? lineage_order::earlier : lineage_order::later;
  return one.bits() == other.bits() ? lineage_order::same : lineage_order::conflict;
}

v1::Lineage next_lineage(const v1::Lineage& former, std::int64_t now_unix_ms, std::uint64_t bits) {
  v1::Lineage out;
  out.set_made_unix_ms(std::max(now_unix_ms, former.made_unix_ms() + 1));
  out.set_bits(bits);
  return out;
}

std::string to_text(const v1::Lineage& which) {
  char bits[17] = {};
  std::snprintf(bits, sizeof bits, "%016llx", static_cast<unsigned long long>(which.bits()));
  return "of " + format_utc(which.made_unix_ms()) + " (" + bits + ")";
}

}  // namespace fairlead
