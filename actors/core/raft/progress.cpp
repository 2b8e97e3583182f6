#include "actors/core/raft/progress.hpp"

#include <algorithm>

namespace fairlead::raft {

void progress::go_back() {
  if (went_back()) return;
  lost = match;
  match = 0;
  lacks_base = false;
}

void progress::come_back(std::uint64_t sent) {
  probe_from(lost + 1, sent);
  lost = 0;
}

void progress::probe_from(log_index where, std::uint64_t sent) {
  sent_when_probed = sent;
  how = way::probe;
  next = std::max(where, match + 1);
  asked = false;
  flying.clear();
  flying_bytes = 0;
}

void progress::flew(log_index last, std::size_t bytes) {
  flying.push_back({last, bytes});
  flying_bytes += bytes;
}

void progress::matched(log_index up_to, std::uint64_t sent) {
  while (!flying.empty() && flying.front().last <= up_to) {
    flying_bytes -= flying.front().bytes;
    flying.pop_front();
  }
  if (up_to <= match) return;
  match = up_to;
  next = std::max(next, match + 1);
  sent_when_known = sent;
}

}  // namespace fairlead::raft
