#pragma once
// Deployed workflows as JSON for programs and as text for people.

#include <string>

#include "app/json/writer.hpp"
#include "messages/api.pb.h"

namespace fairlead::app {

void write_deployed(json_writer& out, const std::string& name, const v1::DeployReply& reply);
std::string deployed_text(const std::string& name, const v1::DeployReply& reply);

std::string workflow_list_json(const v1::WorkflowListReply& reply);
std::string workflow_list_text(const v1::WorkflowListReply& reply);

std::string workflow_show_json(const v1::WorkflowShowReply& reply);
std::string workflow_show_text(const v1::WorkflowShowReply& reply);

}  // namespace fairlead::app
