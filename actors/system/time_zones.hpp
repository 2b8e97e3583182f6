#pragma once
// Time zones by name from the system's zone database ($TZDIR, else /usr/share/zoneinfo). Each is read once and kept. Any thread.

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "actors/core/job/job.hpp"

namespace fairlead {

class time_zones final : public core::zone_source {
 public:
  const cctz::time_zone* find(std::string_view name) const override;

  /// The instance of this process.
  static const time_zones& of_system();

  /// The known names, for "did you mean".
  static std::vector<std::string> names();

 private:
  mutable std::mutex lock_;
  mutable std::map<std::string, cctz::time_zone, std::less<>> known_;
};

}  // namespace fairlead
