#pragma once
// Alerts and what was done with them, for people and for programs.

#include <string>

#include "app/cli/table.hpp"
#include "messages/api.pb.h"

namespace fairlead::app {

text_table alert_table();
void add_alert_row(text_table& table, const v1::AlertRecord& alert);

std::string alert_json(const v1::AlertRecord& alert);
std::string alert_text(const v1::AlertRecord& alert);

/// What became of each of the numbers that were to be acknowledged; the reply has as many results as the request has numbers.
std::string acknowledged_json(const v1::AlertAckRequest& asked, const v1::AlertAckReply& reply);
/// Only those that worked: the others are errors.
std::string acknowledged_text(const v1::AlertAckReply& reply);

}  // namespace fairlead::app
