#pragma once
// Alerts, the results of acknowledgements, and the release of the brake, as JSON.

#include <string>

#include "messages/api.pb.h"

namespace fairlead::app {

std::string alert_json(const v1::AlertRecord& alert);
std::string alert_list_json(const v1::AlertListReply& reply);

/// The result for each number of the request. The reply has one result for each number.
std::string acknowledged_json(const v1::AlertAckRequest& asked, const v1::AlertAckReply& reply);

std::string brake_release_json(const v1::BrakeReleaseReply& reply);

}  // namespace fairlead::app
