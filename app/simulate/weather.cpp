#include "app/simulate/weather.hpp"

#include <cmath>

namespace fairlead::app::simulate {

std::uint64_t mixed(std::uint64_t value, std::string_view text) {
  std::uint64_t out = 0xcbf29ce484222325ULL ^ value;
  for (const auto c : text) out = (out ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return core::mix(out);
}

std::int64_t dice::spread(std::int64_t least, std::int64_t most) {
  const auto share = static_cast<double>(below(1'000'000)) / 1'000'000;
  return static_cast<std::int64_t>(static_cast<double>(least) * std::pow(static_cast<double>(most) / static_cast<double>(least), share));
}

weather::weather(std::uint64_t seed, const sites* left_out) : seed_(core::mix(seed)), left_out_(left_out) {
  // Half of the runs are middling; the others have hardly any trouble, or much of it.
  constexpr unsigned strengths[] = {1, 4, 4, 12};
  strength_ = strengths[core::mix(seed_) % 4];
}

bool weather::strikes(std::uint64_t site, unsigned of_10000, std::int64_t at_ms, const std::function<std::string()>& words) {
  return at(mixed(site, "strikes")).below(40'000) < std::uint64_t{of_10000} * strength_ && comes(site, at_ms, words);
}

bool weather::befalls(std::uint64_t site, unsigned percent, std::int64_t at_ms, const std::function<std::string()>& words) {
  return at(mixed(site, "befalls")).chance(percent) && comes(site, at_ms, words);
}

bool weather::comes(std::uint64_t site, std::int64_t at_ms, const std::function<std::string()>& words) {
  if (left_out_ != nullptr && left_out_->count(site) != 0) return false;
  troubles_.push_back({site, at_ms, words()});
  return true;
}

}  // namespace fairlead::app::simulate
