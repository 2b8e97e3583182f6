#pragma once
// The results of simulated runs, as text and as JSON.

#include <string>
#include <vector>

#include "app/simulate/campaign.hpp"

namespace fairlead::app::simulate {

struct report {
  std::string file;
  campaign_result result;
  std::vector<std::string> undeclared;  // calls of which no node file says anything
  std::vector<std::string> notices;     // what the reader has to know before the results
  bool verbose = false;                 // whole stories of endings and findings
};

std::string report_text(const report& of);
std::string report_json(const report& of);

/// One run, told from its submission to its end.
std::string run_text(const stage& on, std::uint64_t seed, const run_end& run);
std::string run_json(const stage& on, std::uint64_t seed, const run_end& run);

}  // namespace fairlead::app::simulate
