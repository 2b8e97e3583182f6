#pragma once
// The next times of a cron expression as text, for `fairlead job next`.

#include <string>

#include "app/json/job/next.hpp"

namespace fairlead::app {

/// One line for each time.
std::string next_text(const next_answer& answer);

}  // namespace fairlead::app
