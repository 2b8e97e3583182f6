#pragma once
// Status events that a client takes, as JSON.

#include <string>

#include "messages/api.pb.h"

namespace fairlead::app {

/// `{"replies": […], "positions": […]}`. The positions are those of `asked`, and those of the events: with them the next request says what
/// has arrived.
std::string replies_json(const v1::RepliesRequest& asked, const v1::RepliesReply& reply);

}  // namespace fairlead::app
