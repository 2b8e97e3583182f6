#pragma once
// What `fairlead dev` proposes as the input of a task.

#include <string>

#include "messages/workflow.pb.h"

namespace fairlead::app {

/// `{}` where the workflow takes it. Else the properties that its schema requires, with a `…` for each value that has to be filled in, or the
/// word JSON. It can stand between single quotes.
std::string proposed_input(const v1::WorkflowDefinition& of);

}  // namespace fairlead::app
