#pragma once
// The actor system that all clients of a process share. One system, because CAF distinguishes the systems of a process by a single byte,
// and a node takes two systems with the same byte for one.

#include <caf/all.hpp>
#include <memory>

namespace fairlead {

class client_system {
 public:
  /// The living system, or a new one. It ends with the last client.
  static std::shared_ptr<client_system> acquire();

  caf::actor_system& actors() { return system_; }

 private:
  client_system();

  struct config : caf::actor_system_config {
    config();
  };
  config config_;
  caf::actor_system system_;
};

}  // namespace fairlead
