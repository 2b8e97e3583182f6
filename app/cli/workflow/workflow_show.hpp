#pragma once
// Deployed workflows as text. As JSON: app/json/node/workflows.hpp.

#include <string>

#include "messages/api.pb.h"

namespace fairlead::app {

std::string deployed_text(const std::string& name, const v1::DeployReply& reply);
std::string workflow_list_text(const v1::WorkflowListReply& reply);
std::string workflow_show_text(const v1::WorkflowShowReply& reply);

}  // namespace fairlead::app
