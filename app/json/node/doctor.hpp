#pragma once
// What `fairlead task doctor` has found, as JSON: live tasks without a wake-up, and effects without a task.

#include <string>

#include "app/json/writer.hpp"
#include "messages/api.pb.h"

namespace fairlead::app {

std::string doctor_json(const v1::DoctorReply& reply);
/// Writes the members `effects` and `effects_dropped` into an object.
void add_effects(const v1::DoctorReply& reply, json_writer& out);

}  // namespace fairlead::app
