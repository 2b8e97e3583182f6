#include "actors/client/split.hpp"

#include <utility>

#include "actors/core/request_limits.hpp"

namespace fairlead {

split_submission split(v1::SubmitRequest what) {
  split_submission out;
  std::size_t bytes = 0;
  for (int i = 0; i < what.items_size(); ++i) {
    auto& item = *what.mutable_items(i);
    const auto size = item.input().size();
    if (size > max_input_bytes) {
      out.oversized.push_back(i);
      continue;
    }
    if (out.parts.empty() || out.parts.back().request.items_size() >= max_request_items || bytes + size > max_input_bytes_a_message) {
      out.parts.emplace_back();
      out.parts.back().request.set_notify(what.notify());
      bytes = 0;
    }
    bytes += size;
    out.parts.back().positions.push_back(i);
    *out.parts.back().request.add_items() = std::move(item);
  }
  return out;
}

}  // namespace fairlead
