#pragma once
// "Did you mean …?": the known word closest to an unknown one.

#include <string>
#include <string_view>
#include <vector>

namespace fairlead::core {

/// The candidate with the smallest edit distance to `word` (insertion, deletion, substitution and transposition of neighbours cost one
/// each), the first of several; empty if none is close enough to be a likely typing error. Words longer than 64 bytes give none, so the
/// cost is bounded whatever a client sends.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// The nearest one as a remedy: `did you mean charge?`. Empty if none is close enough.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace fairlead::core
