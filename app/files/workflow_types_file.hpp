#pragma once
// `types: [shop.binpb]` of a workflow: descriptor sets that protoc has made.

#include <string>

#include "app/yaml/reader.hpp"
#include "messages/workflow.pb.h"

namespace fairlead::app {

/// Reads the files, relative to the folder of `file`, and puts what the steps of `definition` need of them into it. Of types that are not
/// there core speaks.
void read_types(const yaml_node& node, const std::string& file, v1::WorkflowDefinition& definition);

}  // namespace fairlead::app
