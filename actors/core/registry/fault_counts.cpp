#include "actors/core/registry/fault_counts.hpp"

#include <algorithm>

namespace fairlead::core {

void fault_counts::add(std::string_view code, std::uint32_t count) {
  if (count == 0) return;
  const auto found = std::find_if(by_code_.begin(), by_code_.end(), [&](const auto& one) { return one.first == code; });
  if (found != by_code_.end()) {
    found->second += count;
  } else if (code.empty() || by_code_.size() >= most_codes) {
    others_ += count;
  } else {
    by_code_.emplace_back(code, count);
  }
}

void fault_counts::add(const fault_counts& more) {
  for (const auto& [code, count] : more.by_code_) add(code, count);
  others_ += more.others_;
}

std::string fault_counts::text() const {
  if (by_code_.empty()) return {};
  auto sorted = by_code_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  if (others_ > 0) sorted.emplace_back("others", others_);
  std::string out;
  for (const auto& [code, count] : sorted) out += (out.empty() ? "" : ", ") + code + " (" + std::to_string(count) + ")";
  return out;
}

}  // namespace fairlead::core
