// `fairlead workflow schema`.

#include "app/cli/commands.hpp"
#include "app/cli/screen/screen.hpp"
#include "app/files/workflow_schema.hpp"

namespace fairlead::app {

void add_workflow_schema(CLI::App& group, cli_context& context) {
  auto* command = group.add_subcommand("schema", "Print the JSON Schema of workflow files, by which editors complete and check them");
  command->callback([&context] {
    show_as_written();
    print(context, workflow_schema());
  });
}

}  // namespace fairlead::app
