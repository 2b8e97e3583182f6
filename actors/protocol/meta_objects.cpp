#include "actors/protocol/meta_objects.hpp"

#include <chrono>

#include "actors/protocol/type_ids.hpp"

namespace fairlead {

void init_meta_objects(caf::actor_system_config& config) { config.add_message_types<caf::id_block::fairlead>(); }

void init_options(caf::actor_system_config& config) {
  // The default policy polls and costs an idle process CPU time; this one sleeps.
  config.set("scheduler.policy", caf::atom("sharing"));
  config.set("logger.verbosity", caf::atom("quiet"));
  // Only these notice a frozen node or a lost machine: TCP does not.
  config.set("middleman.heartbeat-interval", caf::timespan{std::chrono::milliseconds{500}});
  config.set("middleman.connection-timeout", caf::timespan{std::chrono::seconds{2}});
  // The thread that reads a message decodes it. To wake another one for that takes longer than the decoding.
  config.set("middleman.workers", caf::config_value::integer{0});
}

}  // namespace fairlead
