#include "actors/agents/attempt_results.hpp"

namespace fairlead::agents {

std::string printable(std::string_view text, std::size_t limit) {
  std::string out{text.substr(0, limit)};
  for (auto& c : out) {
    if (c < 0x20 || c > 0x7e) c = '.';
  }
  return out;
}

}  // namespace fairlead::agents
