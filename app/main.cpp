#include <string_view>

#include "app/cli.hpp"
#include "app/expressions/worker.hpp"
#include "app/shepherd/shepherd.hpp"

int main(int argc, char** argv) {
  // Before anything is set up: it is forked for every command of an exec agent, with all that this process has by then.
  if (argc == 2 && std::string_view{argv[1]} == fairlead::app::shepherd_entry) return fairlead::app::run_shepherds();
  // A check of a workflow file waits for this one, and it needs none of the commands.
  if (argc >= 2 && std::string_view{argv[1]} == fairlead::app::expression_worker_entry)
    if (const auto code = fairlead::app::run_expression_worker(argc - 2, argv + 2)) return *code;
  return fairlead::app::run_command_line(argc, argv);
}
