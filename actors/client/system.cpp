#include "actors/client/system.hpp"

#include <caf/io/middleman.hpp>
#include <mutex>

#include "actors/protocol/meta_objects.hpp"

namespace fairlead {

client_system::config::config() {
  init_meta_objects(*this);
  load<caf::io::middleman>();
  init_options(*this);
  set("scheduler.max-threads", caf::config_value::integer{2});
}

client_system::client_system() : system_(config_) {}

std::shared_ptr<client_system> client_system::acquire() {
  static std::mutex mutex;
  static std::weak_ptr<client_system> living;
  std::lock_guard guard{mutex};
  auto out = living.lock();
  if (!out) {
    out.reset(new client_system);
    living = out;
  }
  return out;
}

}  // namespace fairlead
