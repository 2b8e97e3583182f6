#include "app/console/link.hpp"

#include <algorithm>
#include <utility>

namespace fairlead::app {

namespace {

/// Commands use three different timeouts; each typed --timeout adds another client.
constexpr std::size_t most_kept = 6;

}  // namespace

connected_client console_link::get(const client_options& asked) {
  auto options = asked;
  if (longest_.count() > 0) options.request_timeout = std::min(options.request_timeout, longest_);
  auto key = std::to_string(options.request_timeout.count());
  for (const auto& node : options.nodes) key += " " + node;
  key += " " + options.ca_file + " " + options.token;
  const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const kept& one) { return one.key == key; });
  if (found != kept_.end()) {
    std::rotate(kept_.begin(), found, found + 1);
    return kept_.front().to;
  }
  auto connected = client::connect(std::move(options));
  if (!connected) {
    auto why = connected.failure();
    if (why.code == v1::ERROR_CODE_UNAVAILABLE && !asks_an_api(asked.nodes))
      why.remedy = "Start a node with 'fairlead node --config FILE', or leave the console and give another node with --node";
    return why;
  }
  if (kept_.size() == most_kept) kept_.pop_back();
  kept_.push_front({std::move(key), std::make_shared<client>(std::move(*connected))});
  return kept_.front().to;
}

}  // namespace fairlead::app
