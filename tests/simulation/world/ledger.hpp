#pragma once
// What really happened: every effect that a service began and ended, written by the services and read by the checker only. The system under
// test neither writes nor sees it. Alongside, what stands now: an effect stands from its perform until its undo.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "messages/agent.pb.h"

namespace fairlead::simulation {

/// Names one step of one task.
struct step_name {
  std::string task;
  std::uint32_t step = 0;
  friend auto operator<=>(const step_name&, const step_name&) = default;
};

/// Names the effects of one step, as its keys do. A migration may give a step another number, and a restore takes its task back to the
/// version before: a number says which step it is only together with a lineage and a version.
struct effect_name {
  std::string task;
  std::string path;
  friend auto operator<=>(const effect_name&, const effect_name&) = default;
};

struct ledger_entry {
  std::int64_t at_us = 0;
  bool begin = false;  // else: it has ended
  effect_name of;
  v1::Direction direction = v1::DIRECTION_PERFORM;
  std::uint32_t attempt = 0;
  std::uint64_t epoch = 0;
  std::string instance;
  std::uint64_t incarnation = 0;
  std::string key;
  bool changed = false;  // the service's state changed: not a repetition, nor refused for a key that was undone or promised away
};

class ledger {
 public:
  void write(ledger_entry what) {
    if (what.changed) {
      auto& standing = standing_[what.of];
      if (what.direction == v1::DIRECTION_PERFORM) {
        standing.insert(what.key);
        ++performed_[what.of];
      }
    }
    entries_.push_back(std::move(what));
  }
  /// The effect of `perform_key` does not stand any more.
  void take_back(const effect_name& of, const std::string& perform_key) { standing_[of].erase(perform_key); }

  /// How many effects of the step stand.
  std::size_t standing(const effect_name& of) const {
    const auto found = standing_.find(of);
    return found == standing_.end() ? 0 : found->second.size();
  }
  const std::map<effect_name, std::set<std::string>>& all_standing() const { return standing_; }
  const std::vector<ledger_entry>& entries() const { return entries_; }

 private:
  std::vector<ledger_entry> entries_;
  std::map<effect_name, std::set<std::string>> standing_;
  std::map<effect_name, std::uint64_t> performed_;
};

}  // namespace fairlead::simulation
