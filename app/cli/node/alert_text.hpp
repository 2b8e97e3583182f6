#pragma once
// Alerts and the results of acknowledgements as text. As JSON: app/json/node/alerts.hpp.

#include <string>

#include "app/cli/screen/table.hpp"
#include "messages/api.pb.h"

namespace fairlead::app {

text_table alert_table();
void add_alert_row(text_table& table, const v1::AlertRecord& alert);

std::string alert_text(const v1::AlertRecord& alert);

/// The successful results only; the others are printed as errors.
std::string acknowledged_text(const v1::AlertAckReply& reply);

}  // namespace fairlead::app
