#pragma once
// The console's connections: one client for each of the few waiting times that commands have, kept from one command to the next.

#include <deque>
#include <memory>
#include <string>

#include "app/cli/context.hpp"

namespace fairlead::app {

class console_link final : public client_keeper {
 public:
  connected_client get(const client_options& options) override;

  /// No client that is given out from now on waits longer than this for an answer; zero: as long as its command says.
  void hurry(duration longest) { longest_ = longest; }

 private:
  struct kept {
    std::string key;
    std::shared_ptr<client> to;
  };
  std::deque<kept> kept_;  // the one used last stands first
  duration longest_{0};
};

}  // namespace fairlead::app
