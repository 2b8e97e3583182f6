// `fairlead certificate`: an authority and certificates without a node.

#include "app/cli/certificate/facts.hpp"
#include "app/cli/commands.hpp"

namespace fairlead::app {

void add_certificate_commands(CLI::App& app, cli_context& context) {
  auto* group =
      app.add_subcommand("certificate", "Make, show and renew certificates for a cluster without a certificate authority of its own");
  group->require_subcommand(1);
  add_make_certificate_commands(*group, context);
  add_show_certificate_command(*group, context);
  add_renew_certificate_command(*group, context);
}

}  // namespace fairlead::app
