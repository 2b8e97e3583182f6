#include "actors/core/text/nearest.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace fairlead::core {

namespace {

constexpr std::size_t longest = 64;
using row = std::array<std::size_t, longest + 1>;

// Optimal string alignment over three rolling rows.
std::size_t distance(std::string_view a, std::string_view b) {
  row before{};
  row above{};
  row current{};
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = a[i - 1] == b[j - 1] ? 0 : 1;
      current[j] = std::min({above[j] + 1, current[j - 1] + 1, above[j - 1] + substitution});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) current[j] = std::min(current[j], before[j - 2] + 1);
    }
    before = above;
    above = current;
  }
  return above[b.size()];
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.empty() || word.size() > longest) return {};
  // One typing error in three letters still looks like the same word; a single letter resembles every word.
  std::size_t best = std::max<std::size_t>(1, word.size() / 3) + 1;
  std::string found;
  for (const auto& candidate : candidates) {
    if (candidate.size() > longest || candidate == word) continue;
    const auto apart = distance(word, candidate);
    if (apart >= std::max(word.size(), candidate.size())) continue;
    if (apart < best) {
      best = apart;
      found = candidate;
    }
  }
  return found;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const auto close = nearest(word, known);
  return close.empty() ? std::string{} : "did you mean " + close + "?";
}

}  // namespace fairlead::core
