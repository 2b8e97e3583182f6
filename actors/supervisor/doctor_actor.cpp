#include "actors/supervisor/doctor_actor.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "actors/supervision/guardian.hpp"
#include "actors/supervisor/doctor.hpp"

namespace fairlead {

doctor_actor::behavior_type run_doctor(supervised_pointer<doctor_actor> self, doctor_setup setup) {
  end_on_bug(self, "doctor");
  return {
      [self, setup = std::move(setup)](const v1::DoctorRequest& what) {
        const auto desk =
            std::find_if(setup.desks.begin(), setup.desks.end(), [&](const shard_desk& one) { return one.shard == what.shard(); });
        if (desk == setup.desks.end()) {
          v1::DoctorReply reply;
          *reply.mutable_error() = error{v1::ERROR_CODE_UNAVAILABLE, "shard " + std::to_string(what.shard()) + " is not on this node",
                                         "repeat the command in a moment"}
                                       .to_proto();
          return reply;
        }
        auto found = examine(*desk->reads, what);
        if (!found.repairs.items().empty()) self->send(desk->scheduler, std::move(found.repairs));
        return std::move(found.reply);
      },
  };
}

}  // namespace fairlead
