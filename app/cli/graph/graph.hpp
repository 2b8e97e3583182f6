#pragma once
// The steps of a workflow as a graph.

#include <string>

#include "messages/workflow.pb.h"

namespace fairlead::app {

/// A table of the steps, level by level: a step is one level below the last step that it waits for.
std::string graph_text(const v1::WorkflowDefinition& definition);

/// The same in the language of Graphviz (`dot`).
std::string graph_dot(const v1::WorkflowDefinition& definition);

}  // namespace fairlead::app
