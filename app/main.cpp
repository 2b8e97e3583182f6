#include <string_view>

#include "app/cli.hpp"
#include "app/shepherd/shepherd.hpp"

int main(int argc, char** argv) {
  // Before anything is set up: it is forked for every command of an exec agent, with all that this process has by then.
  if (argc == 2 && std::string_view{argv[1]} == fairlead::app::shepherd_entry) return fairlead::app::run_shepherds();
  return fairlead::app::run_command_line(argc, argv);
}
