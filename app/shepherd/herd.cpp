#include "app/shepherd/herd.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>

namespace fairlead::app {

namespace {

constexpr int most_rounds = 32;

bool read_member(const char* pid, herd_member& out) {
  std::array<char, 280> path{};  // room for any file name
  std::snprintf(path.data(), path.size(), "/proc/%s/stat", pid);
  const int file = open(path.data(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  std::array<char, 1'024> text{};
  const auto size = read(file, text.data(), text.size() - 1);
  close(file);
  if (size <= 0) return false;
  // The name is in parentheses and may contain anything, even parentheses.
  const char* const after_name = std::strrchr(text.data(), ')');
  int parent = 0, group = 0;
  if (after_name == nullptr || std::sscanf(after_name + 1, " %c %d %d", &out.state, &parent, &group) != 3) return false;
  out.pid = std::atoi(pid);
  out.parent = parent;
  out.group = group;
  return true;
}

bool is_dead(const herd_member& one) { return one.state == 'Z' || one.state == 'X'; }

std::vector<herd_member> everybody() {
  std::vector<herd_member> out;
  const auto close_folder = [](DIR* folder) { closedir(folder); };
  const std::unique_ptr<DIR, decltype(close_folder)> folder{opendir("/proc"), close_folder};
  if (!folder) return out;
  while (const auto* entry = readdir(folder.get())) {
    herd_member one;
    if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && read_member(entry->d_name, one)) out.push_back(one);
  }
  return out;
}

/// A descendant's group has only descendants: it belongs to a session that a descendant began. Except before the command has begun its own.
void signal_groups(const std::vector<herd_member>& whom, int number) {
  const pid_t own = getpgrp();
  std::set<pid_t> groups;
  for (const auto& one : whom)
    if (one.group != own && one.group > 1) groups.insert(one.group);
  // A whole group at once: its members cannot fork away from the signal.
  for (const auto group : groups) kill(-group, number);
  for (const auto& one : whom) kill(one.pid, number);
}

}  // namespace

std::vector<herd_member> descendants() {
  auto all = everybody();
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.parent < b.parent; });
  std::vector<herd_member> out;
  std::vector<pid_t> parents{getpid()};
  while (!parents.empty()) {
    const auto parent = parents.back();
    parents.pop_back();
    auto child = std::lower_bound(all.begin(), all.end(), parent, [](const auto& one, pid_t p) { return one.parent < p; });
    for (; child != all.end() && child->parent == parent; ++child) {
      if (!is_dead(*child)) out.push_back(*child);
      parents.push_back(child->pid);
    }
    // A process read twice while it changed parents must not make this loop endless.
    if (out.size() > all.size()) break;
  }
  return out;
}

void signal_all(int number) { signal_groups(descendants(), number); }

std::size_t kill_all() {
  std::set<pid_t> frozen;
  std::vector<herd_member> found;
  for (int round = 0; round < most_rounds; ++round) {
    found = descendants();
    const auto before = frozen.size();
    for (const auto& one : found) frozen.insert(one.pid);
    if (frozen.size() == before) break;
    signal_groups(found, SIGSTOP);
  }
  signal_groups(found, SIGKILL);
  return frozen.size();
}

}  // namespace fairlead::app
