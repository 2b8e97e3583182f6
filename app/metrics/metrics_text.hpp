#pragma once
// The figures of a node as Prometheus reads them. docs/operations.md lists every metric once.

#include <string>

#include "app/metrics/node_figures.hpp"

namespace fairlead::app {

inline constexpr const char* metrics_content_type = "text/plain; version=0.0.4; charset=utf-8";

/// What is not known is left out, rather than shown as 0.
std::string metrics_text(const node_figures& all);

}  // namespace fairlead::app
