#include "app/cli/operator_name.hpp"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <vector>

#include "actors/core/text/text.hpp"

namespace fairlead::app {

namespace {

constexpr std::size_t longest_name = 128;

/// The effective user id gives the name. $USER may still have the name of another user.
std::string login_name() {
  std::vector<char> room(16'384);
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(geteuid(), &entry, room.data(), room.size(), &found) == 0 && found != nullptr && *found->pw_name != '\0')
    return found->pw_name;
  return "uid-" + std::to_string(geteuid());
}

std::string host_name() {
  std::array<char, 256> room{};
  if (gethostname(room.data(), room.size() - 1) != 0 || room[0] == '\0') return "localhost";
  return room.data();
}

}  // namespace

void add_operator_option(CLI::App& command, std::string& given) {
  command.add_option("--by", given, "Name of the operator, for the history (default: $FAIRLEAD_OPERATOR, else LOGIN@HOST)")
      ->type_name("NAME");
}

std::string operator_name(const std::string& given) {
  if (!given.empty()) return core::clean_text(given, longest_name);
  // The variable is read here. As an option's environment variable in CLI11 an empty value would
  // count as given.
  if (const char* from_environment = std::getenv("FAIRLEAD_OPERATOR"); from_environment != nullptr && *from_environment != '\0')
    return core::clean_text(from_environment, longest_name);
  return core::clean_text(login_name() + "@" + host_name(), longest_name);
}

}  // namespace fairlead::app
