#include "app/config/parts.hpp"

namespace fairlead::app {

void read_replies(const yaml_node& node, node_config& out) {
  constexpr std::int64_t minute = 60'000;
  constexpr std::int64_t longest = std::int64_t{366} * 24 * 60 * minute;
  yaml_section section{node};
  section.duration_ms("give_up_after", out.reply_give_up_after_ms, minute, longest);
  section.finish();
}

}  // namespace fairlead::app
