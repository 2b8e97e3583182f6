#pragma once
// What does not fit, as one sentence for whoever gave the input.

#include <string>
#include <vector>

#include "actors/core/schema/schema.hpp"

namespace fairlead::core {

/// A JSON pointer, cut where it would be too long to be read.
std::string pointer_of(const std::vector<std::string>& path);

/// The first five, each of them once.
std::string misfits_text(const std::vector<misfit_place>& all);

}  // namespace fairlead::core
