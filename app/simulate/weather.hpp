#pragma once
// What goes wrong in one run. Each decision depends on the seed and on the place at which it is made, and on nothing else: a run without one of its
// troubles is otherwise the same run, as far as it gets to the same places.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "actors/core/mix.hpp"

namespace fairlead::app::simulate {

/// A number of its own for each value and text.
std::uint64_t mixed(std::uint64_t value, std::string_view text);

/// A sequence of numbers that belongs to one place.
class dice {
 public:
  explicit dice(std::uint64_t state) : state_(state) {}
  std::uint64_t next() { return state_ = core::mix(state_); }
  std::uint64_t below(std::uint64_t n) { return next() % n; }
  bool chance(unsigned percent) { return below(100) < percent; }
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(most - least) + 1));
  }
  /// Short ones are as frequent as long ones of ten times the length. `least` is not 0.
  std::int64_t spread(std::int64_t least, std::int64_t most);

 private:
  std::uint64_t state_;
};

struct trouble {
  std::uint64_t site = 0;
  std::int64_t at_ms = 0;  // since the submission
  std::string words;
};

class weather {
 public:
  using sites = std::unordered_set<std::uint64_t>;

  /// `left_out`: troubles that do not come; outlives the weather. null: none.
  weather(std::uint64_t seed, const sites* left_out);

  dice at(std::uint64_t site) const { return dice{core::mix(seed_ ^ core::mix(site))}; }
  /// `of_10000`: how often in a run of middling weather.
  bool strikes(std::uint64_t site, unsigned of_10000, std::int64_t at_ms, const std::function<std::string()>& words);
  /// The same, however bad the weather is.
  bool befalls(std::uint64_t site, unsigned percent, std::int64_t at_ms, const std::function<std::string()>& words);
  /// What came, in its order.
  const std::vector<trouble>& troubles() const { return troubles_; }

 private:
  bool comes(std::uint64_t site, std::int64_t at_ms, const std::function<std::string()>& words);

  std::uint64_t seed_;
  const sites* left_out_;
  unsigned strength_;  // in quarters
  std::vector<trouble> troubles_;
};

}  // namespace fairlead::app::simulate
