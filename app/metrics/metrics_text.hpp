#pragma once
// The figures of a node in Prometheus's format. docs/operations.md lists every metric once.

#include <string>

#include "app/metrics/node_figures.hpp"

namespace fairlead::app {

inline constexpr const char* metrics_content_type = "text/plain; version=0.0.4; charset=utf-8";

/// Unknown figures are left out, not shown as 0.
std::string metrics_text(const node_figures& all);

}  // namespace fairlead::app
