#include "app/cli.hpp"

int main(int argc, char** argv) { return fairlead::app::run_command_line(argc, argv); }
