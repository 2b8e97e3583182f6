#include "app/cli/screen/confirm.hpp"

#include <unistd.h>

#include <cstdio>
#include <iostream>

namespace fairlead::app {

status confirm(const std::string& what, const std::string& which) {
  if (::isatty(STDIN_FILENO) != 1)
    return invalid("Nothing was done: a confirmation is needed to " + what + ", and standard input is not a terminal",
                   "Give --yes to go on without a confirmation");
  std::fputs(("To " + what + which + ", type yes: ").c_str(), stderr);
  std::fflush(stderr);
  std::string answer;
  if (std::getline(std::cin, answer) && answer == "yes") return nothing{};
  return error{v1::ERROR_CODE_WRONG_STATE, "Nothing was done: the answer was not yes", ""};
}

}  // namespace fairlead::app
