// Finds the numbers of users and groups by name.

#include <grp.h>
#include <pwd.h>

#include <charconv>

#include "actors/agents/exec/exec.hpp"

namespace fairlead::agents {

namespace {

constexpr std::size_t most_groups = 65'536;

std::optional<std::uint32_t> number_in(const std::string& text) {
  std::uint32_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size() || value == UINT32_MAX) return std::nullopt;
  return value;
}

/// Calls `ask` with a growing buffer until the entry fits.
template <class Entry, class Ask>
bool look_up(Entry& entry, std::vector<char>& room, Ask ask) {
  for (room.resize(4'096); room.size() <= (std::size_t{1} << 20); room.resize(room.size() * 2)) {
    Entry* found = nullptr;
    const int code = ask(&entry, room.data(), room.size(), &found);
    if (code == ERANGE) continue;
    return code == 0 && found != nullptr;
  }
  return false;
}

error unknown(const std::string& what, const std::string& name) {
  return {v1::ERROR_CODE_NOT_FOUND, "this machine has no " + what + " '" + name + "'", "create it, or give its number"};
}

}  // namespace

result<exec_identity> find_identity(const std::string& user, const std::string& group) {
  exec_identity out;
  if (user.empty()) return out;
  out.given = true;
  passwd entry{};
  std::vector<char> room;
  const auto number = number_in(user);
  const bool known = look_up(entry, room, [&](auto* into, char* bytes, std::size_t size, auto** found) {
    return number ? getpwuid_r(*number, into, bytes, size, found) : getpwnam_r(user.c_str(), into, bytes, size, found);
  });
  if (!known && !number) return unknown("user", user);
  out.user = known ? entry.pw_uid : *number;
  out.group = known ? entry.pw_gid : *number;  // a number without an entry stands for both, as for containers
  if (!group.empty()) {
    const auto group_number = number_in(group);
    struct group group_entry {};
    std::vector<char> group_room;
    if (group_number) {
      out.group = *group_number;
    } else if (look_up(group_entry, group_room, [&](auto* into, char* bytes, std::size_t size, auto** found) {
                 return getgrnam_r(group.c_str(), into, bytes, size, found);
               })) {
      out.group = group_entry.gr_gid;
    } else {
      return unknown("group", group);
    }
  }
  out.groups = {out.group};
  if (!known) return out;
  for (std::vector<gid_t> groups(64); groups.size() <= most_groups; groups.resize(groups.size() * 4)) {
    int count = static_cast<int>(groups.size());
    if (getgrouplist(entry.pw_name, out.group, groups.data(), &count) < 0) continue;
    out.groups.assign(groups.begin(), groups.begin() + count);
    break;
  }
  return out;
}

}  // namespace fairlead::agents
