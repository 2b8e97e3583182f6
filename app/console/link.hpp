#pragma once
// The console's connections. Commands with the same timeout share a client, which is kept for later
// commands.

#include <deque>
#include <memory>
#include <string>

#include "app/cli/context.hpp"

namespace fairlead::app {

class console_link final : public client_keeper {
 public:
  connected_client get(const client_options& options) override;

  /// Limits the request timeout of clients that `get` returns from now on. Zero: the command's own
  /// timeout.
  void hurry(duration longest) { longest_ = longest; }

 private:
  struct kept {
    std::string key;
    std::shared_ptr<client> to;
  };
  std::deque<kept> kept_;  // the last used client first
  duration longest_{0};
};

}  // namespace fairlead::app
