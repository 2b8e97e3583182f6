#pragma once
// A directory of agents for tests of the task machine.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/core/task/decision.hpp"

namespace fairlead::core::testing {

/// Agents with a number of slots each; the first instance by name with a free one is taken.
class fake_agents final : public agent_directory {
 public:
  struct instance {
    std::string agent;
    std::uint64_t incarnation = 1;
    int capacity = 100;
    int held = 0;
  };
  std::map<std::string, instance, std::less<>> instances;
  std::set<std::string, std::less<>> lookups;  // calls that can be looked up

  std::set<std::string, std::less<>> counted_by_input;                                               // calls whose limits look at the input
  std::map<std::string, std::int64_t, std::less<>> key_valid_for;                                    // by call
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::pair<std::string, std::uint64_t>> holders;  // instance and incarnation
  std::vector<std::string> told;  // how what was held ended, and what limits looked at

  slot_answer claim(const slot_request& what) override {
    if (wants_input(what.agent, what.call)) told.push_back("claim " + std::string{what.call} + " by " + std::string{what.input});
    for (auto& [name, one] : instances) {
      if (one.agent != what.agent || one.held >= one.capacity) continue;
      take(name, what.holder);
      return {agent_instance{name, one.incarnation}, 0};
    }
    return {std::nullopt, queue_of(what.agent)};
  }
  bool wants_input(std::string_view, std::string_view call) const override { return counted_by_input.count(call) != 0; }
  std::int64_t key_valid_for_ms(std::string_view, std::string_view call) const override {
    const auto found = key_valid_for.find(call);
    return found == key_valid_for.end() ? 0 : found->second;
  }
  bool looks_up(std::string_view agent, std::string_view call) const override {
    const auto there = std::any_of(instances.begin(), instances.end(), [&](const auto& one) { return one.second.agent == agent; });
    return there && lookups.count(call) != 0;
  }
  std::map<std::string, std::int64_t, std::less<>> blocked;
  std::int64_t blocked_ms(std::string_view agent) const override {
    const auto found = blocked.find(agent);
    return found == blocked.end() ? 0 : found->second;
  }
  std::optional<std::uint64_t> incarnation_of(std::string_view name) const override {
    const auto found = instances.find(name);
    if (found == instances.end()) return std::nullopt;
    return found->second.incarnation;
  }
  void hold(std::string_view name, const slot_request& what) override {
    holders.erase({what.holder.task_number, what.holder.step});  // of the Scheduler before
    if (name.empty()) return;
    take(std::string{name}, what.holder);
  }
  void release(const slot_holder& holder, const slot_outcome& outcome) override {
    const auto found = holders.find({holder.task_number, holder.step});
    if (found == holders.end()) return;
    auto& one = instances.at(found->second.first);
    if (one.incarnation == found->second.second) --one.held;
    holders.erase(found);
    told.push_back("step " + std::to_string(holder.step) + " " + word_of(outcome.how));
  }
  static const char* word_of(slot_end how) {
    switch (how) {
      case slot_end::succeeded: return "succeeded";
      case slot_end::answered: return "answered";
      case slot_end::failed: return "failed";
      case slot_end::expired: return "expired";
      case slot_end::lost: return "lost";
      default: return "unused";
    }
  }
  /// A queue for each agent.
  static std::uint64_t queue_of(std::string_view agent) {
    auto& names = queues();
    const auto found = std::find(names.begin(), names.end(), agent);
    if (found != names.end()) return static_cast<std::uint64_t>(found - names.begin());
    names.emplace_back(agent);
    return names.size() - 1;
  }
  static std::vector<std::string>& queues() {
    static std::vector<std::string> names;
    return names;
  }

  /// A new process under the name.
  void replace(const std::string& name) {
    auto& one = instances.at(name);
    ++one.incarnation;
    one.held = 0;
  }
  void take(const std::string& name, const slot_holder& holder) {
    auto& one = instances.at(name);
    ++one.held;
    const auto fresh = holders.emplace(std::pair{holder.task_number, holder.step}, std::pair{name, one.incarnation}).second;
    EXPECT_TRUE(fresh) << "step " << holder.step << " takes a second slot";
  }
  std::string text() const {
    std::string out;
    for (const auto& [name, one] : instances) out += name + "=" + std::to_string(one.held) + " ";
    return out;
  }
};

}  // namespace fairlead::core::testing
