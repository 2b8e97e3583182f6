#include "actors/gateway/held_requests.hpp"

#include <utility>
#include <vector>

namespace fairlead {

bool held_requests::hold(request what, moment now) {
  if (now >= what.until || held_.size() >= most_ || bytes_ + what.bytes > most_bytes_) return false;
  bytes_ += what.bytes;
  held_.push_back(std::move(what));
  return true;
}

void held_requests::look(moment now, const std::function<bool(std::uint32_t shard)>& is_led) {
  // What is let go may be held again at once.
  std::vector<std::function<void()>> let_go;
  std::deque<request> rest;
  for (auto& one : held_) {
    const bool is_over = now >= one.until;
    if (!is_over && !is_led(one.shard)) {
      rest.push_back(std::move(one));
      continue;
    }
    bytes_ -= one.bytes;
    let_go.push_back(is_over ? std::move(one.refuse) : std::move(one.again));
  }
  held_ = std::move(rest);
  for (const auto& next : let_go) next();
}

}  // namespace fairlead
