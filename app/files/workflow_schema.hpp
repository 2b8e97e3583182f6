#pragma once
// The JSON Schema of workflow files, by which editors complete and mark them.

namespace fairlead::app {

/// config/schemas/workflow.schema.json as it was when the program was built.
const char* workflow_schema();

}  // namespace fairlead::app
