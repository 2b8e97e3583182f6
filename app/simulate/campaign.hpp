#pragma once
// Many runs, and what they show together: the endings, the findings, and the shortest story of each.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/simulate/judge.hpp"
#include "app/simulate/world.hpp"

namespace fairlead::app::simulate {

struct story {
  std::uint64_t seed = 0;
  std::vector<trouble> troubles;  // those without which it ends otherwise
  std::vector<std::pair<std::int64_t, std::string>> lines;
};

struct ending {
  std::string word;
  std::string why;  // parked and refused: the kind of reason
  std::uint64_t runs = 0;
  story shortest;
};

struct shown_finding {
  finding what;
  std::uint64_t runs = 0;
  std::string sentence, remedy;
  story shortest;
};

/// A call whose contract was taken as it is played, and what could happen under a weaker one.
struct assumption {
  std::string agent, call;
  bool declared = false;
  std::vector<shown_finding> otherwise;  // if its service does not honour keys
};

struct campaign_result {
  std::string workflow;
  std::uint64_t seeds = 0, first_seed = 1;
  std::uint64_t tasks = 0;
  std::vector<ending> endings;  // the most frequent first
  std::vector<shown_finding> findings;
  std::vector<std::string> left_as_said;  // steps
  std::vector<assumption> assumptions;
  double seconds = 0;  // of the runs, without the search for short stories
};

struct campaign_settings {
  std::uint64_t seeds = 1'000, first_seed = 1;
  bool assumptions = true;  // also play services that do not honour keys
};

campaign_result run_campaign(const stage& on, const campaign_settings& settings);

/// How the run has ended, as endings tell it apart.
std::string ending_of(const run_end& run);

}  // namespace fairlead::app::simulate
