#include "actors/protocol/meta_objects.hpp"

#include "actors/protocol/type_ids.hpp"

namespace fairlead {

void init_meta_objects(caf::actor_system_config& config) { config.add_message_types<caf::id_block::fairlead>(); }

}  // namespace fairlead
