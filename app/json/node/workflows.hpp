#pragma once
// Deployed workflows as JSON.

#include <string>

#include "app/json/writer.hpp"
#include "messages/api.pb.h"

namespace fairlead::app {

/// One deployment of the workflow `name`, as an object.
void write_deployed(json_writer& out, const std::string& name, const v1::DeployReply& reply);

/// An array.
std::string workflow_items_json(const v1::WorkflowListReply& reply);
std::string workflow_list_json(const v1::WorkflowListReply& reply);
std::string workflow_show_json(const v1::WorkflowShowReply& reply);
std::string workflow_deleted_json(const std::string& name);

/// `2`, `1.5`: the factor of a backoff.
std::string factor_text(double factor);

}  // namespace fairlead::app
