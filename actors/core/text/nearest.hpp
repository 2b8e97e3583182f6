#pragma once
// "Did you mean …?": the known word closest to one that is not known.

#include <string>
#include <string_view>
#include <vector>

namespace fairlead::core {

/// The candidate with the smallest edit distance to `word` (insertion, deletion, substitution and transposition of neighbours cost one
/// each), the first of several; empty when none is close enough to be a likely slip. Words longer than 64 bytes have no neighbours,
/// so the cost is bounded whatever a client sends.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace fairlead::core
