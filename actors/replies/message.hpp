#pragma once
// Status events in the form for receivers.

#include <string>
#include <vector>

#include "messages/task.pb.h"

namespace fairlead {

/// `received`, `step`, `completed`, …
const char* status_word(v1::StatusKind kind);

/// `{"task":…,"sequence":…,"at":…,"kind":…,"state":…,"step":…,"step_state":…,"reason":…}`; fields that do not apply are null.
std::string event_json(const v1::StatusEvent& event);

/// The body of one post: `{"node":…,"events":[…]}`.
std::string events_json(const std::string& node, const std::vector<v1::StatusEvent>& events);

/// A receiver's name in sentences. A URL loses its query, which often holds a token.
std::string receiver_name(const v1::ReplyAddress& address);

}  // namespace fairlead
